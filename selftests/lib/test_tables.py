#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables of files in Documentation name every file, each above those that it includes; TAP."""
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402

# Where the table is, what is above it, and the files that it is about
TABLES = (
    ("architecture.md", r"\nEach uses only those further down; `core/env.h`", "kernel/*.[ch]"),
    ("architecture.md", r"\nThose in `libcollsock/src`", "libcollsock/src/[!u]*.[ch]"),
    ("architecture.md", r" Each uses only those further down\.\n", "libcollsock/src/user*.[ch]"),
    ("mpi.md", r"\nThe files in `libcollsock/mpi`, each using only those below it",
     "libcollsock/mpi/*.[ch]"),
)


def rows_of(page, above):
    """{name of a file without its suffix: number of its row}"""
    text = (TREE / "Documentation" / page).read_text(encoding="utf-8")
    table = re.search(above + r".*?\n((?:\|[^\n]*\n)+)", text, re.DOTALL)[1]
    first_columns = [line.split("|")[1] for line in table.splitlines()[2:]]
    return {name.removesuffix(".h"): number for number, column in enumerate(first_columns)
            for name in re.findall("`([^`]+)`", column)}


def findings(rows, files):
    """Yields what is wrong, as text."""
    there = {file.stem for file in files}
    yield from (f"{name} is in no row" for name in sorted(there - set(rows)))
    yield from (f"there is no {name}" for name in sorted(set(rows) - there))
    for file in files:
        text = file.read_text(encoding="utf-8")
        for used in re.findall(r'^#include "(\w+)\.h"', text, re.MULTILINE):
            if rows.get(used, len(rows)) < rows.get(file.stem, 0):
                yield f"{file.name} uses {used}, which is further up"


def in_order(page, above, pattern):
    wrong = list(findings(rows_of(page, above), sorted(TREE.glob(pattern))))
    assert not wrong, f"{page}: {'; '.join(wrong)}"


def finds(wanted, rows):
    seen = list(findings(rows, [TREE / "kernel/main.c", TREE / "kernel/env.c"]))
    assert wanted in seen, f"{wanted}: not in {seen}"


sys.exit(tap.run([
    *((f"{table[0]} has {table[2]} and each uses those below it", in_order, *table)
      for table in TABLES),
    ("a file without a row is found", finds, "env is in no row", {"main": 0}),
    ("a row without a file is found", finds, "there is no x", {"main": 0, "x": 1, "env": 2}),
    ("a file above one that includes it is found", finds,
     "main.c uses env, which is further up", {"env": 0, "main": 1}),
]))
