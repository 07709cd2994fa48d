# SPDX-License-Identifier: GPL-2.0
"""The processes of this machine, as proc(5) shows them."""

import pathlib

PARENT, TIMES = 1, slice(11, 15)  # of the fields after the name: stat of proc(5)


def all_processes():
    """Yields the number of each process, and the fields that follow its name."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        yield int(stat.parent.name), fields


def family(ancestor):
    """A process and those that descend from it: {number: fields}."""
    processes, children = {}, {}
    for process, fields in all_processes():
        processes[process] = fields
        children.setdefault(int(fields[PARENT]), []).append(process)
    found = [ancestor]
    for process in found:
        found += children.get(process, [])
    return {process: processes[process] for process in found if process in processes}


def clock_ticks(ancestor):
    """Processor time of a family, and of the processes that it waited for."""
    return sum(sum(map(int, fields[TIMES])) for fields in family(ancestor).values())
