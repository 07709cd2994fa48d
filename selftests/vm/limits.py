#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=90
# suites: check debug rt soak
"""What one user can take is limited and told; what nobody holds any more ends in time."""

import contextlib
import json
import os
import subprocess
import time

from collsock_netlink import Netlink, NetlinkError
from collsock_test import (
    CLONE_NEWNET, MODULE, Child, Descriptor, Group, Rank, at_least, at_most, enter, equal,
    errno_name, eventually, libc, main, netlink_on, outcome, rank_on, read_file, test, test_each,
    tunables, until_nothing_lingers, write_file)

USER, ANOTHER, FIRST_ID = 1000, 1001, 100000
# Of them time-wait entries stay
FORGETFUL, WANDERING, GROWING = 1002, 1003, 1004
CLONE_NEWUSER = 0x10000000
ROOM = {"max_bytes": 65536, "window": 8}
# Hosts that are not there, so that a table of members is large
OTHERS = [f"10.9.{n >> 8}.{n & 255}" for n in range(1, 1001)]
ENTRY_LEAST = 28 * len(OTHERS)
LARGE_TABLE = {"others": OTHERS, "window": 1, "max_bytes": 8}


# ---- a process that joins when it is told to ----

def be_user(number):
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)


def joins(line, user):
    """Joins a group of this host and others for each order (host, others, fields); a number
    closes that one."""
    sockets = {}
    for host in (1, 2):
        enter(host)
        sockets[host] = [Rank() for _ in range(8)]
    if user == "in a user namespace":
        be_user(USER)
        libc.unshare(CLONE_NEWUSER)
        line.put("unshared")
        line.get()
        be_user(5)
    else:
        be_user(user)
    joined = []
    line.put("ready")
    while (order := line.get()) is not None:
        if isinstance(order, int):
            joined.pop(order).close()
            line.put("closed")
            continue
        host, others, fields = order
        try:
            sockets[host][-1].join(Descriptor([host, *others], **fields), 0)
            joined.append(sockets[host].pop())
            line.put("joined")
        except OSError as error:
            line.put(errno_name(error.errno))


class User(Child):
    def __init__(self, user):
        super().__init__(None, joins, user)
        if user == "in a user namespace":
            self.get()
            for ids in "uid_map", "gid_map":
                write_file(f"/proc/{self.pid}/{ids}", f"0 {FIRST_ID} 65536")
            self.put("go on")
        equal("the user is", self.get(), "ready")

    def join(self, host=1, others=(), **fields):
        self.put((host, others, fields))
        return self.get()

    def close_one(self):
        self.put(0)
        equal("the group is", self.get(), "closed")

    def done(self):
        self.put(None)
        self.finish()


def parameter(name):
    return int(read_file(f"{MODULE}/parameters/{name}"))


def told(user, host=None):
    """What netlink tells of a user."""
    with netlink_on(host) if host else on_first_namespace() as netlink:
        found = [one for one in netlink.all("user") if one["uid"] == user]
    return found[0] if found else None


@contextlib.contextmanager
def on_first_namespace():
    netlink = Netlink()
    try:
        yield netlink
    finally:
        netlink.close()


@test
def a_group_that_is_gone_does_not_count():
    """A user who sees that may join another one at once."""
    until_nothing_lingers(1, 2)
    with tunables(user_groups=1), netlink_on(1) as netlink:
        user = User(USER)
        for _ in range(8):
            equal("a group", user.join(1), "joined")
            user.close_one()
            while netlink.all("group"):
                pass
        user.done()


@test
def a_user_has_a_limited_number_of_groups_in_all_namespaces_together():
    until_nothing_lingers(1, 2)
    with tunables(user_groups=3):
        user, another = User(USER), User(ANOTHER)
        equal("groups", [user.join(1), user.join(2), user.join(1)], ["joined"] * 3)
        equal("one more", user.join(1), "EMFILE")
        equal("one more elsewhere", user.join(2), "EMFILE")
        equal("another user", another.join(1), "joined")
        groups = [Group([1]) for _ in range(5)]
        groups[0].barrier()
        one = told(USER)
        equal("told", (one["groups"], one["groups_limit"]), (3, 3))
        equal("told of another user", told(ANOTHER)["groups"], 1)
        equal("told of root, whom nothing limits",
              (told(0)["groups"], "groups_limit" in told(0)), (5, False))
        watcher = rank_on(1)
        equal("refusals that are counted", watcher.net_stats().over_user, 1)
        user.close_one()
        eventually("groups", lambda: told(USER)["groups"], 2)
        equal("a group when one has ended", user.join(2), "joined")
        user.done()
        another.done()
        eventually("of a user without groups is told", lambda: told(USER), None)


@test
def a_user_has_a_limited_part_of_the_memory():
    until_nothing_lingers(1, 2)
    user = User(USER)
    equal("a group", user.join(1, **ROOM), "joined")
    each = told(USER)["memory"]
    at_least("bytes of a large group", each, 100_000)
    with tunables(user_memory_kib=-(-2 * each // 1024)):
        equal("another", user.join(2, **ROOM), "joined")
        equal("one more", user.join(1, **ROOM), "EDQUOT")
        equal("one more elsewhere", user.join(2, **ROOM), "EDQUOT")
        equal("limit that is told", told(USER)["memory_limit"], -(-2 * each // 1024) * 1024)
        equal("memory that is told", told(USER)["memory"], 2 * each)
        Group([1], **ROOM).barrier()
    equal("when there is more", user.join(1, **ROOM), "joined")
    user.done()


# ---- time-wait entries ----

def remember(user, number, *hosts, entries):
    """Groups with large tables are joined and closed on these hosts, one after the other.

    Memory of a group counts until it is freed, a grace period after the group has gone.
    """
    for host in hosts:
        equal("a group", user.join(host, **LARGE_TABLE, liveness_ms=60000), "joined")
        user.close_one()
        eventually("groups", lambda: told(number)["groups"], 0)
    eventually("time-wait entries", lambda: told(number)["memory"] // ENTRY_LEAST, entries)
    return told(number)["memory"]


@test
def time_wait_entries_have_a_quarter_of_a_users_memory_in_all_namespaces_together():
    user, quarter = User(WANDERING), 128 * 1024
    with tunables(user_memory_kib=512):
        entry = remember(user, WANDERING, 1, entries=1)
        equal("two of them", remember(user, WANDERING, 2, entries=2), 2 * entry)
        most = quarter // entry
        equal("too many", remember(user, WANDERING, 1, 2, 1, 2, entries=most), most * entry)
        equal("in another namespace", remember(user, WANDERING, 2, 2, 2, entries=most),
              most * entry)
    user.done()


@test
def a_user_who_joins_loses_time_wait_entries_of_that_namespace():
    user = User(GROWING)
    with tunables(user_memory_kib=8192):
        entries = remember(user, GROWING, 1, 1, 2, entries=3)
        equal("a group", user.join(2, **ROOM), "joined")
        each = told(GROWING)["memory"] - entries
        user.close_one()
        eventually("memory of the group is free",
                   lambda: told(GROWING)["memory"] < entries + each, True)
    watcher = rank_on(1)
    before = watcher.net_stats()
    with tunables(user_memory_kib=-(-(entries // 3 + each) // 1024) + 1):
        equal("where the user has two entries", user.join(1, **ROOM), "joined")
        equal("where the user has one", user.join(2, **ROOM), "EDQUOT")
    equal("refusals that are counted", watcher.net_stats().over_user, before.over_user)
    user.done()


@test
def memory_of_a_time_wait_entry_is_charged_until_it_ends():
    user = User(FORGETFUL)
    equal("a group", user.join(1, **LARGE_TABLE, liveness_ms=1500), "joined")
    user.close_one()
    eventually("groups", lambda: told(FORGETFUL)["groups"], 0)
    at_least("bytes", told(FORGETFUL)["memory"], ENTRY_LEAST)
    eventually("of a user without entries is told", lambda: told(FORGETFUL), None)
    user.done()


# ---- limits ----

@test
def a_user_has_a_quarter_of_the_memory_and_4096_groups_by_default():
    user = User(USER)
    equal("a group", user.join(), "joined")
    with netlink_on(1) as netlink:
        memory = netlink.tunables()["max_memory_kib"]["value"]
    one = told(USER)
    equal("limits", (one["memory_limit"], one["groups_limit"]), (memory * 1024 // 4, 4096))
    with tunables(max_memory_kib=8192):
        equal("memory", told(USER)["memory_limit"], 8192 * 1024 // 4)
    user.done()


@test
def what_a_namespace_gives_its_users_never_exceeds_what_the_machine_does():
    """Also if the machine's limit is lowered later"""
    until_nothing_lingers(1)
    with netlink_on(1) as netlink:
        quarter = netlink.tunables()["max_memory_kib"]["value"] // 4
        netlink.set_tunables(user_memory_kib=quarter)
        user = User(USER)
        equal("a group", user.join(1, **ROOM), "joined")
        each = told(USER)["memory"]
        # A quarter is enough for one group and a half
        with tunables(max_memory_kib=6 * each // 1024):
            equal("own value, in KiB", netlink.tunables()["user_memory_kib"]["value"],
                  6 * each // 1024 // 4)
            equal("one more", user.join(1, **ROOM), "EDQUOT")
            # A value that is set is not divided
            with tunables(user_memory_kib=2 * each // 1024 + 1):
                equal("own value, in KiB", netlink.tunables()["user_memory_kib"]["value"],
                      2 * each // 1024 + 1)
                equal("one more", user.join(1, **ROOM), "joined")
            netlink.set_tunables(user_memory_kib=64)
            equal("a lower value of its own, in KiB",
                  netlink.tunables()["user_memory_kib"]["value"], 64)
        netlink.set_tunables(user_memory_kib=None)
        user.done()


@test
def ids_of_a_user_namespace_count_for_the_user_who_made_it():
    until_nothing_lingers(1, 2)
    with tunables(user_groups=2):
        contained, user = User("in a user namespace"), User(USER)
        equal("groups", [contained.join(1), contained.join(2)], ["joined"] * 2)
        equal("one more", contained.join(1), "EMFILE")
        equal("one more of its creator", user.join(1), "EMFILE")
        equal("told", told(USER)["groups"], 2)
        equal("told of the id inside", told(FIRST_ID + 5), None)
        contained.done()
        user.done()


def looks(line):
    with netlink_on(1) as netlink:
        be_user(ANOTHER)
        line.put(netlink.all("user"))


@test
def other_namespaces_are_told_of_the_asking_user_alone():
    user, another = User(USER), User(ANOTHER)
    equal("groups", [user.join(1), another.join(1)], ["joined"] * 2)
    child = Child(None, looks)
    equal("users told", [one["uid"] for one in child.get()], [ANOTHER])
    child.finish()
    user.done()
    another.done()


def sets(line, settings):
    """As root of a namespace of its own."""
    be_user(USER)
    libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)
    netlink = Netlink()
    said = []
    for name, value in settings:
        try:
            netlink.set_tunables(**{name: value})
            said.append("done")
        except NetlinkError as error:
            said.append(errno_name(error.errno))
    line.put(said)


def what_root_of_a_namespace_may_set(*settings):
    child = Child(None, sets, settings)
    said = child.get()
    child.finish()
    return said


@test
def the_root_of_a_namespace_of_its_own_does_not_raise_the_limits_of_users():
    equal("raised, raised, lowered",
          what_root_of_a_namespace_may_set(("user_groups", 100_000),
                                           ("user_memory_kib", (1 << 32) - 1), ("user_groups", 5)),
          ["EPERM", "EPERM", "done"])


@test
def the_root_of_a_namespace_of_its_own_does_not_raise_what_its_groups_have_in_queues():
    preset = parameter("send_buffer_kib")
    equal("raised, lowered",
          what_root_of_a_namespace_may_set(("send_buffer_kib", preset + 1),
                                           ("send_buffer_kib", preset - 1)), ["EPERM", "done"])
    with netlink_on(1) as netlink:
        netlink.set_tunables(send_buffer_kib=preset + 1)
        equal("raised by root in a namespace alone",
              netlink.tunables()["send_buffer_kib"]["value"], preset)
        netlink.set_tunables(send_buffer_kib=None)


@test_each("rto_floor_us", "rto_initial_us", "rto_ceiling_us", "rto_unheard_us", "ack_delay_us")
def the_root_of_a_namespace_of_its_own_does_not_have_faster_timers_than_the_machine(name):
    preset = parameter(name)
    equal("lowered, raised, lowered again, lowered to the machine's, followed it",
          what_root_of_a_namespace_may_set(
              *((name, value) for value in (preset - 1, 2 * preset, preset - 1, preset, None))),
          ["EPERM", "done", "EPERM", "done", "done"])
    with netlink_on(1) as netlink:
        netlink.set_tunables(**{name: 10})
        equal("set by the machine's root", netlink.tunables()[name]["value"], 10)
        netlink.set_tunables(**{name: None})


@test
def the_command_shows_users():
    until_nothing_lingers(1, 2)
    user = User(USER)
    equal("a group", user.join(), "joined")
    out = subprocess.run(["build/tools/collsock", "-j", "user"], stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    rows = {one["uid"]: one for one in json.loads(out)}
    equal("shown", (rows[USER]["groups"], rows[USER]["groups_limit"]), (1, 4096))
    equal("as text", "UID" in subprocess.run(["build/tools/collsock", "user"], text=True,
                                             stdout=subprocess.PIPE, check=True).stdout, True)
    user.done()


# ---- lingering ----

@test
def a_group_that_was_closed_lingers_for_a_limited_time():
    until_nothing_lingers(1, 2, 3)
    with tunables(linger_ms=1000):
        group = Group([1, 2, 3])
        group.barrier()
        # Ranks 1 and 2 never post it; their hosts answer each question of host 1
        group[0].post()
        begin = time.monotonic()
        group[0].close()
        watcher = rank_on(1)
        equal("groups at first", watcher.net_stats().groups, 1)
        eventually("groups at the end", lambda: watcher.net_stats().groups, 0)
        at_least("seconds for which it lingered", time.monotonic() - begin, 0.9)
        for rank in group[1:]:
            rank.set_timeout(20)
            equal("the operation that the closed rank had posted", outcome(rank.run()),
                  "ECONNRESET rank 0")


@test
def a_group_that_is_closed_in_time_completes_what_it_has_posted():
    with tunables(linger_ms=5000):
        group = Group([1, 2])
        group[0].post()
        group[0].close()
        time.sleep(0.5)
        equal("the operation that the closed rank had posted", outcome(group[1].run()), "success")


@test
def what_lingers_ends_though_the_other_host_is_silent():
    with tunables(linger_ms=500, liveness_ms=3_600_000, join_timeout_ms=3_600_000):
        rank = rank_on(1)
        rank.join(Descriptor(["10.1.0.1", "10.1.0.77"]), 0)
        rank.post()
        begin = time.monotonic()
        rank.close()
        watcher = rank_on(1)
        eventually("groups", lambda: watcher.net_stats().groups, 0)
        at_most("seconds for which it lingered", time.monotonic() - begin, 10)


@test
def a_rank_that_joins_meanwhile_keeps_the_group():
    with tunables(linger_ms=500):
        descriptor = Descriptor([1, 2], placement=[0, 0, 1])
        first, other = rank_on(1), rank_on(2)
        first.join(descriptor, 0)
        other.join(descriptor, 2)
        first.post()
        first.close()
        second = rank_on(1)
        second.join(descriptor, 1)
        time.sleep(2)
        second.post()
        other.post()
        equal("the operation that all have posted",
              [outcome(one.complete()) for one in (second, other)], ["success"] * 2)


if __name__ == "__main__":
    main()
