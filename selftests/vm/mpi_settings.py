#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=300
# suites: check soak
"""Settings of the library for MPI, and its messages for impossible ones."""

import contextlib
import re

from collsock_test import (
    ON_DEBUG_KERNEL, PORT, SOAK, Skipped, at_least, command, equal, main, set_tunables, test,
    test_each)
from ethernet_common import ETHERTYPE, Frames, collsock
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


@contextlib.contextmanager
def opened(*hosts):
    """Every user may use the device of these."""
    for host in hosts:
        collsock(host, "device", "eth0", "allow")
    try:
        yield
    finally:
        for host in hosts:
            collsock(host, "device", "eth0", "deny")


@contextlib.contextmanager
def ethernet_lost(host):
    """As in a network that carries IP only."""
    tc = "tc", "-n", f"h{host}"
    command(*tc, "qdisc", "add", "dev", "eth0", "clsact")
    command(*tc, "filter", "add", "dev", "eth0", "ingress", "protocol", hex(ETHERTYPE),
            "flower", "action", "drop")
    try:
        yield
    finally:
        command(*tc, "qdisc", "delete", "dev", "eth0", "clsact")


def joined_over(*settings):
    """The bearer and the segments of the communicator, which all ranks must have; whether frames
    of groups were seen; and the output."""
    frames = Frames(1)
    status, said = run("COLLSOCK_MPI=require", "COLLSOCK_MPI_VERBOSE=1", "COLLSOCK_MPI_AFTER=0",
                       *settings)
    equal(f"status, with the output {said}", status, 0)
    seen = bool(frames.read())
    frames.close()
    found = re.findall(r"joined over (\w+), with segments of (\d+) bytes", said)
    equal("communicators that have joined", len(found), 1)
    return (*found[0], seen), said


@test
def the_library_can_do_without_ip():
    """Then the segments are longer by the headers of IPv4 and UDP, rounded down."""
    with opened(1, 2):
        equal("where every user may", joined_over()[0], ("Ethernet", "1392", True))
        if IN_SOAK:
            equal("not as told", joined_over("COLLSOCK_MPI_BEARER=udp")[0],
                  ("UDP", "1376", False))
            equal("with an address", joined_over("COLLSOCK_MPI_MULTICAST=239.7.7.7")[0],
                  ("UDP", "1376", False))
    if IN_SOAK:
        equal("as told", joined_over("COLLSOCK_MPI_BEARER=ethernet")[0],
              ("Ethernet", "1392", True))


@test
def the_library_tries_udp_where_ethernet_carries_nothing():
    with opened(1, 2), ethernet_lost(2):
        found, said = joined_over()
        quiet = run("COLLSOCK_MPI=require", "COLLSOCK_MPI_AFTER=0") if IN_SOAK else (0, said)
    equal("joined", found, ("UDP", "1376", True))
    equal("status without COLLSOCK_MPI_VERBOSE", quiet[0], 0)
    for output in said, quiet[1]:
        at_least("lines that say so", len(re.findall(
            "of 2 ranks tries UDP instead of Ethernet, because of rank 1: no packets", output)), 1)


@test
def ranks_are_in_user_space_where_somebody_wants_that():
    settings = "COLLSOCK_MPI=require", "COLLSOCK_MPI_VERBOSE=1", "COLLSOCK_MPI_AFTER=0"
    for backend, told in (("user", ", 2 of them in user space"), ("auto", "")):
        status, said = run(*settings, f"COLLSOCK_BACKEND={backend}")
        equal(f"status, with the output {said}", status, 0)
        equal(f"with {backend}",
              re.findall("of 2 ranks has joined over UDP(.*), with segments", said), [told])
    if IN_SOAK:
        status, said = run(*settings, "COLLSOCK_BACKEND=usr")
        equal("ends with another word", status != 0 and "cannot join" in said, True)


if IN_SOAK:
    @test
    def the_library_prefers_udp_where_one_host_has_not_opened_its_device():
        """Who runs this has CAP_NET_RAW, which does not count."""
        with opened(1):
            equal("joined", joined_over()[0], ("UDP", "1376", False))

    @test_each(*KINDS)
    def later_communicators_do_not_try_ethernet_again(kind):
        with opened(1, 2), ethernet_lost(2):
            said = passes(kind, 2, 1, "collectives", "--seed", seed_of(kind, "again"), "--rounds",
                          "4", launcher=["--env", "COLLSOCK_MPI_VERBOSE=1"])
        equal("that try it", said.count("tries UDP instead of Ethernet"), 1)
        equal("that have joined over Ethernet", said.count("has joined over Ethernet"), 0)
        at_least("over UDP", said.count("has joined over UDP"), 2)

    @test_each(*KINDS)
    def operations_of_ranks_in_user_space_give_the_expected_results(kind):
        user = ["--env", "COLLSOCK_BACKEND=user"]
        passes(kind, 2, 2, "collectives", "--seed", seed_of(kind, "user"), launcher=user)
        passes(kind, 2, 1, "overlap", "--require", launcher=user)

    @test
    def the_library_can_use_the_port_of_other_groups():
        """The port of these hosts as long as they exist."""
        for host in 1, 2:
            set_tunables(host, port=OTHER_PORT)
        for port, well in (PORT, False), (OTHER_PORT, True):
            status, said = run("COLLSOCK_MPI=require", f"COLLSOCK_MPI_PORT={port}")
            equal(f"well with {port}", status == 0, well)
            equal("it says", f"do not use UDP port {PORT}" in said, not well)
        equal("without the setting", run("COLLSOCK_MPI=require")[0], 0)


main(TIME_LIMIT + 10)
