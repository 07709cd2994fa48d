#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=240 needs=NETFILTER
# suites: check soak
"""Ranks join with an exchange: the example of a shared folder, on hosts with all kinds of address.

Each rank is a process, on the host that a test says. All join and compute, or all end with one
error, which names a rank and says what to do.
"""

import contextlib
import pathlib
import re
import subprocess
import tempfile

from collsock_test import (
    SOAK, command, equal, eventually, ip_batch, main, set_tunables, test, test_each)

PROGRAM = "build/lib/examples/exchange"
HOSTS = (1, 2, 3, 4)
LAST_EXCHANGE = 3  # its files are there when all have joined, and packets have arrived
ENDLESS = "100000000"
LATE = re.compile(r"^exchange: rank \d+: waiting for rank \d+\n", re.M)


class Ranks(list):
    """Processes, one for each host of @placement, which is counted from 1."""

    def __init__(self, folder, placement, *options, of_rank=None):
        self.folder = pathlib.Path(folder)
        for rank, host in enumerate(placement):
            words = (of_rank or {}).get(rank, ())
            self.append(subprocess.Popen(
                ["onhost", f"h{host}", PROGRAM, *options, *words, folder, str(rank),
                 str(len(placement))],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True))

    def ends(self):
        """Status and output of each, without what those say that wait longer than usual"""
        outputs = [process.communicate()[0] for process in self]
        return [(process.returncode, LATE.sub("", said)) for process, said in zip(self, outputs)]

    def joined(self):
        return sum((self.folder / f"{LAST_EXCHANGE}-{rank}").exists() for rank in range(len(self)))


@contextlib.contextmanager
def ranks(placement, *options, **more):
    with tempfile.TemporaryDirectory(prefix="join.") as folder:
        started = Ranks(folder, placement, *options, **more)
        try:
            yield started
        finally:
            for process in started:
                process.kill()
                process.wait()


def all_work(placement, *options, barriers=3):
    with ranks(placement, "--count", str(barriers), *options) as started:
        count = len(placement)
        equal("what ranks say", started.ends(), [
            (0, f"rank {rank} of {count}: {barriers} barriers done, the sum of ranks is "
                f"{count * (count - 1) // 2}\n") for rank in range(count)])


def all_fail(placement, *options, words, **more):
    """All ranks end with the same words."""
    with ranks(placement, *options, **more) as started:
        equal("what ranks say", started.ends(), [
            (1, f"exchange: rank {rank}: {words}\n") for rank in range(len(placement))])


@contextlib.contextmanager
def changed(hosts, lines, back):
    """Inside, these commands of ip(8) have been executed on hosts, where {} is the host's number;
    @back reverses them."""
    for host in hosts:
        ip_batch(["-n", f"h{host}"], *(line.format(host) for line in lines))
    try:
        yield
    finally:
        for host in hosts:
            ip_batch(["-n", f"h{host}"], *(line.format(host) for line in back))


@contextlib.contextmanager
def blocked(host, family):
    """Inside, a host receives no packets to the port, over IPv4 (ip) or both (inet)."""
    command("onhost", f"h{host}", "nft", f"table {family} wall {{ chain input {{ type filter hook "
            "input priority 0; udp dport 7607 drop; }; }")
    try:
        yield
    finally:
        command("onhost", f"h{host}", "nft", f"delete table {family} wall")


@contextlib.contextmanager
def key_files(*keys):
    with tempfile.TemporaryDirectory(prefix="keys.") as folder:
        files = [pathlib.Path(folder) / str(number) for number in range(len(keys))]
        for file, key in zip(files, keys):
            file.touch(0o600)
            file.write_text(key * 32 + "\n")
        yield map(str, files)


# ---- hosts and their addresses ----

PLACEMENTS = [(HOSTS,), ((1, 2, 1, 3, 2),), ((1,),)]
if SOAK > 1:
    PLACEMENTS += [((1, 1, 1, 2, 2, 2),), ((1, 2, 1, 3, 3, 2, 3),), ((2, 2, 2),)]


@test_each(*PLACEMENTS)
def all_ranks_join_wherever_they_are(placement):
    all_work(placement)


WITHOUT_IPV4 = "addr del 10.1.0.{}/24 dev eth0",
IPV4 = "addr add 10.1.0.{}/24 dev eth0",
WITHOUT_IPV6 = "addr del fd00:1::{}/64 dev eth0",
IPV6 = "addr add fd00:1::{}/64 dev eth0",


@test
def hosts_without_ipv4_use_ipv6():
    with changed((2,), WITHOUT_IPV4, IPV4):
        all_work((1, 2, 2))


@test
def ipv6_is_used_where_it_is_asked_for():
    with blocked(2, "ip"):
        all_work((1, 2, 2), "--ipv6")


@test
def ranks_of_one_machine_need_no_network():
    with changed((1,), ("link set eth0 down",), ("link set eth0 up", *IPV6)):
        all_work((1, 1))


@test
def bridges_of_containers_are_not_taken_for_a_network_of_hosts():
    """They look like one, while eth0 is in a network of its own on each host."""
    lines = (*WITHOUT_IPV4, *WITHOUT_IPV6, "addr add 10.1.0.{}/32 dev eth0",
             "route add 10.1.0.0/24 dev eth0", "link add docker0 type dummy",
             "addr add 172.17.0.{}/16 dev docker0", "link set docker0 up")
    back = "link del docker0", "addr flush dev eth0", *IPV4, *IPV6
    with changed((1, 2), lines, back):
        all_work((1, 2))


@test
def a_host_that_has_loopback_only_is_named():
    with changed((2,), ("addr flush dev eth0",), (*IPV4, *IPV6)):
        all_fail((1, 2), words="join: rank 1 has no address that others can reach (see ip "
                 "address, COLLSOCK_NETWORK, the options network and family), or groups "
                 "there do not use UDP port 7607 (collsock get port; the option port, or "
                 "COLLSOCK_PORT)")


# ---- ranks that disagree, and networks that block ----

@test
def a_rank_with_another_name_is_named_on_all_ranks():
    all_fail((1, 2), "--name", "step", of_rank={1: ("--name", "other")},
             words="join: rank 1 has another name in its options than rank 0: all must have the "
                   "same")


@test
def a_rank_with_another_key_is_named_on_all_ranks():
    with key_files("1", "2") as (one, other):
        all_work((1, 2, 2), "--key-file", one)
        all_fail((1, 2, 2), "--key-file", one, of_rank={2: ("--key-file", other)},
                 words="join: rank 2 has another key in its options than rank 0: all must have "
                       "the same")


@test
def the_host_whose_port_is_blocked_is_named_in_time_on_all_ranks():
    """Another one waits for what it would send in the second round."""
    with blocked(4, "inet"):
        all_fail((1, 2, 3, 4), "--timeout", "1000",
                 words="join: rank 3 receives no packets: is UDP port 7607 open on its host for "
                       "all others?")


@test
def a_rank_that_may_not_join_is_named_on_all_ranks():
    """No group id of the process is in the range."""
    set_tunables(2, join_gid_low=2000, join_gid_high=2999)
    try:
        all_fail((1, 2), words="join: rank 1: not permitted here, or the key file is open to other "
                 "users; see collsock get join_gid_low join_gid_high; for MAC addresses collsock "
                 "device NAME allow; chmod 600 the key file")
    finally:
        set_tunables(2, join_gid_low=None, join_gid_high=None)


# ---- afterwards ----

@test
def a_killed_rank_is_named_by_all_others():
    with ranks((1, 1, 2, 3), "--count", ENDLESS) as started:
        eventually("ranks that have joined", started.joined, 4)
        started[2].kill()
        ends = started.ends()
    equal("what the others say", [(status, said.split(" group:")[0])
                                  for status, said in ends[:2] + ends[3:]],
          [(1, f"exchange: rank {rank}: barrier: rank 2 has left the") for rank in (0, 1, 3)])


main()
