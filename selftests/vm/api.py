#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=60
# suites: check debug soak
"""The socket interface: what joining, posting and completing accept, refuse and change."""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import select
import socket
import struct
import threading
import time

from api_common import blocking, nonblocking, post_of_three, two, unchanged_log
from arithmetic import REDUCTIONS, element_bytes, name_of
from collsock_test import (
    AF_COLLSOCK, AUTO, BARRIER, BFLOAT16, BINOMIAL, BYTE, COMPLETION, COOKIE_GROUP, DEFAULT_SEGMENT,
    DISSEMINATION, EXACT, EXCHANGE, EXSCAN, FLAT, HALVING, HILLIS_STEELE, INT64, JOIN, KARY, MAXLOC,
    MAX_COMPLETION_BYTES, MAX_DEGREE, MAX_EXCHANGE_DEGREE, MAX_HOSTS, MAX_PAYLOAD, MAX_RANKS,
    MAX_RESULT, MAX_SEGMENT, MAX_SEGMENTS, MAX_SPIN_US, MAX_WINDOW, MCS, MINLOC, NO_RANK, PORT,
    POST, QUIET, RUN, RUN_HEAD, SELF, SOL_COLLSOCK, STATS, SUM, WAIT, WAIT_HEAD, Child, Completion,
    Descriptor, Group, KernelLog, Memory, Rank, at_least, at_most, barrier, equal, eventually,
    eventually_in, integers, ip_batch, libc, main, make_namespace, member, netem, on, outcome,
    post_bytes, rank_on, refused, run_bytes, set_tunables, test, tunables, until_nothing_lingers,
    work)


def alone(**fields):
    """A group of one."""
    return Group([1], **fields)[0]


# ---- making sockets ----

@test
def only_seqpacket_sockets_of_protocol_0_can_be_made():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_RDM):
        refused(errno.ESOCKTNOSUPPORT, f"a socket of type {kind!r}", Rank, kind=kind)
    for proto in (1, socket.IPPROTO_UDP, 255):
        refused(errno.EPROTONOSUPPORT, f"a socket of protocol {proto}", Rank, proto=proto)
    Rank().close()


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
                                ("getpeername", fd, bytes(64), struct.pack("=I", 64))):
            refused(errno.EOPNOTSUPP, function, call, function, *args)
    refused(errno.EOPNOTSUPP, "socketpair", call, "socketpair", AF_COLLSOCK,
            socket.SOCK_SEQPACKET, 0, pair)


@test
def a_socket_that_has_not_joined_can_only_join():
    until_nothing_lingers(1)
    rank = rank_on(1)
    refused(errno.ENOTCONN, "send", rank.post)
    refused(errno.ENOTCONN, "recv", rank.complete)
    refused(errno.ENOTCONN, "RUN", rank.run)
    refused(errno.ENOTCONN, "WAIT", rank.wait, 0)
    refused(errno.ENOTCONN, "STATS", rank.stats)
    refused(errno.ENOTCONN, "SELF", rank.me)
    refused(errno.ENOTCONN, "shutdown", rank.shutdown, socket.SHUT_WR)
    equal("groups", rank.net_stats().groups, 0)
    poll = select.poll()
    poll.register(rank)
    equal("poll's events", poll.poll(0)[0][1], select.POLLHUP)


# ---- joining ----

BAD_FIELDS = {
    "size": (0, 104, 111, 113, 116),
    "flags": (1, 0x80000000),
    "hosts": (0, 1, 3, MAX_HOSTS, MAX_HOSTS + 1, 0xffffffff),
    "ranks": (0, 1, 3, MAX_RANKS, MAX_RANKS + 1, 0xffffffff),
    "rank": (2, 0xffffffff),
    "max_bytes": (MAX_PAYLOAD + 1, 0xffffffff),
    "window": (MAX_WINDOW + 1, 0xffff),
    "segment_bytes": (1, 16, 32, 47, 49, 56, DEFAULT_SEGMENT + 8, MAX_SEGMENT + 16, 0xffff),
    "barrier_algorithm": (HILLIS_STEELE, HALVING, HALVING + 1, 255),
    "allreduce_algorithm": (DISSEMINATION, HILLIS_STEELE, HALVING + 1, 255),
    "reduce_algorithm": (DISSEMINATION, EXCHANGE, MCS, HALVING, HALVING + 1, 255),
    "broadcast_algorithm": (DISSEMINATION, EXCHANGE, MCS, HALVING, HALVING + 1, 255),
    "algorithm0": (BINOMIAL,),
    "allgather_algorithm": (EXCHANGE, BINOMIAL, KARY, 255),
    "gather_algorithm": (DISSEMINATION, EXCHANGE, KARY, 255),
    "scatter_algorithm": (DISSEMINATION, EXCHANGE, KARY, 255),
    "reduce_scatter_block_algorithm": (DISSEMINATION, HALVING + 1, 255),
    "scan_algorithm": (DISSEMINATION, EXCHANGE, BINOMIAL, KARY, HALVING + 1, 255),
    "exscan_algorithm": (DISSEMINATION, EXCHANGE, BINOMIAL, KARY, HALVING + 1, 255),
    "algorithm11": (BINOMIAL,),
    "algorithm15": (BINOMIAL,),
    "algorithms": (1 << AUTO, 1 << HALVING + 1, 1 << 63),
    "degree": (1, MAX_DEGREE + 1, 255),
    "degrees": (1, 0b11),
    "mac": (3, 64, 255), "reserved": (b"\1", b"\0\1"),
    "max_result_bytes": (MAX_RESULT + 1, MAX_SEGMENTS * DEFAULT_SEGMENT + 1, 0xffffffff),
    "liveness_ms": (1, 99, 600001, 0xffffffff),
}


@test
def join_with_a_bad_field_is_einval_and_changes_nothing():
    until_nothing_lingers(1)
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
def join_with_a_length_that_does_not_match_its_counts_is_einval():
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
    for name, bad in (("out an address", member("::", socket.AF_INET6)),
                      (" a scope that its address does not have",
                       member(2, socket.AF_INET6, scope_id=2))):
        refused(errno.EINVAL, f"a member of IPv6 with{name}", rank.join,
                with_members(member(1, socket.AF_INET6), bad), 0)
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
def a_rank_joins_on_its_own_host_only():
    rank = rank_on(1)
    for name, own in (("the address of another host", member(2)),
                      ("an unused address", member("10.9.9.9")),
                      ("a broadcast address", member("10.1.0.255")),
                      ("another port", member(1, port=PORT + 1))):
        refused(errno.EADDRNOTAVAIL, name, rank.join, with_members(own, member(3)), 0)
    for own in ("fd00:1::2", "fd00:9::9"):
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
def a_port_that_another_socket_uses_is_eaddrinuse():
    make_namespace("api1", "10.1.0.201")
    with on("api1"):
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.bind(("10.1.0.201", PORT))
    rank = rank_on("api1")
    refused(errno.EADDRINUSE, "join", rank.join, Descriptor(["10.1.0.201"]), 0)
    other.close()
    rank.join(Descriptor(["10.1.0.201"]), 0)
    rank.run()
    rank.close()
    ip_batch((), "netns delete api1")


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
def a_user_outside_the_range_of_groups_may_not_join():
    try:
        set_tunables(1, join_gid_low=2000, join_gid_high=2999)
        for gid, groups, expected in ((1999, [], "EPERM"), (2000, [], "joined"),
                                      (2999, [], "joined"), (3000, [], "EPERM"),
                                      (1000, [1999, 3000], "EPERM"), (1000, [5, 2500], "joined"),
                                      (0, [], "EPERM")):
            child = Child(1, in_range, Descriptor([1]), gid, groups)
            equal(f"joining with group {gid} and {groups}", child.get(), expected)
        set_tunables(1, join_gid_low=1, join_gid_high=0)
        refused(errno.EPERM, "joining when no group id may", rank_on(1).join, Descriptor([1]), 0)
        Group([2]).barrier()
    finally:
        set_tunables(1, join_gid_low=None, join_gid_high=None)
    alone().run()


@test
def without_a_key_a_group_forms_only_where_the_namespace_allows():
    keyless = Descriptor([1], key=bytes(16))
    refused(errno.EACCES, "a keyless group", rank_on(1).join, keyless, 0)
    set_tunables(1, require_keys=0)
    try:
        rank = rank_on(1)
        rank.join(keyless, 0)
        rank.run()
        refused(errno.EACCES, "a keyless group elsewhere", rank_on(2).join,
                Descriptor([2], key=bytes(16)), 0)
    finally:
        set_tunables(1, require_keys=None)
    # One byte is a key
    alone(key=bytes(15) + b"\1").run()


@test
def bad_pointers_are_efault_and_change_nothing():
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


class LastBytes:
    """Memory that ends where nothing is mapped."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 2 * mmap.PAGESIZE)
        self.end = (ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) + mmap.PAGESIZE)
        if libc.mprotect(ctypes.c_void_p(self.end), ctypes.c_size_t(mmap.PAGESIZE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")

    def run(self, rank, data):
        """RUN with a buffer of which only these bytes are mapped."""
        self.memory[mmap.PAGESIZE - len(data):mmap.PAGESIZE] = data
        if libc.ioctl(rank.fileno(), ctypes.c_ulong(RUN), ctypes.c_void_p(self.end - len(data))):
            raise OSError(ctypes.get_errno(), "RUN")


@test
def run_with_a_buffer_that_ends_too_early_is_efault_and_loses_nothing():
    log, (rank, other), end = KernelLog(), two(), LastBytes()
    nothing = Memory(b"")
    data = run_bytes(nothing, nothing, cookie=7)
    request = RUN_HEAD.size + POST.size
    for mapped in range(0, request, 8):
        refused(errno.EFAULT, f"a request of which {mapped} bytes are mapped",
                end.run, rank, data[:mapped])
    equal("operations posted", rank.stats().posted, 0)
    for mapped in range(request, len(data), 8):
        other.post()
        refused(errno.EFAULT, f"a completion of which {mapped - request} bytes are mapped",
                end.run, rank, data[:mapped])
        equal("cookie of what stayed", rank.complete().cookie, 7)
        other.complete()
    other.post()
    end.run(rank, data)
    unchanged_log(log)


# ---- posting ----

@test
def a_bad_post_is_refused_and_changes_nothing():
    log, (rank, other) = KernelLog(), two()
    barrier = {"operation": BARRIER, "type": 0, "op": 0, "count": 0}
    for fields in ({"size": 0}, {"size": 31}, {"size": 33}, {"flags": QUIET}, {"flags": 2},
                   {"degree": 1}, {"degree": MAX_EXCHANGE_DEGREE + 1}, {"degree": 0xffffffff},
                   {"cookie": COOKIE_GROUP},
                   {"operation": 0}, {"operation": EXSCAN + 1},
                   {"operation": 255}, {"type": 0}, {"type": BYTE}, {"type": BFLOAT16 + 1},
                   {"type": 255}, {"op": 0},
                   {"op": MINLOC}, {"op": MAXLOC + 1}, {"op": 255},
                   {"algorithm": DISSEMINATION}, {"algorithm": FLAT},
                   {"algorithm": MCS}, {"algorithm": HILLIS_STEELE},
                   {"algorithm": HALVING + 1},
                   {"algorithm": 255}, {"root": 1}, {"root": NO_RANK}, {"count": 0},
                   {"count": 2}, {"count": 4}, barrier):
        refused(errno.EINVAL, f"allreduce with {fields}", rank.send, post_of_three(**fields))
    for degree in (3, MAX_EXCHANGE_DEGREE):
        refused(errno.ERANGE, f"allreduce with degree={degree}", rank.send,
                post_of_three(degree=degree))
    for count in (145, 0x20000000, 0x20000001, 0x80000003, 0xffffffff):
        refused(errno.EMSGSIZE, f"allreduce with count={count}", rank.send,
                post_of_three(count=count))
    for fields in ({"type": INT64}, {"op": SUM}, {"count": 1}, {"root": 1}):
        refused(errno.EINVAL, f"barrier with {fields}", rank.post, **fields)
    for length in (0, 1, POST.size - 1, POST.size, POST.size + 23):
        refused(errno.EINVAL, f"the first {length} bytes of an allreduce", rank.send,
                post_of_three()[:length])
    refused(errno.EINVAL, "a byte too many", rank.send, post_of_three() + b"\0")
    refused(errno.EINVAL, "an unknown flag of send", rank.post, send_flags=socket.MSG_OOB)
    equal("operations posted", rank.stats().posted, 0)
    rank.send(post_of_three())
    other.send(post_of_three())
    equal("sums", rank.complete().result, integers(2, 4, 6))
    unchanged_log(log)


@test
def a_payload_may_be_as_large_as_max_bytes_and_no_larger():
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
        rank.run(integers(1, 2, 3), head=fields)

    for fields in ({"size": 0}, {"size": RUN_HEAD.size - 8}, {"size": RUN_HEAD.size + 1},
                   {"post_bytes": 0}, {"post_bytes": POST.size + 8}, {"flags": 1},
                   {"completion_bytes": 0}, {"completion_bytes": COMPLETION.size - 8},
                   {"completion_bytes": COMPLETION.size + 4},
                   {"completion_bytes": MAX_COMPLETION_BYTES + 8},
                   {"spin_us": MAX_SPIN_US + 1}, {"spin_us": 0xffffffff}):
        refused(errno.EINVAL, f"RUN with {fields}", run, **fields)
    for room in (0, 8, 23):
        refused(errno.EMSGSIZE, f"RUN of {room} bytes instead of 24", run, payload_bytes=room)
        refused(errno.EMSGSIZE, f"RUN with room for {room} bytes of 24", run, result_bytes=room)
    refused(errno.EINVAL, "RUN of a bad post", rank.run, integers(1), op=MAXLOC)
    refused(errno.EMSGSIZE, "RUN of too much", rank.run, bytes(DEFAULT_SEGMENT + 8))
    equal("operations posted", rank.stats().posted, 0)

    rank.post(integers(5), cookie=1)
    for fields in ({"size": 0}, {"size": WAIT_HEAD.size - 8}, {"size": WAIT_HEAD.size + 4},
                   {"completion_bytes": 0}, {"completion_bytes": COMPLETION.size + 4},
                   {"completion_bytes": MAX_COMPLETION_BYTES + 8}, {"flags": 1},
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
    refused(errno.ENOPROTOOPT, "setting SELF", rank.setsockopt, SOL_COLLSOCK, SELF, b"1234")
    refused(errno.ENOPROTOOPT, "setting STATS", rank.setsockopt, SOL_COLLSOCK, STATS, b"1234")
    refused(errno.ENOPROTOOPT, "setting option 99", rank.setsockopt, SOL_COLLSOCK, 99, b"1234")
    refused(errno.ENOPROTOOPT, "getting JOIN", rank.getsockopt, SOL_COLLSOCK, JOIN, 64)
    refused(errno.ENOPROTOOPT, "getting option 99", rank.getsockopt, SOL_COLLSOCK, 99, 64)
    refused(errno.ENOPROTOOPT, "an option of UDP", rank.getsockopt, socket.IPPROTO_UDP, 1, 64)
    for command in (RUN + 2, RUN | 24 << 16, WAIT | 3 << 30, 0xc0584b70):
        refused(errno.ENOTTY, f"ioctl {command:#x}", fcntl.ioctl, rank, command, bytearray(256))


# ---- completing ----

@test
def a_group_of_one_completes_at_once_whatever_it_posts():
    rank = alone()
    doubles = struct.pack("=3d", 1.5, -0.0, float("inf"))
    for type_, op in REDUCTIONS:
        payload = doubles * 12 if type_ == EXACT else doubles
        rank.post(payload, type=type_, op=op, count=len(payload) // element_bytes(type_),
                  cookie=type_ * 100 + op)
        completion = rank.complete(socket.MSG_DONTWAIT)
        equal(name_of(type_, op), completion.result, payload)
        equal("its cookie", completion.cookie, type_ * 100 + op)
    equal("a barrier", outcome(rank.run()), "success")
    equal("completed", rank.stats().completed, len(REDUCTIONS) + 1)


@test
def a_completion_describes_its_operation_and_times():
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
def a_completion_is_kept_when_the_buffer_is_too_short():
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
def a_peek_leaves_the_completion_in_its_place():
    rank, other = two()
    for cookie in (1, 2):
        rank.post(cookie=cookie)
        other.post()
        select.select([rank], [], [])
        other.complete()
        # Both have completed, in this order
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


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("len", ctypes.c_size_t)]


class Msghdr(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.c_void_p),
        ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
        ("flags", ctypes.c_int)]


class Mmsghdr(ctypes.Structure):
    _fields_ = [("head", Msghdr), ("sent", ctypes.c_uint)]


def send_several(rank, messages):
    """sendmmsg(): how many were sent."""
    parts = [Iovec(message, len(message)) for message in messages]
    heads = (Mmsghdr * len(messages))(*(
        Mmsghdr(Msghdr(iov=ctypes.addressof(part), iovlen=1)) for part in parts))
    sent = libc.sendmmsg(rank.fileno(), heads, len(messages), 0)
    if sent < 0:
        raise OSError(ctypes.get_errno(), "sendmmsg")
    return sent


@test
def several_posts_are_sent_by_one_call():
    rank, other = two()
    posts = [post_bytes(integers(number), cookie=number) + integers(number) for number in (1, 2, 3)]
    equal("posts sent", send_several(rank, posts), 3)
    equal("those before a bad one", send_several(other, [*posts[:2], b"short", posts[2]]), 2)
    refused(errno.EINVAL, "a bad one first", send_several, other, [b"short", posts[2]])
    equal("the third", send_several(other, posts[2:]), 1)
    for cookie in 1, 2, 3:
        for one in rank, other:
            completion = one.complete()
            equal("cookie and sum", (completion.cookie, completion.result),
                  (cookie, integers(2 * cookie)))


@test
def a_post_may_come_from_a_pipe():
    rank, other = two()
    post = post_bytes(integers(4), cookie=7) + integers(4)
    ends = os.pipe()
    os.write(ends[1], post)
    equal("bytes of splice", os.splice(ends[0], rank.fileno(), len(post)), len(post))
    for end in ends:
        os.close(end)
    other.post(integers(5))
    completion = rank.complete()
    equal("cookie and sum", (completion.cookie, completion.result), (7, integers(9)))
    other.complete()


@test
def a_full_window_is_eagain_and_unread_completions_are_enobufs():
    rank, other = two(window=2)
    for cookie in (1, 2):
        rank.post(cookie=cookie)
    for _ in range(2):
        refused(errno.EAGAIN, "a third post", rank.post, send_flags=socket.MSG_DONTWAIT)
        refused(errno.EAGAIN, "a third RUN", nonblocking(rank).run)
    equal("operations posted", rank.stats().posted, 2)
    equal("ready to write", select.select([], [rank], [], 0)[1], [])
    other.post()
    other.post()

    def third():
        try:
            rank.post(send_flags=socket.MSG_DONTWAIT)
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


@contextlib.contextmanager
def window_filled_by_lost_acknowledgments(window):
    """Rank 0 has received all its completions, and no packet of rank 1 arrives."""
    with tunables(liveness_ms=60000):
        rank, other = two(window=window)
    with window_filled([rank], other, window):
        yield rank, other


@contextlib.contextmanager
def window_filled(ranks, other, window):
    """These have received all their completions, and no packet of the other, on host 2, arrives."""
    barrier([*ranks, other])
    eventually("slots in use before", lambda: slots_free(*ranks, other), True)
    before = ranks[0].stats().early
    for _ in range(window):
        other.post()
    eventually("early messages", lambda: ranks[0].stats().early - before, window)
    netem([2], "loss", "100%")
    try:
        for _ in range(window):
            for rank in ranks:
                rank.post()
            for rank in ranks:
                rank.complete()
        yield
    finally:
        netem([2])


def slots_free(*ranks):
    """Everything posted so far is acknowledged: the network is silent."""
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
        refused(errno.EAGAIN, "a post", rank.post, send_flags=socket.MSG_DONTWAIT)
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
    rank.post(send_flags=socket.MSG_DONTWAIT)


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


@test
def all_writers_that_got_eagain_are_told_when_they_can_post_again():
    with tunables(liveness_ms=60000):
        group = Group([1, 2], placement=[0] * 4 + [1], window=1)
    *ranks, other = group
    edges, poll = select.epoll(), select.poll()
    # There is room when it is registered, so an edge follows only later.
    for rank in ranks[:2]:
        edges.register(rank, select.EPOLLOUT | select.EPOLLET)
    poll.register(ranks[2], select.POLLOUT)
    room = {(rank.fileno(), select.EPOLLOUT) for rank in ranks[:2]}
    equal("room at first", set(edges.poll()), room)
    for turn in range(work(3)):
        told = []
        with window_filled(ranks, other, 1):
            for rank in ranks[:3]:
                refused(errno.EAGAIN, "a post", rank.post, send_flags=socket.MSG_DONTWAIT)
            equal("events while the window is full", edges.poll(0.05), [])
            waiting = [threading.Thread(target=call, daemon=True) for call in (
                lambda: told.append(poll.poll()), lambda: told.append(ranks[3].post(cookie=turn)))]
            for thread in waiting:
                thread.start()
            eventually_in("sendto", waiting[1])
            equal("told while the window is full", told, [])
            sleeper = threading.Thread(target=lambda: told.append(edges.poll()), daemon=True)
            sleeper.start()
            eventually_in("epoll_wait", sleeper)
        for thread in (*waiting, sleeper):
            thread.join()
        seen = [events for events in told if isinstance(events, list)]
        equal("a post", [events for events in told if events not in seen], [POST.size])
        equal("room of poll", [(ranks[2].fileno(), select.POLLOUT)] in seen, True)
        edge = {event for events in seen for event in events} - {(ranks[2].fileno(), select.POLLOUT)}
        while edge < room:
            edge |= set(edges.poll())
        equal("room of epoll", edge, room)
        equal("further events of epoll", edges.poll(0), [])
        for rank in ranks[:3]:
            rank.post(send_flags=socket.MSG_DONTWAIT)
        other.complete()
        other.post()
        for rank in group:
            rank.complete()


main()
