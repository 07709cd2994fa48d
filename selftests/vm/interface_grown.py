#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=60
# suites: matrix soak
"""A later kernel, whose structures are 16 bytes longer, and older programs."""

import errno
import fcntl
import os
import re
import struct

from api_common import post_of_three, two, unchanged_log
from collsock_test import (
    COMPLETION, COMPLETION_BYTES, FEATURES, FEATURES_ALL, JOIN, JOIN_HEAD, NET_STATS,
    NET_STATS_ALL, POST, RUN, SELF, SELF_ALL, SOL_COLLSOCK, STATS, STATS_ALL, Completion,
    Descriptor, Group, KernelLog, Memory, Rank, barrier, command, equal, integers, main, rank_on,
    read_file, refused, test)
from interface_common import grown, run_parts

ADDED = 16
TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def load():
    """Load it instead of the current module."""
    command("rmmod", "collsock")
    module = re.search("^VM_MODULE=['\"]?(.*/)([^/]*/collsock.ko)", read_file("/run/vm/settings"),
                       re.MULTILINE)
    command("insmod", f"{TREE}/build/grown/build/{module[2]}")
    equal("bytes of a completion", Rank().features().completion_bytes, COMPLETION.size + ADDED)


@test
def older_programs_work_as_before():
    log, (rank, other) = KernelLog(), two()
    for one in (rank, other):
        one.send(post_of_three(cookie=7))
    for one in (rank, other):
        completion = Completion(one.recv(COMPLETION.size + 24))
        equal("size, cookie, sums", (completion.size, completion.cookie, completion.result),
              (COMPLETION.size, 7, integers(2, 4, 6)))
    other.post(integers(3))
    equal("a RUN", rank.run(integers(4)).result, integers(7))
    rank.post(integers(5), cookie=9)
    other.post(integers(6))
    equal("a WAIT", rank.wait(9).result, integers(11))
    unchanged_log(log)


@test
def answers_have_the_length_of_the_callers_structure():
    rank = Group([1])[0]
    for option, layout in ((STATS, STATS_ALL), (NET_STATS, NET_STATS_ALL), (SELF, SELF_ALL),
                           (FEATURES, FEATURES_ALL)):
        for room, size in ((layout.size, layout.size), (1000, layout.size + ADDED)):
            data = rank.getsockopt(SOL_COLLSOCK, option, room)
            equal("bytes, size", (len(data), layout.read(data).size), (size, size))


@test
def programs_may_set_fields_that_the_kernel_knows_and_no_others():
    """Here added fields have no meaning, so any value of them is accepted."""
    for longer, tail, error in ((8, b"\1" * 8, 0), (16, b"\1" * 16, 0),
                                (24, b"\1" * 16 + bytes(8), 0),
                                (24, bytes(23) + b"\1", errno.E2BIG)):
        check_join(grown(Descriptor([1]).bytes(0), JOIN_HEAD.size, tail), error)
        rank, other = two()
        post = grown(post_of_three(), POST.size, tail)
        if error:
            refused(error, f"a post that is {longer} bytes longer", rank.send, post)
            continue
        rank.send(post)
        other.send(post_of_three())
        equal(f"sums, {longer} bytes more", rank.complete().result, integers(2, 4, 6))
        equal("at the other rank", other.complete().result, integers(2, 4, 6))


def check_join(data, error):
    with rank_on(1) as rank:
        if error:
            refused(error, "a join", rank.setsockopt, SOL_COLLSOCK, JOIN, data)
        else:
            rank.setsockopt(SOL_COLLSOCK, JOIN, data)


@test
def ranks_whose_programs_know_different_fields_are_in_one_group():
    descriptor = Descriptor([1, 2], placement=[0, 1, 0])
    ranks = [rank_on(1), rank_on(2), rank_on(1)]
    for number, tail in enumerate((b"", bytes(ADDED), bytes(ADDED + 8))):
        ranks[number].setsockopt(SOL_COLLSOCK, JOIN, grown(
            descriptor.bytes(number), JOIN_HEAD.size, tail))
    barrier(ranks)


@test
def completions_are_as_long_as_the_program_says():
    rank, other = two()
    for length in (COMPLETION.size, COMPLETION.size + 8, COMPLETION.size + ADDED,
                   COMPLETION.size + ADDED + 8):
        rank.setsockopt(SOL_COLLSOCK, COMPLETION_BYTES, length)
        for _ in range(2):
            rank.post(integers(1))
            other.post(integers(2))
            other.complete()
        data = rank.recv(1000)
        equal("bytes of recv", len(data), length + 8)
        equal("sum of recv", Completion(data).result, integers(3))
        rank.complete()
        memory = Memory(integers(4))
        buffer, completion = run_parts(0, 0, length, memory)
        other.post(integers(5))
        fcntl.ioctl(rank, RUN, buffer)
        equal("sum of RUN", Completion(buffer, completion, memory).result, integers(9))
        equal("its size", struct.unpack_from("=I", buffer, completion)[0], length)
        other.complete()


load()
main()
