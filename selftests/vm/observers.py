#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=120
# suites: check soak
"""Those who only look cost running groups little, however many they are and whatever they ask."""

import contextlib
import os
import resource
import struct
import threading
import time

from collsock_netlink import DUMP, NLMSG_DONE, NUMBERS, REQUEST, Netlink
from collsock_test import (
    Child, Descriptor, Group, at_least, at_most, equal, main, netlink_on, rank_on, read_file, test,
    write_file)

TRACING = "/sys/kernel/tracing"
PROBE = "p:observed {} group=$arg4:u32"
NOBODY = 65534
THREADS = 16


@contextlib.contextmanager
def broadcasts(group):
    """Yields a function that tells where messages to these listeners were sent: (thread, flags)."""
    # Which one the macros of generic netlink call depends on the kernel
    try:
        write_file(f"{TRACING}/kprobe_events", PROBE.format("netlink_broadcast_filtered"))
    except OSError:
        write_file(f"{TRACING}/kprobe_events", PROBE.format("netlink_broadcast"))
    write_file(f"{TRACING}/events/kprobes/observed/filter", f"group == {group}")
    write_file(f"{TRACING}/trace", "")
    write_file(f"{TRACING}/events/kprobes/observed/enable", "1")
    try:
        yield lambda: [(line.rsplit("-", 1)[0].split("-")[0].strip(), line.split()[2])
                       for line in read_file(f"{TRACING}/trace").splitlines()
                       if " observed: " in line]
    finally:
        write_file(f"{TRACING}/events/kprobes/observed/enable", "0")
        write_file(f"{TRACING}/kprobe_events", "")


@test
def listeners_cost_a_worker_their_events_and_no_group():
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(netlink_on(1)) for _ in range(10)]
        for one in listeners:
            one.listen()
            one.socket.settimeout(20)
        with broadcasts(listeners[0].events) as contexts:
            group = Group((1, 2))
            group.barrier()
            group[1].close()
            group[0].run()
            group[0].close()
            for one in listeners:
                heard = [one.hear()["event"]]
                while heard[-1] != "group_ended":
                    heard.append(one.hear()["event"])
                equal("the first event", heard[0], "group_made")
            seen = contexts()
        at_least("events", len(seen), len(heard))
        equal("contexts that send them, other than workers",
              [one for one in seen if not one[0].startswith("kworker") or "s" in one[1]], [])


def shortest(call):
    times = []
    for _ in range(20):
        begin = time.monotonic()
        call()
        times.append(time.monotonic() - begin)
    return min(times)


@test
def counters_of_a_namespace_cost_the_same_whatever_groups_there_are():
    watcher = rank_on(1)
    few, ranks = shortest(watcher.net_stats), []
    for _ in range(3000):
        ranks.append(rank_on(1))
        ranks[-1].join(Descriptor((1,), window=1, max_bytes=8), 0)
    many = shortest(watcher.net_stats)
    print(f"# {few * 1e6:.0f} us without groups, {many * 1e6:.0f} us with {len(ranks)}")
    at_most("times as long", many / few, 5)


def look_again_and_again(netlink, command, flags, group, seconds):
    """Tells how often, and the share of time spent in the kernel."""
    request = struct.pack("=IHHIIBBHHHI", 28, netlink.family, REQUEST | flags, 1, 0,
                          NUMBERS[command], 1, 0, 8, NUMBERS["A_GROUP_HANDLE"], group)
    if not group:
        request = struct.pack("=I", 20) + request[4:20]
    begin, used, looks = time.monotonic(), resource.getrusage(resource.RUSAGE_THREAD), 0
    while time.monotonic() - begin < seconds:
        netlink.socket.send(request)
        looks += 1
        while flags and struct.unpack_from("=H", netlink.socket.recv(1 << 17), 4)[0] != NLMSG_DONE:
            pass
        if not flags:
            netlink.socket.recv(1 << 17)
    used = resource.getrusage(resource.RUSAGE_THREAD).ru_stime - used.ru_stime
    return looks, used / (time.monotonic() - begin)


def look(line, user, *arguments):
    os.setresuid(user, user, user)
    with contextlib.closing(Netlink()) as netlink:
        line.put(look_again_and_again(netlink, *arguments))


def rests(command, flags, group, most):
    child = Child(1, look, NOBODY, command, flags, group, 3)
    looks, share = child.get()
    child.finish()
    print(f"# {looks} times {command}, {share:.0%} of a processor")
    at_least("looks", looks, 1)
    at_most("share of a processor in the kernel", share, most)


def group_of_many_hosts():
    rank = rank_on(1)
    rank.join(Descriptor([1] + [f"10.1.{one // 250 + 1}.{one % 250 + 1}" for one in range(2000)]),
              0)
    return rank


@test
def who_looks_without_privilege_rests_most_of_the_time():
    with contextlib.closing(group_of_many_hosts()):
        rests("CMD_HOST_GET", DUMP, 0, 0.3)
        with netlink_on(1) as netlink:
            # Most of it is sending and receiving
            rests("CMD_GROUP_GET", 0, netlink.all("group")[-1]["handle"], 0.4)


@test
def who_looks_rests_even_if_no_group_has_anything_to_tell():
    with contextlib.ExitStack() as stack:
        for _ in range(1000):
            rank = stack.enter_context(contextlib.closing(rank_on(1)))
            rank.join(Descriptor((1,), window=64, max_bytes=8), 0)
        rests("CMD_OPERATION_GET", DUMP, 0, 0.3)


def look_by_threads(line):
    """Until it is killed"""
    os.setresuid(NOBODY, NOBODY, NOBODY)
    for _ in range(THREADS):
        threading.Thread(target=look_again_and_again,
                         args=(Netlink(), "CMD_HOST_GET", DUMP, 0, 1000)).start()
    line.put("started")
    # They end with this process.
    line.get()


def looks_of_another_user():
    child = Child(1, look, NOBODY - 1, "CMD_HOST_GET", DUMP, 0, 3)
    looks, _ = child.get()
    child.finish()
    return looks


@test
def who_looks_does_not_wait_for_the_threads_of_another_user():
    with contextlib.closing(group_of_many_hosts()):
        alone = looks_of_another_user()
        others = Child(1, look_by_threads)
        equal("threads have", others.get(), "started")
        beside = looks_of_another_user()
        others.kill()
    print(f"# {alone} dumps in the same time, {beside} beside {THREADS} threads")
    at_most("times as long", alone / beside, 4)


main(100)
