# SPDX-License-Identifier: GPL-2.0
"""Instructions of an all-reduce by both MACs, and what each double of it costs beyond its MAC."""

import shutil
import subprocess
import sys

from bench_machine import HERE, boot, mean, total

# All-reduces of doubles: one packet each
MACS = "siphash", "nh-siphash"
HOSTS = 2, 4
COUNTS = 1, 4, 16, 64, 132
# Between these a double's cost is measured
FEW, MANY, DOUBLE_BYTES = 4, 132, 8
# Those of the sender, which copies the payload meanwhile, and of the receiver
ENDS = "core_nh_siphash_copy", "core_nh_siphash"
# The greatest cost of a double, for a message sent and one received, without their MACs
BOUND = 40


def instructions_of(*candidates):
    """Those of the MAC of a packet, by candidates for it and bytes of payload."""
    if not shutil.which("valgrind"):
        sys.exit("bench: install valgrind, which counts the instructions of the MAC alone")
    counted = subprocess.run([HERE / "mac", *candidates], stdout=subprocess.PIPE, text=True,
                             check=True)
    (_, *lengths), *rows = map(str.split, counted.stdout.splitlines())
    return {name: dict(zip(map(int, lengths), map(int, row))) for name, *row in rows}


def instructions_of_macs():
    """By end, what the MAC of the default takes for each double of a payload."""
    costs = instructions_of(*ENDS)
    few, many = FEW * DOUBLE_BYTES, MANY * DOUBLE_BYTES
    return [(costs[end][many] - costs[end][few]) / (MANY - FEW) for end in ENDS]


def print_macs(rows):
    print("\nThousands of guest instructions of an all-reduce, all hosts together.\n")
    print("hosts  doubles  " + "  ".join(MACS) + "  ratio")
    for (hosts, count), row in rows.items():
        plain, hashed = (row[mac]["cost"] for mac in MACS)
        print(f"{hosts:5}{count:9}{plain / 1000:9.1f}{hashed / 1000:12.1f}{hashed / plain:7.3f}")


def double_faults(rows):
    """Print what a double costs; where it is too much, as text."""
    macs, mac = instructions_of_macs(), MACS[-1]
    print(f"""
Instructions of each further double (of {FEW} to {MANY}), of a host that sends and receives a
message with it. The MACs are the sender's ({macs[0]:.1f}) and the receiver's ({macs[1]:.1f}),
counted in user space (selftests/bench/mac). At most {BOUND} beyond them are accepted.

hosts  messages  a double   MACs  beyond""")
    faults = []
    for hosts in HOSTS:
        few, many = (rows[hosts, count][mac] for count in (FEW, MANY))
        each = (many["cost"] - few["cost"]) / (MANY - FEW) / hosts / many["messages"]
        beyond = each - sum(macs)
        print(f"{hosts:5}{many['messages']:10.2f}{each:10.1f}{sum(macs):7.1f}{beyond:8.1f}")
        if beyond > BOUND:
            faults.append(f"{hosts} hosts: a double costs {beyond:.1f} instructions beyond its "
                          f"MAC, at most {BOUND} are accepted")
    return faults


def mac_faults(arguments):
    """Print what all-reduces cost; the faults, as text."""
    cases = [{"name": [mac, count], "hosts": hosts, "repeats": 1,
              "arguments": ["collperf", "--operation", "allreduce", "--count", str(count),
                            "--mac", mac, *arguments]}
             for hosts in HOSTS for count in COUNTS for mac in MACS]
    rows = {}
    for case in boot("macs", cases, "--icount"):
        mac, count = case["name"]
        figures = sum(case["runs"], [])
        rows.setdefault((case["hosts"], count), {})[mac] = {
            "cost": mean(figures, "mean_ns"),
            "messages": total(figures, "messages") / total(figures, "operations")}
    print_macs(rows)
    return double_faults(rows)
