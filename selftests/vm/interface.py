#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=60
# suites: check debug soak
"""Extensible structures of the socket interface: older and newer callers, and queries."""

import errno
import fcntl
import socket
import struct

from api_common import nonblocking, post_of_three, sockname, two, unchanged_log
from collsock_test import (
    AF_COLLSOCK, AUTO, BARRIER, BFLOAT16, BINOMIAL, COMPLETION, COMPLETION_BYTES, DEVICES,
    DISSEMINATION, EXCHANGE, EXSCAN, FEATURES, FEATURES_ALL, FLAT, HALVING, JOIN, JOIN_HEAD, KARY,
    MAC_NH_SIPHASH, MAC_SIPHASH, MAXLOC, MAX_COMPLETION_BYTES, MAX_FLAT_HOSTS, MCS, NO_RANK,
    PORT, POST, RUN, RUN_HEAD, SELF, SELF_ALL, SOL_COLLSOCK, WAIT, WAIT_HEAD, Completion, Descriptor,
    Group, KernelLog, Memory, Rank, barrier, equal, eventually, integers, main, on, rank_on,
    refused, test, wait_bytes)
from ethernet_common import collsock, pair_of_namespaces, pair_of_ranks
from interface_common import grown, run_parts

JOIN_VER0 = 112
# How much longer the structure of a newer caller may be
LONGER = (8, 16, 56, 64, 72, 1024)
PAGE = 4096


def not_zero(length):
    """Tails in which one byte is not zero."""
    for position in sorted({0, length // 2, length - 1}):
        yield bytes(position) + b"\1" + bytes(length - position - 1)


# ---- join ----

@test
def newer_callers_of_join_are_in_one_group():
    """A caller that knows more fields, and leaves them 0, describes the same group."""
    for longer in LONGER:
        descriptor = Descriptor([1, 2], placement=[0, 1, 0])
        ranks = [rank_on(1), rank_on(2), rank_on(1)]
        for number, tail in enumerate((b"", bytes(longer), bytes(8))):
            ranks[number].setsockopt(SOL_COLLSOCK, JOIN, grown(
                descriptor.bytes(number), JOIN_HEAD.size, tail))
        barrier(ranks)
        for rank in ranks:
            rank.close()


@test
def callers_of_the_first_join_are_in_one_group_with_others():
    descriptor = Descriptor([1, 2])
    ranks = [rank_on(1), rank_on(2)]
    for number, size in enumerate((JOIN_VER0, JOIN_HEAD.size)):
        whole = descriptor.bytes(number)
        ranks[number].setsockopt(SOL_COLLSOCK, JOIN, struct.pack("=I", size) + whole[4:size] +
                                 whole[JOIN_HEAD.size:])
    barrier(ranks)


def joining(data):
    """Another socket each time, because one of them may be accepted."""
    with rank_on(1) as rank:
        rank.setsockopt(SOL_COLLSOCK, JOIN, data)


@test
def unknown_fields_of_join_are_e2big_unless_zero():
    log, good = KernelLog(), Descriptor([1, 2]).bytes(0)
    for longer in LONGER:
        for tail in not_zero(longer):
            refused(errno.E2BIG, f"{longer} bytes more, not zero", joining,
                    grown(good, JOIN_HEAD.size, tail))
    refused(errno.E2BIG, "more than a page", joining,
            grown(good, JOIN_HEAD.size, bytes(PAGE - JOIN_HEAD.size + 8)))
    for size in (PAGE, PAGE + 8, 0xfffffff8):
        refused(errno.EINVAL if size <= PAGE else errno.E2BIG, f"size {size} of less", joining,
                struct.pack("=I", size) + good[4:])
    joining(grown(good, JOIN_HEAD.size, bytes(PAGE - JOIN_HEAD.size)))
    unchanged_log(log)


@test
def callers_of_join_know_at_least_the_first_version():
    good = Descriptor([1, 2]).bytes(0)
    for size in range(0, JOIN_VER0, 8):
        refused(errno.EINVAL, f"size {size}", joining,
                struct.pack("=I", size) + good[4:size] + good[JOIN_HEAD.size:])
    for size in range(JOIN_HEAD.size + 1, JOIN_HEAD.size + 8):
        refused(errno.EINVAL, f"size {size}", joining,
                grown(good, JOIN_HEAD.size, bytes(size - JOIN_HEAD.size)))


# ---- send ----

@test
def the_payload_of_newer_callers_begins_after_their_structure():
    rank, other = two()
    for longer in LONGER:
        rank.send(grown(post_of_three(), POST.size, bytes(longer)))
        other.send(post_of_three())
        equal(f"sums, {longer} bytes more", rank.complete().result, integers(2, 4, 6))
        equal(f"sums, {longer} bytes more", other.complete().result, integers(2, 4, 6))


@test
def unknown_fields_of_a_post_are_e2big_unless_zero():
    rank, _ = two()
    for longer in LONGER:
        for tail in not_zero(longer):
            refused(errno.E2BIG, f"{longer} bytes more, not zero", rank.send,
                    grown(post_of_three(), POST.size, tail))
    refused(errno.E2BIG, "more than a page", rank.send,
            grown(post_of_three(), POST.size, bytes(PAGE)))
    for size in (0, 8, 24, 31, 33, 36, 64, 0x1001):
        refused(errno.EINVAL, f"size {size}", rank.send,
                struct.pack("=I", size) + post_of_three()[4:])
    equal("operations posted", rank.stats().posted, 0)


# ---- RUN and WAIT ----

@test
def the_parts_of_run_are_where_its_head_says():
    rank, other = two()
    for longer in ((0, 0, 0), (8, 0, 0), (0, 8, 0), (0, 0, 8), (64, 16, 24), (8, 1024, 216)):
        memory = Memory(integers(5, -5))
        data, completion = run_parts(longer[0], longer[1], COMPLETION.size + longer[2], memory)
        other.post(integers(1, 2))
        fcntl.ioctl(rank, RUN, data)
        one = Completion(data, completion, memory)
        equal(f"sums, longer by {longer}", one.result, integers(6, -3))
        equal("size", one.size, COMPLETION.size + longer[2])
        equal("what the kernel does not know", bytes(data[completion + COMPLETION.size:]),
              bytes(longer[2]))
        other.complete()


@test
def unknown_fields_of_run_are_e2big_unless_zero():
    rank, _ = two()
    for position, longer in ((RUN_HEAD.size, (8, 0, 0)), (RUN_HEAD.size + 1023, (1024, 0, 0)),
                             (RUN_HEAD.size + POST.size, (0, 8, 0)),
                             (RUN_HEAD.size + POST.size + 70, (0, 72, 0))):
        memory = Memory(integers(5))
        data, _ = run_parts(longer[0], longer[1], COMPLETION.size, memory)
        data[position] = 1
        refused(errno.E2BIG, f"byte {position} of parts longer by {longer}", fcntl.ioctl, rank,
                RUN, data)
    refused(errno.EINVAL, "a post of another length than the head says", rank.run, integers(5),
            size=POST.size + 8)
    equal("operations posted", rank.stats().posted, 0)


@test
def the_parts_of_wait_are_where_its_head_says():
    rank, other = two()
    for longer, completion_bytes in ((0, 40), (8, 40), (0, 48), (64, 256)):
        rank.post(integers(3), cookie=9)
        other.run(integers(4))
        memory = Memory(8)
        data = grown(wait_bytes(9, memory, completion_bytes=completion_bytes), WAIT_HEAD.size,
                     bytes(longer))[:WAIT_HEAD.size + longer]
        bad = bytearray(data + b"\xaa" * completion_bytes)
        if longer:
            bad[WAIT_HEAD.size + longer - 1] = 1
            refused(errno.E2BIG, "what the kernel does not know, not zero", fcntl.ioctl, rank,
                    WAIT, bad)
        good = bytearray(data + b"\xaa" * completion_bytes)
        fcntl.ioctl(rank, WAIT, good)
        one = Completion(good, len(data), memory)
        equal("size and sum", (one.size, one.result), (completion_bytes, integers(7)))
        equal("what the kernel does not know",
              bytes(good[len(data) + COMPLETION.size:len(data) + completion_bytes]),
              bytes(completion_bytes - COMPLETION.size))


# ---- recv ----

@test
def callers_select_the_length_of_completions():
    rank, other = two()
    equal("at first", rank.getsockopt(SOL_COLLSOCK, COMPLETION_BYTES), COMPLETION.size)
    for length in (48, 64, MAX_COMPLETION_BYTES, COMPLETION.size):
        rank.setsockopt(SOL_COLLSOCK, COMPLETION_BYTES, length)
        equal("as set", rank.getsockopt(SOL_COLLSOCK, COMPLETION_BYTES), length)
        equal("as told", rank.me().completion_bytes, length)
        rank.post(integers(3), cookie=9)
        other.post(integers(4))
        refused(errno.EMSGSIZE, "a buffer that is too short", rank.recv, length + 7)
        data = rank.recv(1000)
        equal("bytes", len(data), length + 8)
        equal("what the kernel does not know", data[COMPLETION.size:length],
              bytes(length - COMPLETION.size))
        one = Completion(data)
        equal("size, cookie and sum", (one.size, one.cookie, one.result), (length, 9, integers(7)))
        equal("at the other rank", other.complete().size, COMPLETION.size)


@test
def an_invalid_length_of_completions_is_einval():
    rank = Rank()
    for length in (0, 8, 32, 39, 41, 44, MAX_COMPLETION_BYTES + 8, 0x7fffffff):
        refused(errno.EINVAL, f"{length} bytes", rank.setsockopt, SOL_COLLSOCK,
                COMPLETION_BYTES, length)
    for value in (b"", b"\x30", struct.pack("=Q", 48)):
        refused(errno.EINVAL, f"a value of {len(value)} bytes", rank.setsockopt, SOL_COLLSOCK,
                COMPLETION_BYTES, value)
    equal("as before", rank.getsockopt(SOL_COLLSOCK, COMPLETION_BYTES), COMPLETION.size)


# ---- queries ----

@test
def self_reports_rank_and_limits():
    group = Group([1, 2], placement=[0, 1, 0, 1, 1], max_bytes=4000, window=5, segment_bytes=96)
    for number, (host, local) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1), (1, 2))):
        me = group[number].me()
        equal(f"rank {number}", vars(me), {
            "size": SELF_ALL.size, "rank": number, "ranks": 5, "host": host, "hosts": 2,
            "local": local, "locals": 2 + host, "max_bytes": 4000, "window": 5,
            "segment_bytes": 96, "error": 0, "failed_rank": NO_RANK,
            "completion_bytes": COMPLETION.size, "max_result_bytes": 4000, "reserved": 0,
            "id": group.descriptor.fields["id"],
            "nonce": group.descriptor.fields["nonce"]})


@test
def getsockname_reports_group_and_rank():
    rank, number = rank_on(2), 0xfedcba9876543210
    equal("before it has joined", vars(sockname(rank)),
          {"family": AF_COLLSOCK, "port": PORT, "rank": NO_RANK, "id": 0})
    other = rank_on(1)
    descriptor = Descriptor([1, 2], id=number)
    other.join(descriptor, 0)
    rank.join(descriptor, 1)
    equal("afterwards", vars(sockname(rank)),
          {"family": AF_COLLSOCK, "port": PORT, "rank": 1, "id": number})
    copy = socket.socket(fileno=rank.dup().detach())
    equal("what Python finds out", (copy.family, copy.type),
          (AF_COLLSOCK, socket.SOCK_SEQPACKET))
    copy.close()


@test
def features_report_what_is_supported():
    for rank in (Rank(), Group([1])[0]):
        features = rank.features()
        equal("completion", features.completion_bytes, COMPLETION.size)
        equal("operations", features.operations,
              sum(1 << number for number in range(BARRIER, EXSCAN + 1)))
        equal("types", features.types, sum(1 << number for number in range(1, BFLOAT16 + 1)))
        equal("operators", features.operators, sum(1 << number for number in range(1, MAXLOC + 1)))
        equal("algorithms", features.algorithms,
              sum(1 << number for number in range(1, HALVING + 1)))
        equal("features", features.features, 0)
        equal("MACs", features.macs, 1 << MAC_SIPHASH | 1 << MAC_NH_SIPHASH)


@test
def a_shorter_structure_gets_a_shorter_answer():
    rank = Group([1])[0]
    for option, layout in ((SELF, SELF_ALL), (FEATURES, FEATURES_ALL)):
        full = rank.getsockopt(SOL_COLLSOCK, option, 1000)
        equal("bytes", (len(full), layout.read(full).size), (layout.size, layout.size))
        short = rank.getsockopt(SOL_COLLSOCK, option, 16)
        equal("of 16", short, struct.pack("=I", 16) + full[4:16])
        refused(errno.EINVAL, "3 bytes", rank.getsockopt, SOL_COLLSOCK, option, 3)


@test
def a_socket_lists_the_devices_that_every_user_may_use():
    def listed(rank):
        answer = rank.getsockopt(SOL_COLLSOCK, DEVICES, 1000)
        size, *found = struct.unpack(f"={len(answer) // 4}I", answer)
        equal("bytes", size, len(answer))
        return found

    with pair_of_namespaces("link add v1 type veth peer name v2"):
        rank, other = rank_on("e1"), rank_on("e2")
        with on("e1"):
            indices = {name: socket.if_nametoindex(name) for name in ("cable", "v1", "v2")}
        equal("at first", listed(rank), [])
        ranks = pair_of_ranks()
        equal("with one that a group has opened", listed(rank), [])
        for name in "cable", "v2":
            collsock("e1", "device", name, "allow")
        allowed = sorted((indices["cable"], indices["v2"]))
        equal("afterwards", listed(rank), allowed)
        equal("in another namespace", listed(other), [])
        equal("in 8 bytes", rank.getsockopt(SOL_COLLSOCK, DEVICES, 8),
              struct.pack("=II", 8, allowed[0]))
        refused(errno.EINVAL, "3 bytes", rank.getsockopt, SOL_COLLSOCK, DEVICES, 3)
        collsock("e1", "device", "cable", "deny")
        equal("without one", listed(rank), [indices["v2"]])
        for one in (*ranks, rank, other):
            one.close()


@test
def an_unknown_feature_is_eopnotsupp():
    rank, descriptor = rank_on(1), Descriptor([1])
    for bit in (0, 1, 31, 32, 63):
        refused(errno.EOPNOTSUPP, f"feature {bit}", rank.join, descriptor, 0, features=1 << bit)
    rank.join(descriptor, 0, features=0)


@test
def posts_name_algorithms_of_the_mask_only():
    group = two(algorithms=1 << DISSEMINATION | 1 << BINOMIAL, degree=2,
                barrier_algorithm=KARY)
    for algorithm in (DISSEMINATION, BINOMIAL, AUTO):
        group.barrier(algorithm=algorithm)
    for algorithm in (EXCHANGE, KARY):
        refused(errno.EINVAL, f"algorithm {algorithm}", group[0].post, algorithm=algorithm)
        refused(errno.EINVAL, f"RUN, algorithm {algorithm}", group[0].run, algorithm=algorithm)
    equal("operations posted", group[0].stats().posted, 3)
    group = two(algorithms=1 << DISSEMINATION, degree=2)
    refused(errno.EINVAL, "an allreduce by name", group[0].post, integers(1),
            algorithm=EXCHANGE)
    group.post(integers(1), integers(2))
    equal("without a name", [one.result for one in group.complete()], [integers(3)] * 2)


@test
def posts_name_flat_and_mcs_trees_only_if_join_does():
    group = two()
    for algorithm in (FLAT, MCS):
        refused(errno.EINVAL, f"algorithm {algorithm}", group[0].post, algorithm=algorithm)
    group = two(algorithms=1 << FLAT | 1 << MCS, reduce_algorithm=FLAT)
    for algorithm in (FLAT, MCS, AUTO):
        group.barrier(algorithm=algorithm)
    refused(errno.EINVAL, "another algorithm", group[0].post, algorithm=BINOMIAL)
    group.post(integers(1), integers(2), algorithm=MCS)
    equal("by MCS trees", [one.result for one in group.complete()], [integers(3)] * 2)


@test
def flat_trees_have_a_limit():
    for fields in ({"algorithms": 1 << FLAT}, {"broadcast_algorithm": FLAT}):
        rank_on(1).join(Descriptor(range(1, MAX_FLAT_HOSTS + 1), **fields), 0)
        refused(errno.EINVAL, f"too many hosts, {fields}", rank_on(1).join,
                Descriptor(range(1, MAX_FLAT_HOSTS + 2), **fields), 0)


@test
def algorithms_mask_and_mac_are_equal_on_all_ranks():
    for fields in ({"algorithms": 1 << BINOMIAL}, {"allreduce_algorithm": BINOMIAL},
                   {"mac": MAC_SIPHASH}):
        base = Descriptor([1, 2])
        first, stranger = rank_on(1), rank_on(2)
        first.join(base, 0)
        stranger.join(base, 1, **fields)
        before = first.net_stats().wrong_descriptor
        stranger.post()
        eventually(f"packets with a wrong descriptor, {fields}",
                   lambda f=first, b=before: f.net_stats().wrong_descriptor > b, True)
        refused(errno.EAGAIN, "the barrier", nonblocking(stranger).complete)
        first.close()
        stranger.close()


main()
