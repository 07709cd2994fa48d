# SPDX-License-Identifier: GPL-2.0
"""Acknowledgments that are sent alone, also where hosts compute between operations."""

from bench_machine import SLICE_US, boot, shared_ack_delay, total

COMPUTE_US, STEPS, LIMIT_SECONDS = 2000, 20, 3600
COMPUTING = "--steps", str(COMPUTE_US), "--iterations", str(STEPS), "--warm-up", "0"


def lone_acks(case):
    """Those of all hosts for an operation."""
    figures = sum(case["runs"], [])
    return total(figures, "lone_acks") * case["hosts"] / total(figures, "operations")


def lone_computing(boot_name, cases):
    """The same by name and hosts, if each host computes for 2 ms before each operation.

    Cases are (name, hosts, arguments of collperf, further members).
    """
    computing = [{"name": name, "hosts": hosts, "repeats": 1,
                  "parameters": shared_ack_delay(hosts),
                  "arguments": ["collperf", *arguments, *COMPUTING], **more}
                 for name, hosts, arguments, more in cases]
    return {(*case["name"], case["hosts"]): lone_acks(case)
            for case in boot(boot_name, computing, "--icount", slice_us=SLICE_US,
                             limit_seconds=LIMIT_SECONDS)}
