#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=1 limit=60 needs=KPROBES
# suites: check soak
"""A group that cannot be made, as a function of the kernel fails, harms no other and leaves
nothing."""

import contextlib
import errno
import os
import re
import socket

from collsock_test import (
    JOIN, SOL_COLLSOCK, Child, Descriptor, Failed, Rank, at_least, command, equal, errno_name,
    eventually, libc, main, make_namespace, namespace_has_gone, netlink_on, outcome, rank_on,
    read_file, test, tunables, write_file)
from kprobes import calls

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
FAULT = f"{TREE}/build/faults/build/{os.uname().release}/kernel/fault.ko"
PARAMETERS = "/sys/module/fault/parameters"
TRACE = "/sys/kernel/tracing"
PR_SET_NAME, JOINER = 15, "joiner"
NODE = 64  # slots of a node of an xarray
# From which an xarray has its nodes
CACHE_FUNCTIONS = "kmem_cache_alloc_lru_noprof", "kmem_cache_alloc_lru"


def try_to_join(rank, descriptor):
    """As the joiner; returns the error."""
    request, name, error = descriptor.bytes(0), read_file("/proc/self/comm").strip(), 0
    libc.prctl(PR_SET_NAME, JOINER.encode())
    try:
        rank.setsockopt(SOL_COLLSOCK, JOIN, request)
    except OSError as refusal:
        error = refusal.errno
    libc.prctl(PR_SET_NAME, name.encode())
    return errno_name(error)


def join(line, descriptor):
    line.put(try_to_join(Rank(), descriptor))


def join_twice(line, descriptor, another):
    """The same socket joins another group then."""
    rank = Rank()
    line.put(try_to_join(rank, descriptor))
    line.get()
    rank.join(another, 0)
    line.put((rank.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), outcome(rank.run())))


@contextlib.contextmanager
def fault(*functions, **parameters):
    """The first of these functions that there is fails in the joiner. Yields what lets it go on."""
    words = [f"{name}={value}" for name, value in {"process": JOINER, **parameters}.items()]
    for function in functions:
        with contextlib.suppress(Failed):
            command("insmod", FAULT, f"function={function}", *words)
            break
    equal("whether a function fails", os.path.exists(PARAMETERS), True)

    def let_go():
        write_file(f"{PARAMETERS}/go", "1")

    try:
        yield let_go
    finally:
        let_go()
        command("rmmod", "fault")


def joiner_waits():
    eventually("whether the joiner waits", lambda: read_file(f"{PARAMETERS}/waits").strip(), "Y")


# ---- handles ----

@contextlib.contextmanager
def host_without_groups(name):
    """Its handles begin at 1."""
    make_namespace(name, "10.1.0.77")
    try:
        yield
    finally:
        command("ip", "netns", "delete", name)
        namespace_has_gone(name)


def small(address):
    return Descriptor([address], window=1, max_bytes=8)


def handles(netlink):
    return [group["handle"] for group in netlink.all("group")]


@test
def who_finds_no_memory_for_a_handle_leaves_those_of_others_alone():
    """The xarray has told it one, which another group gets while it waits for memory."""
    with host_without_groups("fresh"), netlink_on("fresh") as netlink, \
            contextlib.ExitStack() as stack:
        for _ in range(NODE - 1):
            rank = stack.enter_context(rank_on("fresh"))
            rank.join(small("10.1.0.77"), 0)
        before = list(range(1, NODE))
        equal("handles", handles(netlink), before)
        # It tries twice: from the next handle on, and from the first.
        with fault(*CACHE_FUNCTIONS, caller="xa", call=2) as let_go:
            child = Child("fresh", join, small("10.1.0.77"))
            joiner_waits()
            other = stack.enter_context(rank_on("fresh"))
            other.join(small("10.1.0.77"), 0)
            equal("handles, before memory is refused", handles(netlink), [*before, NODE])
            let_go()
            equal("error of the joiner", child.get(), "ENOMEM")
            child.finish()
        equal("handles", handles(netlink), [*before, NODE])


# ---- memory ----

@test
def what_a_user_may_not_have_is_not_taken_from_others():
    """Not even until it is refused: another group gets all that the namespace has."""
    descriptor = Descriptor([1] + [f"10.9.0.{one}" for one in range(1, 201)], window=1, max_bytes=8,
                            liveness_ms=1000)
    watcher, other = rank_on(1), rank_on(1)
    with contextlib.closing(rank_on(1)) as rank:
        rank.join(descriptor, 0)
        each = watcher.net_stats().memory
    for what in "memory", "timewait_entries":
        eventually(what, lambda what=what: getattr(watcher.net_stats(), what), 0)
    with fault("coll_user_charge", caller="charge", error=-errno.EDQUOT) as let_go:
        child = Child(1, join, Descriptor([1, 2]))
        joiner_waits()
        equal("memory of the namespace meanwhile", watcher.net_stats().memory, 0)
        with tunables(max_memory_kib=-(-each // 1024)):
            other.join(descriptor, 0, nonce=1)
        let_go()
        equal("error of the joiner", child.get(), "EDQUOT")
        child.finish()
    equal("memory of the namespace", watcher.net_stats().memory, each)


# ---- publication ----

@contextlib.contextmanager
def timers(function):
    """Yields a function that tells which timers with that function are armed since."""
    events = [f"{TRACE}/events/timer/hrtimer_{name}" for name in
              ("start", "cancel", "expire_entry")]
    write_file(f"{TRACE}/trace", "")
    for event in events:
        write_file(f"{event}/enable", "1")

    def armed():
        found, started = set(), 0
        for name, timer, rest in re.findall(r": hrtimer_(\w+): hrtimer=(\w+)(.*)",
                                            read_file(f"{TRACE}/trace")):
            if name != "start":
                found.discard(timer)
            elif f"function={function}" in rest:
                found.add(timer)
                started += 1
        return found, started

    try:
        yield armed
    finally:
        for event in events:
            write_file(f"{event}/enable", "0")
        write_file(f"{TRACE}/trace", "")


def hear_of(netlink, event):
    """The group of the next event of that kind"""
    while True:
        heard = netlink.hear()
        if heard["event"] == event:
            return heard["group"]


@contextlib.contextmanager
def ended_before_publication(function, descriptor, *more):
    """A child joins this group, which netlink ends before it cannot be published. Yields the child
    and what lets it go on."""
    with netlink_on(1) as netlink, netlink_on(1) as listener:
        listener.listen()
        listener.socket.settimeout(20)
        with fault("coll_lookup_add", caller="coll_instance_hash",
                   error=-errno.ENOMEM) as let_go:
            child = Child(1, function, descriptor, *more)
            joiner_waits()
            group = hear_of(listener, "group_began")
            netlink.end(group)
            yield child, let_go
        equal("group that has ended", hear_of(listener, "group_ended"), group)
        equal("handles", handles(netlink), [])


@test
def a_group_that_is_ended_before_it_cannot_be_published_is_stopped_before_it_is_freed():
    """Its handle is there before packets can find it, and so netlink can end it. It then tells the
    other host again and again, as that one does not answer."""
    descriptor = Descriptor([1, "10.1.0.2"])
    with timers("coll_instance_expire") as armed, \
            ended_before_publication(join, descriptor) as (child, let_go):
        at_least("timers that the end of the group has started", armed()[1], 1)
        let_go()
        equal("error of the joiner", child.get(), "ENOMEM")
        equal("timers of the group that could not be made", armed()[0], set())
        child.finish()
    rank_on(1).join(descriptor, 0)


@contextlib.contextmanager
def groups_traced():
    """Yields a function that tells the events of groups: began, or ended."""
    events = [f"{TRACE}/events/collsock/coll_group_{name}" for name in ("began", "ended")]
    write_file(f"{TRACE}/trace", "")
    for event in events:
        write_file(f"{event}/enable", "1")
    try:
        yield lambda: re.findall(r" coll_group_(\w+): tag=(\w+)", read_file(f"{TRACE}/trace"))
    finally:
        for event in events:
            write_file(f"{event}/enable", "0")
        write_file(f"{TRACE}/trace", "")


@test
def the_trace_says_once_that_a_group_that_could_not_be_published_has_ended():
    """A group of another test may end meanwhile."""
    with groups_traced() as traced, fault("coll_lookup_add", caller="coll_instance_hash",
                                          error=-errno.ENOMEM) as let_go:
        child = Child(1, join, Descriptor([1, "10.1.0.2"]))
        joiner_waits()
        ((_, tag),) = [event for event in traced() if event[0] == "began"]
        let_go()
        equal("error of the joiner", child.get(), "ENOMEM")
        equal("events", [event for event, of in traced() if of == tag], ["began", "ended"])
        child.finish()


@test
def a_socket_whose_group_could_not_be_published_can_join_another():
    """The end of the group, which others may have heard of, is reported to it before JOIN fails."""
    report = "coll_completion_report"
    with calls(report) as called, ended_before_publication(
            join_twice, Descriptor([1, "10.1.0.2"]), Descriptor([1])) as (child, let_go):
        eventually("whether its socket has the error of the group",
                   lambda: called(report) > 0, True)
        let_go()
        equal("error of the joiner", child.get(), "ENOMEM")
        child.put("join another")
        equal("error of its socket, result of a barrier", child.get(), (0, "success"))
        child.finish()


main()
