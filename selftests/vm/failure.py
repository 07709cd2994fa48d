#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=90
# suites: check debug rt arm64 soak
"""A rank leaves, is killed, cut off or stopped: the others get an error that names it."""

import contextlib
import errno
import select
import signal
import socket
import threading
import time

from collsock_test import (
    DISSEMINATION, EXCHANGE, INT64, IN_USER_SPACE, MAX, MIN, MODULE, UINT64, Child, Descriptor,
    Group, Rank, at_least, at_most, barrier, equal, errno_name, eventually, eventually_in,
    in_kernel, integers, link_down, main, outcome, rank_on, read_file, refused,
    run_until_failure, test, test_each, tunables, work)

LIVENESS_MS = 600
# The kernel sees at once that a process has died; of one in user space there is only silence.
DEATH = "ETIMEDOUT" if IN_USER_SPACE else "ECONNRESET"
END = {"closed": "ECONNRESET", "killed": DEATH}


def rank_in_child(line, descriptor, number, meetings, payloads):
    """Complete barriers, post more, and wait for the order to close, or to be killed."""
    rank = Rank()
    rank.join(descriptor, number)
    line.put("joined")
    for _ in range(meetings):
        equal("barrier in the child", outcome(rank.run()), "success")
    for payload in payloads:
        rank.post(payload)
    line.put("posted")
    line.get()
    rank.close()
    line.put("closed")
    line.get()


def with_child(host, hosts, meetings=2, payloads=(), **fields):
    """A group whose rank on a host is a process; returns the others and it."""
    descriptor = Descriptor(hosts, **fields)
    number = list(hosts).index(host)
    child = Child(host, rank_in_child, descriptor, number, meetings, payloads)
    ranks = {}
    for other, at in enumerate(hosts):
        if at != host:
            ranks[other] = rank_on(at)
            ranks[other].join(descriptor, other)
    equal("the child has", child.get(), "joined")
    for _ in range(meetings):
        barrier(ranks.values())
    equal("the child has", child.get(), "posted")
    return ranks, child


def end_child(child, manner):
    if manner == "killed":
        child.kill()
        equal("end of the child", child.end(), -signal.SIGKILL)
    else:
        child.put("close")
        equal("the child has", child.get(), "closed")


# The others post before they can know of it, and after. In user space what a process has posted is
# lost with it.
@test_each(*((manner, pause) for pause in (0, 0.3) for manner in END
             if manner == "closed" or not IN_USER_SPACE))
def posts_of_a_rank_complete_at_the_others_when_it_is(manner, pause):
    for hosts in ((1, 2, 3, 4), (1, 2, 3)):
        payloads = [integers(1000 + number) for number in range(3)]
        ranks, child = with_child(3, hosts, payloads=payloads)
        end_child(child, manner)
        time.sleep(pause)
        for number in range(3):
            for rank in ranks.values():
                rank.post(integers(number), cookie=number)
        for name, rank in ranks.items():
            for number in range(3):
                completion = rank.complete()
                equal(f"rank {name} of {len(hosts)}, operation {number}", outcome(completion),
                      "success")
                equal("its sum", completion.result,
                      integers(1000 + len(hosts) * completion.cookie))
        for rank in ranks.values():
            # In user space the failure may be in the descriptor
            with contextlib.suppress(*[BrokenPipeError] * IN_USER_SPACE):
                rank.post()
        for name, rank in ranks.items():
            equal(f"the next operation, rank {name} of {len(hosts)}",
                  outcome(rank.complete()), "ECONNRESET rank 2")


@test_each("closed", "killed")
def ranks_that_wait_for_a_rank_learn_that_it_is(manner):
    ranks, child = with_child(3, (1, 2, 3))
    got = {}

    def wait(name):
        got[name] = outcome(ranks[name].run())

    threads = [threading.Thread(target=wait, args=[name]) for name in ranks]
    for thread in threads:
        thread.start()
        eventually_in("ioctl", thread)
    end_child(child, manner)
    for thread in threads:
        thread.join()
    equal("what RUN gave", got, {0: f"{END[manner]} rank 2", 1: f"{END[manner]} rank 2"})


@test
def after_a_kill_at_any_moment_operations_succeed_until_all_fail():
    for turn in range(work(4)):
        descriptor = Descriptor((1, 2, 3))
        child = Child(3, run_until_failure, descriptor, 2)
        ranks = [rank_on(1), rank_on(2)]
        for number, rank in enumerate(ranks):
            rank.join(descriptor, number)
        child.get()
        killer = threading.Timer(0.05 + 0.03 * turn, child.kill)
        killer.start()
        rights, errors = [0, 0], [None, None]
        while None in errors:
            for rank in ranks:
                rank.post(integers(1))
            for number, completion in enumerate([rank.complete() for rank in ranks]):
                if completion.error:
                    errors[number] = outcome(completion)
                else:
                    equal(f"error before success at rank {number}", errors[number], None)
                    equal(f"sum at rank {number}", completion.result, integers(3))
                    rights[number] += 1
        equal("errors", errors, [f"{DEATH} rank 2"] * 2)
        at_most("difference in operations that succeeded", abs(rights[0] - rights[1]), 1)
        killer.join()
        child.end()


@test
def a_failure_is_permanent():
    ranks, child = with_child(2, (1, 2))
    rank = ranks[0]
    for number in range(3):
        rank.post(cookie=number)
    poll = select.poll()
    poll.register(rank, select.POLLIN | select.POLLOUT)
    equal("events before", poll.poll(0), [(rank.fileno(), select.POLLOUT)])
    end_child(child, "killed")
    every = select.POLLIN | select.POLLOUT

    def events():
        """Without POLLHUP, which a descriptor in user space has, too"""
        return poll.poll(0)[0][1] & every

    eventually("events", events, every)
    for number in range(3):
        completion = rank.complete(socket.MSG_DONTWAIT)
        equal(f"operation {number}", (completion.cookie, outcome(completion)),
              (number, f"{DEATH} rank 1"))
    equal("events when all is received", events(), every)
    for number in range(20):
        equal("recv", rank.recv(64), b"")
        refused(errno.EPIPE, "a post", rank.post)
        completion = rank.run(integers(1), cookie=number)
        equal(f"later RUN {number}", (completion.cookie, outcome(completion)),
              (number, f"{DEATH} rank 1"))
        equal("bytes", completion.bytes, 0)
    stats = rank.stats()
    equal("operations that were posted, completed and failed",
          (stats.posted, stats.completed, stats.failed), (25, 2, 23))


@test_each((2, EXCHANGE), (3, DISSEMINATION), (4, DISSEMINATION), (4, EXCHANGE))
def a_host_that_is_cut_off_is_named_by_all_after_the_liveness_time(size, algorithm):
    """The error is reported after that time and not much later, whether they send to it or
    not."""
    if not IN_USER_SPACE:
        equal("default of the liveness time", read_file(f"{MODULE}/parameters/liveness_ms"),
              "3000\n")
    with tunables(liveness_ms=LIVENESS_MS):
        group = Group(range(1, size + 1), barrier_algorithm=algorithm)
    group.barrier()
    lost = size - 1
    with link_down(group.hosts[lost]):
        group.post()
        completions = group.complete()
        begin = min(completion.posted_ns for completion in completions)
        for number, completion in enumerate(completions):
            took_ms = (completion.completed_ns - begin) / 1e6
            at_least("milliseconds that it took", took_ms, LIVENESS_MS)
            at_most("milliseconds that it took", took_ms, 10 * LIVENESS_MS)
            if number != lost:
                equal(f"rank {number}", outcome(completion), f"ETIMEDOUT rank {lost}")
        cut_off = completions[lost]
        equal("error at the host that is cut off", errno_name(cut_off.error), "ETIMEDOUT")
        equal("it names another one", cut_off.failed_rank in range(lost), True)
        at_least("packets that found no route there", group[lost].net_stats().no_route, 1)
    # The network heals, the group does not
    for number in range(lost):
        equal(f"rank {number} afterwards", outcome(group[number].run()),
              f"ETIMEDOUT rank {lost}")
    Group(group.hosts).barrier()


@test
def a_group_may_have_a_liveness_time_of_its_own():
    """The group's liveness time applies, not that of the host, which groups without one have."""
    with tunables(liveness_ms=50 * LIVENESS_MS):
        own, usual = Group([1, 2], liveness_ms=LIVENESS_MS), Group([1, 2])
    own.barrier()
    usual.barrier()
    with link_down(2):
        own[0].post()
        usual[0].post()
        completion = own[0].complete()
        equal("with its own", outcome(completion), "ETIMEDOUT rank 1")
        took_ms = (completion.completed_ns - completion.posted_ns) / 1e6
        at_least("milliseconds that it took", took_ms, LIVENESS_MS)
        at_most("milliseconds that it took", took_ms, 10 * LIVENESS_MS)
        refused(errno.EAGAIN, "that without", usual[0].complete, socket.MSG_DONTWAIT)
    usual[1].post()
    for number, rank in enumerate(usual):
        equal(f"rank {number} of that without", outcome(rank.complete()), "success")


def post_and_meet(line, descriptor, number):
    rank = Rank()
    rank.join(descriptor, number)
    line.put("joined")
    for _ in range(2):
        line.put(outcome(rank.run()))
        line.get()


@test
@in_kernel("a process that is stopped is silent")
def a_process_that_is_stopped_or_computes_for_long_is_not_accused():
    descriptor = Descriptor((1, 2, 3))
    with tunables(liveness_ms=LIVENESS_MS, join_timeout_ms=LIVENESS_MS * 50):
        child = Child(3, post_and_meet, descriptor, 2)
        ranks = [rank_on(1), rank_on(2)]
        for number, rank in enumerate(ranks):
            rank.join(descriptor, number)
        child.get()
    barrier(ranks)
    equal("the child's first barrier", child.get(), "success")
    child.kill(signal.SIGSTOP)
    child.put("go on")
    ranks[0].post()
    time.sleep(3 * LIVENESS_MS / 1000)
    equal("completions while it is stopped", select.select([ranks[0]], [], [], 0)[0], [])
    child.kill(signal.SIGCONT)
    # And this process computes
    time.sleep(2 * LIVENESS_MS / 1000)
    ranks[1].post()
    for number, rank in enumerate(ranks):
        equal(f"rank {number}", outcome(rank.complete()), "success")
    equal("the child's second barrier", child.get(), "success")


@test
@in_kernel("the join time-out is five minutes")
def a_host_that_never_joins_is_named_after_the_join_time_out():
    with tunables(liveness_ms=100, join_timeout_ms=LIVENESS_MS):
        rank = rank_on(1)
        rank.join(Descriptor((1, 2)), 0)
    completion = rank.run()
    equal("the barrier", outcome(completion), "ETIMEDOUT rank 1")
    took_ms = (completion.completed_ns - completion.posted_ns) / 1e6
    at_least("milliseconds that it took", took_ms, LIVENESS_MS)
    at_most("milliseconds that it took", took_ms, 10 * LIVENESS_MS)


DISAGREEMENTS = {
    "operation": ({"payload": b""}, {"payload": integers(1)}),
    "type": ({"type": INT64}, {"type": UINT64}),
    "operator": ({"op": MIN}, {"op": MAX}),
    "count": ({"payload": integers(1)}, {"payload": integers(1, 2)}),
    "algorithm": ({"payload": b"", "algorithm": DISSEMINATION},
                  {"payload": b"", "algorithm": EXCHANGE}),
}


@test_each(*DISAGREEMENTS)
def a_rank_that_disagrees_is_named_with_eproto_about_the(what):
    group = Group((1, 2))
    group.barrier()
    first, second = DISAGREEMENTS[what]
    early = group[1].stats().early
    group[0].post(**{"payload": integers(1), **first})
    eventually("messages before their time", lambda: group[1].stats().early, early + 1)
    group[1].post(**{"payload": integers(1), **second})
    for rank, other in ((1, 0), (0, 1)):
        equal(f"rank {rank}", outcome(group[rank].complete()), f"EPROTO rank {other}")
        equal(f"rank {rank} later", outcome(group[rank].run()), f"EPROTO rank {other}")


if __name__ == "__main__":
    main(limit=40)
