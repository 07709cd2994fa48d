#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=240
# suites: check debug soak
"""No hang and no wrong result: crashes, restarts, long waits, a bad network."""

import errno
import signal
import socket
import time

from collsock_test import (
    ADDRESSES, DISSEMINATION, SOAK, Child, Descriptor, Group, at_least, barrier, equal, eventually,
    in_kernel, ip_batch, link_down, main, make_namespace, namespace_has_gone, netem, outcome,
    post_once, rank_on, refused, seeded, test, test_each, tunables)
from mixed_load import MixedLoad

HOSTS = range(1, 9)
LIVENESS_MS = 600
IN_SOAK = SOAK > 1
X1 = "10.1.0.201"


@test_each(2, 5, 7)
def a_crash_is_noticed_even_if_only_one_rank_has_posted(lost):
    """No host sends to the one that is cut off, so that only probes detect it."""
    with tunables(liveness_ms=LIVENESS_MS):
        group = Group(HOSTS, barrier_algorithm=DISSEMINATION)
    group.barrier()
    with link_down(HOSTS[lost]):
        group[0].post()
        equal("rank 0", outcome(group[0].complete()), f"ETIMEDOUT rank {lost}")
        for number, rank in enumerate(group):
            if number not in (0, lost):
                equal(f"rank {number}", outcome(rank.run()), f"ETIMEDOUT rank {lost}")
    at_least("probes of rank 0", group[0].stats().probes_sent, 1)


@test
def a_host_that_restarted_is_named_by_all_and_by_itself():
    make_namespace("x1", X1)
    with tunables(liveness_ms=30000):
        descriptor = Descriptor([1, 2, X1])
        ranks = [rank_on(1), rank_on(2)]
        for number, rank in enumerate(ranks):
            rank.join(descriptor, number)
        first = Child("x1", post_once, descriptor, 2)
        equal("the child has", first.get(), "joined")
        first.put("go")
        barrier(ranks)
        equal("the child's barrier", first.get(), "success")
        # It sends nothing when it dies, and its state ends with its namespace
        ip_batch(("-n", "x1"), "link set eth0 down")
        ip_batch((), "netns delete x1")
        first.kill()
        first.end()
        namespace_has_gone("x1")
        make_namespace("x1", X1)
        second = Child("x1", post_once, descriptor, 2)
        equal("the child has", second.get(), "joined")
        for rank in ranks:
            rank.post()
        second.put("go")
        for number, rank in enumerate(ranks):
            equal(f"rank {number}", outcome(rank.complete()), "ECONNRESET rank 2")
        equal("the child", second.get(), "ECONNRESET rank 2")
        at_least("challenges", sum(rank.stats().challenges for rank in ranks), 1)
        second.kill()
        second.end()
    ip_batch((), "netns delete x1")


def joins(host, descriptor):
    try:
        rank_on(host).join(descriptor, 0)
    except OSError as error:
        equal("why it does not join", error.errno, errno.EADDRINUSE)
        return False
    return True


@test
@in_kernel("time-wait is that of the rank")
def a_nonce_is_refused_while_the_group_is_in_time_wait():
    with tunables(liveness_ms=LIVENESS_MS):
        group = Group((7, 8))
        group.barrier()
        group.close()
        rank = rank_on(7)
        refused(errno.EADDRINUSE, "joining again with the same nonce", rank.join,
                group.descriptor, 0)
        rank.join(Descriptor((7, 8)), 0)
        eventually("join after that", lambda: joins(7, group.descriptor), True)


@test
@in_kernel("a process that is stopped is silent")
def a_process_that_is_stopped_for_long_is_not_accused():
    """A minute in a soak, with the default liveness time."""
    seconds = 60 if IN_SOAK else 5
    group_of = Descriptor((1, 2, 3))
    child = Child(3, post_once, group_of, 2)
    ranks = [rank_on(1), rank_on(2)]
    for number, rank in enumerate(ranks):
        rank.join(group_of, number)
    equal("the child has", child.get(), "joined")
    child.kill(signal.SIGSTOP)
    for rank in ranks:
        rank.post()
    time.sleep(seconds)
    child.kill(signal.SIGCONT)
    child.put("go")
    for number, rank in enumerate(ranks):
        equal(f"rank {number}", outcome(rank.complete()), "success")
    equal("the child", child.get(), "success")
    at_least("questions", sum(rank.stats().probes_sent for rank in ranks), 2)


@test
@in_kernel("it cannot be set when a connection is idle")
def connections_that_are_idle_are_released_and_open_again():
    with tunables(idle_ms=200):
        group = Group((1, 2, 3))
    for turn in range(1, 4):
        group.barrier()
        at_least("peers", sum(rank.stats().peers for rank in group), 3)
        eventually("peers after a while", lambda: [rank.stats().peers for rank in group],
                   [0, 0, 0])
        for rank in group:
            at_least("idle peers", rank.stats().peers_idle, turn)
        equal("peers of the namespace", group[0].net_stats().peers, 0)


def know_neighbours(hosts):
    """A failed address resolution would cut hosts off for seconds."""
    own, link = ADDRESSES[socket.AF_INET], ADDRESSES[socket.AF_PACKET]
    for host in hosts:
        ip_batch(("-n", f"h{host}"),
                 *(f"neighbour replace {own.format(other)} lladdr {link.format(other)} dev eth0 "
                   "nud permanent" for other in hosts if other != host))


@test
def heavy_loss_and_delay_only_slow_operations_down():
    """30 % of the packets lost, delays of 0 to 100 ms; five minutes with SOAK=20."""
    know_neighbours(HOSTS)
    netem(HOSTS, "delay", "50ms", "50ms", "loss", "30%")
    try:
        end, count = time.monotonic() + max(10, 15 * SOAK), 0
        group, chance = Group(HOSTS), seeded("survival")
        while time.monotonic() < end:
            MixedLoad(group, 20, chance).run()
            count += 20
        stats = [rank.stats() for rank in group]
        equal("operations that completed and failed",
              [(one.completed, one.failed) for one in stats], [(count, 0)] * len(group))
        print(f"# {count} operations, {sum(one.retransmits for one in stats)} messages sent "
              f"again, {sum(one.probes_sent for one in stats)} questions")
        group.close()
    finally:
        netem(HOSTS)


if __name__ == "__main__":
    main(limit=100)
