# SPDX-License-Identifier: GPL-2.0
"""Recording: the tracepoints of collsock, in a separate trace buffer."""

import contextlib
import os
import shutil
import signal
import time

TRACEFS = "/sys/kernel/tracing"
# The only clock that is the same on all processors and advances with real time
CLOCK = "mono"
BUFFER_KB = 8192  # per processor


class Unrecordable(Exception):
    """Recording is impossible; the text says why."""


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


@contextlib.contextmanager
def instance():
    """A new instance of tracefs."""
    folder = f"{TRACEFS}/instances/collsock-picture-{os.getpid()}"
    try:
        os.mkdir(folder)
    except FileNotFoundError as error:
        raise Unrecordable(f"{TRACEFS} is not mounted: mount -t tracefs tracefs {TRACEFS}") \
            from error
    except PermissionError as error:
        raise Unrecordable(f"only root can record ({folder}: {error.strerror})") from error
    try:
        yield folder
    finally:
        os.rmdir(folder)


def record(seconds, output):
    """Write the trace of the next seconds to @output."""
    with instance() as folder:
        if not os.path.isdir(f"{folder}/events/collsock"):
            raise Unrecordable("the module collsock is not loaded, or its kernel has no "
                               "tracepoints: modprobe collsock")
        write(f"{folder}/trace_clock", CLOCK)
        write(f"{folder}/buffer_size_kb", str(BUFFER_KB))
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        write(f"{folder}/events/collsock/enable", "1")
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(seconds)
        write(f"{folder}/events/collsock/enable", "0")
        with open(f"{folder}/trace", encoding="ascii", errors="replace") as trace:
            shutil.copyfileobj(trace, output)
