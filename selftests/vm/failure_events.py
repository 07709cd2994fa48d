#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=90
# suites: check debug soak
"""How a socket reports the failure of its group, once; leaving by shutdown(); forked children."""

import contextlib
import ctypes
import errno
import os
import select
import signal
import socket
import threading
import time

from collsock_test import (
    COOKIE_GROUP, INT64, JOIN, PR_SET_PDEATHSIG, QUIET, REDUCE, SOL_COLLSOCK, SUM, Child,
    Completion, Descriptor, Group, Rank, at_most, equal, errno_name, eventually, eventually_in,
    integers, libc, main, netlink_on, outcome, rank_on, refused, test, test_each,
    until_nothing_lingers)

RDHUP = select.POLLRDHUP
ROOM = 4096


def events(rank, wanted=select.POLLIN | select.POLLOUT | RDHUP):
    """The current events of poll."""
    poll = select.poll()
    poll.register(rank, wanted)
    return dict(poll.poll(0)).get(rank.fileno(), 0)


def met(hosts=(1, 2), **fields):
    """A group whose hosts have heard from each other, so that a rank that leaves is noticed."""
    group = Group(hosts, **fields)
    group.barrier()
    return group


def failed_pair():
    """A group of two whose rank 1 has left; nothing was under way at rank 0."""
    rank, other = met()
    other.close()
    eventually("events", lambda: events(rank) & select.POLLIN, select.POLLIN)
    return rank


def at_end(rank, error="none"):
    """The socket is at its end: no call sleeps."""
    for _ in range(3):
        equal("recv", rank.recv(ROOM), b"")
        equal("recv that may not sleep", rank.recv(ROOM, socket.MSG_DONTWAIT), b"")
        equal("a peek", rank.recv(ROOM, socket.MSG_PEEK), b"")
        refused(errno.EPIPE, "send", rank.post)
        equal("events", events(rank), select.POLLIN | select.POLLOUT | RDHUP)
    equal("SO_ERROR", rank.error(), error)
    equal("SO_ERROR again", rank.error(), "none")


# ---- a failure is reported once ----

@test
def a_failure_while_nothing_is_under_way_is_one_completion():
    rank = failed_pair()
    equal("events", events(rank), select.POLLIN | select.POLLOUT)
    equal("error of SELF", (errno_name(rank.me().error), rank.me().failed_rank),
          ("ECONNRESET", 1))
    before = time.monotonic_ns()
    completion = rank.complete(socket.MSG_PEEK)
    equal("a peek", completion.cookie, COOKIE_GROUP)
    completion = rank.complete()
    equal("completion", (completion.cookie, outcome(completion), completion.bytes),
          (COOKIE_GROUP, "ECONNRESET rank 1", 0))
    at_most("when", completion.completed_ns, before)
    equal("posted at that time", completion.posted_ns, completion.completed_ns)
    at_end(rank, "ECONNRESET")
    equal("error of SELF", (errno_name(rank.me().error), rank.me().failed_rank),
          ("ECONNRESET", 1))


@test
def wait_can_receive_the_failure_by_its_cookie():
    rank, other = met()
    refused(errno.ENOENT, "before the failure", rank.wait, COOKIE_GROUP)
    other.close()
    eventually("events", lambda: events(rank) & select.POLLIN, select.POLLIN)
    equal("completion", outcome(rank.wait(COOKIE_GROUP)), "ECONNRESET rank 1")
    refused(errno.ENOENT, "once more", rank.wait, COOKIE_GROUP)
    at_end(rank, "ECONNRESET")


@test
def only_operations_under_way_report_the_failure():
    rank, other = met()
    for cookie in range(3):
        rank.post(cookie=cookie)
    other.close()
    equal("completions", [(one.cookie, outcome(one)) for one in
                          (rank.complete() for _ in range(3))],
          [(cookie, "ECONNRESET rank 1") for cookie in range(3)])
    at_end(rank, "ECONNRESET")


@test
def quiet_posts_are_failed_by_a_completion_of_the_group():
    rank, _, root = met((1, 2, 3))
    for cookie in range(3):
        rank.post(integers(1), operation=REDUCE, root=2, flags=QUIET, cookie=cookie)
    root.close()
    completion = rank.complete()
    equal("completion", (completion.cookie, outcome(completion)),
          (COOKIE_GROUP, "ECONNRESET rank 2"))
    at_end(rank, "ECONNRESET")


@test
def completions_from_before_the_failure_come_first():
    rank, other = met(window=4)
    for cookie in range(4):
        rank.post(cookie=cookie)
        other.post()
    eventually("completed", lambda: rank.stats().completed, 5)
    other.close()
    eventually("error of SELF", lambda: errno_name(rank.me().error), "ECONNRESET")
    got = [rank.complete() for _ in range(5)]
    equal("cookies", [one.cookie for one in got], [0, 1, 2, 3, COOKIE_GROUP])
    equal("outcomes", [outcome(one) for one in got], ["success"] * 4 + ["ECONNRESET rank 1"])
    at_end(rank, "ECONNRESET")


@test
def a_post_before_the_report_was_received_completes_with_the_error():
    rank = failed_pair()
    rank.post(cookie=5)
    equal("completions", [(one.cookie, outcome(one)) for one in
                          (rank.complete(), rank.complete())],
          [(COOKIE_GROUP, "ECONNRESET rank 1"), (5, "ECONNRESET rank 1")])
    at_end(rank, "ECONNRESET")


@test
def every_run_reports_the_failure():
    rank = failed_pair()
    for cookie in range(3):
        equal("RUN", outcome(rank.run(cookie=cookie)), "ECONNRESET rank 1")
    equal("recv", rank.complete().cookie, COOKIE_GROUP)
    for cookie in range(3):
        equal("RUN", outcome(rank.run(integers(1), cookie=cookie)), "ECONNRESET rank 1")
    at_end(rank, "ECONNRESET")


@test
def poll_without_wanted_events_does_not_report_the_failure():
    """A level-triggered loop must not spin because of events that it did not ask for."""
    rank = failed_pair()
    for wanted in (0, select.POLLPRI, select.POLLERR | select.POLLHUP):
        equal(f"events of {wanted}", events(rank, wanted), 0)
    rank.complete()
    for wanted in (0, select.POLLPRI, select.POLLERR | select.POLLHUP):
        equal(f"events of {wanted} at the end", events(rank, wanted), 0)


# ---- sleeping threads ----

def sleeping(count, call, enter_call):
    """Threads in a call; the list has their results."""
    got = []
    threads = [threading.Thread(target=lambda: got.append(call())) for _ in range(count)]
    for thread in threads:
        thread.start()
        eventually_in(enter_call, thread)
    return threads, got


@test
def one_sleeping_reader_gets_the_failure_the_others_the_end():
    rank, other = met()
    threads, got = sleeping(4, lambda: rank.recv(ROOM), "recvfrom")
    other.close()
    for thread in threads:
        thread.join()
    data = [one for one in got if one]
    equal("readers that were told", len(data), 1)
    equal("what", outcome(Completion(data[0])), "ECONNRESET rank 1")
    equal("readers at the end", got.count(b""), 3)
    at_end(rank, "ECONNRESET")


@test_each(select.EPOLLIN, select.EPOLLRDHUP, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)
def a_thread_that_waits_in_epoll_is_woken(wanted):
    rank, other = met()
    epoll = select.epoll()
    epoll.register(rank, wanted)
    threads, got = sleeping(1, epoll.poll, "epoll_wait")
    other.close()
    if wanted == select.EPOLLRDHUP:
        equal("completion", outcome(rank.complete()), "ECONNRESET rank 1")
    threads[0].join()
    told = select.EPOLLRDHUP if wanted == select.EPOLLRDHUP else select.EPOLLIN
    equal("events", got, [[(rank.fileno(), told)]])


@test
def a_reader_sees_the_end_when_another_thread_has_received_the_last():
    rank, other = met()
    rank.post(cookie=1)
    runs = threading.Thread(target=lambda: rank.wait(1))
    runs.start()
    eventually_in("ioctl", runs)
    threads, got = sleeping(1, lambda: rank.recv(ROOM), "recvfrom")
    other.close()
    threads[0].join()
    runs.join()
    equal("recv", got, [b""])


# ---- a rank that leaves ends the group for the others at its last operation ----

@test
def a_group_ends_for_a_rank_when_its_next_operation_would_fail():
    first, sibling, far = met(placement=[0, 0, 1])
    for cookie in range(3):
        sibling.post(cookie=cookie)
    sibling.close()
    time.sleep(0.1)
    for rank in (first, far):
        equal("events", events(rank, select.POLLIN | RDHUP), 0)
        equal("error of SELF", rank.me().error, 0)
        equal("SO_ERROR", rank.error(), "none")
    for cookie in range(3):
        first.post(cookie=cookie)
        far.post(cookie=cookie)
    for rank in (first, far):
        got = [rank.complete() for _ in range(4)]
        equal("cookies", [one.cookie for one in got], [0, 1, 2, COOKIE_GROUP])
        equal("outcomes", [outcome(one) for one in got],
              ["success"] * 3 + ["ECONNRESET rank 1"])
        at_end(rank, "ECONNRESET")


@test
def the_end_for_a_rank_does_not_wait_for_other_ranks_of_the_host():
    """The slot is in use until all have posted; this rank has finished it."""
    group = met(placement=[0, 0, 0, 1])
    first, sibling = group[:2]
    fields = {"operation": REDUCE, "root": 3}
    sibling.post(integers(1), **fields)
    sibling.close()
    time.sleep(0.1)
    first.post(integers(2), **fields, cookie=4)
    first.set_timeout(20)
    got = [first.complete() for _ in range(2)]
    equal("cookies", [one.cookie for one in got], [4, COOKIE_GROUP])
    equal("outcomes", [outcome(one) for one in got], ["success", "ECONNRESET rank 1"])
    at_end(first, "ECONNRESET")


@test
def a_rank_that_joins_a_failed_group_gets_the_failure():
    descriptor = Descriptor([1, 2], placement=[0, 0, 0, 1])
    ranks = [rank_on(1) for _ in range(3)]
    ranks[0].join(descriptor, 0)
    ranks[1].join(descriptor, 1)
    ranks[1].close()
    eventually("events of the first", lambda: events(ranks[0]) & select.POLLIN, select.POLLIN)
    ranks[2].join(descriptor, 2)
    for rank in (ranks[0], ranks[2]):
        completion = rank.complete()
        equal("completion", (completion.cookie, outcome(completion)),
              (COOKIE_GROUP, "ECONNRESET rank 1"))
        at_end(rank, "ECONNRESET")


@test
def ending_the_group_by_order_is_reported():
    group = met()
    with netlink_on(1) as netlink:
        for one in netlink.all("group"):
            if one["nonce"] == group.descriptor.fields["nonce"]:
                netlink.end(one["handle"])
    for rank in group:
        completion = rank.complete()
        equal("completion", (completion.cookie, outcome(completion)),
              (COOKIE_GROUP, "ECANCELED rank 0"))
        at_end(rank, "ECANCELED")


# ---- SIGPIPE ----

def post_at_end(line, rank, flags):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        rank.post(send_flags=flags)
    except OSError as error:
        line.put(errno_name(error.errno))


@test
def a_send_at_the_end_is_sigpipe_unless_msg_nosignal():
    rank = failed_pair()
    rank.complete()
    child = Child(None, post_at_end, rank, socket.MSG_NOSIGNAL)
    equal("with MSG_NOSIGNAL", child.get(), "EPIPE")
    child.finish()
    child = Child(None, post_at_end, rank, 0)
    equal("without", child.end(), -signal.SIGPIPE)


# ---- shutdown ----

@test
def shut_wr_leaves_the_group_and_completions_stay():
    rank, other = met()
    for cookie in range(3):
        rank.post(integers(cookie), cookie=cookie)
    rank.shutdown(socket.SHUT_WR)
    rank.shutdown(socket.SHUT_WR)
    refused(errno.EPIPE, "send", rank.post)
    refused(errno.EPIPE, "RUN", rank.run)
    refused(errno.EAGAIN, "recv", rank.complete, socket.MSG_DONTWAIT)
    equal("events", events(rank), select.POLLOUT)
    for cookie in range(3):
        other.post(integers(10), cookie=cookie)
    for cookie in range(3):
        for one in (rank, other):
            equal("sum", one.complete().result, integers(10 + cookie))
    at_end(rank)
    completion = other.complete()
    equal("the other rank", (completion.cookie, outcome(completion)),
          (COOKIE_GROUP, "ECONNRESET rank 0"))
    at_end(other, "ECONNRESET")


@test
def a_rank_that_left_by_shutdown_answers_queries_until_it_closes():
    group = met(placement=[0, 0, 1])
    for rank in group:
        rank.shutdown(socket.SHUT_WR)
    time.sleep(0.3)
    for number, rank in enumerate(group):
        equal("rank", rank.me().rank, number)
        equal("completed", rank.stats().completed > 0, True)
        while rank.recv(ROOM):
            pass
        refused(errno.EPIPE, "send", rank.post)
    at_end(group[0])
    group.close()
    until_nothing_lingers(1, 2)


@test
def a_reader_sleeps_until_the_last_operation_of_a_rank_that_left():
    rank, other = met()
    rank.post(operation=REDUCE, root=0, type=INT64, op=SUM, count=1, payload=integers(1))
    rank.shutdown(socket.SHUT_WR)
    threads, got = sleeping(2, lambda: rank.recv(ROOM), "recvfrom")
    other.post(integers(2), operation=REDUCE, root=0, flags=QUIET)
    for thread in threads:
        thread.join()
    equal("sum", sorted(Completion(data).result if data else data for data in got),
          [b"", integers(3)])


@test
def shut_wr_wakes_threads_that_wait_for_room():
    rank, other = met(window=1)
    rank.post()
    threads, got = sleeping(2, lambda: error_of(rank.post), "sendto")
    runs, ran = sleeping(1, lambda: error_of(rank.run), "ioctl")
    rank.shutdown(socket.SHUT_WR)
    for thread in threads + runs:
        thread.join()
    equal("errors", got + ran, ["EPIPE"] * 3)
    other.post()
    equal("what was posted before", outcome(rank.complete()), "success")
    at_end(rank)


def error_of(call):
    try:
        return call()
    except OSError as error:
        return errno_name(error.errno)


@test
def shut_rd_wakes_readers_and_nothing_else():
    rank, other = met()
    threads, got = sleeping(2, lambda: rank.recv(ROOM), "recvfrom")
    rank.shutdown(socket.SHUT_RD)
    for thread in threads:
        thread.join()
    equal("recv", got, [b"", b""])
    equal("events", events(rank), select.POLLIN | select.POLLOUT | RDHUP)
    other.post(integers(1))
    equal("a RUN", rank.run(integers(2)).result, integers(3))
    other.post(integers(1))
    rank.post(integers(5), cookie=1)
    eventually("what completes can be received", lambda: rank.recv(ROOM)[-8:], integers(6))
    rank.shutdown(socket.SHUT_WR)
    equal("events", events(rank), select.POLLIN | select.POLLOUT | RDHUP | select.POLLHUP)


@test
def other_arguments_of_shutdown_are_einval():
    rank, _ = met()
    for how in (-1, 3, 4, 99):
        refused(errno.EINVAL, f"shutdown {how}", rank.shutdown, how)
    equal("events", events(rank), select.POLLOUT)


# ---- forked children ----

def library():
    """libcollsock"""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/lib",
                        "libcollsock.so")
    return ctypes.CDLL(path)


OPEN_KEEP = 4


def rank_with_worker(line, descriptor, number, flags):
    """A rank of the library whose forked worker outlives it."""
    lib, handle = library(), ctypes.c_void_p()
    equal("open", lib.collsock_open(ctypes.byref(handle), flags), 0)
    lib.collsock_fd.argtypes = [ctypes.c_void_p]
    fd = lib.collsock_fd(handle)
    data = descriptor.bytes(number)
    if libc.setsockopt(fd, SOL_COLLSOCK, JOIN, data, len(data)):
        raise OSError(ctypes.get_errno(), "join")
    with Rank(fileno=os.dup(fd)) as rank:
        rank.run()
    worker = os.fork()
    if not worker:
        libc.prctl(PR_SET_PDEATHSIG, 0)
        time.sleep(600)
    line.put(worker)
    line.get()


@test_each(0, OPEN_KEEP)
def a_forked_worker_keeps_a_killed_rank_alive_only_if_requested(flags):
    descriptor = Descriptor([1, 2])
    rank = rank_on(1)
    rank.join(descriptor, 0)
    child = Child(2, rank_with_worker, descriptor, 1, flags)
    equal("the barrier", outcome(rank.run()), "success")
    worker = child.get()
    try:
        child.kill()
        child.end()
        if flags == OPEN_KEEP:
            time.sleep(0.3)
            equal("events while the worker keeps it", events(rank), select.POLLOUT)
            os.kill(worker, signal.SIGKILL)
        rank.set_timeout(20)
        equal("completion", outcome(rank.complete()), "ECONNRESET rank 1")
        if not flags:
            os.kill(worker, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


main()
