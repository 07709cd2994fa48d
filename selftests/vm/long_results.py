#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=100
# suites: check debug soak
"""Vectors of blocks that are longer than payloads may be: ranks of a host share the result."""

import ctypes
import errno
import fcntl
import mmap
import os
import socket
import struct
import threading
import time

import cases
from cases import ROOTED, Case, elements_of_a_part, in_turn, run_cases
from collsock_test import (
    ALLGATHER, ALLREDUCE, BYTE, COMPLETION, DEFAULT_SEGMENT, GATHER, MAX_PAYLOAD, MAX_RESULT,
    MAX_SEGMENTS, NOP, SCATTER, SUM, Child, Descriptor, Group, Memory, Rank, Skipped, at_least,
    at_most, barrier, documented_memory, equal, errno_name, eventually, faulty, libc, main,
    netlink_on, outcome, post_bytes, rank_on, refused, seeded, test, test_each, tunables)

ROOM = COMPLETION.size + MAX_RESULT
SHORT = 64  # max_bytes
PLACEMENTS = (0, 0), (0, 1), (0, 0, 0, 1), (0, 1, 0, 2, 3, 1, 1, 0, 3, 2)


def group_of(placement, **fields):
    return cases.group_of(placement, **{"max_bytes": SHORT, "max_result_bytes": MAX_RESULT,
                                        "window": 4, **fields})


def fields_of(operation, count, root=0):
    return {"operation": operation, "type": BYTE, "op": NOP, "count": count, "root": root}


def case_of(chance, size, operation, count, root=0):
    parts = [chance.randbytes(elements_of_a_part(operation, count, size)) for _ in range(size)]
    return Case(parts, **fields_of(operation, count, root))


def memory(group):
    """What it has on host 1, where former groups may linger."""
    with netlink_on(1) as netlink:
        (told,) = (row for row in netlink.all("group")
                   if row["id"] == group.descriptor.fields["id"])
        return told["memory"]


@test_each(*in_turn(PLACEMENTS, False, True))
def every_rank_gets_blocks_of_a_mebibyte_in_all(placement, lossy):
    chance = seeded("long", placement, lossy)
    group, size = group_of(placement), len(placement)
    before = memory(group)
    with faulty(range(1, 5), *(("delay", "1ms", "loss", "2%") if lossy else ())):
        for operation in (ALLGATHER, GATHER, SCATTER):
            counts = MAX_RESULT // size, SHORT // size + 1, SHORT + 1
            run_cases(group, [case_of(chance, size, operation, count,
                                      chance.randrange(size) if operation in ROOTED else 0)
                              for count in counts], chance, room=ROOM)
    eventually("memory", lambda: memory(group), before)
    for rank in group:
        equal("packets without sense", rank.stats().invalid, 0)


@test
def ranks_of_a_host_share_one_result_until_the_last_has_read_it():
    chance = seeded("share")
    group = group_of((0, 0, 0))
    before = memory(group)
    case = case_of(chance, 3, ALLGATHER, MAX_RESULT // 4)
    group.post(*case.payloads, **case.fields)
    case.check(1, group[1].complete(room=ROOM))
    case.check(0, group[0].complete(socket.MSG_PEEK, room=ROOM))
    grown = memory(group) - before
    at_least("bytes more", grown, 3 * MAX_RESULT // 4)
    at_least("bytes that two results would have more", 2 * 3 * MAX_RESULT // 4, grown + 1)
    refused(errno.EMSGSIZE, "recv without room", group[2].recv, ROOM - 1 - MAX_RESULT // 4)
    case.check(2, group[2].complete(room=ROOM))
    equal("bytes more", memory(group) - before, grown)
    case.check(0, group[0].complete(room=ROOM))
    equal("memory", memory(group), before)


@test
def results_that_nobody_has_read_are_in_the_formula():
    formula, group, window = documented_memory(), group_of((0, 0, 1)), 4
    case = case_of(seeded("unread"), 3, ALLGATHER, MAX_RESULT // 3)

    def compare(unread):
        told = formula(2, 3, 2, window, SHORT, MAX_RESULT, unread=unread)
        at_most(f"error of {told} bytes with {unread} results, in percent",
                100 * abs(told / memory(group) - 1), 5)

    def post(*numbers):
        for _ in range(window):
            for number in numbers:
                group[number].post(case.payloads[number], **case.fields)

    def read(*numbers):
        for _ in range(window):
            for number in numbers:
                case.check(number, group[number].complete(room=ROOM))

    compare(0)
    post(0, 1, 2)
    compare(window)
    read(1, 2)
    post(1)  # the other rank of this host has not read
    compare(2 * window)
    read(0)
    post(0, 2)
    read(0, 1, 2)
    compare(0)


@test
def a_socket_that_closes_leaves_no_result_behind():
    group = group_of((0, 0, 1))
    before = memory(group)
    case = case_of(seeded("close"), 3, ALLGATHER, 1000)
    for _ in range(4):
        group.post(*case.payloads, **case.fields)
    for _ in range(4):
        case.check(0, group[0].complete(room=ROOM))
        case.check(2, group[2].complete(room=ROOM))
    at_least("memory", memory(group), before + 4 * 3000)
    group[1].close()
    eventually("memory", lambda: memory(group), before)


@test
def what_has_failed_leaves_no_result_behind():
    group = group_of((0, 0, 1, 2))
    before = memory(group)
    case = case_of(seeded("failure"), 4, ALLGATHER, MAX_RESULT // 4)
    for number in (0, 1, 2):
        group[number].post(case.payloads[number], **case.fields)
    at_least("memory", memory(group), before + MAX_RESULT)
    group[3].close()
    for number in (0, 1, 2):
        equal("outcome", outcome(group[number].complete()), "ECONNRESET rank 3")
    eventually("memory", lambda: memory(group), before)
    equal("outcome of RUN", outcome(group[0].run(case.payloads[0], memory=Memory(MAX_RESULT),
                                                 **case.fields)), "ECONNRESET rank 3")
    equal("memory", memory(group), before)


@test
def run_has_long_payloads_and_results_too():
    chance = seeded("run")
    group = group_of((0, 1))
    for operation in (ALLGATHER, SCATTER, GATHER):
        case = case_of(chance, 2, operation, MAX_RESULT // 2)
        group[1].post(case.payloads[1], **case.fields)
        room = len(case.expected[0])
        refused(errno.EMSGSIZE, "RUN without room", group[0].run, case.payloads[0],
                memory=Memory(room - 1), **case.fields)
        refused(errno.EMSGSIZE, "RUN of a payload that is too short", group[0].run,
                case.payloads[0][:-1], memory=Memory(room), **case.fields)
        case.check(0, group[0].run(case.payloads[0], memory=Memory(room), **case.fields))
        case.check(1, group[1].complete(room=ROOM))


@test
def a_rank_that_only_contributes_a_long_block_is_done_when_send_is():
    group = group_of((0, 1, 2))
    case = case_of(seeded("done"), 3, GATHER, MAX_RESULT // 3)
    for number in (2, 1):
        group[number].post(case.payloads[number], **case.fields)
        case.check(number, group[number].complete(socket.MSG_DONTWAIT))
    group[0].post(case.payloads[0], **case.fields)
    case.check(0, group[0].complete(room=ROOM))


@test
def memory_that_cannot_be_had_refuses_a_post_and_the_group_goes_on():
    group = group_of((0, 1))
    case = case_of(seeded("limit"), 2, ALLGATHER, MAX_RESULT // 2)
    group[1].post(case.payloads[1], **case.fields)
    with tunables(max_memory_kib=memory(group) // 1024 + 512):
        refused(errno.ENOMEM, "a post beyond the memory of the namespace", group[0].post,
                case.payloads[0], **case.fields)
    group[0].post(case.payloads[0], **case.fields)
    case.check(0, group[0].complete(room=ROOM))
    case.check(1, group[1].complete(room=ROOM))
    barrier(group)


UFFDIO_API, UFFDIO_REGISTER, UFFDIO_ZEROPAGE = 0xc018aa3f, 0xc020aa00, 0xc020aa04
USERFAULTFD, UFFD_VERSION, UFFD_MISSING = 323, 0xaa, 1


class SlowPage:
    """Memory whose readers wait until it comes()."""

    def __init__(self):
        self.fd = libc.syscall(USERFAULTFD, os.O_CLOEXEC)
        if self.fd < 0:
            raise Skipped("no userfaultfd")
        fcntl.ioctl(self.fd, UFFDIO_API, bytearray(struct.pack("=3Q", UFFD_VERSION, 0, 0)))
        self.memory = mmap.mmap(-1, mmap.PAGESIZE)
        self.range = ctypes.addressof(ctypes.c_char.from_buffer(self.memory)), mmap.PAGESIZE
        fcntl.ioctl(self.fd, UFFDIO_REGISTER,
                    bytearray(struct.pack("=4Q", *self.range, UFFD_MISSING, 0)))

    def comes(self):
        fcntl.ioctl(self.fd, UFFDIO_ZEROPAGE, bytearray(struct.pack("=4Q", *self.range, 0, 0)))
        os.close(self.fd)


def post_slowly(rank, head, bytes_):
    """The thread that posts, and the page that it waits for"""
    page = SlowPage()
    thread = threading.Thread(target=rank.sendmsg,
                              args=([head, memoryview(page.memory)[:bytes_]],))
    thread.start()
    time.sleep(0.2)
    return thread, page


@test
def which_operation_a_post_becomes_is_known_only_then():
    """When both slow threads begin, the next operation has memory for its result already; others
    post that one, and the two begin one that nobody has reserved memory for."""
    count = SHORT
    head = post_bytes(b"", **fields_of(ALLGATHER, count))
    group = group_of((0, 0), window=8)
    slow = []
    for first, second in ((1, 0), (0, 1)):
        group[first].send(head + bytes(count))
        slow.append(post_slowly(group[second], head, count))
        group[second].send(head + bytes(count))
    for thread, page in slow:
        page.comes()
        thread.join()
    for rank in group:
        for _ in range(3):
            completion = rank.complete(room=ROOM)
            equal("outcome", outcome(completion), "success")
            equal("length", completion.bytes, 2 * count)


@test
def ranks_that_read_no_more_still_contribute():
    group = group_of((0, 0))
    head = post_bytes(b"", **fields_of(ALLGATHER, 1000))
    for rank in group:
        rank.shutdown(socket.SHUT_RD)
    for rank in group:
        rank.send(head + bytes(1000))
    eventually("operations completed", lambda: group[0].stats().completed, 2)


def user_posts(line, _):
    os.setresuid(1000, 1000, 1000)
    rank = Rank()
    rank.join(Descriptor([1], window=2, max_bytes=8, max_result_bytes=MAX_RESULT), 0)
    errors = []
    for _ in range(3):
        try:
            rank.post(bytes(MAX_RESULT), **fields_of(ALLGATHER, MAX_RESULT))
            errors.append(0)
        except OSError as error:
            errors.append(errno_name(error.errno))
            rank.complete(room=ROOM)
    line.put(errors)


@test
def results_count_for_their_user():
    probe = Group([1], window=2, max_bytes=8, max_result_bytes=MAX_RESULT)
    needed = memory(probe) // 1024
    probe.end()
    with tunables(user_memory_kib=needed + 1024 + 512):
        child = Child(1, user_posts, 0)
        equal("posts", child.get(), [0, "EDQUOT", 0])
        child.finish()


@test
def the_limit_of_blocks_is_not_that_of_reductions():
    group = group_of((0, 1), max_result_bytes=1000)
    for operation, most in (ALLGATHER, 500), (GATHER, 500), (SCATTER, 500):
        refused(errno.EMSGSIZE, f"{operation} beyond its limit", group[0].post,
                bytes(2 * (most + 1) if operation == SCATTER else most + 1),
                **fields_of(operation, most + 1))
    refused(errno.EMSGSIZE, "a reduction beyond max_bytes", group[0].post, bytes(SHORT + 8))
    case = case_of(seeded("limits"), 2, ALLGATHER, 500)
    run_cases(group, [case], seeded("limits"), room=ROOM)
    total = struct.pack("=8q", *range(8))
    group.post(total, total, operation=ALLREDUCE, op=SUM)
    for rank in group:
        equal("sums", rank.complete().result, struct.pack("=8q", *range(0, 16, 2)))


@test
def requests_beyond_the_limits_are_refused():
    for fields in ({"max_result_bytes": MAX_RESULT + 1}, {"max_result_bytes": 0xffffffff},
                   {"max_result_bytes": MAX_SEGMENTS * 48 + 1, "segment_bytes": 48}):
        refused(errno.EINVAL, str(fields), rank_on(1).join, Descriptor([1], **fields), 0)
    other = rank_on(1)
    group = group_of((0, 0, 1), max_result_bytes=1000)
    refused(errno.EPROTO, "another limit than other ranks", other.join, group.descriptor, 1,
            max_result_bytes=1001)


@test
def the_default_is_16_bytes_for_each_rank():
    for ranks, most in (2, DEFAULT_SEGMENT), (67, 67 * 16), (200, 3200):
        group = Group([1], placement=[0] * ranks, window=2)
        equal(f"limit of {ranks} ranks", group[0].me().max_result_bytes, most)
        count = most // ranks
        case = case_of(seeded("default", ranks), ranks, ALLGATHER, count)
        run_cases(group, [case], seeded("default"), room=ROOM)
        refused(errno.EMSGSIZE, "one byte more", group[0].post, bytes(count + 1),
                **fields_of(ALLGATHER, count + 1))
        group.end()
    equal("limit of a long payload", Group([1], max_bytes=MAX_PAYLOAD)[0].me().max_result_bytes,
          MAX_PAYLOAD)


main()
