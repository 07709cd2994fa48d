#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What bash completes after collsock; TAP."""
import os
import pathlib
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 60
BASH_COMPLETION = "/usr/share/bash-completion/bash_completion"
# Completes the last word. @ip stands in for ip(8) with two namespaces or devices, and some with
# hostile names; collsock says what it was asked.
COMPLETE = """
[[ -r $1 ]] && . "$1"
. "$2"
shift 2
compopt() { :; }
hostile='$(echo${IFS}>made) `echo>made` $(echo>&2)'
ip() {
	local name number=1
	for name in red blue $hostile; do
		case $* in
		*link*) echo "$((number++)): $name@if7: <BROADCAST,UP> mtu 1500" ;;
		*) echo "$name (id: 0)" ;;
		esac
	done
}
collsock() { echo "$*" >>asked; echo '{"handle":17,"name":"window"}'; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
COMPREPLY=()
_collsock
printf '%s\\n' "${COMPREPLY[@]}"
"""

sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402


def completed(*words, library=BASH_COMPLETION):
    """What is offered for the last of them in a folder with the file hello.py, and what the command
    was asked for that."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "hello.py").touch()
        done = subprocess.run(["bash", "--norc", "-c", COMPLETE, "bash", library,
                               TREE / "tools/collsock/collsock.bash", *words], check=False,
                              text=True, capture_output=True, cwd=folder, timeout=SECONDS,
                              env={"PATH": os.environ["PATH"]})
        assert not done.returncode and not done.stderr, done
        assert not pathlib.Path(folder, "made").exists(), "a name was executed"
        asked = pathlib.Path(folder, "asked")
        return set(done.stdout.split()), asked.read_text() if asked.exists() else ""


def offers(words, *wanted, **how):
    found, _ = completed(*words.split(" "), **how)
    assert set(wanted) <= found, f"{words}: {sorted(found)[:20]} without some of {wanted}"


def test_the_program_of_run_and_its_words_are_completed():
    libraries = [BASH_COMPLETION] * os.path.exists(BASH_COMPLETION) + ["/nowhere"]
    for library in libraries:
        for begin in ("run --local 4 --", "run --local 4", "run --", "run -H a,b --rank 1",
                      "run --port 7700", "run --network 10.1.0.0/16"):
            offers(f"collsock {begin} pyth", "python3", library=library)
            offers(f"collsock {begin} python3 hel", "hello.py", library=library)
            offers(f"collsock {begin} cat -n hel", "hello.py", library=library)


def test_options_of_run_are_completed_before_the_program_only():
    offers("collsock run --lo", "--local")
    for command in "run", "barrier", "allreduce":
        offers(f"collsock {command} --po", "--port")
        offers(f"collsock {command} --ne", "--network")
    found, _ = completed("collsock", "run", "--port", "")
    assert found <= {""}, found
    found, _ = completed("collsock", "run", "--local", "2", "--", "unknown-program", "--lo")
    assert "--local" not in found, found


def test_names_of_devices_and_namespaces_are_offered_and_never_executed():
    for words in ("device",), ("-n", "red", "device"), ("-n",), ("--netns", "="):
        found, _ = completed("collsock", *words, "")
        assert found == {"red", "blue"}, f"{words}: {found}"


def test_values_of_options_in_one_word_are_completed():
    offers("collsock -n r", "red")
    offers("collsock -nr", "-nred")
    offers("collsock --netns r", "red")
    # With "=" among COMP_WORDBREAKS bash makes three words of it
    offers("collsock --netns = r", "red")
    offers("collsock --netns =", "red", "blue")
    offers("collsock --color = al", "always")


def test_the_namespace_that_is_named_is_asked():
    for words in "-n red", "-nred", "--netns red", "--netns = red":
        found, asked = completed("collsock", *words.split(), "group", "")
        assert "17" in found and "-n red" in asked, (words, found, asked)
    found, _ = completed("collsock", "--color", "=", "never", "gro")
    assert found == {"group"}, found


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
