#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: limit=200
# suites: check debug soak
"""Calls that spin poll the queues of devices, as far as the administrator lets them.

The devices are veth pairs with NAPI, whose interrupts come a second late: packets that wait for
them are retransmitted in vain meanwhile. The kernel counts packets that were received by polling,
and the module the polls of calls that spin.
"""

import collections
import concurrent.futures
import contextlib
import errno
import os
import re
import socket
import threading
import time

import ethtool
from collsock_test import (
    FLAT, KARY, MAX_SPIN_US, Descriptor, Failed, Skipped, at_least, at_most, command, equal,
    eventually, integers, ip_batch, main, member, namespace_has_gone, on, outcome, rank_on,
    read_file, refused, test, test_each, work, write_file)

SO_BUSY_POLL, SO_PREFER_BUSY_POLL = 46, 69
BUSY_READ = "/proc/sys/net/core/busy_read"
TRACING = "/sys/kernel/tracing"
BUSY_POLL_BUDGET = 8  # the kernel's
NOBODY = 65534
DELAY_NS = 1_000_000_000
SLEEPS = 3
ATTEMPTS = 10
LIVENESS_MS = 60_000  # a device that is removed may be silent for long on a slow machine
NEVER = 1 << 30  # polls without a packet, after which interrupts are enabled again
HUB, SPOKES = "e1", ("e2", "e3")
MULTICAST = "239.7.7.7"
LEARNED = 12  # operations until both hosts count on multicast packets
UDP, ETHERNET = socket.AF_INET, socket.AF_PACKET


def address(name, family=UDP):
    return (f"02:00:00:00:09:0{name[1]}" if family == ETHERNET else f"10.9.0.{name[1]}")


def make_napi(device, late):
    """veth uses NAPI if it aggregates packets, for a peer that does not send large ones."""
    ethtool.switch(device, ethtool.STSO, False)
    ethtool.switch(device, ethtool.SGRO, True)
    if late:
        write_file(f"/sys/class/net/{device}/gro_flush_timeout", str(DELAY_NS))
        write_file(f"/sys/class/net/{device}/napi_defer_hard_irqs", str(NEVER))


def connect(spoke, late=True, cable=None, queues=1):
    """A cable from the hub to this host, named after the host unless it has a name; so is the
    device of the host, and "to-" with it the hub's. They are set up here, where /sys shows them."""
    cable = cable or spoke
    ends = [(HUB, "end1", f"to-{cable}", spoke), (spoke, "end2", cable, HUB)]
    number = f"numtxqueues {queues} numrxqueues {queues}"
    ip_batch((), f"link add end1 {number} address {address(HUB, ETHERNET)} type veth "
             f"peer name end2 {number} address {address(spoke, ETHERNET)}")
    for _, end, _, _ in ends:
        make_napi(end, late)
    ip_batch((), *(f"link set {end} netns {name} name {device}" for name, end, device, _ in ends))
    for name, _, device, other in ends:
        ip_batch(("-n", name), f"link set {device} up",
                 f"address add {address(name)} peer {address(other)} dev {device}")


@contextlib.contextmanager
def hosts(*spokes, **options):
    for name in (HUB, *spokes):
        namespace_has_gone(name)
    ip_batch((), *(f"netns add {name}" for name in (HUB, *spokes)))
    try:
        for spoke in spokes:
            connect(spoke, **options)
        yield
    finally:
        ip_batch((), *(f"netns delete {name}" for name in (HUB, *spokes)))


def ranks_on(*names, family=UDP, each=1, poll_us=MAX_SPIN_US, **fields):
    """Each host has that many ranks, which may poll for so long; None: as they are."""
    descriptor = Descriptor(range(1, len(names) + 1),
                            placement=[host for host in range(len(names)) for _ in range(each)],
                            liveness_ms=LIVENESS_MS, **fields)
    descriptor.members = [member(address(name, family), family) for name in names]
    ranks = [rank_on(names[host]) for host in descriptor.host_of_rank]
    for number, rank in enumerate(ranks):
        if poll_us is not None:
            rank.setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, poll_us)
        rank.join(descriptor, number)
        rank.setblocking(False)
    return ranks


class Counts:
    """What has happened on a host since then."""

    def __init__(self, name):
        self.name = name
        self.watcher = rank_on(name)
        self.before = self.now()

    def now(self):
        with on(self.name):
            lines = read_file("/proc/thread-self/net/netstat").splitlines()
        names, values = (line.split() for line in lines if line.startswith("TcpExt"))
        return (int(values[names.index("BusyPollRxPackets")]),
                self.watcher.net_stats().busy_polls)

    def grown(self):
        """Packets received by polling, and queues polled by calls that spin"""
        return tuple(now - before for now, before in zip(self.now(), self.before))


def spin(rank, payload=b"", until=lambda: False):
    """RUN, and WAIT again and again: the rank never sleeps."""
    try:
        return rank.run(payload, spin_us=MAX_SPIN_US, cookie=1)
    except BlockingIOError:
        pass
    while not until():
        try:
            return rank.wait(1, spin_us=MAX_SPIN_US)
        except BlockingIOError:
            pass
    return None


def sleep(ranks):
    """A barrier"""
    for rank in ranks:
        rank.setblocking(True)
        rank.post()
    for rank in ranks:
        equal("barrier", outcome(rank.complete()), "success")


def all_spin(ranks, operations):
    """Sums of all ranks' numbers, each in a thread of its own"""
    def thread(number):
        for _ in range(operations):
            completion = spin(ranks[number], integers(number))
            equal(f"rank {number}", outcome(completion), "success")
            equal("sum", completion.result, integers(sum(range(len(ranks)))))

    with concurrent.futures.ThreadPoolExecutor(len(ranks)) as pool:
        list(pool.map(thread, range(len(ranks))))
    for number, rank in enumerate(ranks):
        equal(f"rounds misplaced at rank {number}", rank.stats().rounds_misplaced, 0)


def all_poll(ranks, operations, *names):
    """The same; half as many packets are received by polling on these hosts. While other work has
    the processors a thread does not poll, and packets come by interrupts, late: then once more.
    Returns what has happened on the hosts."""
    for attempt in range(ATTEMPTS):
        counts = [Counts(name) for name in names]
        all_spin(ranks, operations)
        enough = all(one.grown()[0] >= operations // 2 for one in counts)
        if enough or attempt == ATTEMPTS - 1:
            break
    for one in counts:
        at_least(f"packets received by polling on {one.name}", one.grown()[0], operations // 2)
    return counts


@contextlib.contextmanager
def polled(what):
    """Yields a function that tells how often packets were found by polling, by what this finds in
    a line of the trace."""
    event = f"{TRACING}/events/napi/napi_poll"
    if not os.path.exists(event):
        command("mount", "-t", "tracefs", "tracefs", TRACING)
    write_file(f"{TRACING}/trace", "")
    # Softirq has another budget.
    write_file(f"{event}/filter", f"work > 0 && budget == {BUSY_POLL_BUDGET}")
    write_file(f"{event}/enable", "1")
    try:
        yield lambda: collections.Counter(re.findall(what, read_file(f"{TRACING}/trace")))
    finally:
        write_file(f"{event}/enable", "0")


@test_each(UDP, ETHERNET)
def a_spinning_call_does_not_wait_for_interrupts(family):
    operations = work(10)
    with hosts("e2"):
        ranks = ranks_on(HUB, "e2", family=family)
        # The first packets come by interrupts, and say by which queues.
        all_spin(ranks, 1)
        begin = time.monotonic()
        all_spin(ranks, operations)
        spinning = (time.monotonic() - begin) / operations
        for one in all_poll(ranks, operations, HUB, "e2"):
            at_least(f"polls on {one.name}", one.grown()[1], operations // 2)
        begin = time.monotonic()
        for _ in range(SLEEPS):
            sleep(ranks)
        sleeping = (time.monotonic() - begin) / SLEEPS
        print(f"# ms of an operation: {spinning * 1e3:.1f} spinning, {sleeping * 1e3:.1f} sleeping")


@test
def several_threads_poll_one_queue():
    operations = work(10)
    with hosts("e2"):
        ranks = ranks_on(HUB, "e2", each=3)
        ranks[0].setsockopt(socket.SOL_SOCKET, SO_PREFER_BUSY_POLL, 1)
        all_spin(ranks, 1)
        all_poll(ranks, operations, HUB, "e2")


@test
def several_queues_are_polled_in_turn():
    """The hub awaits the packets of two hosts, which come by two devices."""
    operations = work(10)
    with hosts(*SPOKES):
        ranks = ranks_on(HUB, *SPOKES, allreduce_algorithm=FLAT)
        all_spin(ranks, 1)
        with polled(r"for device (\S+) work") as tell:
            all_spin(ranks, operations)
            found = tell()
        for spoke in SPOKES:
            at_least(f"polls that found packets of {spoke}", found[f"to-{spoke}"],
                     operations // 2)


@contextlib.contextmanager
def multicast_by_another_queue():
    """What the hub sends to this address comes to its spoke by the second queue of its device, and
    all else by the first one."""
    tc = "tc", "-n", HUB
    ip_batch(("-n", HUB), "route add 239.0.0.0/8 dev to-e2")
    command(*tc, "qdisc", "add", "dev", "to-e2", "clsact")
    try:
        command(*tc, *"filter add dev to-e2 egress prio 1 protocol ip flower dst_ip".split(),
                MULTICAST, *"action skbedit queue_mapping 1".split())
        command(*tc, *"filter add dev to-e2 egress prio 2 protocol all matchall".split(),
                *"action skbedit queue_mapping 0".split())
    except Failed as failure:
        if "Failed to load TC action module" in str(failure):
            raise Skipped("the kernel has no action of tc that chooses a queue") from failure
        raise
    yield


@test
def the_queue_by_which_multicast_packets_come_is_polled():
    operations = work(10)
    with hosts("e2", queues=2), multicast_by_another_queue(), \
            polled(r"struct (\S+) for device e2 ") as tell:
        plain = ranks_on(HUB, "e2", allreduce_algorithm=KARY)
        all_spin(plain, 1)
        all_poll(plain, operations, "e2")
        first = tell()
        ranks = ranks_on(HUB, "e2", allreduce_algorithm=KARY,
                         multicast=socket.inet_aton(MULTICAST))
        for _ in range(ATTEMPTS):
            all_spin(ranks, LEARNED)
            all_poll(ranks, operations, "e2")
            found = sum(count for queue, count in tell().items() if queue not in first)
            print(f"# {found} polls of another queue found packets")
            if found >= operations // 2:
                break
        at_least("polls of another queue that found packets", found, operations // 2)


@test
def a_call_polls_no_longer_than_it_may():
    """Of two queues each is polled for 10 us, and then the other."""
    with hosts(*SPOKES):
        ranks = ranks_on(HUB, *SPOKES, allreduce_algorithm=FLAT)
        all_spin(ranks, 2)
        ranks[0].setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, 100)
        counts = Counts(HUB)
        refused(errno.EINPROGRESS, "RUN alone", ranks[0].run, spin_us=MAX_SPIN_US)
        polls = counts.grown()[1]
        at_least("polls", polls, 1)
        at_most("polls", polls, 100 // 10 + 1)


@test
def a_device_may_go_and_another_come_while_a_thread_spins():
    with hosts("e2"):
        ranks = ranks_on(HUB, "e2")
        all_spin(ranks, 2)
        done = []
        waiter = threading.Thread(target=lambda: done.append(spin(ranks[0])))
        waiter.start()
        before = Counts(HUB)
        eventually("the thread polls", lambda: before.grown()[1] > 0, True)
        command("ip", "-n", HUB, "link", "delete", "to-e2")
        connect("e2")
        equal("the other rank", outcome(spin(ranks[1])), "success")
        waiter.join()
        equal("the thread", outcome(done[0]), "success")
        all_poll(ranks, 10, HUB)


@test
def a_queue_is_polled_no_more_when_packets_come_by_another():
    with hosts("e2"):
        ranks = ranks_on(HUB, "e2")
        all_spin(ranks, 2)
        connect("e2", cable="other")
        for name, device, other in (HUB, "to-e2", "e2"), ("e2", "e2", HUB):
            ip_batch(("-n", name),
                     f"address delete {address(name)} peer {address(other)} dev {device}")
        all_spin(ranks, 2)
        all_poll(ranks, 10, HUB)


def polls_of(ranks):
    """What calls on the hub have polled meanwhile"""
    counts = Counts(HUB)
    all_spin(ranks, 10)
    return counts.grown()


def outcome_of(function, *args):
    try:
        return function(*args)
    except OSError as failure:
        return errno.errorcode[failure.errno]


@test
def nothing_is_polled_without_leave():
    """Waiting for interrupts, which are not late"""
    with hosts("e2", late=False):
        ranks = ranks_on(HUB, "e2", poll_us=None)
        equal("packets received by polling, and polls", polls_of(ranks), (0, 0))
        write_file(BUSY_READ, "1000")
        try:
            allowed = ranks_on(HUB, "e2", poll_us=None)
        finally:
            write_file(BUSY_READ, "0")
        equal("polls of a rank that was opened before", polls_of(ranks)[1], 0)
        at_least("polls of one that was opened when it was allowed", polls_of(allowed)[1], 1)
        plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        plain.setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, 1000)
        os.seteuid(NOBODY)
        try:
            # 6.12 lets everybody choose, 6.1 only administrators.
            equal("a longer time, as for a UDP socket", *(
                outcome_of(one.setsockopt, socket.SOL_SOCKET, SO_BUSY_POLL, 1001)
                for one in (allowed[0], plain)))
            refused(errno.EPERM, "to be preferred", allowed[0].setsockopt, socket.SOL_SOCKET,
                    SO_PREFER_BUSY_POLL, 1)
            allowed[0].setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, 0)
        finally:
            os.seteuid(0)
        equal("polls of one that does not want it any more", polls_of(allowed)[1], 0)


@test
def a_call_that_sleeps_polls_nothing():
    with hosts("e2", late=False):
        ranks = ranks_on(HUB, "e2")
        counts = Counts(HUB)
        for _ in range(10):
            sleep(ranks)
        equal("packets received by polling, and polls", counts.grown(), (0, 0))


if __name__ == "__main__":
    main(limit=240)
