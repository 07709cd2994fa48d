# SPDX-License-Identifier: GPL-2.0
"""Instructions of an all-reduce by both MACs."""

from bench_machine import boot, mean

# All-reduces of doubles: one packet each
MACS = "siphash", "nh-siphash"
HOSTS = 2, 4
COUNTS = 1, 4, 16, 64, 132


def print_macs(arguments):
    """Thousands of instructions of an all-reduce by both MACs, all hosts together."""
    cases = [{"name": [mac, count], "hosts": hosts, "repeats": 1,
              "arguments": ["collperf", "--operation", "allreduce", "--count", str(count),
                            "--mac", mac, *arguments]}
             for hosts in HOSTS for count in COUNTS for mac in MACS]
    rows = {}
    for case in boot("macs", cases, "--icount"):
        mac, count = case["name"]
        figures = sum(case["runs"], [])
        rows.setdefault((case["hosts"], count), {})[mac] = mean(figures, "mean_ns") / 1000
    print("hosts  doubles  " + "  ".join(MACS) + "  ratio")
    for (hosts, count), row in rows.items():
        plain, hashed = (row[mac] for mac in MACS)
        print(f"{hosts:5}{count:9}{plain:9.1f}{hashed:12.1f}{hashed / plain:7.3f}")
