#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=240
# suites: check debug soak
"""The netlink family: reports are true, settings take effect, unprivileged users can only
read."""

import contextlib
import ctypes
import errno
import os
import pathlib
import re
import socket
import time

from collsock_netlink import NUMBERS, Netlink, NetlinkError, attribute
from collsock_test import (
    BROADCAST, CLONE_NEWNET, DEFAULT_SEGMENT, INT64, KARY, MAC_NH_SIPHASH, MODULE, NOP,
    ON_DEBUG_KERNEL, PORT, SOAK, Child, Descriptor, Failed, Group, Rank, Skipped, at_least,
    at_most, clean_up, command, equal, errno_name, eventually, integers, ip_batch, libc, link_down,
    main, make_namespace, member, netlink_on, outcome, rank_on, read_file, refused,
    run_until_failure, seeded, set_tunables, shown, test, test_each, tunables, what_happens, work,
    write_file)
from leftovers import udp_sockets

KEY = bytes.fromhex("5ecd17f1a95be0889c21d7e3b6f00d42")
TUNABLE = NUMBERS["A_TUNABLES_TUNABLE"]
NAME, VALUE, RESET = (NUMBERS[f"A_TUNABLE_{name}"] for name in ("NAME", "VALUE", "RESET"))


def asked(error, words, function, *args, **fields):
    """It fails with this error and message."""
    try:
        function(*args, **fields)
    except NetlinkError as failure:
        equal("error", errno_name(failure.errno), errno_name(error))
        if words not in failure.text:
            raise Failed(f"the reason is {failure.text!r}, expected {words!r} in it") from failure
        return failure
    raise Failed(f"it is accepted, expected {errno_name(error)}")


def only_group(host):
    with netlink_on(host) as netlink:
        (group,) = [one for one in netlink.all("group") if one["state"] != 2]
    return group


def no_groups(*hosts):
    """End lingering groups."""
    for host in hosts:
        with netlink_on(host) as netlink:
            for group in netlink.all("group"):
                with contextlib.suppress(NetlinkError):
                    netlink.end(group["handle"])
            eventually(f"groups of host {host}", lambda n=netlink: n.all("group"), [])


# ---- tunables: what each changes ----

def port_counts(host, address, value):
    rank = rank_on(host)
    descriptor = Descriptor([address])
    refused(errno.EADDRNOTAVAIL, "another port", rank.join, descriptor, 0)
    descriptor.members = [member(address, port=value)]
    rank.join(descriptor, 0)
    rank.run()
    with netlink_on(host) as netlink:
        equal("port told", netlink.net()["port"], value)
        asked(errno.EBUSY, "use the port", netlink.set_tunables, port=value + 1)


def window_counts(value):
    group = Group([1, 2], window=0)
    equal("window told", only_group(1)["window"], value)
    for _ in range(value):
        group[0].post(send_flags=socket.MSG_DONTWAIT)
    refused(errno.EAGAIN, "one more", group[0].post, send_flags=socket.MSG_DONTWAIT)


def peer_after_barriers():
    group = Group([1, 2])
    for _ in range(20):
        group.barrier()
    with netlink_on(1) as netlink:
        return netlink.all("peer")[0]


def time_out_of_peer():
    """The retransmission time-out after some barriers."""
    return peer_after_barriers()["rto_us"]


def rto_floor_counts(value):
    at_least("time-out", time_out_of_peer(), value)


def rto_initial_counts(value):
    rank = rank_on(1)
    rank.join(Descriptor([1, 3]), 0)
    rank.post()
    with netlink_on(1) as netlink:
        equal("time-out at first", netlink.all("peer")[0]["rto_us"], value)


def rto_ceiling_counts(value):
    peer = peer_after_barriers()
    at_most("time-out, unless round trips are long", peer["rto_us"],
            max(value, 2 * peer["srtt_us"] + 2))


def ack_delay_counts(value):
    at_least("time-out, of which it is a part", time_out_of_peer(), value)


def rto_unheard_counts(value):
    del value
    group = Group([1, 2])
    group[1].close()
    rank = rank_on(1)
    rank.join(Descriptor([1, 3]), 0)
    rank.post()
    eventually("30 retransmissions to an absent host", lambda: rank.stats().retransmits > 30,
               True)


def liveness_counts(value):
    group = Group([1, 2])
    group.barrier()
    equal("liveness told", only_group(1)["liveness_ms"], value)
    with link_down(2):
        equal("a silent host", outcome(group[0].run()), "ETIMEDOUT rank 1")


def join_timeout_counts(value):
    del value
    rank = rank_on(1)
    rank.join(Descriptor([1, 3]), 0)
    equal("a host never heard from", outcome(rank.run()), "ETIMEDOUT rank 1")


def settle_counts(value):
    group = Group([1, 2, 3])
    group[0].post()
    group[2].close()
    begin = time.monotonic()
    equal("a rank left", outcome(group[0].complete()), "ECONNRESET rank 2")
    at_least("seconds until the error", time.monotonic() - begin, value / 1e6 * 0.9)


def idle_counts(value):
    del value
    group = Group([1, 2])
    group.barrier()
    with netlink_on(1) as netlink:
        eventually("connections", lambda: netlink.all("peer"), [])
    equal("peers released", group[0].stats().peers_idle, 1)
    group.barrier()


def busy_poll_counts(value):
    group = Group([1, 2])
    group[0].set_timeout(0.05)

    def processor_us():
        # The clock of a debug kernel is its tick, and sleepers wake with it. A call that
        # begins half a tick later has the next one in its spinning
        half_a_tick = time.monotonic() + 0.005
        while time.monotonic() < half_a_tick:
            pass
        begin = time.thread_time_ns()
        refused(errno.EINPROGRESS, "alone", group[0].run)
        return (time.thread_time_ns() - begin) / 1000

    calls = 10
    at_least("processor time of a call", sum(processor_us() for _ in range(calls)) / calls,
             value * 0.9)


def max_memory_counts(value):
    refused(errno.ENOMEM, "a group larger than allowed", rank_on(1).join,
            Descriptor([1], max_bytes=65536, window=64), 0)
    equal("memory allowed, KiB", value, 64)


def max_groups_counts(value):
    no_groups(1)
    groups = [Group([1]) for _ in range(value)]
    refused(errno.ENFILE, "one more group", rank_on(1).join, Descriptor([1]), 0)
    groups[0].close()
    with netlink_on(1) as netlink:
        eventually("groups", lambda: len(netlink.all("group")), value - 1)
    Group([1]).barrier()


def hold_port_counts(value):
    del value
    with tunables(liveness_ms=100):
        Group([1]).end()
    eventually("sockets of the port", lambda: udp_sockets(1), [0, 0])


def linger_counts(value):
    rank = rank_on(1)
    rank.join(Descriptor([1, 3]), 0)
    rank.post()
    begin = time.monotonic()
    rank.close()
    with netlink_on(1) as netlink:
        eventually("groups", lambda: netlink.all("group"), [])
    at_least("seconds for which it lingered", time.monotonic() - begin, value / 1000)


def user_joins(line, groups, fields):
    os.setresuid(1000, 1000, 1000)
    ranks = [Rank() for _ in range(groups)]
    try:
        for rank in ranks:
            rank.join(Descriptor([1], **fields), 0)
        line.put("joined")
    except OSError as error:
        line.put(errno.errorcode[error.errno])


def user_memory_counts(value):
    del value
    for fields, said in ({}, "joined"), ({"max_bytes": 65536, "window": 64}, "EDQUOT"):
        child = Child(1, user_joins, 1, fields)
        equal(f"a group of a user with {fields}", child.get(), said)
        child.finish()


def user_groups_counts(value):
    no_groups(1)
    for groups, said in (value, "joined"), (value + 1, "EMFILE"):
        child = Child(1, user_joins, groups, {})
        equal(f"{groups} groups of a user", child.get(), said)
        child.finish()
        no_groups(1)


def join_low_counts(value):
    del value
    refused(errno.EPERM, "group 0", rank_on(1).join, Descriptor([1]), 0)


def join_high_counts(value):
    child = Child(1, other_group_joins, value + 1)
    equal("another group of users", child.get(), "EPERM")
    child.finish()


def other_group_joins(line, gid):
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    try:
        Rank().join(Descriptor([1]), 0)
        line.put("joined")
    except OSError as error:
        line.put(errno.errorcode[error.errno])


def require_keys_counts(value):
    rank_on(1).join(Descriptor([1], key=bytes(16)), 0)
    equal("keys required", value, 0)


def same_policy_counts(value):
    descriptor, first = Descriptor([1], placement=(0, 0)), rank_on(1)
    first.join(descriptor, 0)
    child = Child(1, other_user_joins, descriptor)
    equal("another user", child.get(), "joined" if value == 0 else "EACCES")
    child.finish()


def other_user_joins(line, descriptor):
    os.setresuid(77, 77, 77)
    try:
        Rank().join(descriptor, 1)
        line.put("joined")
    except OSError as error:
        line.put(errno.errorcode[error.errno])


def send_buffer_counts(_):
    """Packets for 63 children leave at once, and again; no more of them wait than fit."""
    children = [f"10.1.0.{100 + child}" for child in range(63)]
    # Unlike netem, it leaves its packets to their owner
    queue = "dev", "eth0", "root", "tbf", "rate", "1mbit", "burst", "3000", "latency", "4s"
    try:
        command("tc", "-n", "h1", "qdisc", "replace", *queue)
    except Failed as error:
        raise Skipped(f"this kernel has no tbf: {error}") from error
    ip_batch(("-n", "h1"), *(f"neighbour replace {child} lladdr 02:00:00:00:00:c8 dev eth0"
                             for child in children))
    rank = rank_on(1)
    rank.join(Descriptor([1, *children], max_bytes=8192, degree=len(children)), 0)
    before = rank.net_stats().send_buffer_full
    try:
        rank.post(bytes(8192), operation=BROADCAST, count=1024, type=INT64, op=NOP, root=0,
                  algorithm=KARY)
        eventually("packets did not fit", lambda: rank.net_stats().send_buffer_full > before, True)
    finally:
        command("tc", "-n", "h1", "qdisc", "delete", *queue)
        rank.close()
        ip_batch(("-n", "h1"), *(f"neighbour delete {child} dev eth0" for child in children))


def ethertype_counts(value):
    descriptor = Descriptor([1], socket.AF_PACKET)
    refused(errno.EADDRNOTAVAIL, "the usual type", rank_on(1).join, descriptor, 0)
    descriptor.members = [member(1, socket.AF_PACKET, value)]
    rank_on(1).join(descriptor, 0)


CHANGES = {
    "window": (3, window_counts),
    "rto_floor_us": (700_000, rto_floor_counts), "rto_initial_us": (77_000, rto_initial_counts),
    "rto_ceiling_us": (2_000, rto_ceiling_counts), "ack_delay_us": (60_000, ack_delay_counts),
    "rto_unheard_us": (10_000, rto_unheard_counts), "liveness_ms": (300, liveness_counts),
    "join_timeout_ms": (300, join_timeout_counts), "settle_us": (500_000, settle_counts),
    "idle_ms": (50, idle_counts), "busy_poll_us": (9_000, busy_poll_counts),
    "max_memory_kib": (64, max_memory_counts), "max_groups": (3, max_groups_counts),
    "join_gid_low": (1, join_low_counts), "join_gid_high": (5, join_high_counts),
    "require_keys": (0, require_keys_counts), "hold_port": (0, hold_port_counts),
    "linger_ms": (500, linger_counts), "user_memory_kib": (1024, user_memory_counts),
    "user_groups": (2, user_groups_counts),
    "require_keys": (0, require_keys_counts), "same_policy": (0, same_policy_counts),
    "send_buffer_kib": (64, send_buffer_counts), "ethertype": (0x88b6, ethertype_counts),
}


TUNABLES = sorted([*CHANGES, "port"])
SETTINGS = pathlib.Path(__file__).resolve().parents[2] / "Documentation/settings.md"
NUMBER = r"\d{1,3}(?:,\d{3})+|\d+"
OTHER_DEFAULTS = ["join_gid_high", "join_gid_low", "max_memory_kib"]


def in_namespace(name, value, check):
    set_tunables(1, **{name: value})
    try:
        check(value)
    finally:
        clean_up()
        no_groups(1)
        set_tunables(1, **{name: None})


def in_module(name, value, check):
    with tunables(**{name: value}):
        check(value)
        clean_up()
        no_groups(1)


# In a check one of them on this kernel, the other on the debug kernel
WAYS = ("netlink", "sysfs") if SOAK > 1 else ("sysfs",) if ON_DEBUG_KERNEL else ("netlink",)


@test_each(*((name, way) for name in CHANGES for way in WAYS))
def a_tunable_takes_effect(name, way):
    value, check = CHANGES[name]
    (in_namespace if way == "netlink" else in_module)(name, value, check)


@test
def the_port_takes_effect():
    make_namespace("port1", "10.1.0.201")
    make_namespace("port2", "10.1.0.202")
    try:
        set_tunables("port1", port=7700)
        port_counts("port1", "10.1.0.201", 7700)
        with tunables(port=7701):
            port_counts("port2", "10.1.0.202", 7701)
    finally:
        clean_up()
        ip_batch((), "netns delete port1", "netns delete port2")


@test
def all_tunables_are_listed_and_tested():
    with netlink_on(1) as netlink:
        told = netlink.tunables()
    equal("tunables", sorted(told), TUNABLES)
    for name, row in told.items():
        at_least(f"value of {name}", row["value"], row["minimum"])
        at_most(f"value of {name}", row["value"], row["maximum"])
        equal(f"default of {name}", row["default"], int(read_file(f"{MODULE}/parameters/{name}")))
        equal(f"{name} has a description", bool(row["description"]), True)


def documented():
    """Least, most and default of each tunable in its row: None if that is no number."""
    rows = {}
    for line in SETTINGS.read_text(encoding="utf-8").splitlines():
        names, *cells = [cell.strip() for cell in line.split("|")[1:-1]] or [""]
        for name in re.findall(r"`(\w+)`", names):
            least, most = (number(text) for text in re.findall(NUMBER, cells[1]))
            rows[name] = least, most, number((re.match(NUMBER, cells[2]) or [None])[0])
    return rows


def number(text):
    return text and int(text.replace(",", ""))


@test
def ranges_and_defaults_are_those_of_the_documents():
    rows = documented()
    with netlink_on(1) as netlink:
        told = netlink.tunables()
    equal("tunables", sorted(rows), TUNABLES)
    for name, (least, most, default) in rows.items():
        equal(f"range of {name}", (told[name]["minimum"], told[name]["maximum"]), (least, most))
        if default is not None:
            equal(f"default of {name}", told[name]["default"], default)
    equal("tunables whose default is no number",
          sorted(name for name, row in rows.items() if row[2] is None), OTHER_DEFAULTS)
    gid_high, gid_low, memory = (told[name] for name in OTHER_DEFAULTS)
    equal("groups that may join", (gid_low["default"], gid_high["default"]),
          (gid_low["minimum"], gid_high["maximum"]))
    eighth = int(re.search(r"MemTotal: *(\d+)", read_file("/proc/meminfo"))[1]) // 8
    equal("an eighth of the memory", abs(memory["default"] - eighth) < eighth // 50, True)


@test
def a_namespace_follows_the_module_until_it_has_its_own_value():
    def values():
        return [one.tunables()["settle_us"]["value"] for one in (first, second)]

    with netlink_on(1) as first, netlink_on(2) as second, tunables(settle_us=30_000):
        equal("both follow", values(), [30_000, 30_000])
        first.set_tunables(settle_us=40_000)
        equal("one has its own", values(), [40_000, 30_000])
        equal("and says so", "own" in first.tunables()["settle_us"], True)
        write_file(f"{MODULE}/parameters/settle_us", "50000")
        equal("the other follows still", values(), [40_000, 50_000])
        first.set_tunables(settle_us=None)
        equal("both follow again", values(), [50_000, 50_000])


@test
def a_bad_value_is_refused_with_a_message_and_changes_nothing():
    with netlink_on(1) as netlink:
        before = netlink.tunables()
        for name, row in before.items():
            for value in (row["minimum"] - 1, row["maximum"] + 1):
                if not 0 <= value < 1 << 32:
                    continue
                asked(errno.ERANGE, "range", netlink.set_tunables,
                      **{"idle_ms": 1234, name: value})
                refused(errno.EINVAL, f"{name} in sysfs", write_file,
                        f"{MODULE}/parameters/{name}", str(value))
        first = attribute(TUNABLE, [attribute(NAME, "settle_us"), attribute(VALUE, 20_000)])
        failure = asked(errno.ENOENT, "no such tunable", netlink.do, "TUNABLE_SET", first,
                        attribute(TUNABLE, [attribute(NAME, "nonsense"), attribute(VALUE, 1)]))
        # After both headers, the first tunable, and the header of the second
        equal("the attribute that is meant", failure.offset, 20 + len(first) + 4)
        for body in ([attribute(NAME, "settle_us")],
                     [attribute(VALUE, 20_000)],
                     [attribute(NAME, "settle_us"), attribute(VALUE, 20_000),
                      attribute(RESET, b"")]):
            asked(errno.EINVAL, "needs a name, and either", netlink.do, "TUNABLE_SET",
                  attribute(TUNABLE, body))
        equal("tunables", netlink.tunables(), before)


# ---- permissions ----

def unprivileged(line, namespace):
    """A process without privilege, optionally in its own user namespace."""
    os.setgroups([])
    os.setresgid(1000, 1000, 1000)
    os.setresuid(1000, 1000, 1000)
    if namespace and libc.unshare(0x10000000 | CLONE_NEWNET):
        line.put(os.strerror(ctypes.get_errno()))
        return
    netlink = Netlink()
    (handle,) = [one["handle"] for one in netlink.all("group")] or [1]
    line.put([what_happens(netlink.set_tunables, settle_us=20_000),
              what_happens(netlink.set_tunables, max_memory_kib=(1 << 32) - 1),
              what_happens(netlink.end, handle),
              sorted(netlink.tunables()) == TUNABLES,
              {what: len(netlink.all(what)) for what in ("group", "host", "rank", "peer")}])


@test
def without_privilege_reading_works_and_changing_does_not():
    no_groups(1, 2, 3, 4)
    group = Group([1, 2])
    group.barrier()
    child = Child(1, unprivileged, False)
    equal("without privilege", child.get(),
          ["EPERM", "EPERM", "EPERM", True, {"group": 1, "host": 2, "rank": 1, "peer": 1}])
    child.finish()
    group.barrier()


@test
def root_of_a_user_namespace_does_not_raise_the_machines_limit():
    child = Child(1, unprivileged, True)
    said = child.get()
    child.finish()
    if isinstance(said, str):
        raise Skipped(f"no user namespaces here: {said}")
    equal("as root of a namespace", said,
          ["done", "EPERM", "ENOENT", True, {"group": 0, "host": 0, "rank": 0, "peer": 0}])


@test
def keys_and_payloads_are_never_exposed():
    secret = bytes.fromhex("f7e1c3a58791b2d4") * 4
    group = Group([1, 2, 3], key=KEY)
    group.post(*[secret] * 2 + [secret])
    group.complete()
    group[0].post(secret)
    with netlink_on(1) as netlink:
        seen = b"".join(netlink.do("TUNABLE_GET") + netlink.do("NET_GET") + [
            data for what in ("GROUP", "HOST", "RANK", "PEER", "OPERATION", "EARLY_PACKET")
            for data in netlink.dump(f"{what}_GET")])
    at_least("bytes told", len(seen), 2000)
    for what, bytes_of_it in (("key", KEY), ("payload", secret)):
        for part in range(0, len(bytes_of_it) - 3):
            if bytes_of_it[part:part + 4] in seen:
                raise Failed(f"a part of the {what} is told: {shown(bytes_of_it[part:part + 4])}")


# ---- queries ----

@test
def groups_hosts_ranks_and_peers_are_reported():
    no_groups(1, 2, 3, 4)
    group = Group([1, 2, 3], placement=[0, 0, 1, 2], id=4711, window=8, degree=4)
    for _ in range(5):
        group.barrier()
    with netlink_on(1) as netlink:
        (told,) = netlink.all("group")
        handle = told["handle"]
        equal("one group", netlink.group(handle)["id"], 4711)
        for name, value in {"id": 4711, "nonce": group.descriptor.fields["nonce"], "state": 0,
                            "hosts": 3, "ranks": 4, "host": 0, "local_ranks": 2, "joined": 2,
                            "uid": 0, "keyed": 0, "window": 8, "max_bytes": DEFAULT_SEGMENT,
                            "max_result_bytes": DEFAULT_SEGMENT,
                            "segment_bytes": DEFAULT_SEGMENT, "degree": 4, "next": 5,
                            "mac": MAC_NH_SIPHASH,
                            "liveness_ms": 3000}.items():
            equal(name, told.get(name), value)
        equal("posted", told["stats"][0]["posted"], group[0].stats().posted)
        hosts = netlink.all("host", handle)
        equal("hosts", [(row["host"], row["state"], row["address"], row["port"], row["rank"])
                        for row in hosts],
              [(host, 1 if host == 0 else 3, socket.inet_aton(f"10.1.0.{host + 1}"), PORT, rank)
               for host, rank in ((0, 0), (1, 2), (2, 3))])
        ranks = netlink.all("rank", handle)
        equal("ranks", [(row["rank"], row["state"], row["next"], row["pid"]) for row in ranks],
              [(0, 1, 5, os.getpid()), (1, 1, 5, os.getpid())])
        peers = netlink.all("peer", handle)
        equal("peers", [(row["host"], row["state"], row["held"]) for row in peers],
              [(1, 3, 0), (2, 3, 0)])
        at_least("packets", peers[0]["packets"], 5)
        group[1].close()
        equal("a rank left", netlink.all("rank", handle)[1]["state"], 2)
        asked(errno.ENOENT, "no such group", netlink.group, handle + 1000)
        asked(errno.ENOENT, "", netlink.all, "peer", handle + 1000)


def joins_for_another(line, rank, descriptor):
    rank.join(descriptor, 0)
    line.put("joined")
    line.get()


@test
def a_process_that_has_ended_is_not_reported_for_the_socket_that_another_keeps():
    """Its number may be that of another process by then."""
    no_groups(1)
    rank = rank_on(1)
    child = Child(None, joins_for_another, rank, Descriptor([1]))
    equal("the child has", child.get(), "joined")
    with netlink_on(1) as netlink:
        (told,) = netlink.all("rank")
        equal("process, while it runs", told.get("pid"), child.pid)
        child.put("end")
        child.finish()
        (told,) = netlink.all("rank")
        equal("state and process, when it has ended", (told["state"], told.get("pid")), (1, None))
    rank.close()


def joins_as_user(line, descriptor, user):
    os.setresuid(user, user, user)
    rank = Rank()
    rank.join(descriptor, 0)
    line.put("joined")
    line.get()


def tells_processes(line, user):
    """What a user is told of the only rank"""
    os.setresuid(user, user, user)
    with contextlib.closing(Netlink()) as netlink:
        (rank,), (group,) = netlink.all("rank"), netlink.all("group")
    line.put((rank["rank"], rank.get("pid"), group["uid"]))


@test
def processes_are_told_to_their_user_and_the_administrator():
    """Others may not see them in /proc either (hidepid)."""
    no_groups(1)
    child = Child(1, joins_as_user, Descriptor([1]), 1000)
    equal("the child has", child.get(), "joined")
    for user, pid in (1000, child.pid), (1001, None), (0, child.pid):
        reader = Child(1, tells_processes, user)
        equal(f"rank, process, and user of the group for user {user}", reader.get(),
              (0, pid, 1000))
        reader.finish()
    child.put("end")
    child.finish()


@test
def a_last_post_is_counted_on_its_host_and_where_it_is_waited_for():
    no_groups(1, 2, 3, 4)
    group = Group([1, 2])
    with netlink_on(1) as first, netlink_on(2) as second:
        for _ in range(10):
            group[0].post()
            eventually("operations that the other host has heard of",
                       lambda: [one["state"] for one in second.all("operation")], [0])
            group[1].run()
            equal("barrier", outcome(group[0].complete()), "success")
        equal("last of the ranks", [first.all("rank")[0]["last"], second.all("rank")[0]["last"]],
              [0, 10])
        equal("last of the messages", [first.all("peer")[0]["last"],
                                       second.all("peer")[0]["last"]], [10, 0])


def ends_of_chains(netlink):
    (operation,) = [one for one in netlink.all("operation") if one["state"] == 1]
    return {(one.get("awaits_host"), one.get("awaits_rank"), one.get("awaits_operation"))
            for one in operation["missing"]}


@test
def all_hosts_report_the_same_end_of_the_chain_of_waits():
    no_groups(1, 2, 3, 4)
    for late in range(4):
        group = Group([1, 2, 3, 4])
        group.barrier()
        for number, rank in enumerate(group):
            if number != late:
                rank.post()
        for host in range(1, 5):
            with netlink_on(host) as netlink:
                if host == late + 1:
                    eventually("the late host knows that it is", lambda n=netlink: [
                        one["missing_rank"] for one in n.all("operation")
                        if one["state"] == 0], [[late]])
                else:
                    eventually(f"end of the chain of host {host}",
                               lambda n=netlink: ends_of_chains(n), {(late, late, 1)})
        group[late].run()
        group.close()
        no_groups(1, 2, 3, 4)


@test
def a_host_from_which_several_messages_are_missing_is_reported_once():
    """By halving two hosts exchange messages twice."""
    no_groups(1, 2, 3, 4)
    group = Group([1, 2, 3, 4], max_bytes=65536)
    for rank in group[:3]:
        rank.post(bytes(65536))
    with netlink_on(1) as netlink:
        eventually("what host 1 misses", lambda: [
            sorted(one["host"] for one in operation["missing"])
            for operation in netlink.all("operation")], [[1, 2]])
    group[3].post(bytes(65536))
    for number, completion in enumerate(group.complete()):
        equal(f"outcome at rank {number}", outcome(completion), "success")


@test
def local_ranks_that_have_not_posted_are_reported():
    no_groups(1, 2, 3, 4)
    group = Group([1, 2], placement=[0, 0, 0, 1, 1, 1])
    for number in (0, 3, 4, 5):
        group[number].post()
    with netlink_on(1) as netlink, netlink_on(2) as other:
        (operation,) = netlink.all("operation")
        equal("missing here", (operation["unposted"], operation["missing_rank"]), (2, [1, 2]))
        eventually("missing there", lambda: ends_of_chains(other), {(0, 1, 0)})


@test
def early_packets_are_reported():
    no_groups(1, 2, 3, 4)
    rank = rank_on(2)
    rank.join(Descriptor([1, 2]), 1)
    descriptor = Descriptor([1])
    rank_on(1).join(descriptor, 0)
    rank.post()
    with netlink_on(1) as netlink, netlink_on(2) as other:
        eventually("early packets", lambda: [(one["host"], one["address"], one["port"])
                                           for one in netlink.all("early-packet")
                                           if one["tag"] == other.all("group")[0]["tag"]],
                   [(1, socket.inet_aton("10.1.0.2"), PORT)])


# ---- ending ----

@test
def a_group_is_ended_by_order_everywhere():
    no_groups(1, 2, 3, 4)
    group = Group([1, 2, 3])
    group.barrier()
    group[0].post()
    group[2].post()
    with netlink_on(2) as netlink:
        netlink.end(only_group(2)["handle"])
    for number in (0, 2):
        equal(f"operation of rank {number}", outcome(group[number].complete()),
              "ECANCELED rank 1")
    equal("the next one", outcome(group[1].run()), "ECANCELED rank 1")
    equal("state", [only_group(host)["error"] for host in (1, 2, 3)], [errno.ECANCELED] * 3)


@test
def a_lingering_group_is_ended_by_order():
    no_groups(1, 2, 3, 4)
    rank = rank_on(1)
    rank.join(Descriptor([1, 4]), 0)
    rank.post()
    rank.close()
    with netlink_on(1) as netlink:
        (told,) = netlink.all("group")
        equal("state", told["state"], 2)
        netlink.end(told["handle"])
        eventually("groups", lambda: netlink.all("group"), [])


# ---- events ----

def heard(netlink, *kinds):
    """The next events of these kinds."""
    kinds, events = list(kinds), []
    netlink.socket.settimeout(20)
    while kinds:
        event = netlink.hear()
        if event["event"] in kinds:
            kinds.remove(event["event"])
            events.append(event)
    return events


@test
def events_report_groups_peers_and_failures():
    with netlink_on(1) as netlink:
        netlink.listen()
        group = Group([1, 2], id=99)
        made, = heard(netlink, "group_began")
        equal("group", made["id"], 99)
        group.barrier()
        peer, = heard(netlink, "peer_opened")
        equal("peer", (peer["group"], peer["host"]), (made["group"], 1))
        group[0].post()
        group[1].close()
        equal("after that", outcome(group[0].complete()), "ECONNRESET rank 1")
        for event in heard(netlink, "rank_left", "operation_failed"):
            equal(event["event"], (event["rank"], event["error"]), (1, errno.ECONNRESET))
        group[0].close()
        ended, = heard(netlink, "group_ended")
        equal("ended", ended["group"], made["group"])


@test
def events_report_loss_idleness_and_disagreement():
    with netlink_on(1) as netlink, tunables(idle_ms=100):
        netlink.listen()
        # A machine that is slow to set the link up again must not cost a member its life
        group = Group([1, 2], liveness_ms=60_000)
        group.barrier()
        heard(netlink, "peer_idle")
        group.barrier()
        with link_down(2):
            group[0].post()
            equal("lossy", heard(netlink, "peer_lossy")[0]["host"], 1)
        equal("barrier", outcome(group[1].run()), "success")
        equal("the other rank's", outcome(group[0].complete()), "success")
        group[0].post()
        group[1].post(integers(1))
        event, = heard(netlink, "disagreement")
        equal("error of the disagreement", event["error"], errno.EPROTO)
        # Those before operation 3 can complete, though perhaps not all are acknowledged
        equal(f"limit {event['operation']} is before 3", event["operation"] in (1, 2), True)


# ---- load and malformed requests ----

@test
def a_dump_under_traffic_is_complete():
    groups, peers = 1000 if SOAK > 1 and not ON_DEBUG_KERNEL else work(30), 10
    hosts = [1] + [f"10.1.{one // 250 + 1}.{one % 250 + 1}" for one in range(1023)]
    ranks = []
    with tunables(max_memory_kib=1 << 20):
        for _ in range(groups):
            ranks.append(rank_on(1))
            ranks[-1].join(Descriptor(hosts), 0)
            ranks[-1].post()
        busy = Descriptor([1, 2])
        children = [Child(host, run_until_failure, busy, host - 1) for host in (1, 2)]
        for child in children:
            child.get()
    with netlink_on(1) as netlink:
        # The first round of a barrier makes one; the watch those of all others it waits for
        eventually("peers", lambda: netlink.net()["peers"], peers * groups + 1, seconds=60)
        expected = {(one["handle"], 1023 if one["hosts"] == 1024 else 1)
                    for one in netlink.all("group")}
        for _ in range(3):
            told = [(one["group"], one["host"]) for one in netlink.all("peer")]
            equal("peers told, each once", (len(told), len(set(told))),
                  (peers * groups + 1,) * 2)
            equal("interrupted", netlink.interrupted, False)
            missing = {group for group, _ in expected} - {group for group, _ in told}
            equal("groups that were not told", missing, set())
    for child in children:
        child.kill()
        child.end()
    watcher = rank_on(1)
    # They would keep more memory for a minute than a namespace usually has
    with tunables(linger_ms=10):
        for rank in ranks:
            rank.close()
        eventually("groups", lambda: watcher.net_stats().groups, 0)


@test
def malformed_requests_are_refused_and_change_nothing():
    numbers = seeded("nonsense")
    group = Group([1, 2])
    with netlink_on(1) as netlink:
        netlink.socket.settimeout(5)
        for _ in range(work(300)):
            body = [attribute(numbers.randrange(1, 12), numbers.randbytes(numbers.randrange(40)))
                    for _ in range(numbers.randrange(4))]
            if numbers.random() < 0.5:
                body = [attribute(TUNABLE, body)]
            try:
                # A barrier between them shows that nothing was harmed, so none may end it
                command = numbers.choice([n for n in range(14) if n != NUMBERS["CMD_GROUP_END"]])
                netlink.ask(netlink.family, command, body,
                            numbers.choice((0x5, 0x301, 0x305)))
            except OSError:
                pass
        group.barrier()
        for name in netlink.tunables():
            netlink.set_tunables(**{name: None})


if __name__ == "__main__":
    main(120)
