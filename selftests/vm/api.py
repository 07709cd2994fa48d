#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=60
# suites: check debug soak
"""The socket interface: what every call accepts, refuses and changes."""

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import threading
import time

from collsock_test import *  # pylint: disable=wildcard-import,unused-wildcard-import

def alone(**fields):
    """A group of one."""
    return Group([1], **fields)[0]


def two(**fields):
    return Group([1, 2], **fields)


def unchanged_log(log):
    equal("lines in the kernel's log", log.lines(), [])


# ---- making sockets ----

@test
def only_seqpacket_sockets_of_protocol_0_can_be_made():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_RDM):
        refused(errno.ESOCKTNOSUPPORT, f"a socket of type {kind!r}", Rank, kind=kind)
    for proto in (1, socket.IPPROTO_UDP, 255):
        refused(errno.EPROTONOSUPPORT, f"a socket of protocol {proto}", Rank, proto=proto)
    Rank().close()


@test
def the_module_has_the_alias_by_which_the_first_socket_loads_it():
    settings = read_file("/run/vm/settings")
    path = [line.partition("=")[2].strip("'\"") for line in settings.splitlines()
            if line.startswith("VM_MODULE=")][0]
    aliases = os.popen(f"modinfo -F alias '{path}'").read().split()
    equal("net-pf-25 among the module's aliases", f"net-pf-{AF_COLLSOCK}" in aliases, True)


@test
def calls_of_other_kinds_of_sockets_are_not_supported():
    address = struct.pack("=H14x", AF_COLLSOCK)
    pair = (ctypes.c_int * 2)()

    def call(function, *args):
        if getattr(libc, function)(*args) < 0:
            raise OSError(ctypes.get_errno(), function)

    for rank in (Rank(), alone()):
        fd = rank.fileno()
        for function, *args in (("bind", fd, address, 16), ("connect", fd, address, 16),
                                ("listen", fd, 1), ("accept", fd, None, None),
                                ("shutdown", fd, 2)):
            refused(errno.EOPNOTSUPP, function, call, function, *args)
    refused(errno.EOPNOTSUPP, "socketpair", call, "socketpair", AF_COLLSOCK,
            socket.SOCK_SEQPACKET, 0, pair)


@test
def a_socket_that_has_not_joined_does_nothing_but_join():
    rank = rank_on(1)
    refused(errno.ENOTCONN, "send", rank.post)
    refused(errno.ENOTCONN, "recv", rank.complete)
    refused(errno.ENOTCONN, "RUN", rank.run)
    refused(errno.ENOTCONN, "WAIT", rank.wait, 0)
    refused(errno.ENOTCONN, "STATS", rank.stats)
    equal("groups in a fresh namespace", rank.net_stats().groups, 0)
    poll = select.poll()
    poll.register(rank)
    equal("poll's events", poll.poll(0)[0][1], select.POLLHUP)


# ---- joining ----

BAD_FIELDS = {
    "size": (0, 63, 65, 0xffffffff),
    "flags": (1, 0x80000000),
    "hosts": (0, 1, 3, MAX_HOSTS, MAX_HOSTS + 1, 0xffffffff),
    "ranks": (0, 1, 3, MAX_RANKS, MAX_RANKS + 1, 0xffffffff),
    "rank": (2, 0xffffffff),
    "max_bytes": (DEFAULT_SEGMENT + 1, 0xffffffff),
    "window": (MAX_WINDOW + 1, 0xffff),
    "segment_bytes": (1, 47, 49, DEFAULT_SEGMENT + 8, MAX_SEGMENT + 48, 0xffff),
    "barrier_algorithm": (PAIRWISE_EXCHANGE + 1, 255),
    "allreduce_algorithm": (DISSEMINATION, PAIRWISE_EXCHANGE + 1, 255),
    "reserved0": (1,),
    "reserved1": (255,),
}


@test
def join_with_a_bad_field_is_einval_and_changes_nothing():
    log, good = KernelLog(), Descriptor([1, 2])
    rank = rank_on(1)
    for field, values in BAD_FIELDS.items():
        for value in values:
            refused(errno.EINVAL, f"join with {field}={value}", rank.join, good, 0,
                    **{field: value})
    equal("groups afterwards", rank.net_stats().groups, 0)
    rank.join(good, 0)
    equal("groups after a good join", rank.net_stats().groups, 1)
    unchanged_log(log)


@test
def join_of_another_length_than_its_counts_say_is_einval():
    log, good = KernelLog(), Descriptor([1, 2]).bytes(0)
    rank = rank_on(1)
    for length in range(len(good)):
        refused(errno.EINVAL, f"the first {length} bytes of {len(good)}", rank.setsockopt,
                SOL_COLLSOCK, JOIN, good[:length])
    for more in (1, 3, 4, 24, 1000):
        refused(errno.EINVAL, f"{more} bytes too many", rank.setsockopt, SOL_COLLSOCK, JOIN,
                good + bytes(more))
    rank.setsockopt(SOL_COLLSOCK, JOIN, good)
    unchanged_log(log)


def with_members(*members):
    descriptor = Descriptor([1] * len(members))
    descriptor.members = list(members)
    return descriptor


@test
def join_with_a_bad_member_is_einval():
    log, rank = KernelLog(), rank_on(1)
    good, ipv6 = member(1), member(2, socket.AF_INET6)
    for name, bad in (
            ("family 0", bytes(2) + good[2:]),
            ("family AF_UNIX", struct.pack("=H", 1) + good[2:]),
            ("family AF_COLLSOCK", struct.pack("=H", 25) + good[2:]),
            ("another family than the first", ipv6),
            ("no address", member("0.0.0.0")),
            ("an IPv4 address with a scope", member(2, scope_id=2)),
            ("an IPv4 address of more than four bytes", good[:-1] + b"\1")):
        refused(errno.EINVAL, f"a member with {name}", rank.join, with_members(good, bad), 0)
    refused(errno.EINVAL, "a member without an IPv6 address", rank.join,
            with_members(member(1, socket.AF_INET6), member("::", socket.AF_INET6)), 0)
    rank.join(with_members(good, member(2)), 0)
    unchanged_log(log)


@test
def join_with_a_bad_table_of_ranks_is_einval():
    rank, good = rank_on(1), Descriptor([1, 2, 3])
    for table in ((0, 1, 3), (1, 0, 2), (0, 2, 1), (0, 1, 1), (0, 0, 1), (0, 0, 0),
                  (0, 1, 0xffffffff), (0xffffffff, 1, 2)):
        good.host_of_rank = table
        refused(errno.EINVAL, f"hosts of ranks {table}", rank.join, good, 0)
    good.host_of_rank = (0, 1, 2)
    rank.join(good, 0)


@test
def several_ranks_on_one_host_are_eopnotsupp():
    rank, descriptor = rank_on(1), Descriptor([1, 2], ranks=3)
    for table in ((0, 1, 1), (0, 0, 1), (0, 1, 0)):
        descriptor.host_of_rank = table
        refused(errno.EOPNOTSUPP, f"hosts of ranks {table}", rank.join, descriptor, 0)


@test
def a_rank_joins_on_its_own_host_only():
    rank = rank_on(1)
    for name, own in (("the address of another host", member(2)),
                      ("an address that nobody has", member("10.9.9.9")),
                      ("a broadcast address", member("10.1.0.255")),
                      ("a multicast address", member("224.0.0.1")),
                      ("another port", member(1, port=PORT + 1))):
        refused(errno.EADDRNOTAVAIL, name, rank.join, with_members(own, member(3)), 0)
    for own in ("fd00:1::2", "ff02::1", "fd00:9::9", "::ffff:10.1.0.1"):
        refused(errno.EADDRNOTAVAIL, own, rank.join,
                with_members(member(own, socket.AF_INET6), member(3, socket.AF_INET6)), 0)
    rank.join(with_members(member(1), member(3)), 0)


@test
def a_socket_joins_once_and_a_rank_has_one_socket():
    descriptor = Descriptor([1, 2])
    first, second = rank_on(1), rank_on(1)
    first.join(descriptor, 0)
    refused(errno.EISCONN, "the second join of a socket", first.join, descriptor, 0)
    refused(errno.EISCONN, "its join of another group", first.join, Descriptor([1]), 0)
    refused(errno.EADDRINUSE, "the same rank from another socket", second.join, descriptor, 0)
    second.join(Descriptor([1, 2]), 0)


@test
def a_port_that_somebody_else_uses_is_eaddrinuse():
    with on(3):
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # What lingers of other groups may hold the port for a while
    rank = rank_on(3)
    limit = time.monotonic() + 20
    while True:
        try:
            other.bind(("10.1.0.3", PORT))
            break
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.1)
    refused(errno.EADDRINUSE, "join", rank.join, Descriptor([3]), 0)
    other.close()
    rank.join(Descriptor([3]), 0)
    rank.run()


def in_range(line, descriptor, gid, groups):
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(1000, 1000, 1000)
    try:
        Rank().join(descriptor, 0)
        line.put("joined")
    except OSError as error:
        line.put(errno.errorcode[error.errno])


@test
def who_is_not_in_the_range_of_groups_may_not_join():
    try:
        sysctl(1, "join_group_range", "2000 2999")
        for gid, groups, expected in ((1999, [], "EPERM"), (2000, [], "joined"),
                                      (2999, [], "joined"), (3000, [], "EPERM"),
                                      (1000, [1999, 3000], "EPERM"), (1000, [5, 2500], "joined"),
                                      (0, [], "EPERM")):
            child = Child(1, in_range, Descriptor([1]), gid, groups)
            equal(f"joining with group {gid} and {groups}", child.get(), expected)
        sysctl(1, "join_group_range", "1 0")
        refused(errno.EPERM, "joining when nobody may", rank_on(1).join, Descriptor([1]), 0)
        Group([2]).barrier()
    finally:
        sysctl(1, "join_group_range", "0 4294967294")
    alone().run()


@test
def without_a_key_a_group_forms_only_where_the_namespace_allows():
    keyless = Descriptor([1], key=bytes(16))
    refused(errno.EACCES, "a keyless group", rank_on(1).join, keyless, 0)
    sysctl(1, "keyless", 1)
    try:
        rank = rank_on(1)
        rank.join(keyless, 0)
        rank.run()
        refused(errno.EACCES, "a keyless group elsewhere", rank_on(2).join,
                Descriptor([2], key=bytes(16)), 0)
    finally:
        sysctl(1, "keyless", 0)
    # One byte is a key
    alone(key=bytes(15) + b"\1").run()


@test
def bad_pointers_are_efault_and_harm_nobody():
    log, (rank, other) = KernelLog(), two()
    fd, fresh = rank.fileno(), rank_on(1)
    bad = ctypes.c_void_p(8)

    def call(function, *args):
        if function(*args) < 0:
            raise OSError(ctypes.get_errno(), "")

    refused(errno.EFAULT, "JOIN", call, libc.setsockopt, fresh.fileno(), SOL_COLLSOCK, JOIN, bad,
            len(Descriptor([1, 2]).bytes(0)))
    refused(errno.EFAULT, "send", call, libc.send, fd, bad, POST.size, 0)
    refused(errno.EFAULT, "STATS", call, libc.getsockopt, fd, SOL_COLLSOCK, STATS, bad, bad)
    refused(errno.EFAULT, "RUN", call, libc.ioctl, fd, ctypes.c_ulong(RUN), bad)
    refused(errno.EFAULT, "WAIT", call, libc.ioctl, fd, ctypes.c_ulong(WAIT), bad)
    equal("operations posted", rank.stats().posted, 0)
    rank.post(cookie=7)
    other.post()
    equal("bytes waiting", rank.complete(socket.MSG_PEEK).cookie, 7)
    refused(errno.EFAULT, "recv", call, libc.recv, fd, bad, 4096, 0)
    equal("cookie of what stayed", rank.complete().cookie, 7)
    unchanged_log(log)


# ---- posting ----

def post_of_three(**fields):
    return post_bytes(integers(1, 2, 3), **fields) + integers(1, 2, 3)


@test
def a_bad_post_is_refused_and_changes_nothing():
    log, (rank, other) = KernelLog(), two()
    barrier = {"operation": BARRIER, "type": 0, "op": 0, "count": 0}
    for fields in ({"size": 0}, {"size": 31}, {"size": 33}, {"flags": 1}, {"reserved": 1},
                   {"operation": 0}, {"operation": 3}, {"operation": 255}, {"type": 0},
                   {"type": 4}, {"op": 0}, {"op": 4}, {"algorithm": DISSEMINATION},
                   {"algorithm": 3}, {"algorithm": 255}, {"root": 1}, {"root": NO_RANK},
                   {"count": 0}, {"count": 2}, {"count": 4}, barrier):
        refused(errno.EINVAL, f"allreduce with {fields}", rank.send, post_of_three(**fields))
    for count in (145, 0x20000000, 0x20000001, 0x80000003, 0xffffffff):
        refused(errno.EMSGSIZE, f"allreduce with count={count}", rank.send,
                post_of_three(count=count))
    for fields in ({"type": INT64}, {"op": SUM}, {"count": 1}, {"root": 1}):
        refused(errno.EINVAL, f"barrier with {fields}", rank.post, **fields)
    for length in (0, 1, POST.size - 1, POST.size, POST.size + 23):
        refused(errno.EINVAL, f"the first {length} bytes of an allreduce", rank.send,
                post_of_three()[:length])
    refused(errno.EINVAL, "a byte too many", rank.send, post_of_three() + b"\0")
    refused(errno.EINVAL, "an unknown flag of send", rank.post, flags=socket.MSG_OOB)
    equal("operations posted", rank.stats().posted, 0)
    rank.send(post_of_three())
    other.send(post_of_three())
    equal("sums", rank.complete().result, integers(2, 4, 6))
    unchanged_log(log)


@test
def a_payload_may_be_as_large_as_the_group_said_and_no_larger():
    for max_bytes, segment in ((7, 0), (8, 0), (15, 0), (1000, 0), (DEFAULT_SEGMENT, 0), (0, 48), (0, 0)):
        group = two(max_bytes=max_bytes, segment_bytes=segment)
        most = (max_bytes or segment or DEFAULT_SEGMENT) // 8
        if most:
            group.post(integers(*range(most)), integers(*range(most)))
            for completion in group.complete():
                equal("sums", completion.result, integers(*range(0, 2 * most, 2)))
        refused(errno.EMSGSIZE, f"{most + 1} numbers", group[0].post, integers(*range(most + 1)))
        group.barrier()


@test
def a_bad_run_or_wait_is_refused_and_changes_nothing():
    log, (rank, other) = KernelLog(), two()

    def run(**fields):
        fcntl.ioctl(rank, RUN, bytearray(run_bytes(integers(1, 2, 3), fields)))

    for fields in ({"size": 0}, {"size": RUN_BYTES - 1}, {"size": RUN_BYTES + 1}, {"reserved": 1},
                   {"spin_us": MAX_SPIN_US + 1}, {"spin_us": 0xffffffff}):
        refused(errno.EINVAL, f"RUN with {fields}", run, **fields)
    for room in (0, 8, 23):
        refused(errno.EMSGSIZE, f"RUN of 24 bytes in {room}", run, buffer_bytes=room)
    refused(errno.EINVAL, "RUN of a bad post", rank.run, integers(1), op=9)
    refused(errno.EMSGSIZE, "RUN of too much", rank.run, bytes(DEFAULT_SEGMENT + 8))
    equal("operations posted", rank.stats().posted, 0)

    rank.post(integers(5), cookie=1)
    for fields in ({"size": 0}, {"size": WAIT_BYTES + 8}, {"reserved": 1},
                   {"spin_us": MAX_SPIN_US + 1}):
        refused(errno.EINVAL, f"WAIT with {fields}", rank.wait, 1, **fields)
    refused(errno.ENOENT, "WAIT for what was not posted", rank.wait, 2)
    other.post(integers(6))
    eventually("a completion is there", lambda: bool(select.select([rank], [], [], 0)[0]), True)
    refused(errno.EMSGSIZE, "WAIT with too little room", rank.wait, 1, room=7)
    equal("the sum", rank.wait(1, room=8).result, integers(11))
    refused(errno.ENOENT, "WAIT for what was taken", rank.wait, 1)
    unchanged_log(log)


@test
def unknown_options_and_commands_are_refused():
    rank = alone()
    refused(errno.ENOPROTOOPT, "setting STATS", rank.setsockopt, SOL_COLLSOCK, STATS, b"1234")
    refused(errno.ENOPROTOOPT, "setting option 99", rank.setsockopt, SOL_COLLSOCK, 99, b"1234")
    refused(errno.ENOPROTOOPT, "getting JOIN", rank.getsockopt, SOL_COLLSOCK, JOIN, 64)
    refused(errno.ENOPROTOOPT, "getting option 99", rank.getsockopt, SOL_COLLSOCK, 99, 64)
    refused(errno.ENOPROTOOPT, "an option of UDP", rank.getsockopt, socket.IPPROTO_UDP, 1, 64)
    for command in (RUN + 2, RUN - 0x10000, WAIT ^ 0x80000000, 0x4b70):
        refused(errno.ENOTTY, f"ioctl {command:#x}", fcntl.ioctl, rank, command, bytearray(256))


# ---- completing ----

@test
def a_group_of_one_completes_at_once_whatever_it_posts():
    rank = alone()
    payload = struct.pack("=3d", 1.5, -0.0, float("inf"))
    for kind in (INT64, UINT64, DOUBLE):
        for op in (SUM, MIN, MAX):
            rank.post(payload, type=kind, op=op, cookie=kind * 10 + op)
            completion = rank.complete(socket.MSG_DONTWAIT)
            equal(f"type {kind}, operator {op}", completion.result, payload)
            equal("its cookie", completion.cookie, kind * 10 + op)
    equal("a barrier", outcome(rank.run()), "success")
    equal("completed", rank.stats().completed, 10)


@test
def a_completion_tells_of_its_operation_and_when():
    rank, other = two()
    begin = time.monotonic_ns()
    rank.post(integers(-4, 5), cookie=0xfedcba9876543210)
    posted = time.monotonic_ns()
    time.sleep(0.05)
    last = time.monotonic_ns()
    other.post(integers(1, 2))
    completion = rank.complete()
    end = time.monotonic_ns()
    equal("size", completion.size, COMPLETION.size)
    equal("error", completion.error, 0)
    equal("failed rank", completion.failed_rank, NO_RANK)
    equal("bytes", completion.bytes, 16)
    equal("cookie", completion.cookie, 0xfedcba9876543210)
    equal("sums", completion.result, integers(-3, 7))
    at_least("when it was posted", completion.posted_ns, begin)
    at_most("when it was posted", completion.posted_ns, posted)
    at_least("when it completed", completion.completed_ns, last)
    at_most("when it completed", completion.completed_ns, end)


@test
def a_completion_stays_when_the_buffer_is_too_short():
    rank, other = two()
    rank.post(integers(1, 2), cookie=3)
    other.post(integers(1, 2))
    select.select([rank], [], [])
    for room in (1, COMPLETION.size - 1, COMPLETION.size, COMPLETION.size + 15):
        refused(errno.EMSGSIZE, f"recv into {room} bytes", rank.recv, room)
    completion = rank.complete(room=COMPLETION.size + 16)
    equal("sums", completion.result, integers(2, 4))
    refused(errno.EAGAIN, "recv when it was taken", rank.complete, socket.MSG_DONTWAIT)


@test
def a_peek_leaves_the_completion_where_it_was():
    rank, other = two()
    for cookie in (1, 2):
        rank.post(cookie=cookie)
        other.post()
        select.select([rank], [], [])
        other.complete()
        # Both have ended, in this order
        eventually("completed", lambda: rank.stats().completed, cookie)  # pylint: disable=W0640
    for _ in range(3):
        equal("cookie of a peek", rank.complete(socket.MSG_PEEK).cookie, 1)
    equal("first cookie", rank.complete().cookie, 1)
    equal("second cookie", rank.complete(socket.MSG_PEEK).cookie, 2)
    equal("second cookie", rank.complete().cookie, 2)
    refused(errno.EAGAIN, "a peek at nothing", rank.complete,
            socket.MSG_PEEK | socket.MSG_DONTWAIT)
    refused(errno.EINVAL, "an unknown flag of recv", rank.complete, socket.MSG_OOB)


@test
def read_and_write_do_what_recv_and_send_do():
    rank, other = two()
    os.write(rank.fileno(), post_bytes(integers(1), cookie=8) + integers(1))
    os.writev(other.fileno(), [post_bytes(integers(2)), integers(2)])
    completion = Completion(os.read(rank.fileno(), 4096))
    equal("cookie and sum", (completion.cookie, completion.result), (8, integers(3)))
    head, result = bytearray(COMPLETION.size), bytearray(8)
    equal("bytes of readv", os.readv(other.fileno(), [head, result]), COMPLETION.size + 8)
    equal("the sum", bytes(result), integers(3))


@test
def a_full_window_is_eagain_and_unread_completions_are_enobufs():
    rank, other = two(window=2)
    for cookie in (1, 2):
        rank.post(cookie=cookie)
    for _ in range(2):
        refused(errno.EAGAIN, "a third post", rank.post, flags=socket.MSG_DONTWAIT)
        refused(errno.EAGAIN, "a third RUN", nonblocking(rank).run)
    equal("operations posted", rank.stats().posted, 2)
    equal("ready to write", select.select([], [rank], [], 0)[1], [])
    other.post()
    other.post()

    def third():
        try:
            rank.post(flags=socket.MSG_DONTWAIT)
            return "accepted"
        except OSError as error:
            return errno.errorcode[error.errno]
    eventually("a third post while both completions are unread", third, "ENOBUFS")
    refused(errno.ENOBUFS, "and if it may block", blocking(rank).post)
    refused(errno.ENOBUFS, "and a RUN", rank.run)
    equal("ready to write", select.select([], [rank], [], 0)[1], [])
    equal("operations posted", rank.stats().posted, 2)
    equal("first cookie", rank.complete().cookie, 1)
    equal("ready to write", select.select([], [rank], [], 0)[1], [rank])
    rank.post(cookie=3)
    other.complete()
    other.post()
    equal("second cookie", rank.complete().cookie, 2)
    equal("third cookie", rank.complete().cookie, 3)


def nonblocking(rank):
    os.set_blocking(rank.fileno(), False)
    return rank


def blocking(rank):
    os.set_blocking(rank.fileno(), True)
    return rank


@contextlib.contextmanager
def window_filled_by_lost_acknowledgments(window):
    """Rank 0 has received all its completions, and hears nothing of rank 1."""
    with tunables(liveness_ms=60000):
        rank, other = two(window=window)
    barrier([rank, other])
    eventually("slots in use before", lambda: slots_free(rank, other), True)
    before = rank.stats().early
    for _ in range(window):
        other.post()
    eventually("early messages", lambda: rank.stats().early - before, window)
    netem([2], "loss", "100%")
    try:
        for _ in range(window):
            rank.post()
            rank.complete()
        yield rank, other
    finally:
        netem([2])


def slots_free(*ranks):
    """Nothing of the past is unacknowledged: silence on the network."""
    def sent():
        return [rank.stats().lone_acks + rank.stats().messages_sent for rank in ranks]
    before = sent()
    time.sleep(0.1)
    return sent() == before


@test
def a_full_window_opens_when_the_others_acknowledge():
    poll, edges = select.poll(), select.epoll()
    with window_filled_by_lost_acknowledgments(1) as (rank, _):
        poll.register(rank, select.POLLOUT)
        edges.register(rank, select.EPOLLOUT | select.EPOLLET)
        refused(errno.EAGAIN, "a post", rank.post, flags=socket.MSG_DONTWAIT)
        equal("events of poll", poll.poll(50), [])
        equal("events of epoll", edges.poll(0), [])
        rank.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", 0, 50000))
        begin = time.monotonic()
        refused(errno.EAGAIN, "a post within 50 ms", rank.post)
        at_least("seconds that it tried", time.monotonic() - begin, 0.04)
        rank.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", 0, 0))
        equal("operations posted", rank.stats().posted, 2)
    equal("events of poll", poll.poll(), [(rank.fileno(), select.POLLOUT)])
    equal("events of epoll", edges.poll(), [(rank.fileno(), select.EPOLLOUT)])
    equal("further events of epoll", edges.poll(0), [])
    rank.post(flags=socket.MSG_DONTWAIT)


@test
def a_blocking_post_sleeps_until_the_window_opens():
    posted = []
    with window_filled_by_lost_acknowledgments(1) as (rank, other):
        sender = threading.Thread(target=lambda: posted.append(rank.post(cookie=9)))
        sender.start()
        eventually_in("sendto", sender)
        equal("posts while the window is full", posted, [])
    sender.join()
    equal("posts when it is open", posted, [POST.size])
    other.complete()
    other.post()
    equal("its cookie", rank.complete().cookie, 9)


# ---- waiting ----

# Of 0.1 s: the kernel's ticks, of 10 ms at most, may cut off one
PATIENCE_LEAST = 0.09


@test
def poll_tells_of_completions_and_of_room():
    rank, other = two(window=1)
    poll = select.poll()
    poll.register(rank, select.POLLIN | select.POLLOUT)
    equal("events when joined", poll.poll(0), [(rank.fileno(), select.POLLOUT)])
    rank.post()
    equal("events when posted", poll.poll(50), [])
    other.post()
    poll.modify(rank, select.POLLIN)
    equal("events when completed", poll.poll(), [(rank.fileno(), select.POLLIN)])
    rank.complete()
    equal("events when received", poll.poll(0), [])
    poll.modify(rank, select.POLLOUT)
    equal("events when there is room", poll.poll(), [(rank.fileno(), select.POLLOUT)])


@test
def an_edge_triggered_epoll_hears_of_every_completion():
    rank, other = two()
    epoll = select.epoll()
    epoll.register(rank, select.EPOLLIN | select.EPOLLET)
    equal("events before", epoll.poll(0), [])
    for number in range(work(5)):
        rank.post(cookie=number)
        equal("events when posted", epoll.poll(0), [])
        other.post()
        equal("events when completed", epoll.poll(), [(rank.fileno(), select.EPOLLIN)])
        equal("events thereafter", epoll.poll(0), [])
        if number % 2:
            # What was not received does not hide what comes after it
            equal("cookies", [rank.complete().cookie for _ in range(2)], [number - 1, number])


@test
def epoll_wakes_who_sleeps_in_it():
    rank, other = two()
    epoll, events = select.epoll(), []
    epoll.register(rank, select.EPOLLIN)
    rank.post()
    sleeper = threading.Thread(target=lambda: events.extend(epoll.poll()))
    sleeper.start()
    eventually_in("epoll_wait", sleeper)
    equal("events before", events, [])
    other.post()
    sleeper.join()
    equal("events", events, [(rank.fileno(), select.EPOLLIN)])


@test
def recv_waits_as_long_as_it_may():
    rank, other = two()
    rank.post(cookie=1)
    refused(errno.EAGAIN, "recv with MSG_DONTWAIT", rank.complete, socket.MSG_DONTWAIT)
    refused(errno.EAGAIN, "recv of a non-blocking socket", nonblocking(rank).complete)
    blocking(rank).patience(0.1)
    begin = time.monotonic()
    refused(errno.EAGAIN, "recv with SO_RCVTIMEO", rank.complete)
    at_least("seconds that it waited", time.monotonic() - begin, PATIENCE_LEAST)
    rank.patience(0)
    threading.Timer(0.1, other.post).start()
    equal("cookie", rank.complete().cookie, 1)


@test
def run_posts_and_waits_in_one_call():
    rank, other = two()
    for spin_us in (0, 1, 100, MAX_SPIN_US):
        for delay in (0, 0.03):
            thread = threading.Timer(delay, other.run, [integers(1, -1)])
            thread.start()
            completion = rank.run(integers(5, 6), spin_us=spin_us, cookie=spin_us)
            thread.join()
            equal("sums", completion.result, integers(6, 5))
            equal("cookie", completion.cookie, spin_us)
    other.post()
    equal("a barrier", outcome(rank.run(spin_us=10)), "success")
    refused(errno.EAGAIN, "recv after RUN", rank.complete, socket.MSG_DONTWAIT)


@test
def run_of_a_non_blocking_socket_is_einprogress_and_its_completion_comes_later():
    rank, other = two()
    nonblocking(rank)
    refused(errno.EINPROGRESS, "RUN", rank.run, integers(3), cookie=1)
    refused(errno.EINPROGRESS, "another RUN", rank.run, integers(4), cookie=2)
    refused(errno.EAGAIN, "recv", rank.complete)
    refused(errno.EAGAIN, "WAIT", rank.wait, 2)
    equal("operations posted", rank.stats().posted, 2)
    for value in (10, 20):
        other.post(integers(value))
    blocking(rank)
    equal("the second sum", rank.wait(2).result, integers(24))
    completion = rank.complete()
    equal("the first sum", (completion.cookie, completion.result), (1, integers(13)))
    # What has completed before anybody waits is no reason to say EINPROGRESS
    other.post(integers(5))
    eventually("early messages", lambda: rank.stats().early >= 1, True)
    equal("a RUN that completes at once", nonblocking(rank).run(integers(6)).result, integers(11))


@test
def run_and_wait_give_up_after_the_time_out_of_the_socket():
    rank, other = two()
    rank.patience(0.1)
    for name, error, call in (("RUN", errno.EINPROGRESS, lambda: rank.run(cookie=1)),
                              ("WAIT", errno.EAGAIN, lambda: rank.wait(1)),
                              ("a spinning RUN", errno.EINPROGRESS,
                               lambda: rank.run(cookie=2, spin_us=1000))):
        begin = time.monotonic()
        refused(error, name, call)
        at_least("seconds that it waited", time.monotonic() - begin, PATIENCE_LEAST)
    equal("operations posted", rank.stats().posted, 2)
    other.post()
    other.post()
    rank.patience(20)
    equal("cookies", sorted(rank.complete().cookie for _ in range(2)), [1, 2])


def signalled(line, rank, restart, call):
    """Let a signal come every 20 ms while something is called."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, not restart)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.02)
    try:
        line.put(call(rank))
    except OSError as error:
        line.put(errno.errorcode[error.errno])
    signal.setitimer(signal.ITIMER_REAL, 0)
    line.put(rank.stats().posted)
    line.put(rank.complete().cookie)


@test_each(False, True)
def a_signal_after_posting_is_eintr_and_run_is_never_restarted(restart):
    rank, other = two()
    for spin_us in (0, MAX_SPIN_US):
        posted = rank.stats().posted
        child = Child(None, signalled, rank, restart,
                      lambda rank, spin=spin_us: rank.run(cookie=5, spin_us=spin).cookie)
        equal("RUN that is signalled", child.get(), "EINTR")
        equal("operations posted", child.get(), posted + 1)
        other.post()
        equal("cookie of what comes by recv", child.get(), 5)
        child.finish()


@test
def a_signal_restarts_wait_if_the_program_wants_it():
    rank, other = two()
    for restart, expected in ((False, "EINTR"), (True, 1)):
        rank.post(cookie=1)
        rank.post(cookie=2)
        child = Child(None, signalled, rank, restart, lambda rank: rank.wait(1).cookie)
        if restart:
            time.sleep(0.3)
            other.post()
            other.post()
        equal(f"WAIT that is signalled, restart {restart}", child.get(), expected)
        if not restart:
            other.post()
            other.post()
        child.get()
        equal("cookie of what comes by recv", child.get(), 2 if restart else 1)
        child.finish()
        if not restart:
            equal("the other cookie", rank.complete().cookie, 2)


# ---- several operations at once ----

@test
def completions_carry_the_cookies_of_their_posts():
    for window in (1, 2, 7, 0, MAX_WINDOW):
        rank, other = two(window=window)
        amount = window or DEFAULT_WINDOW
        for number in range(amount):
            rank.post(integers(number), cookie=1000 - number)
        refused(errno.EAGAIN, "another post", rank.post, flags=socket.MSG_DONTWAIT)
        for number in range(amount):
            other.post(integers(100), cookie=number)
        expected = {1000 - number: integers(100 + number) for number in range(amount)}
        got = [rank.complete() for _ in range(amount)]
        equal("sums by cookie", {one.cookie: one.result for one in got}, expected)


@test
def wait_takes_the_completion_of_its_cookie_whatever_the_order():
    rank, other = two()
    for cookie in range(8):
        rank.post(integers(cookie), cookie=cookie)
        other.post(integers(0))
    for cookie in (5, 0, 7, 1):
        equal(f"sum of {cookie}", rank.wait(cookie).result, integers(cookie))
    equal("cookies of the rest", sorted(rank.complete().cookie for _ in range(4)), [2, 3, 4, 6])


@test
def of_equal_cookies_the_oldest_comes_first():
    rank, other = two()
    for value in range(6):
        rank.post(integers(value), cookie=4)
        other.post(integers(0))
    for value in range(6):
        equal("sum", rank.wait(4).result, integers(value))


@test
def threads_that_wait_for_different_cookies_do_not_steal_from_each_other():
    rank, other = two()
    cookies = range(6)
    for turn in range(work(5)):
        got = {}

        def wait(cookie, got=got):
            got[cookie] = rank.wait(cookie).result

        for cookie in cookies:
            rank.post(integers(turn, cookie), cookie=cookie)
        threads = [threading.Thread(target=wait, args=[cookie]) for cookie in cookies]
        for thread in threads:
            thread.start()
        for thread in threads:
            eventually_in("ioctl", thread)
        # One that no thread waits for: only recv gets it, and nothing else
        rank.post(cookie=99)
        for _ in range(len(cookies)):
            other.post(integers(0, 0))
        other.post()
        equal("cookie that recv takes", rank.complete().cookie, 99)
        for thread in threads:
            thread.join()
        equal("sums by cookie", got, {cookie: integers(turn, cookie) for cookie in cookies})
        for _ in range(len(cookies) + 1):
            other.complete()


@test
def threads_share_a_socket():
    """Each runs operations of a single kind: all ranks must post in one order."""
    rank, other = two(window=MAX_WINDOW)
    amount, threads = work(40), 4

    def run():
        for _ in range(amount):
            equal("a barrier", outcome(rank.run()), "success")

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    for _ in range(amount * threads):
        other.run()
    for thread in running:
        thread.join()
    equal("completed", rank.stats().completed, amount * threads)


# ---- who holds the socket ----

@test
def a_duplicate_is_the_same_rank():
    rank, other = two()
    copy = rank.dup()
    rank.post(cookie=1)
    rank.close()
    other.post()
    equal("cookie at the duplicate", copy.complete().cookie, 1)
    other.complete()
    barrier([copy, other])
    copy.close()
    other.post()
    equal("when both are closed", outcome(other.complete()), "ECONNRESET rank 0")


def inherited(line, rank):
    line.get()
    for number in range(3):
        line.put(rank.run(integers(number)).result)
    line.get()


@test
def a_child_uses_the_socket_that_it_inherits():
    rank, other = two()
    child = Child(None, inherited, rank)
    rank.close()
    child.put("the parent has closed it")
    for number in range(3):
        equal("sum at the other rank", other.run(integers(10)).result, integers(10 + number))
        equal("sum at the child", child.get(), integers(10 + number))
    child.put("end")
    child.finish()
    other.post()
    equal("when the child is gone", outcome(other.complete()), "ECONNRESET rank 0")


@test
def a_call_that_waits_outlives_the_close_by_another_thread():
    for name, call in (("ioctl", lambda fd: fcntl.ioctl(fd, RUN, bytearray(run_bytes()))),
                       ("read", lambda fd: len(os.read(fd, 4096)))):
        rank, other = two()
        if name == "read":
            rank.post()
        fd, got = rank.detach(), []
        thread = threading.Thread(target=lambda fd=fd, call=call, got=got: got.append(call(fd)))
        thread.start()
        eventually_in(name, thread)
        os.close(fd)
        equal(f"what {name} gave", got, [])
        other.run()
        thread.join()
        equal(f"what {name} gave", len(got), 1)
        other.post()
        equal("the next operation", outcome(other.complete()), "ECONNRESET rank 0")


def close_at_any_moment(line, seed):
    """Threads use a socket in every way while another closes it."""
    pause = seed % 13 / 1000
    group = two(window=4)
    fds = [rank.detach() for rank in group]

    def use(fd, calls):
        for number in range(1000 * len(calls)):
            try:
                calls[number % len(calls)](fd)
            except OSError as error:
                if error.errno == errno.EBADF:
                    return

    calls = [[lambda fd: os.write(fd, post_bytes(b"")), lambda fd: os.read(fd, 100)],
             [lambda fd: fcntl.ioctl(fd, RUN, bytearray(run_bytes()))],
             [lambda fd: fcntl.ioctl(fd, WAIT, bytearray(wait_bytes(0, 0))),
              lambda fd: select.select([fd], [fd], [], 0.001)]]
    for fd in fds:
        for some in calls:
            threading.Thread(target=use, args=[fd, some], daemon=True).start()
    time.sleep(pause)
    for fd in fds:
        os.close(fd)
    time.sleep(pause / 2)
    line.put("closed")


@test
def a_socket_may_be_closed_at_any_moment():
    log, watchers = KernelLog(), [rank_on(1), rank_on(2)]
    for seed in range(work(12)):
        child = Child(None, close_at_any_moment, seed)
        equal("the child says", child.get(), "closed")
        child.finish()
    eventually("groups that remain", lambda: [one.net_stats().groups for one in watchers], [0, 0])
    unchanged_log(log)


# ---- addresses and groups ----

@test_each("IPv4", "IPv6")
def groups_run_over(version):
    family = socket.AF_INET if version == "IPv4" else socket.AF_INET6
    group = Group([1, 2, 3], family)
    for number in range(5):
        group.post(*(integers(number, rank) for rank in range(3)))
        for completion in group.complete():
            equal("sums", completion.result, integers(3 * number, 3))
        group.barrier()


@test
def groups_run_over_link_local_addresses():
    found = []
    for host in (1, 2):
        with on(host):
            for line in read_file("/proc/thread-self/net/if_inet6").splitlines():
                address, index, _, scope, _, device = line.split()
                if device == "eth0" and scope == "20":
                    found.append((bytes.fromhex(address), int(index, 16)))
    if len(found) != 2 or found[0][1] != found[1][1]:
        raise Skipped(f"the interfaces have different numbers: {found}")
    descriptor = Descriptor([1, 2])
    descriptor.members = [member(socket.inet_ntop(socket.AF_INET6, address), socket.AF_INET6,
                                 scope_id=index) for address, index in found]
    ranks = [rank_on(1), rank_on(2)]
    for number, rank in enumerate(ranks):
        rank.join(descriptor, number)
    barrier(ranks)


@test
def both_ends_of_a_group_may_be_in_one_namespace():
    for addresses, family in ((("127.0.0.1", "127.0.0.2", "127.9.9.9"), socket.AF_INET),
                              (("::1", "fd00:1::1"), socket.AF_INET6)):
        descriptor = Descriptor([1] * len(addresses))
        descriptor.members = [member(address, family) for address in addresses]
        ranks = [rank_on(1) for _ in addresses]
        for number, rank in enumerate(ranks):
            rank.join(descriptor, number)
        for _ in range(3):
            barrier(ranks)


@test
def many_groups_of_the_same_hosts_do_not_meet():
    groups = [Group([1, 2, 3], (socket.AF_INET, socket.AF_INET6)[number % 2],
                    barrier_algorithm=number % 3) for number in range(12)]
    for number, group in enumerate(groups):
        group.post(*(integers(number) for _ in group))
    for number, group in enumerate(groups):
        for completion in group.complete():
            equal("sum", completion.result, integers(3 * number))
    equal("groups", groups[0][0].net_stats().groups >= 12, True)


@test
def groups_that_differ_in_key_id_or_nonce_are_different_groups():
    base = Descriptor([1, 2])
    first, second = rank_on(1), rank_on(2)
    first.join(base, 0)
    other_key = bytes(byte ^ 1 for byte in base.fields["key"])
    for field, value in (("key", other_key), ("id", base.fields["id"] ^ 1 << 40),
                         ("nonce", base.fields["nonce"] ^ 1)):
        stranger, before = rank_on(2), first.net_stats().unknown_group
        stranger.join(base, 1, **{field: value})
        stranger.post()
        eventually(f"packets for unknown groups, {field} differs",
                   lambda least=before: first.net_stats().unknown_group > least, True)
        stranger.close()
    second.join(base, 1)
    barrier([first, second])


@test
def a_rank_with_another_descriptor_is_not_heard():
    base = Descriptor([1, 2])
    first, stranger = rank_on(1), rank_on(2)
    first.join(base, 0)
    stranger.join(base, 1, window=3)
    before = first.net_stats().wrong_descriptor
    stranger.post()
    eventually("packets with a wrong descriptor",
               lambda: first.net_stats().wrong_descriptor > before, True)
    equal("messages that host 1 took", first.stats().messages_received, 0)
    equal("messages before their time", first.stats().early, 0)


# ---- counters ----

@test
def stats_fill_what_there_is_room_for():
    rank, other = two()
    barrier([rank, other])
    for option, layout in ((STATS, STATS_ALL), (NET_STATS, NET_STATS_ALL)):
        full = rank.getsockopt(SOL_COLLSOCK, option, 1000)
        equal("bytes filled", len(full), layout.size)
        equal("size", layout.read(full).size, layout.size)
        short = rank.getsockopt(SOL_COLLSOCK, option, 16)
        equal("bytes filled of 16", len(short), 16)
        equal("the rest", short[4:], full[4:16])
        equal("size", struct.unpack_from("=I", short)[0], 16)
        for room in (1, 3):
            refused(errno.EINVAL, f"{room} bytes", rank.getsockopt, SOL_COLLSOCK, option, room)


@test
def stats_count_what_happened():
    rank, other = two(barrier_algorithm=DISSEMINATION)
    for _ in range(10):
        barrier([rank, other])
    for number, one in enumerate((rank, other)):
        stats = one.stats()
        equal("hosts", stats.hosts, 2)
        equal("host", stats.host, number)
        equal("peers", stats.peers, 1)
        equal("posted, completed, failed", (stats.posted, stats.completed, stats.failed),
              (10, 10, 0))
        equal("rounds", stats.rounds, 10)
        equal("rounds misplaced", stats.rounds_misplaced, 0)
        equal("messages sent", stats.messages_sent, 10)
        equal("messages received", stats.messages_received, 10)
    before = rank.net_stats()
    barrier([rank, other])
    after = rank.net_stats()
    at_least("packets of a barrier", after.packets - before.packets, 1)
    at_least("groups", after.groups, 1)
    at_least("peers", after.peers, 1)


@test
def bad_input_of_random_bytes_harms_nobody():
    log, chance = KernelLog(), seeded("api")
    rank, other = two()
    fresh = rank_on(1)
    good = Descriptor([1, 2]).bytes(0)
    for _ in range(work(1000)):
        data = bytearray(chance.choice((good, post_of_three())))
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7f, 0xff,
                                                               chance.randrange(256)))
        length = chance.choice((len(data), chance.randrange(len(data) + 1)))
        try:
            fresh.setsockopt(SOL_COLLSOCK, JOIN, bytes(data[:length]))
            fresh.close()
            fresh = rank_on(1)
        except OSError:
            pass
        data = bytearray(run_bytes(integers(1, 2, 3)))
        # Never the good one: what is posted would have to be completed
        data[chance.choice((0, 1, 2, 3, 12, 13, 16, 20, 24, 25, 26, 27, 28, 30))] ^= \
            chance.choice((0x80, 0xff))
        refused_somehow(fcntl.ioctl, rank, RUN, bytearray(data))
        refused_somehow(rank.send, bytes(data[RUN_HEAD.size:RUN_HEAD.size + POST.size]))
    equal("operations posted", rank.stats().posted, 0)
    barrier([rank, other])
    unchanged_log(log)


def refused_somehow(function, *args):
    try:
        value = function(*args)
    except OSError:
        return
    raise Failed(f"{args} is accepted ({value})")


main()
