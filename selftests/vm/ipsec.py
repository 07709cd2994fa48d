#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=150 needs=XFRM_USER
# suites: check rt soak
"""Hosts whose packets are encrypted: IPsec in transport mode delivers them from a work queue.

A round never advances there: such packets wait in the namespace's backlog for softirq.
"""

import contextlib
import os
import random
import re
import socket
import subprocess
import time

from api_common import readable
from collsock_test import (
    BROADCAST, INT64, KARY, NOP, PORT, Failed, Group, KernelLog, Skipped, at_least, at_most,
    command, equal, eventually, integers, main, on, outcome, rank_on, read_file, test, test_each,
    work, write_file)
from forging import MESSAGE, SMALLEST, VERSION

HOSTS = 1, 2
FAMILIES = {"IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}
ADDRESS = {socket.AF_INET: "10.1.0.{}", socket.AF_INET6: "fd00:1::{}"}
HASH, CIPHER = "hmac(sha256)", "cbc(aes)"
BACKLOG = 1024  # packets that wait for softirq, of a namespace
OWN = 20  # packets of a group that is idle
DEBUG = "/sys/kernel/debug"


@contextlib.contextmanager
def encrypted(family, *algorithms):
    """Between hosts 1 and 2 all UDP packets, by ESP in transport mode."""
    algorithms = algorithms or ("auth-trunc", HASH, f"0x{random.randbytes(32).hex()}", "128",
                                "enc", CIPHER, f"0x{random.randbytes(16).hex()}")
    paths = [(ADDRESS[family].format(a), ADDRESS[family].format(b), f"0x{100 + a}")
             for a, b in ((1, 2), (2, 1))]
    for host in HOSTS:
        for number, (source, destination, spi) in enumerate(paths, 1):
            command("ip", "-n", f"h{host}", "xfrm", "state", "add", "src", source, "dst",
                    destination, "proto", "esp", "spi", spi, "reqid", str(number), "mode",
                    "transport", *algorithms)
            command("ip", "-n", f"h{host}", "xfrm", "policy", "add", "src", source, "dst",
                    destination, "proto", "udp", "dir", "out" if number == host else "in",
                    "tmpl", "proto", "esp", "reqid", str(number), "mode", "transport")
    try:
        yield
    finally:
        for host in HOSTS:
            command("ip", "-n", f"h{host}", "xfrm", "policy", "flush")
            command("ip", "-n", f"h{host}", "xfrm", "state", "flush")


def best_driver(name):
    """What the kernel uses for an algorithm."""
    known = [dict(re.findall(r"^(\w+) *: (.*)$", one, re.MULTILINE))
             for one in read_file("/proc/crypto").split("\n\n")]
    known = [one for one in known if one.get("name") == name and one["internal"] == "no"]
    return max(known, key=lambda one: int(one["priority"]))["driver"]


def algorithm(name):
    """A socket that uses it."""
    one = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
    one.bind(("skcipher", name))
    return one


@contextlib.contextmanager
def crypto(kind):
    """What encrypts from now on: in the caller's context, or in a work queue."""
    if kind == "synchronous":
        yield
        return
    try:
        command("modprobe", "-a", "cryptd", "cbc")
    except Failed as error:
        raise Skipped(f"no asynchronous encryption here: {error}") from error
    with algorithm(CIPHER):  # what there is, is there now
        driver = best_driver(CIPHER)
    # Its priority is higher than that of the one which it uses
    queued = driver if driver.startswith("cryptd(") else f"cryptd({driver})"
    with algorithm(queued):
        equal("what encrypts", best_driver(CIPHER), queued)
        yield


# The kernel keeps an algorithm that was there once
@test_each(*((version, kind) for kind in ("synchronous", "asynchronous") for version in FAMILIES))
def operations_over_ipsec_run_in_softirq(version, kind):
    log, family = KernelLog(), FAMILIES[version]
    watchers = [rank_on(host) for host in HOSTS]
    with crypto(kind), encrypted(family):
        before = [watcher.net_stats() for watcher in watchers]
        group = Group(HOSTS, family)
        for number in range(work(10)):
            group.barrier()
            group.post(*(integers(number, 1) for _ in group))
            for completion in group.complete():
                equal("sums", completion.result, integers(2 * number, 2))
        after = [watcher.net_stats() for watcher in watchers]
        for rank, one in enumerate(group):
            stats = one.stats()
            equal(f"rounds misplaced at rank {rank}", stats.rounds_misplaced, 0)
            at_least(f"rounds at rank {rank}", stats.rounds, 2 * work(10))
        for rank, (old, new) in enumerate(zip(before, after)):
            equal(f"packets that a work queue delivered to rank {rank}",
                  new.deferred - old.deferred, new.packets - old.packets)
            equal(f"those that did not fit at rank {rank}", new.backlog_full, old.backlog_full)
        group.end()
    equal("lines in the kernel's log", [line for line in log.lines() if "collsock" in line or
                                        "WARN" in line], [])


def process_named(name):
    """The number of a thread of the kernel."""
    return next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and
                read_file(f"/proc/{pid}/comm").strip() == name)


def work_queues_wait_settings():
    settings = {"/proc/sys/net/core/netdev_max_backlog": 4 * BACKLOG,  # of IPsec's own queue
                "/proc/sys/kernel/sched_rt_runtime_us": -1}
    # Later kernels reserve time for other threads by a deadline
    if not os.path.ismount(DEBUG):
        command("mount", "-t", "debugfs", "debugfs", DEBUG)
    reserved = f"{DEBUG}/sched/fair_server/cpu0/runtime"
    if os.path.exists(reserved):
        settings[reserved] = 0
    return settings


def softirqs_interrupt_each_other():
    """With PREEMPT_RT, from 6.18 on."""
    release = tuple(int(part) for part in os.uname().release.split(".")[:2])
    return "PREEMPT_RT" in os.uname().version and release >= (6, 18)


@contextlib.contextmanager
def work_queues_wait():
    """Inside, the first CPU runs this thread and softirq, and no worker gets its turn."""
    settings = work_queues_wait_settings()
    before = {name: read_file(name) for name in settings}
    ksoftirqd = process_named("ksoftirqd/0")
    try:
        for name, value in settings.items():
            write_file(name, str(value))
        os.sched_setaffinity(0, [0])
        os.sched_setscheduler(ksoftirqd, os.SCHED_FIFO, os.sched_param(2))
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        yield
    finally:
        for pid in 0, ksoftirqd:
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, range(os.cpu_count()))
        # Time is reserved again before other threads get their limit back: 6.12 insists on that
        for name, value in reversed(before.items()):
            write_file(name, value)


@contextlib.contextmanager
def without_a_key(family):
    """What host 1 sends to host 2 is to be encrypted, as soon as there is a key."""
    command("ip", "-n", "h1", "xfrm", "policy", "add", "src", ADDRESS[family].format(1), "dst",
            ADDRESS[family].format(2), "proto", "udp", "dir", "out", "tmpl", "proto", "esp",
            "reqid", "9", "mode", "transport")
    try:
        yield
    finally:
        command("ip", "-n", "h1", "xfrm", "policy", "flush")


def tasklets():
    return sum(map(int, re.search(r"TASKLET:(.*)", read_file("/proc/softirqs"))[1].split()))


@test_each(*FAMILIES)
def a_host_without_a_key_keeps_nobody_else_waiting(version):
    """A route that is found, but is never valid. Host 2 is the child to which is sent first."""
    group = Group([1, 2, 3], FAMILIES[version], degree=2)
    group.barrier()
    fields = {"operation": BROADCAST, "type": INT64, "op": NOP, "count": 1, "algorithm": KARY}
    lost = group[0].net_stats().no_route
    with without_a_key(FAMILIES[version]):
        for rank, payload in zip(group, (integers(7), b"", b"")):
            rank.post(payload, **fields)
        equal("host 3 has the result", readable(group[2], 10), True)
        equal("host 2 has it", readable(group[1], 0), False)
        before = tasklets()
        time.sleep(1)
        at_most("turns within a second", tasklets() - before, 100)
        at_least("packets without a route", group[0].net_stats().no_route - lost, 1)
    for rank in group:
        equal(f"{rank}", outcome(rank.complete()), "success")


@test
def a_backlog_is_limited_and_what_does_not_fit_is_counted():
    if softirqs_interrupt_each_other():
        raise Skipped("softirq empties the backlog while a worker fills it")
    amount = 2 * BACKLOG
    packet = (bytes([VERSION, 0, 0, 0]) + random.randbytes(24) + bytes(4) +
              bytes([MESSAGE, 0, 0, 0]) + random.randbytes(SMALLEST - 36))
    with encrypted(socket.AF_INET, "auth", "digest_null", "", "enc", "ecb(cipher_null)", ""):
        group, watcher = Group(HOSTS), rank_on(2)
        group.barrier()

        def grown(name):
            return getattr(watcher.net_stats(), name) - getattr(before, name)

        # A thread that sleeps meanwhile, for a page of its program say, gives workers a turn
        waited = False
        while not waited:
            before = watcher.net_stats()
            with on(1):
                sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            with sender, work_queues_wait():
                for _ in range(amount):
                    sender.sendto(packet, (ADDRESS[socket.AF_INET].format(2), PORT))
                waited = not grown("deferred")
            # The group's own packets are some more
            eventually("those received and dropped are all",
                       lambda: grown("unknown_group") + grown("backlog_full") >= amount, True)
        at_least("packets delivered by a work queue", grown("deferred"), amount)
        at_least("packets that waited", grown("unknown_group"), BACKLOG - OWN)
        at_most("packets that waited", grown("unknown_group"), BACKLOG)
        group.barrier()
        group.end()


@test
def a_device_ends_when_no_packet_that_came_by_it_waits():
    """The last test: its host has no device then."""
    with encrypted(socket.AF_INET):
        group, before = Group(HOSTS), rank_on(2).net_stats().deferred
        group.barrier()
        at_least("packets that waited", rank_on(2).net_stats().deferred - before, 1)
        group.end()
        deleting = subprocess.Popen(["ip", "-n", "h2", "link", "delete", "eth0"])
        eventually("status of the deletion", deleting.poll, 0)


main()
