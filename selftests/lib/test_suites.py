#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/run counts as failed what did not end as it should, and says what it saw; TAP."""
import importlib.machinery
import importlib.util
import pathlib
import sys

RUN = pathlib.Path(__file__).resolve().parents[1] / "run"
sys.path.insert(0, str(RUN.parent))
sys.dont_write_bytecode = True


def load():
    loader = importlib.machinery.SourceFileLoader("run", str(RUN))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
    loader.exec_module(module)
    return module


# What a program prints, its status, and then: passed, failed, skipped, the reason, what is said
PROGRAMS = {
    "all that passed": ("1..2\nok 1 a\nok 2 b # SKIP c", 0, (1, 0, 1), None, None),
    "a failed test, with its remarks":
        ("1..3\n# of a\nok 1 a\n# of b\nnot ok 2 b\n# saw\nok 3 c", 1, (2, 1, 0), None,
         ["# of b", "not ok 2 b", "# saw"]),
    "no plan, and the last lines": ("TAP version 13\nvm: it died", 124, (0, 1, 0), "no plan",
                                    ["TAP version 13", "vm: it died"]),
    "no result, and the last lines": ("1..2\nok 1 a\nvm: it died", 124, (1, 1, 0),
                                      "1 of 2 results", ["1..2", "ok 1 a", "vm: it died"]),
    "a status other than 0": ("1..1\nok 1 a", 3, (1, 1, 0), "status 3", ["1..1", "ok 1 a"]),
    "giving up": ("1..2\nok 1 a\nBail out! no", 0, (1, 1, 0), None,
                  ["1..2", "ok 1 a", "Bail out! no"]),
}


def main():
    run, failed = load(), 0
    print(f"1..{len(PROGRAMS)}")
    for number, (name, (text, status, counts, reason, said)) in enumerate(PROGRAMS.items(), 1):
        tap = run.Tap()
        for line in text.splitlines():
            tap.line(line)
        saw = tap.end(status)
        found = (tap.passed, tap.failed, tap.skipped), saw, list(tap.failures())
        right = found[:2] == (counts, reason) and (said is None or found[2] == said)
        if not right:
            print(f"# {found}")
        failed += not right
        print(f"{'ok' if right else 'not ok'} {number} {name}")
    return 1 if failed else 0


sys.exit(main())
