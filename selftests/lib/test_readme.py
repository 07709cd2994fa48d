#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The programs in README.md compile, links lead somewhere, pages have what they should; TAP.

With --extract FOLDER: write what README.md shows, for the scenario that uses it: hello.py,
barrier.c, and its shell commands as python.sh, c.sh and tree.sh.
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
PAGES = TREE / "README.md", *sorted((TREE / "Documentation").glob("*.md"))


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
        program = pathlib.Path(folder, "hello.py")
        program.write_text(only(blocks("python")), encoding="utf-8")
        run(sys.executable, "-m", "py_compile", program)


def test_shell_commands_are_known():
    assert len(blocks("sh")) == len(SHELL), f"{len(blocks('sh'))} blocks, not {len(SHELL)}"
    for block in blocks("sh"):
        run("sh", "-n", source=block)


def anchors(page):
    """Of the headings, as GitHub makes them; those that a page has twice are not told apart."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for title in re.findall(r"^#+ (.*)$", text, re.M):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
        yield re.sub(r"[^\w -]", "", shown.strip().lower()).replace(" ", "-")


def broken(page):
    """Yields each link of the page that leads to no file, or to no heading."""
    text = page.read_text(encoding="utf-8")
    for link in re.finditer(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = link[1].partition("#")
        if re.match(r"[a-z]+://", name):
            continue
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield f"{page.name}:{text.count(chr(10), 0, link.start()) + 1}: no {link[1]}"


def test_links_of_all_pages_lead_to_files_and_headings():
    found = [what for page in PAGES for what in broken(page)]
    assert not found, ", ".join(found)


def test_links_that_lead_nowhere_are_found():
    with tempfile.TemporaryDirectory() as folder:
        page, other = pathlib.Path(folder, "page.md"), pathlib.Path(folder, "other.md")
        other.write_text("# Over `UDP`, [and](x.md) more\n```\n# not this\n```\n", encoding="utf-8")
        page.write_text("# Here\n[a](other.md) [b](other.md#over-udp-and-more) [c](#here)\n"
                        "[d](none.md) [e](other.md#not-this) [f\ng](#there)\n", encoding="utf-8")
        found = list(broken(page))
    assert found == ["page.md:3: no none.md", "page.md:3: no other.md#not-this",
                     "page.md:4: no #there"], found


def test_sections_are_in_the_order_in_which_a_new_user_needs_them():
    wanted = ["Four terms", "Install", "The first barrier", "In C", "In Python",
              "Two machines", "Without installing anything", "A cluster in five minutes",
              "MPI programs"]
    found = [title for title in re.findall(r"^##+ (.*)$", TEXT, re.M) if title in wanted]
    assert found == wanted, found


def test_commands_that_preload_the_library_for_mpi_print_its_summary():
    lines = [line for line in TEXT.splitlines() if re.match(r" +(mpirun|mpiexec|srun) ", line)]
    preload = [line for line in lines if "LD_PRELOAD" in line]
    assert [line.split()[0] for line in preload] == ["mpirun", "mpiexec", "srun"], lines
    for line in preload:
        assert re.search("COLLSOCK_MPI_SUMMARY[= ]1", line), line


def test_pages_about_mpi_have_a_command_for_each_launcher():
    for name, launchers in (("man/libcollsock-mpi.7", ("mpirun", "mpiexec", "srun")),
                            ("man/libcollsock-openmpi.7", ("mpirun", "srun"))):
        page = (TREE / "libcollsock" / name).read_text(encoding="utf-8")
        synopsis = page[page.index(".SH SYNOPSIS"):page.index(".SH DESCRIPTION")]
        for launcher in launchers:
            assert f".B {launcher} " in synopsis, f"no {launcher} in {name}"


def test_path_of_the_examples_is_that_of_installation():
    makefile = (TREE / "libcollsock/Makefile").read_text(encoding="utf-8")
    place = re.search(r"^EXAMPLEDIR \?= \$\(PREFIX\)/(.*)$", makefile, re.M)[1]
    page = (TREE / "libcollsock/man/collsock.7").read_text(encoding="utf-8")
    assert place in page, f"no {place} in collsock.7"


def has_options(page, *sources):
    folder = TREE / "tools/collperf"
    text = (folder / page).read_text(encoding="utf-8").replace("\\-", "-")
    for source in sources:
        told = re.findall(r'^\s*"  -(\w), --([\w-]+)',
                          (folder / source).read_text(encoding="utf-8"), re.M)
        assert told, f"no options in {source}"
        for letter, name in told:
            assert re.search(rf"-{letter}\b.*--{name}\b", text), f"no --{name} in {page}"


def test_pages_of_collperf_and_of_its_baseline_have_their_options():
    has_options("collperf.1", "options.c", "collperf.c")
    has_options("hostbased.1", "options.c", "hostbased.c")


def extract(folder):
    folder = pathlib.Path(folder)
    files = {"barrier.c": only(blocks("c")), "hello.py": only(blocks("python")),
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
