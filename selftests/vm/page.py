#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 smp=2 limit=60
# suites: check debug soak
"""What a socket's page says of its operations, and who may map it."""

import contextlib
import ctypes
import errno
import mmap
import os
import socket
import struct
import threading

from collsock_netlink import Netlink
from collsock_test import (
    BROADCAST, INT64, NOP, QUIET, REDUCE, Descriptor, Failed, Group, Rank, equal, eventually,
    integers, libc, link_down, main, netlink_on, on, outcome, refused, seeded, test, test_each,
    tunables, work)

PAGE = struct.Struct("=IIQQQ")
THREADS = 8
RACES = 64
FAR = 70  # more than a window
NOBODY = 65534
BROADCAST_OF_ONE = {"operation": BROADCAST, "type": INT64, "op": NOP, "count": 1, "root": 0}


def mapped(rank, bytes_=mmap.PAGESIZE, protection=mmap.PROT_READ, **options):
    return mmap.mmap(rank.fileno(), bytes_, mmap.MAP_SHARED, protection, **options)


class Page:
    """The page of a rank, mapped until the end of the context."""

    def __init__(self, rank):
        self.memory = mapped(rank)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.memory.close()

    def numbers(self):
        """Operations posted, those that have ended, and how many of the first have."""
        return PAGE.unpack_from(self.memory)[2:]


def memory_of(group, host):
    """Bytes; groups of other tests may linger."""
    with netlink_on(host) as netlink:
        return next(one["memory"] for one in netlink.all("group")
                    if one["id"] == group.descriptor.fields["id"])


@test
def numbers_follow_posts_and_ends():
    group = Group((1, 2))
    group.barrier()
    with Page(group[0]) as page:
        equal("size and reserved", PAGE.unpack_from(page.memory)[:2], (PAGE.size, 0))
        equal("after an operation", page.numbers(), (1, 1, 1))
        group[0].post(integers(1))
        equal("while one is under way", page.numbers(), (2, 1, 1))
        group[1].post(integers(2))
        eventually("it has ended", page.numbers, (2, 2, 2))
        equal("its result is there", group[0].complete(0x40).result, integers(3))
        group[1].complete()
        thread = threading.Thread(target=group[1].run)
        thread.start()
        group[0].run()
        thread.join()
        equal("after one that was waited for", page.numbers(), (3, 3, 3))


@test
def what_ends_early_is_counted_at_once_and_completes_in_order():
    group = Group((1, 2))
    with Page(group[0]) as page:
        group[0].post(integers(1), operation=REDUCE, root=0)
        group[0].post(integers(7), **BROADCAST_OF_ONE)
        group[0].post(integers(8), **BROADCAST_OF_ONE, flags=QUIET)
        equal("broadcasts of a root end at once", page.numbers(), (3, 2, 0))
        group[1].post(integers(1), operation=REDUCE, root=0)
        eventually("all have ended", page.numbers, (3, 3, 3))
        for _ in range(2):
            group[0].complete()


@test
def a_page_counts_a_whole_window_and_more():
    """What has ended out of order is remembered, however far it wraps around."""
    group = Group((1, 2), window=64)
    sequence = seeded("page")
    with Page(group[0]) as page:
        done = 0
        for _ in range(work(10)):
            early = sequence.randrange(1, 64)
            group[0].post(integers(1), operation=REDUCE, root=0)
            for number in range(early):
                group[0].post(integers(number), **BROADCAST_OF_ONE)
            equal("before", page.numbers(), (done + 1 + early, done + early, done))
            group[1].post(integers(1), operation=REDUCE, root=0)
            for _ in range(early):
                group[1].post(b"", **BROADCAST_OF_ONE)
            done += 1 + early
            eventually("after", page.numbers, (done, done, done))
            for _ in range(1 + early):
                group[0].complete()
                group[1].complete()


@test
def a_refused_post_is_not_counted():
    """There is a slot for its completion, but no room in the window of the group."""
    group = Group((1, 2), window=1, liveness_ms=60_000)
    group.barrier()
    reduce = {"operation": REDUCE, "root": 0}
    with Page(group[1]) as page:
        group[1].setblocking(False)
        with link_down(2):
            group[1].post(integers(1), flags=QUIET, **reduce)
            for _ in range(3):
                refused(errno.EAGAIN, "a post", group[1].post, integers(2), flags=QUIET, **reduce)
            equal("numbers", page.numbers(), (2, 2, 2))
        group[0].post(integers(1), **reduce)
        group[0].complete()
        eventually("a post that is accepted", lambda: posted(group[1], **reduce), True)
        eventually("it has ended", page.numbers, (3, 3, 3))


def posted(rank, **fields):
    try:
        return bool(rank.post(integers(2), flags=QUIET, **fields))
    except BlockingIOError:
        return False


@test_each("under way", "idle")
def a_failure_ends_operations_and_counts_as_one_if_there_was_none(state):
    group = Group((1, 2))
    group.barrier()
    with Page(group[0]) as page:
        ends = 2 if state == "under way" else 1
        if state == "under way":
            group[0].post()
            group[0].post()
        group[1].close()
        eventually("numbers", page.numbers, (1 + ends, 1 + ends, 1 + ends))
        for _ in range(ends):
            equal("what ended", outcome(group[0].complete()), "ECONNRESET rank 1")


def protect(address, protection):
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE),
                     mmap.PROT_READ | protection):
        raise OSError(ctypes.get_errno(), "mprotect")


@test_each(1, 8)
def posts_that_fail_at_once_do_not_hide_what_is_under_way(under_way):
    """They end however many there are, far ahead of operations that can still succeed."""
    group, reduce = Group((1, 2, 3), window=64), {"operation": REDUCE, "root": 0}
    group.barrier()
    with Page(group[0]) as page:
        for _ in range(under_way):
            group[2].post(integers(1), flags=QUIET, **reduce)
        for _ in range(under_way):
            group[0].post(integers(1), **reduce)
        group[2].close()
        ends = 1 + FAR
        for _ in range(FAR):
            group[0].post(integers(1), **reduce)
            equal("what fails", outcome(group[0].complete()), "ECONNRESET rank 2")
        posted = 1 + under_way + FAR
        equal("while others are under way", page.numbers(), (posted, ends, 1))
        for number in range(under_way):
            group[1].post(integers(1), flags=QUIET, **reduce)
            completed = 2 + number if number + 1 < under_way else posted
            eventually("when one more has ended", page.numbers,
                       (posted, ends + number + 1, completed))


def refusal_to_execute():
    """That of the module; newer kernels refuse it for sockets of every family, before they ask."""
    with socket.socket(type=socket.SOCK_DGRAM) as other:
        try:
            mapped(other, protection=mmap.PROT_READ | mmap.PROT_EXEC)
        except OSError as error:
            return errno.EPERM if error.errno == errno.EPERM else errno.EACCES
        raise Failed("a socket of UDP can be mapped")


@test
def only_a_page_of_a_group_can_be_mapped_and_only_to_read():
    with on(1):
        lone = Rank()
    refused(errno.ENOTCONN, "before JOIN", mapped, lone)
    group = Group((1, 2))
    refused(errno.EACCES, "to write", mapped, group[0], protection=mmap.PROT_READ | mmap.PROT_WRITE)
    refused(refusal_to_execute(), "to execute", mapped, group[0],
            protection=mmap.PROT_READ | mmap.PROT_EXEC)
    refused(errno.EINVAL, "two pages", mapped, group[0], 2 * mmap.PAGESIZE)
    refused(errno.EINVAL, "the second page", mapped, group[0], offset=mmap.PAGESIZE)
    mmap.mmap(group[0].fileno(), mmap.PAGESIZE, mmap.MAP_PRIVATE, mmap.PROT_READ).close()
    with Page(group[0]) as page:
        address = next(line.split("-")[0] for line in open("/proc/self/maps", encoding="ascii")
                       if "socket:" in line)
        for protection in mmap.PROT_WRITE, mmap.PROT_EXEC:
            refused(errno.EACCES, "afterwards", protect, int(address, 16), protection)
        equal("it can still be read", page.numbers(), (0, 0, 0))


@test
def a_child_does_not_inherit_the_page():
    """It would keep the rank of its parent alive."""
    group = Group((1, 2))
    with Page(group[0]):
        child = os.fork()
        if not child:
            with open("/proc/self/maps", encoding="ascii") as maps:
                os._exit("socket:" in maps.read())
        equal("pages in the child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


@test
def a_mapping_holds_the_socket():
    group = Group((1, 2))
    group.barrier()
    with Page(group[0]) as page:
        group[0].close()
        group[1].set_timeout(0.3)
        refused(errno.EAGAIN, "a completion", group[1].complete)
        equal("numbers", page.numbers(), (1, 1, 1))
    group[1].set_timeout(20)
    equal("what the other learns", outcome(group[1].complete()), "ECONNRESET rank 0")


@test
def a_page_is_charged_once_to_the_user_of_the_group():
    group = Group((1, 2))
    before = memory_of(group, 1)
    pages = []
    threads = [threading.Thread(target=lambda: pages.append(Page(group[0])))
               for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal("mappings", len(pages), THREADS)
    equal("memory", memory_of(group, 1), before + mmap.PAGESIZE)
    group.barrier()
    equal("all show the same", {page.numbers() for page in pages}, {(1, 1, 1)})
    for page in pages:
        page.memory.close()
    equal("memory of a socket that could map it again", memory_of(group, 1),
          before + mmap.PAGESIZE)
    group.close()


class Meeting:
    """Where two processes wait for each other, once in each round."""

    def __init__(self, rounds):
        self.there = mmap.mmap(-1, 2 * rounds)

    def wait(self, process, round_):
        both = slice(2 * round_, 2 * round_ + 2)
        self.there[both.start + process] = 1
        while not all(self.there[both]):
            pass


def map_each(ranks, meeting, process):
    """Map the page of each rank when the other process does; what is in them."""
    pages = []
    for number, rank in enumerate(ranks):
        meeting.wait(process, number)
        pages.append(Page(rank))
    return b"".join(page.memory[:PAGE.size] for page in pages)


def map_each_beside_a_child(ranks):
    """What both processes have read."""
    meeting, read = Meeting(len(ranks)), mmap.mmap(-1, PAGE.size * len(ranks))
    child = os.fork()
    if not child:
        try:
            read.write(map_each(ranks, meeting, 1))
        finally:
            os._exit(0)
    pages = map_each(ranks, meeting, 0)
    os.waitpid(child, 0)
    return pages, read[:]


@test
def processes_that_map_a_page_at_once_share_it():
    """Threads of one process do not: they wait for its lock of mappings."""
    group = Group([1], placement=[0] * RACES)
    group.barrier()
    before = memory_of(group, 1)
    equal("what both read", map_each_beside_a_child(group),
          (PAGE.pack(PAGE.size, 0, 1, 1, 1) * RACES,) * 2)
    equal("memory", memory_of(group, 1), before + RACES * mmap.PAGESIZE)
    group.close()


@test
def a_page_that_the_process_discarded_is_there_again():
    group = Group((1, 2))
    with Page(group[0]) as page:
        group.barrier()
        page.memory.madvise(mmap.MADV_DONTNEED)
        equal("numbers", page.numbers(), (1, 1, 1))
    group.close()


@test
def a_page_is_free_when_the_socket_closes():
    """A group whose other rank remains has less to pay for then."""
    group = Group((1, 2), placement=[0, 0, 1])
    with Page(group[0]), Page(group[1]):
        held = memory_of(group, 1)
    group[0].close()
    equal("memory of one rank's page", memory_of(group, 1), held - mmap.PAGESIZE)
    group[1].close()


@contextlib.contextmanager
def as_user(number):
    os.setresuid(number, number, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def memory_of_user(number):
    with contextlib.closing(Netlink()) as netlink:
        return next(one["memory"] for one in netlink.all("user") if one["uid"] == number)


@test
def a_user_without_memory_left_gets_no_page():
    with on(1), as_user(NOBODY):
        rank = Rank()
        rank.join(Descriptor([1]), 0)
    with tunables(user_memory_kib=-(-memory_of_user(NOBODY) // 1024)):
        refused(errno.EDQUOT, "a page", mapped, rank)
        equal("an operation without it", outcome(rank.run()), "success")
    with Page(rank) as page:
        equal("numbers from before it was mapped", page.numbers(), (1, 1, 1))


if __name__ == "__main__":
    main()
