# SPDX-License-Identifier: GPL-2.0
"""The experiments of the five papers: how each is measured, its columns, and its plots."""

import dataclasses
import typing

import machine
import model
import plots
import teams

LOG_HOSTS = "set logscale x 2"
# The model prints the same figures each time; from boot to boot counted instructions differ a
# little, and times of the emulated clock that include waiting by more
EXACT, COUNTED, WAITING = 0.0, 0.05, 0.5


@dataclasses.dataclass(frozen=True)
class Experiment:
    """
    paper: its number; where: "model" or "machine"; columns: of the table, of which the first keys
    say what a row is about; tolerance: by which a figure may differ unmentioned; measure: yields
    the rows; plot: (table, folder) writes plots of the experiment's name
    """
    name: str
    paper: str
    where: str
    about: str
    columns: tuple
    keys: int
    tolerance: float
    measure: typing.Callable
    plot: typing.Callable


# ---- 000, the NIC-based barrier ----

def plot_barrier(table, folder):
    plots.lines(folder / "barrier.svg", "Barrier at the MPI level (model)", "hosts", "µs", [
        ("host-based", table.points("mpi_hostbased_us")),
        ("collsock", table.points("mpi_collsock_us"))], LOG_HOSTS)


def plot_sizes(table, folder):
    plots.lines(folder / "sizes.svg", "Barrier at the MPI level, any number of hosts (model)",
                "hosts", "µs", [(f"{program}, {name}", table.points(column, algorithm=name))
                                for name in ("exchange", "dissemination")
                                for program, column in (("host-based", "hostbased_us"),
                                                        ("collsock", "collsock_us"))])


def plot_efficiency(table, folder):
    plots.lines(folder / "efficiency.svg", "Least computation for an efficiency (model)", "hosts",
                "µs", [(f"{program}, 0.{percent}", table.points(column, percent=percent))
                       for percent in (90, 75, 50, 25)
                       for program, column in (("host-based", "hostbased_us"),
                                               ("collsock", "collsock_us"))],
                LOG_HOSTS, "set logscale y", "set yrange [1:*]")


def plot_arrival(table, folder):
    plots.lines(folder / "arrival.svg", "By what 16 hosts are quicker with collsock (model)",
                "computation, µs", "µs a loop",
                [(f"± {vary} %", table.points("difference_us", vary_percent=vary))
                 for vary in (0, 1, 2, 5, 10, 20)],
                LOG_HOSTS, "set yrange [*:*]", "set xzeroaxis linetype -1")


def plot_programs(table, folder):
    plots.lines(folder / "programs.svg", "Synthetic programs: factor of improvement (model)",
                "hosts", "host-based / collsock",
                [(f"program {program}", table.points("factor", program=program))
                 for program in (1, 2, 3)], LOG_HOSTS, "set yrange [0.9:*]")


# ---- 001, the SCI collectives library ----

def plot_algorithms(table, folder):
    shown = ("dissemination", 2), ("dissemination", 4), ("dissemination", 16), \
        ("flat", 0), ("kary", 4), ("mcs", 0)
    plots.lines(folder / "algorithms.svg", "Barriers by algorithm and degree (model)", "hosts",
                "µs", [(f"{name}, {degree}" if degree else name,
                        table.points("us", algorithm=name, degree=degree))
                       for name, degree in shown])


def plot_nothing(table, folder):
    """The table is to be looked up."""


def plot_ranks(table, folder):
    plots.lines(folder / "ranks.svg", "Barrier with several ranks of each host (test machine)",
                "ranks of a host", "thousands of instructions, all hosts",
                [(f"{hosts} hosts", table.points("thousands", hosts=hosts))
                 for hosts in (8, 4, 2)], "set xtics 1")


# ---- 002, application-bypass reduction ----

def plot_skew(table, folder):
    late = sorted({int(key[1]) for key in table.rows})
    plots.lines(folder / "skew.svg", "Processor time of a reduce, 4 doubles, 32 hosts (model)",
                "hosts are late by up to, µs", "µs",
                [(name, [(at, dict(table.points(column, doubles=4, late_us=at))["32"])
                         for at in late])
                 for name, column in (("polling", "polling_us"), ("sleeping", "sleeping_us"),
                                      ("collsock", "collsock_us"))])
    plots.lines(folder / "skew-hosts.svg", "Polling / collsock, late by up to 1,000 µs (model)",
                "hosts", "factor",
                [(f"{doubles} doubles", table.points("factor", doubles=doubles, late_us=1000))
                 for doubles in (4, 32, 128)], LOG_HOSTS)


def plot_reduce(table, folder):
    plots.lines(folder / "reduce.svg", "Latency of a reduce, 4 doubles, spinning (model)", "hosts",
                "µs", [(name, table.points(column, doubles=4)) for name, column in
                       (("host-based", "spin_hostbased_us"), ("collsock", "spin_collsock_us"))],
                LOG_HOSTS)


# ---- 004, connections on demand ----

def plot_connections(table, folder):
    patterns = list(dict.fromkeys(key[0] for key in table.rows))
    plots.bars(folder / "connections.svg", "Connections of a host (test machine)", "",
               "connections", patterns,
               [(f"{hosts} hosts", [dict(table.points("connections", pattern=pattern))[str(hosts)]
                                    for pattern in patterns]) for hosts in (16, 32)],
               "set xtics rotate by -35")


def plot_startup(table, folder):
    plots.lines(folder / "startup.svg", "First barrier of a group (test machine)", "hosts",
                "µs of the emulated clock",
                [(f"{name}, neighbours {known}",
                  table.points("first_us", connections=name, neighbours=known))
                 for name in ("static", "on demand") for known in ("looked up", "known")] +
                [("a later barrier, on demand",
                  table.points("later_us", connections="on demand", neighbours="known"))],
                LOG_HOSTS)


def plot_first(table, folder):
    plots.lines(folder / "first.svg", "First barrier of a group (model)", "hosts", "µs", [
        ("all connections opened", table.points("static_us")),
        ("on demand", table.points("first_us")),
        ("a later barrier", table.points("later_us"))], LOG_HOSTS)


ALL = (
    Experiment("barrier", "000", "model", "latency of a barrier, and what the MPI level adds",
               ("hosts", "collsock_us", "hostbased_us", "factor", "mpi_collsock_us",
                "mpi_hostbased_us", "mpi_factor", "mpi_adds_us"), 1, EXACT, model.barrier,
               plot_barrier),
    Experiment("sizes", "000", "model", "the same for any number of hosts",
               ("algorithm", "hosts", "collsock_us", "hostbased_us", "factor"), 2, EXACT,
               model.sizes, plot_sizes),
    Experiment("efficiency", "000", "model", "least computation for an efficiency",
               ("percent", "hosts", "collsock_us", "hostbased_us", "factor"), 2, EXACT,
               model.efficiency, plot_efficiency),
    Experiment("arrival", "000", "model", "a computation that varies, and a barrier",
               ("vary_percent", "compute_us", "collsock_us", "hostbased_us", "difference_us"), 2,
               EXACT, model.arrival, plot_arrival),
    Experiment("programs", "000", "model", "three synthetic programs",
               ("program", "hosts", "collsock_us", "hostbased_us", "factor",
                "collsock_efficiency", "hostbased_efficiency"), 2, EXACT, model.programs,
               plot_programs),
    Experiment("algorithms", "001", "model", "barriers by algorithm, degree and hosts",
               ("algorithm", "degree", "hosts", "rounds", "messages", "work_us", "us"), 3, EXACT,
               model.algorithms, plot_algorithms),
    Experiment("choices", "001", "model", "operations by algorithm, degree, bytes and hosts",
               ("operation", "bytes", "algorithm", "degree", "hosts", "rounds", "messages",
                "work_us", "us", "auto"), 5, EXACT, model.choices, plot_nothing),
    Experiment("ranks", "001", "machine", "a second and third rank of each host",
               ("hosts", "ranks", "thousands"), 2, COUNTED, machine.ranks, plot_ranks),
    Experiment("skew", "002", "model", "processor time of a reduce when hosts are late",
               ("doubles", "late_us", "hosts", "collsock_us", "sleeping_us", "polling_us",
                "waiting_us", "factor", "lone_acks"), 3, EXACT, model.skew, plot_skew),
    Experiment("reduce", "002", "model", "latency of a reduce when none is late",
               ("doubles", "hosts", "sleep_collsock_us", "sleep_hostbased_us", "sleep_factor",
                "spin_collsock_us", "spin_hostbased_us", "spin_factor"), 2, EXACT, model.reduce,
               plot_reduce),
    Experiment("teams", "003", "machine", "threads, hosts, and both",
               (*teams.KEYS, teams.WORK.column), len(teams.KEYS), COUNTED, machine.teams,
               teams.plot),
    Experiment("connections", "004", "machine", "connections made by each operation",
               ("pattern", "hosts", "static", "connections", "utilization"), 2, COUNTED,
               machine.connections, plot_connections),
    Experiment("startup", "004", "machine", "join and first barrier, with neighbours known or not",
               ("connections", "neighbours", "hosts", "join_us", "first_us", "later_us", "factor",
                "peers"), 3, WAITING,
               machine.startup, plot_startup),
    Experiment("first", "004", "model", "the first barrier of a group",
               ("hosts", "first_us", "later_us", "factor", "connections", "static_us",
                "static_connections"), 1, EXACT, model.first, plot_first),
)
