#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=1 limit=300 icount=1 smp=1
# suites: check soak
"""However many groups a user has that are due at the same time, each softirq is short, and other
users and packets have the processor.

One instruction takes one nanosecond here.
"""

import contextlib
import os
import re
import resource
import select
import time

from collsock_test import (
    BROADCAST, INT64, KARY, MODULE, QUIET, Child, Descriptor, Failed, Group, Rank, at_most, command,
    equal, ip_batch, libc, main, read_file, test, write_file)

TRACING = "/sys/kernel/tracing"
CLONE_NEWUSER, CLONE_NEWNET, PR_SET_DUMPABLE = 0x10000000, 0x40000000, 4
USER, FIRST_ID, SECONDS = 1000, 100000, 2
IDS = 65536  # of a container
GROUPS, MEMBERS = 300, 65  # each event leaves work for another
SMALL_GROUPS, SMALL_MEMBERS = 600, 9  # none does
TIMERS = "rto_floor_us", "rto_initial_us", "rto_ceiling_us", "rto_unheard_us"
TIMER_US = 10
LOCAL_RANKS = 64
MOST_MS, MOST_SHARE, MOST_WAKING_MS = 1, 0.6, 20


def make_namespaces():
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        raise Failed("no namespaces")


def make_device():
    ip_batch((), "link add d0 type dummy", "address add 10.9.0.1/16 dev d0", "link set d0 up")


def become_root_of_namespaces(line):
    """A user, who has one id there"""
    del line
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    libc.prctl(PR_SET_DUMPABLE, 1)
    make_namespaces()
    write_file("/proc/self/uid_map", f"0 {USER} 1")
    make_device()
    return 1


def become_root_of_a_container(line):
    """The machine's root gives it ids."""
    make_namespaces()
    line.put("in namespaces")
    line.get()
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    make_device()
    return IDS


def storm(line, groups, members, become):
    """Ask members of many groups, who are silent, as often as possible."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    ids = become(line)
    addresses = ["10.9.0.1"] + [f"10.9.1.{one}" for one in range(1, members)]
    ranks = [Rank() for _ in range(groups)]
    for number, rank in enumerate(ranks):
        os.setresuid(number % ids, -1, -1)
        rank.join(Descriptor(addresses, window=1, max_bytes=8, degree=members - 1), 0)
    for rank in ranks:
        rank.post(bytes(8), operation=BROADCAST, type=INT64, op=0, count=1, algorithm=KARY,
                  flags=QUIET)
    line.put("posted")
    line.get()


@contextlib.contextmanager
def fast_timers():
    """Root of a namespace may not have them, unless the machine's are as fast."""
    before = {path: read_file(path) for path in map(f"{MODULE}/parameters/{{}}".format, TIMERS)}
    for path in before:
        write_file(path, str(TIMER_US))
    try:
        yield
    finally:
        for path, value in before.items():
            write_file(path, value.strip())


@contextlib.contextmanager
def stormy(groups=GROUPS, members=MEMBERS, become=become_root_of_namespaces):
    with fast_timers():
        child = Child(None, storm, groups, members, become)
        if become is become_root_of_a_container:
            equal("the child is", child.get(), "in namespaces")
            for ids in "uid_map", "gid_map":
                write_file(f"/proc/{child.pid}/{ids}", f"0 {FIRST_ID} {IDS}")
            child.put("go on")
        equal("the child has", child.get(), "posted")
        yield
        child.kill()


@contextlib.contextmanager
def softirqs():
    """Yields a function that tells how long each softirq lasted, by kind, in seconds."""
    if not os.path.exists(f"{TRACING}/trace"):
        command("mount", "-t", "tracefs", "tracefs", TRACING)
    write_file(f"{TRACING}/buffer_size_kb", "16384")
    write_file(f"{TRACING}/trace_clock", "mono")
    write_file(f"{TRACING}/trace", "")

    def enable(value):
        for event in "softirq_entry", "softirq_exit":
            write_file(f"{TRACING}/events/irq/{event}/enable", value)

    def tell():
        enable("0")
        begun, lasted = {}, {}
        for when, edge, kind in re.findall(r"(\d+\.\d+): softirq_(entry|exit): .*action=(\w+)",
                                           read_file(f"{TRACING}/trace")):
            if edge == "entry":
                begun[kind] = float(when)
            elif kind in begun:
                lasted.setdefault(kind, []).append(float(when) - begun.pop(kind))
        return lasted

    enable("1")
    try:
        yield tell
    finally:
        enable("0")


def softirqs_are_short(groups, members):
    with stormy(groups, members), softirqs() as tell:
        time.sleep(SECONDS)
        lasted = tell()
    for kind, times in sorted(lasted.items()):
        print(f"# {len(times)} {kind}: the longest {max(times) * 1e3:.2f} ms, "
              f"together {sum(times) / SECONDS:.0%} of the time")
    at_most("ms of the longest softirq", max(max(times) for times in lasted.values()) * 1e3,
            MOST_MS)
    at_most("share of time", sum(map(sum, lasted.values())) / SECONDS, MOST_SHARE)


@test
def a_softirq_is_short_and_half_of_the_processor_is_left():
    softirqs_are_short(GROUPS, MEMBERS)


@test
def a_softirq_is_short_when_the_events_of_timers_leave_no_work():
    softirqs_are_short(SMALL_GROUPS, SMALL_MEMBERS)


def waking_ms():
    """From the last post until all local ranks, which sleep, are woken: most of them in turns."""
    group = Group([1], placement=[0] * LOCAL_RANKS, window=4)
    group.barrier()
    with select.epoll() as sleeping:
        for rank in group:
            sleeping.register(rank, select.EPOLLIN | select.EPOLLET)
        group.post()
        begin, woken = time.monotonic(), set()
        while len(woken) < LOCAL_RANKS:
            woken.update(number for number, _ in sleeping.poll())
        taken = (time.monotonic() - begin) * 1e3
    group.close()
    return taken


def turns_are_not_late(become):
    with stormy(become=become):
        times = [waking_ms() for _ in range(5)]
    print(f"# {LOCAL_RANKS} ranks are woken within {max(times):.1f} ms")
    at_most("ms until all are woken", max(times), MOST_WAKING_MS)


@test
def turns_of_other_users_are_not_late():
    turns_are_not_late(become_root_of_namespaces)


@test
def nor_are_they_if_root_of_a_container_makes_each_group_as_another_of_its_users():
    turns_are_not_late(become_root_of_a_container)


main(120)
