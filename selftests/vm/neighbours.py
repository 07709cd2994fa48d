#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=180 needs=KPROBES
# suites: check soak
"""What one user does in a namespace does not hold up or displace what others have there."""

import contextlib
import errno
import os
import re
import resource
import socket
import time

from collsock_test import (
    CLONE_NEWNET, Child, Descriptor, Rank, at_least, at_most, equal, eventually, ip_batch, libc,
    main, member, netlink_on, rank_on, read_file, refused, test, tunables, write_file)
from kprobes import recorded

ONE, ANOTHER = 1000, 2000
USERS_ENTRIES = 4096  # COLL_TIMEWAIT_PER_USER
MANY_HOSTS = 65536
FEW = 65  # groups that leave room for more
LARGE = 4  # ranks that join large groups all the time
SECONDS = 4


def join_and_close(descriptor):
    rank = Rank()
    rank.join(descriptor, 0)
    rank.close()


def as_user(uid, function, *args):
    """In a process of its own, on host 1; it must succeed."""
    def run(line):
        resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 16, 1 << 16))
        os.setuid(uid)
        function(*args)
        line.put("done")

    child = Child(1, run)
    equal("the user's process", child.get(), "done")
    child.finish()


# ---- time-wait ----

def close_many(amount):
    for _ in range(amount):
        join_and_close(Descriptor([1], window=1, liveness_ms=60000))


@test
def quick_closes_of_a_user_do_not_displace_what_is_remembered_of_anothers_group():
    """A group that is remembered cannot be joined again: its late packets are answered. A user
    displaces the oldest of his own."""
    def close(user, function, argument):
        as_user(user, function, argument)
        eventually("groups", lambda: watcher.net_stats().groups, 0)

    watcher = rank_on(1)
    others, first = (Descriptor([1], liveness_ms=60000) for _ in range(2))
    close(ONE, join_and_close, others)
    before = watcher.net_stats().timewait_entries
    close(ANOTHER, join_and_close, first)
    close(ANOTHER, close_many, FEW)
    equal("entries", watcher.net_stats().timewait_entries, before + 1 + FEW)
    refused(errno.EADDRINUSE, "the user's first group, joined again", rank_on(1).join, first, 0)
    close(ANOTHER, close_many, USERS_ENTRIES - FEW)
    refused(errno.EADDRINUSE, "the user's group, joined again", rank_on(1).join, others, 0)
    rank_on(1).join(first, 0)


# ---- joining ----

def join_large_groups(line):
    """Joins groups with many hosts, of a network that is not there, until it is told to end."""
    hosts = [f"10.{2 + (n >> 16)}.{n >> 8 & 255}.{n & 255}" for n in range(1, MANY_HOSTS)]
    descriptor, count = Descriptor([1, *hosts], window=1), 0
    line.put("ready")
    line.socket.setblocking(False)
    while True:
        rank = Rank()
        rank.join(descriptor, 0, nonce=os.getpid() << 32 | count)
        rank.close()
        count += 1
        with contextlib.suppress(BlockingIOError):
            line.get()
            break
    line.socket.setblocking(True)
    line.put(count)


@test
def ranks_that_join_large_groups_do_not_delay_others():
    slow = [Child(1, join_large_groups) for _ in range(LARGE)]
    for child in slow:
        equal("the child is", child.get(), "ready")
    begin, small = time.monotonic(), 0
    while time.monotonic() < begin + SECONDS:
        rank_on(1).join(Descriptor([1], window=1), 0)
        small += 1
    for child in slow:
        child.put("end")
    large = sum(child.get() for child in slow)
    for child in slow:
        child.finish()
    print(f"# beside ranks of {large} large groups joined those of {small} small ones")
    at_least("ranks that joined, by large groups that others joined", small / large, 1)



# ---- what groups leave to be done ----

TRACE = "/sys/kernel/tracing"
QUEUED = f"{TRACE}/events/workqueue/workqueue_queue_work/enable"
NO_PROCESSOR = (1 << 32) - 1


@test
def groups_that_end_are_freed_and_told_on_no_processor_in_particular():
    """There may be thousands, and work that is bound to that processor would wait."""
    watcher = rank_on(1)
    with netlink_on(1) as netlink:
        netlink.listen()
        write_file(QUEUED, "1")
        try:
            as_user(ONE, close_many, 10)
            eventually("groups", lambda: watcher.net_stats().groups, 0)
        finally:
            write_file(QUEUED, "0")
    queued = re.findall(r"function=(pernet_tidy|event_queue_work)\b.* cpu=(-?\d+)",
                        read_file(f"{TRACE}/trace"))
    equal("work that is queued, and where",
          {(function, int(cpu) & NO_PROCESSOR) for function, cpu in queued},
          {("pernet_tidy", NO_PROCESSOR), ("event_queue_work", NO_PROCESSOR)})


# ---- memory that a joining process must wait for ----

PR_SET_NAME, JOINER = 15, b"joiner"
JOINS = 70  # more than a node of an xarray has slots
MUTEX_PROBES = ("p:lock mutex_lock mutex=$arg1:x64 caller=$stack0:symbol",
                "p:unlock mutex_unlock mutex=$arg1:x64")
ALLOCATIONS = "kmem/kmalloc", "kmem/kmem_cache_alloc"


@contextlib.contextmanager
def locks_and_allocations():
    """Yields a function that tells the events of the joiner in their order: (name, fields)."""
    joiner = f'comm == "{JOINER.decode()}"'
    with recorded(*MUTEX_PROBES, only=joiner) as trace:
        for event in ALLOCATIONS:
            write_file(f"{TRACE}/events/{event}/filter", joiner)
            write_file(f"{TRACE}/events/{event}/enable", "1")
        try:
            yield lambda: re.findall(rf"{JOINER.decode()}-\d+ .*: (\w+): (.*)", trace())
        finally:
            for event in ALLOCATIONS:
                write_file(f"{TRACE}/events/{event}/enable", "0")
                write_file(f"{TRACE}/events/{event}/filter", "0")


def allocated_under_mutexes(events):
    """What a process had to wait for, at its own expense, while it held a mutex of the module;
    and how often it took one."""
    held, taken, found = set(), 0, set()
    for name, fields in events:
        field = dict(re.findall(r"(\w+)=(\S+)", fields))
        if name == "lock" and "[collsock]" in fields:
            held.add(field["mutex"])
            taken += 1
        elif name == "unlock":
            held.discard(field["mutex"])
        elif held and {"GFP_KERNEL_ACCOUNT"} & set(field.get("gfp_flags", "").split("|")):
            found.add(field["call_site"])
    return found, taken


def join_many():
    libc.prctl(PR_SET_NAME, JOINER)
    for _ in range(JOINS):
        join_and_close(Descriptor([1], window=1, max_bytes=8))


@test
def no_memory_is_charged_to_a_joining_process_while_others_wait_for_it():
    """At the limit of its control group it would wait for long, with a mutex that others need."""
    rank_on(1).join(Descriptor([1], window=1), 0)
    with locks_and_allocations() as events:
        as_user(ONE, join_many)
        seen = events()
    found, taken = allocated_under_mutexes(seen)
    at_least("times that mutexes were taken", taken, JOINS)
    at_least("allocations", sum(name not in ("lock", "unlock") for name, _ in seen), JOINS)
    equal("allocated under mutexes by", found, set())


# ---- entries that make room ----

BATCH, ENTRIES = 256, 600  # BATCH of timewait_table.c
FORGETS = "p:forget coll_user_forget", "p:unlock mutex_unlock"
LARGE_TABLE = [f"10.9.{n >> 8}.{n & 255}" for n in range(1, 20000)]
HOST_BYTES = 32  # of a table with one rank on each host


@contextlib.contextmanager
def forgetting():
    """Yields a function that tells how many entries a thread has forgotten, at most, between two
    times that it released a mutex, and how many were forgotten together."""
    with recorded(*FORGETS) as trace:
        def tell():
            most, together, now = 0, 0, {}
            for thread, name in re.findall(r"-(\d+) +\[.*: (forget|unlock): ", trace()):
                now[thread] = now.get(thread, 0) + 1 if name == "forget" else 0
                most, together = max(most, now[thread]), together + (name == "forget")
            return most, together

        yield tell


def some_are_forgotten_at_a_time(tell, least):
    most, together = tell()
    print(f"# {together} entries are forgotten, at most {most} at a time")
    at_least("entries that are forgotten", together, least)
    at_most("entries that are forgotten at a time", most, BATCH)


def join_beside_entries(line, user, descriptor, closes):
    """Joins this group, or closes it, when the user has many entries, after being told so."""
    os.setuid(user)
    close_many(ENTRIES)
    rank = Rank()
    steps = [lambda: rank.join(descriptor, 0), rank.close]
    if closes:
        steps.pop(0)()
    line.put("ready")
    line.get()
    steps.pop(0)()
    line.put("done")
    line.get()


@test
def who_joins_forgets_some_entries_at_a_time():
    """Others wait for the mutex of the namespace meanwhile."""
    watcher, descriptor = rank_on(1), Descriptor([1], window=64, max_bytes=65536)
    eventually("groups", lambda: watcher.net_stats().groups, 0)
    with contextlib.closing(rank_on(1)) as rank:
        rank.join(descriptor, 0, nonce=1)
        needs = watcher.net_stats().memory
    child = Child(1, join_beside_entries, ONE + 1, descriptor, False)
    equal("the child is", child.get(), "ready")
    eventually("groups", lambda: watcher.net_stats().groups, 0)
    with tunables(user_memory_kib=needs // 1024 + 1), forgetting() as tell:
        child.put("join")
        equal("the child has", child.get(), "done")
        some_are_forgotten_at_a_time(tell, ENTRIES - 10)
    child.put("end")
    child.finish()


@test
def a_large_entry_replaces_some_entries_at_a_time():
    watcher = rank_on(1)
    descriptor = Descriptor([1, *LARGE_TABLE], window=1, max_bytes=8, liveness_ms=60000)
    child = Child(1, join_beside_entries, ONE + 2, descriptor, True)
    equal("the child is", child.get(), "ready")
    eventually("groups", lambda: watcher.net_stats().groups, 1)
    share = HOST_BYTES * len(LARGE_TABLE) // 1024 + 4
    with tunables(max_memory_kib=16 * share), forgetting() as tell:
        child.put("close")
        equal("the child has", child.get(), "done")
        eventually("groups", lambda: watcher.net_stats().groups, 0)
        some_are_forgotten_at_a_time(tell, ENTRIES - 30)
    refused(errno.EADDRINUSE, "the large group, joined again", rank_on(1).join, descriptor, 0)
    child.put("end")
    child.finish()


# ---- namespaces that end ----

NAMESPACES = 12
OWN_ADDRESSES = (("127.0.0.1", socket.AF_INET), ("02:00:00:00:09:01", socket.AF_PACKET))
ENDS = ("p:begin collsock:pernet_pre_end", "r:end collsock:pernet_pre_end",
        "p:begin_last collsock:pernet_end", "r:end_last collsock:pernet_end",
        "p:wait synchronize_rcu", "p:wait_expedited synchronize_rcu_expedited",
        "p:wait_callbacks rcu_barrier")


@contextlib.contextmanager
def ends_of_namespaces():
    """Yields a function that tells in their order what threads did: (thread, event)."""
    with recorded(*ENDS) as trace:
        yield lambda: re.findall(r"-(\d+) +\[.*: ((?:begin|end|wait)\w*): ", trace(go_on=True))


def hold_port_and_device(line):
    """In a namespace that ends with this process."""
    equal("unshare", libc.unshare(CLONE_NEWNET), 0)
    ip_batch((), "link set lo up",
             f"link add cable address {OWN_ADDRESSES[1][0]} type veth peer name pair")
    for address, family in OWN_ADDRESSES:
        descriptor = Descriptor([1], window=1)
        descriptor.members = [member(address, family)]
        Rank().join(descriptor, 0)
    line.put("ready")
    line.get()


def waits_of_the_module(events):
    """How often a thread waited for RCU while the module ended its part of a namespace."""
    ending, waits = set(), 0
    for thread, name in events:
        if name.startswith("begin"):
            ending.add(thread)
        elif name.startswith("end"):
            ending.discard(thread)
        else:
            waits += thread in ending
    return waits


@test
def many_namespaces_that_end_wait_for_rcu_together():
    """One worker of the kernel ends those of all users."""
    children = [Child(None, hold_port_and_device) for _ in range(NAMESPACES)]
    for child in children:
        equal("the child is", child.get(), "ready")
    with ends_of_namespaces() as tell:
        for child in children:
            child.kill()
        for child in children:
            child.end()
        eventually("namespaces that have ended",
                   lambda: [name for _, name in tell()].count("end_last"), NAMESPACES)
        seen = tell()
    names = [name for _, name in seen]
    equal("namespaces that have begun to end", names.count("begin"), NAMESPACES)
    at_least("grace periods of the kernel", names.count("wait") + names.count("wait_expedited"), 1)
    equal("grace periods of the module", waits_of_the_module(seen), 0)


main(limit=170)
