# SPDX-License-Identifier: GPL-2.0
"""Plots of threads, hosts, and both (paper 003): of counted work, or of times of collperf."""

import dataclasses
import math
import sys

import plots
import table

TEAMS = "mcs", "central"
ALGORITHMS = "dissemination", "mcs"
KEYS = "team", "algorithm", "threads", "hosts"
# Of the columns of collperf
USED = "team", "kind", "members", "algorithm", "hosts", "spin_us", "mean_ns"


@dataclasses.dataclass(frozen=True)
class Figures:
    """column: of the table; unit, hosts: what its values are of; source: who has measured them;
    decimals: in a heat map"""
    column: str
    unit: str
    hosts: str
    source: str
    decimals: int


WORK = Figures("thousands", "thousands of instructions", "all hosts", "test machine", 0)
TIMES = Figures("us", "microseconds", "mean of the hosts", "collperf", 1)


def plot(found, folder, figures=WORK):
    """Threads alone are those of one host, hosts alone have no team. Returns the paths drawn."""
    unit, source = figures.unit, figures.source
    drawn = [
        plots.lines(folder / "threads.svg", f"Barrier of the threads of one host ({source})",
                    "threads", unit,
                    [(team, found.points(figures.column, algorithm="-", team=team, hosts=1))
                     for team in TEAMS]),
        plots.lines(folder / "hosts.svg", f"Barrier of hosts with one thread ({source})", "hosts",
                    f"{unit}, {figures.hosts}",
                    [(name, found.points(figures.column, team="-", algorithm=name))
                     for name in ALGORITHMS])]
    for name in ALGORITHMS:
        cells = {(int(key[3]), int(key[2])): values[0] for key, values in found.rows.items()
                 if key[:2] == ("central", name)}
        drawn.append(plots.heat(
            folder / f"combined-{name}.svg",
            f"{unit.capitalize()}, central and {name} ({source})", "hosts", "threads of each",
            cells, figures.decimals))
    return [path for path in drawn if path]


# ---- times that collperf --team --csv has printed ----

def refuse(path, line, why):
    sys.exit(f"papers: {path}:{line}: {why}")


def check_names(path, line, names):
    missing = [name for name in USED if name not in names]
    if missing:
        refuse(path, line,
               f"no column {', '.join(missing)}: not what collperf --team --csv prints")


def rows_of(path):
    """Yields the number of each line of figures, and these by their names.

    Each rank prints a line of names and one of figures. Those of several ranks may alternate.
    """
    names, line, rows = (), 0, 0
    with open(path, encoding="ascii", errors="replace") as file:
        for line, text in enumerate(file, 1):
            fields = text.strip().split(",")
            if fields == [""]:
                continue
            if not names or "team" in fields:
                names = fields
                check_names(path, line, names)
                continue
            if len(fields) != len(names):
                refuse(path, line, f"{len(fields)} values for {len(names)} names")
            rows += 1
            yield line, dict(zip(names, fields))
    if not rows:
        refuse(path, max(line, 1), "the file ends without a line of figures")


def number(path, line, row, name, convert):
    try:
        value = convert(row[name])
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        refuse(path, line, f"{name} is {row[name]!r}, which is no number above 0")
    return value


def place(team, kind, members, algorithm, hosts):
    """The keys in the table, or None if no plot shows it; a team of one is a host alone."""
    if kind != "threads" or team not in TEAMS:
        return None
    if hosts == 1:
        return team, "-", members, 1
    if algorithm not in ALGORITHMS:
        return None
    if members == 1:
        return "-", algorithm, 1, hosts
    return (team, algorithm, members, hosts) if team == "central" else None


def read(paths):
    """A table for TIMES, of the mean of ranks and runs, and the names of what no plot shows."""
    times, others, spin = {}, set(), None
    for path in paths:
        for line, row in rows_of(path):
            members = number(path, line, row, "members", int)
            hosts = number(path, line, row, "hosts", int)
            us = number(path, line, row, "mean_ns", float) / 1000
            if spin not in (None, row["spin_us"]):
                refuse(path, line, f"spin_us is {row['spin_us']}, but {spin} in earlier lines: "
                       "a plot is of one or the other")
            spin = row["spin_us"]
            key = place(row["team"], row["kind"], members, row["algorithm"], hosts)
            if key:
                times.setdefault(key, []).append(us)
            else:
                others.add(f"{row['team']}:{row['kind']} with {row['algorithm']}")
    rows = [(*key, sum(values) / len(values)) for key, values in
            sorted(times.items(), key=lambda item: item[0][2:])]
    return table.Table((*KEYS, TIMES.column), len(KEYS), rows), sorted(others)
