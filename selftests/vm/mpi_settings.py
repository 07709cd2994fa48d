#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=240
# suites: check soak
"""Settings of the library for MPI, and its messages for impossible ones."""

import re

from collsock_test import (
    ON_DEBUG_KERNEL, PORT, SOAK, Skipped, command, equal, main, set_tunables, test, test_each)
from mpi_launch import BASELINE, KINDS, TIME_LIMIT, launch, passes, seed_of

IN_SOAK = SOAK > 1 and not ON_DEBUG_KERNEL
OTHER_PORT = 7700


def run(*settings):
    if BASELINE:
        raise Skipped("it is about the library")
    env = [word for setting in settings for word in ("--env", setting)]
    return launch("mpich", 2, 1, "latency", "1", "barrier", launcher=env)


@test
def bad_settings_and_hosts_without_an_address_are_reported():
    status, said = run("COLLSOCK_MPI_WINDOW=100")
    equal("ends", status != 0, True)
    equal("it says", "COLLSOCK_MPI_WINDOW=100: not a number from 1 to 64" in said, True)
    status, said = run("COLLSOCK_MPI=require", "COLLSOCK_MPI_NETWORK=10.99.0.0/16")
    equal("ends", status != 0, True)
    equal("it says", "no address that others can reach" in said, True)
    if not IN_SOAK:
        return
    status, said = run("COLLSOCK_MPI_VERBOSE=1", "COLLSOCK_MPI_NETWORK=10.99.0.0/16")
    equal("status of one that is only passed on", status, 0)
    equal("it says", "is left to the MPI library" in said, True)


@test
def segments_are_as_long_as_the_path_of_every_rank_allows():
    """IPv4, UDP and our headers take 124 bytes of a packet, and a segment is a multiple of 16. Only
    host 2 has the smaller MTU, of a route or of its device."""
    settings = "COLLSOCK_MPI=require", "COLLSOCK_MPI_VERBOSE=1", "COLLSOCK_MPI_AFTER=0"
    route = "ip", "-n", "h2", "route", "replace", "10.1.0.1", "dev", "eth0"
    device = "ip", "-n", "h2", "link", "set", "dev", "eth0", "mtu"
    cases = [((*device, "700"), (*device, "1500"), 576)]
    if IN_SOAK:
        cases += [((*route, "mtu", "1400"), route, 1264), ((*device, "1500"), (), 1376)]
    for change, undo, expected in cases:
        command(*change)
        status, said = run(*settings)
        if undo:
            command(*undo)
        equal(f"status, with the output {said}", status, 0)
        equal("segments", re.findall(r"with segments of (\d+) bytes", said), [str(expected)])


@test
def the_library_can_do_without_ip():
    """Then the segments are longer by the headers of IPv4 and UDP, rounded down."""
    status, said = run("COLLSOCK_MPI=require", "COLLSOCK_MPI_VERBOSE=1", "COLLSOCK_MPI_AFTER=0",
                       "COLLSOCK_MPI_BEARER=ethernet")
    equal(f"status, with the output {said}", status, 0)
    equal("segments", re.findall(r"with segments of (\d+) bytes", said), ["1392"])


@test
def ranks_are_in_user_space_where_somebody_wants_that():
    settings = "COLLSOCK_MPI=require", "COLLSOCK_MPI_VERBOSE=1", "COLLSOCK_MPI_AFTER=0"
    for backend, told in (("user", ", 2 of them in user space"), ("auto", "")):
        status, said = run(*settings, f"COLLSOCK_BACKEND={backend}")
        equal(f"status, with the output {said}", status, 0)
        equal(f"with {backend}", re.findall("of 2 ranks has joined(.*), with segments", said),
              [told])
    if IN_SOAK:
        status, said = run(*settings, "COLLSOCK_BACKEND=usr")
        equal("ends with another word", status != 0 and "cannot join" in said, True)


@test
def the_library_can_use_the_port_of_other_groups():
    """The port of these hosts as long as they exist."""
    for host in 1, 2:
        set_tunables(host, port=OTHER_PORT)
    for port, well in (PORT, False), (OTHER_PORT, True):
        status, said = run("COLLSOCK_MPI=require", f"COLLSOCK_MPI_PORT={port}")
        equal(f"well with {port}", status == 0, well)
        equal("it says", f"do not use UDP port {PORT}" in said, not well)


if IN_SOAK:
    @test_each(*KINDS)
    def operations_of_ranks_in_user_space_give_the_expected_results(kind):
        user = ["--env", "COLLSOCK_BACKEND=user"]
        passes(kind, 2, 2, "collectives", "--seed", seed_of(kind, "user"), launcher=user)
        passes(kind, 2, 1, "overlap", "--require", launcher=user)


main(TIME_LIMIT + 10)
