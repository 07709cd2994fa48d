#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The programs in README.md compile, its links lead somewhere, pages have what they should; TAP.

With --extract FOLDER: write what README.md shows, for the scenario that uses it: barrier.c,
barrier.py, and its shell commands as c.sh, python.sh and tree.sh.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402

TEXT = (TREE / "README.md").read_text(encoding="utf-8")
SHELL = "c.sh", "python.sh", "tree.sh"


def blocks(language):
    """The programs in this language in README.md."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def only(items):
    assert len(items) == 1, f"{len(items)} blocks, not 1"
    return items[0]


def run(*command, source=None):
    done = subprocess.run(command, input=source, text=True, check=False, cwd=TREE,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert not done.returncode, f"{' '.join(map(str, command))}: {done.stdout}"


def test_c_compiles_without_a_warning():
    run("gcc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
        "-Ilibcollsock/include", "-Iuapi", "-x", "c", "-", source=only(blocks("c")))


def test_python_compiles():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "barrier.py")
        program.write_text(only(blocks("python")), encoding="utf-8")
        run(sys.executable, "-m", "py_compile", program)


def test_shell_commands_are_known():
    assert len(blocks("sh")) == len(SHELL), f"{len(blocks('sh'))} blocks, not {len(SHELL)}"
    for block in blocks("sh"):
        run("sh", "-n", source=block)


def test_links_lead_to_files():
    for link in re.findall(r"\]\(([^)#]+)", TEXT):
        assert (TREE / link).exists(), f"no {link}"


def test_path_of_the_examples_is_that_of_installation():
    makefile = (TREE / "libcollsock/Makefile").read_text(encoding="utf-8")
    place = re.search(r"^EXAMPLEDIR \?= \$\(PREFIX\)/(.*)$", makefile, re.M)[1]
    page = (TREE / "libcollsock/man/collsock.7").read_text(encoding="utf-8")
    assert place in page, f"no {place} in collsock.7"


def test_page_of_collperf_has_its_options():
    folder = TREE / "tools/collperf"
    page = (folder / "collperf.1").read_text(encoding="utf-8").replace("\\-", "-")
    for source in "options.c", "collperf.c":
        text = (folder / source).read_text(encoding="utf-8")
        told = re.findall(r'^\s*"  -(\w), --([\w-]+)', text, re.M)
        assert told, f"no options in {source}"
        for letter, name in told:
            assert re.search(rf"-{letter}\b.*--{name}\b", page), f"no --{name} in collperf.1"


def extract(folder):
    folder = pathlib.Path(folder)
    files = {"barrier.c": only(blocks("c")), "barrier.py": only(blocks("python")),
             **dict(zip(SHELL, blocks("sh"), strict=True))}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def main():
    if sys.argv[1:2] == ["--extract"]:
        extract(sys.argv[2])
        return 0
    return tap.run(tap.named(globals()))


if __name__ == "__main__":
    sys.exit(main())
