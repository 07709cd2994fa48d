#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=240
# suites: soak
"""Dumps and events while groups, namespaces and the module come and go."""

import contextlib
import random
import socket
import time

from collsock_netlink import DUMP, NUMBERS, REQUEST, Netlink
from collsock_test import (
    Child, Descriptor, command, main, netlink_on, on, rank_on, set_tunables, test)
from leftovers import load, references, unload

SECONDS = 12


def linger(host, count):
    """Groups without sockets, which send to no host."""
    for _ in range(count):
        rank = rank_on(host)
        rank.join(Descriptor([host, "10.1.9.9"] if False else [host, 4]), 0)
        rank.post()
        rank.close()


@test
def the_module_unloads_despite_listeners_and_a_half_read_dump():
    with netlink_on(1) as listener, netlink_on(1) as deaf:
        listener.listen()
        deaf.listen()
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        with netlink_on(1) as dump:
            linger(1, 60)
            dump.send(dump.family, NUMBERS["CMD_GROUP_GET"], (), REQUEST | DUMP)
            dump.socket.recv(4096)
            print("# references with a half-read dump:", references())
            try:
                unload()
                print("# unloaded under a half-read dump")
                load()
                linger(1, 60)
            except OSError as error:
                print("# refused:", error)
        unload()
        load()
        linger(1, 3)
        unload()
        load()
        try:
            listener.socket.settimeout(2)
            while True:
                listener.hear()
        except OSError as error:
            print("# listener:", error)


def joins(line, seed, host, until):
    numbers = random.Random(seed)
    while time.monotonic() < until:
        ranks = []
        try:
            with contextlib.suppress(OSError):
                descriptor = Descriptor([1, 2], id=seed)
                for number, where in enumerate((1, 2)):
                    ranks.append(rank_on(where))
                    ranks[-1].join(descriptor, number)
                if numbers.random() < 0.5:
                    ranks[0].post()
                    if numbers.random() < 0.5:
                        ranks[1].post()
                        ranks[0].complete()
        except Exception as error:  # pylint: disable=broad-except
            print("# join:", error)
        for rank in ranks:
            rank.close()


def ends(line, seed, host, until):
    numbers = random.Random(seed)
    with netlink_on(host) as netlink:
        while time.monotonic() < until:
            for group in netlink.all("group"):
                if numbers.random() < 0.5:
                    with contextlib.suppress(OSError):
                        netlink.end(group["handle"])


def dumps(line, seed, host, until):
    numbers = random.Random(seed)
    with netlink_on(host) as netlink:
        while time.monotonic() < until:
            what = numbers.choice(("group", "host", "rank", "peer", "operation", "early-packet",
                                   "user"))
            netlink.all(what)
            netlink.net()


def tunes(line, seed, host, until):
    numbers = random.Random(seed)
    with netlink_on(host) as netlink:
        while time.monotonic() < until:
            for name, values in (("port", (7607, 7608, None)), ("max_groups", (1, 3, None)),
                                 ("window", (1, 64, None)), ("idle_ms", (10, None))):
                with contextlib.suppress(OSError):
                    netlink.set_tunables(**{name: numbers.choice(values)})


def listens(line, seed, host, until):
    made, strange, overruns, total = set(), 0, 0, 0
    with netlink_on(host) as netlink:
        netlink.listen()
        netlink.socket.settimeout(1)
        while time.monotonic() < until:
            try:
                event = netlink.hear()
            except OSError:
                overruns += 1
                made = None
                continue
            total += 1
            if made is None:
                continue
            if event["event"] == "group_began":
                made.add(event["group"])
            elif event["group"] not in made:
                strange += 1
                print("# before group_began:", event)
    print("# events:", total, "before group_began:", strange, "pauses:", overruns)


@test
def dumps_events_and_settings_race_with_groups():
    until = time.monotonic() + SECONDS
    children = [Child(1, function, seed, host, until)
                for seed, (function, host) in enumerate((
                    (listens, 1), (joins, 1), (joins, 1), (ends, 1), (ends, 2), (dumps, 1),
                    (dumps, 2), (tunes, 1), (tunes, 2)), 50)]
    for child in children:
        child.finish()
    for host in (1, 2):
        set_tunables(host, port=None, max_groups=None, window=None, idle_ms=None)


@test
def a_namespace_ends_while_lingering_groups_are_ended():
    for number in range(6):
        name = f"go{number}"
        command("ip", "netns", "add", name)
        command("ip", "-n", name, "link", "set", "lo", "up")
        command("ip", "-n", name, "address", "add", "10.9.9.1/24", "dev", "lo")
        with on(name):
            netlink = Netlink()
            netlink.listen()
        for _ in range(5):
            rank = rank_on(name)
            rank.join(Descriptor(["10.9.9.1", "10.9.9.2"]), 0)
            rank.post()
            rank.close()
        for group in netlink.all("group")[:2]:
            netlink.end(group["handle"])
        netlink.send(netlink.family, NUMBERS["CMD_GROUP_GET"], (), REQUEST | DUMP)
        command("ip", "netns", "delete", name)
        netlink.close()
    time.sleep(1)


if __name__ == "__main__":
    main(120)
