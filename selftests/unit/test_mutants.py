#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/mutants/run reports the outcome of each mutant, in a small tree; all mutants of our
own tree apply; TAP."""

import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
MUTANTS = TREE / "selftests/mutants"
sys.dont_write_bytecode = True
sys.path[:0] = [str(MUTANTS), str(TREE / "selftests")]
import mutant  # noqa: E402
import tap  # noqa: E402

WORK = pathlib.Path(tempfile.mkdtemp(prefix="mutants-"))

OTHER_SOURCE = """\
static inline int same(void)
{
	return 2;
}
"""

SOURCE = OTHER_SOURCE + """
struct pair {
	int	left, right;
};

static const int weight[] = {
	1,
};

static int add(const struct pair *p)
{
	int sum;

	sum = p->left * weight[0] +
	      p->right;
	return sum;
}

/* Only zero may be changed this way. */
int twice(int value)
{
	value = value;
	value = value;
	return add(&(struct pair){ value, value });
}
"""

TEST = """\
#include <stdio.h>
int twice(int value);

int main(void)
{
	int seen = twice(2);

	printf("TAP version 13\\n1..1\\n%sok 1 twice_two_is_four\\n", seen == 4 ? "" : "not ");
	return seen != 4;
}
"""

PYTHON_SOURCE = """\
async def add_in_python(value,
                        other):
    return value + other


class Number:
    def __init__(self, value):
        self.value = value

    def twice_in_python(self):
        if self.value:
            return self.value * 2

        return None
"""

PYTHON_TEST = """\
#!/usr/bin/env python3
import sys
sys.path.insert(0, sys.path[0] + "/../../libcollsock")
import sum
print("ok 1" if sum.Number(2).twice_in_python() == 4 else "not ok 1 twice_two_is_four")
"""

MAKEFILE = """\
CORE := ../../kernel/core
$(OUTPUT)/test_sum: test_sum.c $(wildcard $(CORE)/*.c)
	@mkdir -p $(@D)
	cc -o $@ $^
"""

# It has a process in another session, and one that is told to end before it executes its program
# (as any may be that a shell has just forked), and does not end
ENDLESS = f"""\
#!/bin/sh
trap 'echo >{WORK}/cleaned; exit 1' TERM
setsid sleep 600 &
echo $! >{WORK}/processes
echo $$ >>{WORK}/processes
echo not ok 1 endless
sh -c 'trap "exec sleep 600" TERM; while :; do sleep 0.1; done'
"""

# Nor does this build
ENDLESS_MAKEFILE = f"""\
$(OUTPUT)/test_sum:
	setsid sleep 600 & echo $$! >{WORK}/processes; echo $$$$ >>{WORK}/processes; sleep 600
"""

HEAD = """\
promise: twice two is four
test: unit test_sum
says: not ok.*twice_two_is_four
"""

PYTHON_HEAD = HEAD.replace("test_sum", "test_number.py")

# By name: the outcome, and the file
EXPECTED = {
    "function-changed": ("killed", HEAD + """
in add:
-	sum = p->left * weight[0] + p->right;
+	sum = p->left * weight[0] - p->right;
"""),
    "table-changed": ("killed", HEAD + """
in weight:
-	1,
+	2,
"""),
    "struct-changed": ("killed", HEAD + """
in struct pair:
-	int	left, right;
+	int	left;
+	unsigned int right : 1;
"""),
    "line-inserted": ("killed", HEAD + """
in add:
+	sum = 0;
 	return sum;
"""),
    "function-inserted": ("killed", HEAD + """
before twice:
+static int three(void)
+{
+	return 3;
+}

in twice:
-	return add(&(struct pair){ value, value });
+	return three();
"""),
    "function-replaced": ("killed", HEAD + """
in twice:
-int twice(int value)
+static int twice_before(int value)

after twice_before:
+int twice(int value)
+{
+	return twice_before(value) + 1;
+}
"""),
    "method-in-python-changed": ("killed", PYTHON_HEAD + """
in twice_in_python:
-        if self.value:
-            return self.value * 2
+        if self.value:
+            return 5
"""),
    "function-in-python-ends": (
        "does not apply: add_in_python (libcollsock/sum.py): the text occurs 0 times: "
        "return None", PYTHON_HEAD + """
in add_in_python:
-        return None
+        return 5
"""),
    "changes-nothing-that-counts": ("survived: unit test_sum passes", HEAD + """
in add:
-	return sum;
+	return sum + 0;
"""),
    "says-something-else": (
        "fails for another reason: unit test_sum does not say: three",
        HEAD.replace("not ok.*twice_two_is_four", "three") + """
in add:
-	return sum;
+	return 5;
"""),
    "survives-the-second-test": (
        "survived: unit test_sum test_sum.py passes",
        HEAD + "test: unit test_sum test_sum.py\nsays: no matter\n" + """
in add:
-	return sum;
+	return 5;
"""),
    "syntax-error": ("does not build: ../../kernel/core/sum.c:20:19: error: expected", HEAD + """
in add:
-	return sum;
+	return sum
"""),
    "no-such-function": (
        "does not apply: subtract is not defined in "
        "kernel or uapi or libcollsock or tools/collsock", HEAD + """
in subtract:
-	return sum;
+	return 5;
"""),
    "two-such-functions": (
        "does not apply: same is defined 2 times: kernel/core/sum.c, kernel/other.c", HEAD + """
in same:
-	return 2;
+	return 5;
"""),
    "no-such-text": (
        "does not apply: add (kernel/core/sum.c): the text occurs 0 times: return total;",
        HEAD + """
in add:
-	return total;
+	return 5;
"""),
    "text-of-another-function": (
        "does not apply: twice (kernel/core/sum.c): the text occurs 0 times: return sum;",
        HEAD + """
in twice:
-	return sum;
+	return 5;
"""),
    "part-of-a-line": (
        "does not apply: add (kernel/core/sum.c): the text occurs 0 times: p->right", HEAD + """
in add:
-	p->right
+	5
"""),
    "text-twice": (
        "does not apply: twice (kernel/core/sum.c): the text occurs 2 times: value = value;",
        HEAD + """
in twice:
-	value = value;
+	value = 5;
"""),
    "nothing-to-change": (
        "does not apply: nothing-to-change.mutant: in add: nothing to change", HEAD + """
in add:
 	return sum;
"""),
    "no-test": (
        "does not apply: no-test.mutant: promise, test or edit is missing", """\
promise: twice two is four

in add:
-	return sum;
+	return 5;
"""),
    "no-such-suite": (
        "does not apply: no-such-suite.mutant: test check test_sum, says a: not understood", """\
promise: twice two is four
test: check test_sum
says: a

in add:
-	return sum;
+	return 5;
"""),
    "no-expression": (
        "does not apply: no-expression.mutant: test unit test_sum, says (a: not understood", """\
promise: twice two is four
test: unit test_sum
says: (a

in add:
-	return sum;
+	return 5;
"""),
    "any-test-may-fail": (
        "does not apply: any-test-may-fail.mutant: test unit test_sum, says not ok: whichever test "
        "fails", HEAD.replace("not ok.*twice_two_is_four", "not ok") + """
in add:
-	return sum;
+	return 5;
"""),
    "suite-without-a-kernel": (
        "does not apply: suite-without-a-kernel.mutant: test vm blocks check, says a: "
        "not understood", """\
promise: twice two is four
test: vm blocks check
says: a

in add:
-	return sum;
+	return 5;
"""),
    "not-understood": (
        "does not apply: not-understood.mutant:5: not understood: inside add:", HEAD + """
inside add:
-	return sum;
+	return 5;
"""),
}


# Says what is required, and would run on
ENDED = """\
promise: twice two is four
test: unit test_sum test_endless.py
says: not ok 1 endless

in add:
-	return sum;
+	return 5;
"""


def write(name, text):
    path = WORK / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def make_tree():
    for name in ("mutants/run", "mutants/mutant.py", "mutants/contain", "processes.py"):
        shutil.copy(MUTANTS.parent / name, write(f"selftests/{name}", ""))
    write("kernel/core/sum.c", SOURCE)
    write("kernel/other.c", OTHER_SOURCE)
    write("libcollsock/sum.py", PYTHON_SOURCE)
    write("selftests/unit/test_number.py", PYTHON_TEST).chmod(0o755)
    write("selftests/unit/test_sum.c", TEST)
    write("selftests/unit/test_sum.py", "#!/bin/true\n").chmod(0o755)
    write("selftests/unit/test_endless.py", ENDLESS).chmod(0o755)
    write("selftests/unit/Makefile", MAKEFILE)
    write(".gitignore", "build/\n")
    for name, (_, text) in EXPECTED.items():
        write(f"selftests/mutants/{name}.mutant", text)
    subprocess.run(["git", "init", "-q"], cwd=WORK, check=True)


def delay_noting_processes():
    """Make it likely that the runner is told to end between starting a process and noting it;
    returns whether it notes any."""
    note = "        running_processes.add(process)\n"
    runner = WORK / "selftests/mutants/run"
    text = runner.read_text(encoding="utf-8")
    runner.write_text(text.replace(note, "        time.sleep(1)\n" + note), encoding="utf-8")
    return note in text


def run(*names):
    """Returns the output and the status."""
    done = subprocess.run([WORK / "selftests/mutants/run", *names], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.splitlines(), done.returncode


def left_processes():
    """Of the endless test"""
    processes = (WORK / "processes").read_text(encoding="ascii").split()
    return [f"process {one} runs" for one in processes if pathlib.Path("/proc", one).exists()]


def end_early():
    """Returns the processes that are left when the runner is ended."""
    (WORK / "processes").unlink()
    with subprocess.Popen([WORK / "selftests/mutants/run", "endless"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        deadline = time.monotonic() + 60
        while not left_processes_are_known() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            return ["the runner"]
    return left_processes()


def left_processes_are_known():
    path = WORK / "processes"
    return path.exists() and len(path.read_text(encoding="ascii").split()) == 2


def results():
    """Yields promises, and the findings if one is broken."""
    lines, status = run()
    for name, (kind, _) in EXPECTED.items():
        start = re.compile(rf"{'' if kind == 'killed' else 'not '}ok \d+ {name}: {re.escape(kind)}")
        seen = [line for line in lines if f" {name}: " in line]
        yield f"{name}: {kind}", None if len(seen) == 1 and start.match(seen[0]) \
            else seen or ["not reported", *lines]

    kinds = [kind.partition(":")[0] for kind, _ in EXPECTED.values()]
    want = "# " + ", ".join(f"{kind}: {kinds.count(kind)}" for kind in (
        "killed", "survived", "fails for another reason", "does not apply", "does not build"))
    yield "each kind is counted", None if want in lines else [f"expected {want}", *lines[-1:]]
    yield "mutants that are not killed fail", None if status == 1 else [f"status {status}"]

    lines, status = run("function-changed", "table-changed")
    yield "mutants can be chosen, and all are killed", \
        None if "1..2" in lines and status == 0 else [f"status {status}", *lines]
    left = sorted(path.name for path in (WORK / "build/mutants").iterdir())
    yield "nothing is left of killed mutants", None if left == ["base.log"] else left

    write("selftests/mutants/ended.mutant", ENDED)
    lines, status = run("ended")
    yield "a test that has failed as required is ended, and all that it started", \
        lines if status else left_processes()
    yield "before that it can clean up", \
        None if (WORK / "cleaned").exists() else ["it was killed"]
    write("selftests/mutants/endless.mutant", ENDED.replace("1 endless", "2 endless"))
    yield "nothing runs on when the runner is ended", end_early()
    write("selftests/unit/Makefile", ENDLESS_MAKEFILE)
    yield "nor when it is ended while it builds", \
        end_early() if delay_noting_processes() else ["no process is noted"]
    write("selftests/unit/Makefile", MAKEFILE)

    write("kernel/core/sum.c", SOURCE.replace("return sum;", "return sum"))
    lines, status = run("function-changed")
    yield "a tree that does not build without a mutant is reported", \
        None if any(line.startswith("Bail out! Without a mutant the tree does not build: ")
                    for line in lines) and status == 1 else [f"status {status}", *lines]
    yield "all mutants of our tree apply", list(misfits())


def misfits():
    """Yields why mutants do not apply to our tree."""
    copy = WORK / "tree"
    for folder in mutant.FOLDERS:
        shutil.copytree(TREE / folder, copy / folder)
    for path in sorted(MUTANTS.glob("*.mutant")):
        try:
            changed = mutant.Mutant(path).apply(copy)
        except mutant.DoesNotApply as error:
            yield f"{path.stem}: {error}"
            changed = [one for folder in mutant.FOLDERS for one in (copy / folder).rglob("*.[ch]")]
        for one in changed:
            shutil.copy(TREE / one.relative_to(copy), one)


def main():
    make_tree()
    return tap.report(len(EXPECTED) + 10, results())


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(WORK)
