# SPDX-License-Identifier: GPL-2.0
"""Launches MPI programs with the library that handles their collective operations."""

import os
import subprocess

from collsock_test import SLOWDOWN, SOAK, Failed, seeded

KINDS = "openmpi", "mpich"
PROGRAMS = "build/mpi"
BASELINE = os.environ.get("COLLSOCK_BASELINE") == "1"
# The library takes all calls that it can, and reports them
SETTINGS = "COLLSOCK_MPI=on", "COLLSOCK_MPI_AFTER=0", "COLLSOCK_MPI_MAX_BYTES=1056"
LOSS = "delay", "1ms", "0.5ms", "loss", "2%"
# A soak has more machines at a time, even if it has no more work
TIME_LIMIT = 100 * SLOWDOWN * (1 + SOAK // 2)
# Of the program latency, and the calls that it measures
OPERATIONS = {
    "barrier": "MPI_Barrier", "bcast:8": "MPI_Bcast", "reduce:8": "MPI_Reduce",
    "allreduce:8": "MPI_Allreduce", "allgather:8": "MPI_Allgather",
    "allgatherv:16": "MPI_Allgatherv", "gather:8": "MPI_Gather", "scatter:8": "MPI_Scatter",
    "reduce_scatter_block:8": "MPI_Reduce_scatter_block", "scan:8": "MPI_Scan",
    "exscan:8": "MPI_Exscan"}


def library_of(kind):
    library = f"build/lib/mpi/libcollsock-mpi-{kind}.so"
    if not os.path.exists(library):
        raise Failed(f"{library} is missing: make -C libcollsock/mpi, or COLLSOCK_BASELINE=1")
    return library


def preloaded(kind):
    """Arguments of the launcher for it."""
    if BASELINE:
        return []
    settings = [word for setting in SETTINGS for word in ("--env", setting)]
    return ["--preload", library_of(kind), *settings]


def with_component(**parameters):
    """Arguments of the launcher of Open MPI for the component, which replaces the library: it
    takes all calls that it can, and reports them."""
    folder = os.path.abspath("build/lib/mpi")
    if not os.path.exists(f"{folder}/mca_coll_collsock.so"):
        raise Failed(f"{folder} has no mca_coll_collsock.so: make -C libcollsock/mpi")
    wanted = {"priority": 90, "after": 0, "max_bytes": 1056, "summary": 1, **parameters}
    words = [f"mca_base_component_path={folder}:SYSTEM_DEFAULT",
             *(f"coll_collsock_{name}={value}" for name, value in wanted.items())]
    return [word for parameter in words for word in ("--mca", parameter)]


def launch(kind, hosts, ranks, program, *args, launcher=(), preload=None, time_limit=TIME_LIMIT):
    """Run it; returns its status and its output."""
    preload = preloaded(kind) if preload is None else preload
    done = subprocess.run(
        ["mpi", kind, "--hosts", str(hosts), "--ranks", str(ranks), "--timeout", str(time_limit),
         *preload, *launcher, os.path.join(PROGRAMS, kind, program), *args],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def passes(kind, hosts, ranks, program, *args, launcher=(), preload=None,
           time_limit=TIME_LIMIT):
    """Run it; it must report success, and exit with status 0."""
    status, said = launch(kind, hosts, ranks, program, *args, launcher=launcher,
                          preload=preload, time_limit=time_limit)
    if status or "PASS\n" not in said:
        raise Failed(f"{program} {' '.join(args)}: status {status}:\n{said[-3000:]}")
    return said


def seed_of(*purpose):
    return hex(seeded("mpi", *purpose).getrandbits(60))
