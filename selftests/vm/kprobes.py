# SPDX-License-Identifier: GPL-2.0
"""Probes of the kernel's functions; scenarios that have some need KPROBES."""

import contextlib

from collsock_test import read_file, write_file

TRACING = "/sys/kernel/tracing"
PROBES = f"{TRACING}/events/kprobes"


@contextlib.contextmanager
def recorded(*probes, only=""):
    """Records these probes, "p:NAME FUNCTION ...", perhaps only where a filter applies. Yields
    trace(go_on=False), which returns what was recorded. It stops the recording first, because
    reading may call the function, too; with go_on it does not."""
    def trace(go_on=False):
        if not go_on:
            write_file(f"{PROBES}/enable", "0")
        return read_file(f"{TRACING}/trace")

    write_file(f"{TRACING}/kprobe_events", "\n".join(probes))
    try:
        write_file(f"{TRACING}/trace", "")
        if only:
            write_file(f"{PROBES}/filter", only)
        write_file(f"{PROBES}/enable", "1")
        yield trace
    finally:
        write_file(f"{PROBES}/enable", "0")
        write_file(f"{TRACING}/kprobe_events", "")
        write_file(f"{TRACING}/trace", "")


@contextlib.contextmanager
def calls(*functions):
    """Yields a function that tells how often one of these was called; MODULE:NAME is a module's."""
    names = {function: f"called{number}" for number, function in enumerate(functions)}

    def called(function):
        counts = dict(line.split()[:2] for line in
                      read_file(f"{TRACING}/kprobe_profile").splitlines())
        return int(counts[names[function]])

    with recorded(*(f"p:{name} {function}" for function, name in names.items())):
        yield called
