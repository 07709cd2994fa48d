# SPDX-License-Identifier: GPL-2.0
"""Instructions of operations with a multicast address and without, through a bridge."""

from bench_floor import BEARERS
from bench_machine import boot, mean, total

HOSTS, REPEATS, LIMIT_SECONDS = (8, 16), 1, 3600
# With which algorithm where nothing is sent to all
OPERATIONS = {
    "barrier": {"operation": ("--operation", "barrier"),
                "algorithm": ("--algorithm", "dissemination")},
    "broadcast and barrier": {"operation": ("--operation", "broadcast", "--count", "4"),
                              "algorithm": ("--algorithm", "binomial")},
    "allreduce": {"operation": ("--operation", "allreduce", "--count", "4"),
                  "algorithm": ("--algorithm", "exchange")},
}
PROGRAMS = {
    ("UDP", "multicast"): ["collperf", "--multicast", "239.7.7.7"],
    ("UDP", "tree"): ["collperf"],
    ("Ethernet", "multicast"): ["collperf", "--ethernet", "--multicast", "03:00:00:00:00:01"],
    ("Ethernet", "tree"): ["collperf", "--ethernet"],
    ("UDP", "host-based"): ["hostbased"],
}


def cases(arguments):
    for hosts in HOSTS:
        for operation, its in OPERATIONS.items():
            for name, (program, *options) in PROGRAMS.items():
                algorithm = ("--algorithm", "kary") if name[1] == "multicast" else its["algorithm"]
                yield {"name": [operation, *name], "hosts": hosts, "repeats": REPEATS,
                       "bridge": True,
                       "arguments": [program, *options, *its["operation"], *algorithm,
                                     *arguments]}


def multicast(arguments):
    rows = {}
    for case in boot("multicast", list(cases(arguments)), "--icount",
                     limit_seconds=LIMIT_SECONDS):
        operation, bearer, name = case["name"]
        figures = sum(case["runs"], [])
        row = rows.setdefault((operation, case["hosts"]), {})
        row[bearer, name] = mean(figures, "mean_ns") / 1000
        if name == "multicast":
            row[bearer, "lone"] = total(figures, "lone_acks") * case["hosts"] / total(
                figures, "operations")
    print("\nThousands of guest instructions of all hosts, through a bridge. A barrier follows a\n"
          "broadcast and is included. With multicast k-ary trees, without dissemination, binomial\n"
          "trees and exchange; the host-based program is over UDP.\n")
    print("operation             hosts  bearer    multicast  lone acks  without  host-based  saved")
    for (operation, hosts), row in rows.items():
        for bearer in BEARERS:
            copied, host_based = row[bearer, "multicast"], row["UDP", "host-based"]
            print(f"{operation:21}{hosts:6}  {bearer:9}{copied:10.1f}{row[bearer, 'lone']:11.2f}"
                  f"{row[bearer, 'tree']:9.1f}{host_based:12.1f}{host_based / copied:6.2f}x")
