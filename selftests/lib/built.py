# SPDX-License-Identifier: GPL-2.0
"""What selftests/lib/Makefile builds, for tests in Python."""
import os
import pathlib
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = pathlib.Path(os.environ.get("OUTPUT") or TREE / "build/selftests-lib")


def program(name):
    """The path of a program. Where it is not built the test ends, and says how to build it."""
    path = OUTPUT / name
    if not path.exists():
        folder = f" OUTPUT={OUTPUT}" if os.environ.get("OUTPUT") else ""
        print(f"Bail out! {path} is not built: make -s -C {TREE}/selftests/lib{folder}", flush=True)
        sys.exit(1)
    return str(path)
