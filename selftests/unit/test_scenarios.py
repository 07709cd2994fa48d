#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Which scenarios selftests/run runs, in a small tree whose test machine is this one; TAP."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402

WORK = pathlib.Path(tempfile.mkdtemp(prefix="scenarios-"))

# The test machine: runs each file in turn
MACHINE = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
set -- $2
shift
while [ $# -ge 3 ]; do
	echo "## begin $1"
	"./$1"
	echo "## end $1 $?"
	shift 3
done
"""

FAILING = """\
#!/bin/sh
# suites: fails
echo "1..3
# value: is 1, expected 2
not ok 1 a promise
ok 2 another
# of no interest
not ok 3 the last
# what was seen"
exit 1
"""

AGAIN = [
    "# failed: 1.2:fails failing: 2 failed",
    "#   1..3",
    "#   # value: is 1, expected 2",
    "#   not ok 1 a promise",
    "#   # of no interest",
    "#   not ok 3 the last",
    "#   # what was seen",
    "1 passed, 2 failed"]

SCENARIO = """\
#!/bin/sh
# vm: {2}
# suites: {0}
echo "1..1"
echo "ok 1 {1}"
"""


def write(name, text, mode=0o755):
    path = WORK / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def write_scenario(name, tags, settings="limit=10", mode=0o755):
    write(f"selftests/vm/{name}.sh", SCENARIO.format(tags, name, settings), mode)


def make_tree():
    for name in ("selftests/run", "selftests/processes.py"):
        write(name, "")
        shutil.copy(TREE / name, WORK / name)
    write("tools/vm/kver", "#!/bin/sh\necho 1.2.3\n")
    write("tools/vm/vm", MACHINE)
    write("Makefile", "all:\n")
    write("selftests/fuzz/Makefile", "vm:\n")
    write("tools/vm/debug.config", "# CONFIG_SECOND=y\nCONFIG_FIRST=y\n")
    write("tools/vm/uml.config", "")
    write("tools/vm/smp.config", "CONFIG_SECOND=y\n")
    write_scenario("runs", "check soak")
    write_scenario("forgotten", "soak", mode=0o644)
    write_scenario("needs", "long", "needs=FIRST,SECOND")
    write_scenario("counts", "long", "icount=1")
    write_scenario("modest", "long", "needs=FIRST")
    write_scenario("single", "both")
    write_scenario("races", "both", "smp=2")
    write_scenario("wide", "matrix")
    write("selftests/vm/failing.sh", FAILING)
    write("selftests/vm/shared.py", "# Code that scenarios share\n", 0o644)


def run(*arguments):
    """Returns the output and the status, also if these tests are part of a soak."""
    environment = {name: value for name, value in os.environ.items() if name != "COLLSOCK_SOAK"}
    done = subprocess.run([WORK / "selftests/run", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, env=environment)
    return done.stdout.splitlines(), done.returncode


def says(status, *expected, arguments):
    """Returns what is wrong."""
    lines, seen = run(*arguments)
    missing = [f"no line: {line}" for line in expected if line not in lines]
    return [*missing, *lines, f"status {seen}"] if missing or seen != status else None


def results():
    """Yields promises, and the findings if one is broken."""
    yield "scenarios with the tag of a suite are run", \
        says(0, "ok 1 runs", "1 passed, 0 failed", arguments=["1.2:check"])
    yield "a scenario that is not executable fails its suite, and the others run", \
        says(1, "not ok 1.2:soak forgotten: not executable", "ok 1 runs", "1 passed, 1 failed",
             arguments=["1.2:soak"])
    yield "it fails also if it alone is to be run", \
        says(1, "not ok 1.2:soak forgotten: not executable",
             arguments=["--only", "forgotten", "1.2:soak"])
    yield "it does not fail if another one is to be run", \
        says(0, "1 passed, 0 failed", arguments=["--only", "runs", "1.2:soak"])
    yield "a debug kernel runs what needs only options that it has, and names the rest", \
        says(0, "# uml does not run needs, which needs SECOND",
             "# uml does not run counts, which needs icount", "ok 1 modest", "1 passed, 0 failed",
             arguments=["uml:long"])
    yield "options of its own count too", \
        says(0, "ok 1 needs", "ok 1 modest", "2 passed, 0 failed", arguments=["smp:long"])
    yield "other kernels run all", says(0, "3 passed, 0 failed", arguments=["1.2:long"])
    yield "the matrix has what a check has, and more", \
        says(0, "ok 1 runs", "ok 1 wide", "2 passed, 0 failed", arguments=["1.2:matrix"])
    yield "a scenario runs on each kernel", \
        says(0, "4 passed, 0 failed", arguments=["1.2:both", "uml:both"])
    yield "or once if one processor is enough", \
        says(0, "ok 1 single", "3 passed, 0 failed", arguments=["--once", "1.2:both", "uml:both"])
    yield "a scenario that is to be run where it cannot be is a failure", \
        says(1, "# uml does not run needs, which needs SECOND", "not ok uml:long: no scenario",
             arguments=["--only", "needs", "uml:long"])
    lines, status = run("1.2:fails")
    yield "failed tests are said again at the end, with what was wrong", \
        None if status == 1 and lines[-len(AGAIN):] == AGAIN else lines


def main():
    make_tree()
    return tap.report(12, results())


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(WORK)
