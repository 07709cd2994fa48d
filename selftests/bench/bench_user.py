# SPDX-License-Identifier: GPL-2.0
"""Instructions of ranks in user space, beside the host-based program."""

from bench_machine import boot, mean

HOSTS = 2, 4, 8, 16
BOUND = 1.75  # times the instructions of the host-based program
ENVIRONMENT = {"COLLSOCK_BACKEND": "user"}
PORT = "7700"  # the module has the usual one
LIMIT_SECONDS = 3600


def cases(arguments):
    algorithm = "--algorithm", "dissemination"
    for hosts in HOSTS:
        yield {"name": "user", "hosts": hosts, "repeats": 1, "environment": ENVIRONMENT,
               "arguments": ["collperf", "--port", PORT, *algorithm, *arguments]}
        yield {"name": "host", "hosts": hosts, "repeats": 1,
               "arguments": ["hostbased", *algorithm, *arguments]}


def user_faults(arguments):
    """Print what barriers cost; those that cost too much, as text."""
    rows = {}
    for case in boot("user", list(cases(arguments)), "--icount", limit_seconds=LIMIT_SECONDS):
        rows.setdefault(case["hosts"], {})[case["name"]] = \
            mean(sum(case["runs"], []), "mean_ns") / 1000
    print("\nThousands of guest instructions of a dissemination barrier, of all hosts, asleep.\n\n"
          "hosts  user space  host-based  ratio")
    for hosts, row in rows.items():
        print(f"{hosts:5}{row['user']:12.1f}{row['host']:12.1f}{row['user'] / row['host']:7.3f}")
    return [f"{hosts} hosts: more than {BOUND} times the host-based program"
            for hosts, row in rows.items() if row["user"] > BOUND * row["host"]]
