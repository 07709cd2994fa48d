#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run MPICH's own tests (selftests/mpi/mpich-tests) in a test machine; speaks TAP.

The lists that come with the tests say with how many ranks and which arguments each is run.
With --compare, a test that fails with the preloaded library, or with parameters, is run again
without them, and if it fails there, too, it is skipped, as they do not cause the failure.
"""

import argparse
import pathlib
import subprocess
import sys

FOLDERS = "coll", "comm", "attr", "threads/coll", "threads/comm"


class Test:
    """A line of a list: program, ranks, arguments and settings."""

    def __init__(self, folder, line):
        words = line.split()
        self.program, self.ranks = folder / words[0], int(words[1])
        self.args, self.settings = [], []
        for word in words[2:]:
            key, _, value = word.partition("=")
            if key == "arg":
                self.args.append(value)
            elif key == "env":
                self.settings.append(value)
        self.name = " ".join([f"{folder.parts[-1]}/{words[0]}", *self.args,
                              f"with {self.ranks} ranks"])


def tests_of(root, folders):
    for name in folders:
        folder = root / name
        for line in (folder / "testlist").read_text().splitlines():
            if len(line.split()) > 1 and (folder / line.split()[0]).exists():
                yield Test(folder, line)


def run(test, options, preload, mca):
    """Returns what is wrong, or nothing."""
    command = ["mpi", options.kind, "--hosts", str(min(options.hosts, test.ranks)),
               "--np", str(test.ranks), "--timeout", str(options.timeout * max(1, test.ranks // 4))]
    for setting in test.settings + options.env:
        command += ["--env", setting]
    if preload:
        command += ["--preload", preload]
    for parameter in mca:
        command += ["--mca", parameter]
    done = subprocess.run([*command, test.program, *test.args], cwd=test.program.parent,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    said = done.stdout.decode(errors="replace").strip()
    if not done.returncode and "No Errors" in said:
        return None
    return f"{said}\nstatus {done.returncode}"


def judge(test, options):
    """Returns whether it passes, a remark, and what to print before."""
    wrong = run(test, options, options.preload, options.mca)
    changed = options.preload or options.mca
    if wrong and changed and options.compare and run(test, options, None, ()):
        return True, " # SKIP fails with the MPI alone, too", wrong
    return not wrong, "", wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("openmpi", "mpich"))
    parser.add_argument("tests", type=pathlib.Path, help="the folder that mpich-tests has printed")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--preload", metavar="FILE")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--mca", action="append", default=[], metavar="NAME=VALUE",
                        help="parameter of Open MPI")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--folder", action="append", choices=FOLDERS)
    parser.add_argument("--only", action="append", metavar="PROGRAM")
    parser.add_argument("--least-ranks", type=int, default=1, metavar="N")
    parser.add_argument("--most-ranks", type=int, default=16, metavar="N")
    parser.add_argument("--timeout", type=int, default=120, metavar="SECONDS",
                        help="for each four ranks; they share processors (default: 120)")
    options = parser.parse_args()
    # Tests are started in their own folder
    options.tests = options.tests.resolve()
    options.preload = options.preload and str(pathlib.Path(options.preload).resolve())

    chosen = [test for test in tests_of(options.tests / options.kind, options.folder or FOLDERS)
              if options.least_ranks <= test.ranks <= options.most_ranks
              and (not options.only or test.program.name in options.only)]
    if not chosen:
        sys.exit(f"mpich_suite: no test was built in {options.tests}")
    print(f"TAP version 13\n1..{len(chosen)}", flush=True)
    failed = 0
    for number, test in enumerate(chosen, 1):
        fine, remark, wrong = judge(test, options)
        if wrong:
            print("\n".join(f"# {line}" for line in wrong.splitlines()[-20:]))
        print(f"{'ok' if fine else 'not ok'} {number} {options.kind} {test.name}{remark}",
              flush=True)
        failed += not fine
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
