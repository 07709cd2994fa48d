#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=60
# suites: check debug soak
"""Which addresses members can have, and what times mean in the reader's namespace."""

import ctypes
import os
import socket
import time

from collsock_test import (
    Child, Descriptor, Rank, Skipped, clean_up, command, equal, errno_name, ip_batch, libc, main,
    make_namespace, member, rank_on, test, write_file)

CLONE_NEWTIME = 0x80
OFFSET_S = 1_000_000


def joined(own, others, family=socket.AF_INET, host=1, device=b""):
    """The error of joining as a member of that address, beside others, bound to a device."""
    descriptor = Descriptor([1])
    descriptor.members = [member(one, family) for one in (own, *others)]
    descriptor.host_of_rank = list(range(len(descriptor.members)))
    descriptor.fields.update(hosts=len(descriptor.members), ranks=len(descriptor.members))
    with rank_on(host) as rank:
        rank.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
        try:
            rank.join(descriptor, 0)
        except OSError as error:
            return errno_name(error.errno)
    return "joined"


@test
def addresses_that_no_host_can_have_are_refused():
    for bad in ("0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.255", "240.0.0.1",
                "255.255.255.255"):
        equal(f"a member {bad}", joined("10.1.0.1", [bad]), "EINVAL")
        equal(f"this host is {bad}", joined(bad, ["10.1.0.2"]), "EINVAL")
    for bad in ("::", "ff02::1", "ff0e::1234", "::ffff:10.1.0.2", "::ffff:0.0.0.0", "::10.1.0.2"):
        equal(f"a member {bad}", joined("fd00:1::1", [bad], socket.AF_INET6), "EINVAL")
        equal(f"this host is {bad}", joined(bad, ["fd00:1::2"], socket.AF_INET6), "EINVAL")
    equal("hosts", joined("10.1.0.1", ["10.1.0.2"]), "joined")
    equal("hosts", joined("fd00:1::1", ["fd00:1::2"], socket.AF_INET6), "joined")


@test
def the_broadcast_address_of_a_network_is_refused():
    for bad in "10.1.0.255", "127.255.255.255":
        equal(f"a member {bad}", joined("10.1.0.1", [bad]), "EADDRNOTAVAIL")
    equal("a host of which nothing is known", joined("10.1.0.1", ["10.1.0.254"]), "joined")


@test
def a_loopback_address_is_refused_beside_other_hosts():
    for own, others in (("127.0.0.1", ["10.1.0.2"]), ("127.0.1.1", ["127.0.0.1", "10.1.0.2"])):
        equal(f"{own} beside {others}", joined(own, others), "EADDRNOTAVAIL")
    equal("::1 beside a host", joined("::1", ["fd00:1::2"], socket.AF_INET6), "EADDRNOTAVAIL")
    equal("loopback addresses", joined("127.0.0.1", ["127.0.0.2", "127.9.9.9"]), "joined")
    equal("addresses of this host", joined("::1", ["fd00:1::1"], socket.AF_INET6), "joined")
    equal("addresses of this host", joined("10.1.0.1", ["127.0.0.1"]), "joined")


@test
def an_address_in_a_vrf_is_refused_with_an_error_of_its_own():
    make_namespace("vrf1", "10.1.0.201")
    try:
        try:
            ip_batch(("-n", "vrf1"), "link add red type vrf table 100", "link set red up")
        except Exception as error:
            raise Skipped(f"no VRF here: {error}") from error
        ip_batch(("-n", "vrf1"), "link set eth0 master red", "address add fd00:1::c9/64 dev eth0",
                 "link add plain type dummy", "link set plain up",
                 "address add 10.2.0.1/24 dev plain", "address add fd00:2::1/64 dev plain")
        time.sleep(0.2)
        equal("IPv4", joined("10.1.0.201", ["10.1.0.2"], host="vrf1"), "EXDEV")
        equal("IPv6", joined("fd00:1::c9", ["fd00:1::2"], socket.AF_INET6, "vrf1"), "EXDEV")
        equal("IPv4 beside it", joined("10.2.0.1", ["10.2.0.2"], host="vrf1"), "joined")
        equal("IPv6 beside it", joined("fd00:2::1", ["fd00:2::2"], socket.AF_INET6, "vrf1"),
              "joined")
        for device, outcome in ((b"plain", "joined"), (b"red", "EADDRNOTAVAIL"),
                                (b"eth0", "EADDRNOTAVAIL")):
            equal(f"IPv4 beside it, of a socket bound to {device}",
                  joined("10.2.0.1", ["10.2.0.2"], host="vrf1", device=device), outcome)
            equal(f"IPv6 beside it, of a socket bound to {device}",
                  joined("fd00:2::1", ["fd00:2::2"], socket.AF_INET6, "vrf1", device), outcome)
    finally:
        clean_up()
        ip_batch((), "netns delete vrf1")


# ---- time ----

def runs_a_barrier(line):
    rank = Rank()
    rank.join(Descriptor([1]), 0)
    before = time.monotonic_ns()
    sent = rank.run()
    rank.post()
    received = rank.complete()
    line.put((before, sent.posted_ns, sent.completed_ns, received.posted_ns,
              received.completed_ns, time.monotonic_ns()))


def in_a_time_namespace(line):
    """Only children are in it."""
    if libc.unshare(CLONE_NEWTIME):
        line.put(os.strerror(ctypes.get_errno()))
        return
    write_file("/proc/self/timens_offsets", f"monotonic {OFFSET_S} 0\n")
    child = Child(None, runs_a_barrier)
    line.put(child.get())
    child.finish()


@test
def times_are_those_of_the_readers_clock():
    child = Child(1, in_a_time_namespace)
    times = child.get()
    if isinstance(times, str):
        raise Skipped(f"no time namespaces here: {times}")
    equal(f"{times} are in order", times, tuple(sorted(times)))
    child.finish()


@test
def the_module_is_not_loaded_because_a_program_asks_for_a_socket():
    with open("/run/vm/settings", encoding="ascii") as settings:
        path = [line.partition("=")[2].strip().strip("'\"") for line in settings
                if line.startswith("VM_MODULE=")][0]
    equal("aliases of the module", command("modinfo", "-F", "alias", path), "")


if __name__ == "__main__":
    main()
