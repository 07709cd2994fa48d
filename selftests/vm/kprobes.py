# SPDX-License-Identifier: GPL-2.0
"""Counting calls of the kernel's functions; scenarios that do need KPROBES."""

import contextlib

from collsock_test import read_file, write_file

TRACING = "/sys/kernel/tracing"


@contextlib.contextmanager
def calls(*functions):
    """Yields a function that tells how often one of these was called; MODULE:NAME is a module's."""
    names = {function: f"called{number}" for number, function in enumerate(functions)}
    write_file(f"{TRACING}/kprobe_events",
               "\n".join(f"p:{name} {function}" for function, name in names.items()))
    write_file(f"{TRACING}/events/kprobes/enable", "1")

    def called(function):
        counts = dict(line.split()[:2] for line in
                      read_file(f"{TRACING}/kprobe_profile").splitlines())
        return int(counts[names[function]])

    try:
        yield called
    finally:
        write_file(f"{TRACING}/events/kprobes/enable", "0")
        write_file(f"{TRACING}/kprobe_events", "")
