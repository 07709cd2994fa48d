#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=150 smp=2 needs=KPROBES
# suites: matrix soak
"""Those who only look cost running groups little, however many they are and whatever they ask."""

import contextlib
import errno
import os
import re
import resource
import socket
import struct
import threading
import time

from collsock_netlink import DUMP, NLMSG_DONE, NUMBERS, REQUEST, Netlink, NetlinkError
from collsock_test import (
    BROADCAST, INT64, KARY, Child, Descriptor, Failed, Group, at_least, at_most, command, equal,
    eventually, libc, main, netlink_on, rank_on, read_file, test, tunables, until_nothing_lingers,
    write_file)
from kprobes import recorded

TRACING = "/sys/kernel/tracing"
NOBODY = 65534
CLONE_NEWUSER, FIRST_ID, IDS = 0x10000000, 100000, 65536
SO_RCVBUFFORCE = 33
REAL_TIME = "/proc/sys/kernel/sched_rt_runtime_us"
TURN = 64  # EVENT_QUEUE_TURN
THREADS = 16
CHILDREN = 64
BATCH = 16  # of netlink_dump.c
LOOKER = "looker"


@contextlib.contextmanager
def broadcasts(group):
    """Yields a function that tells where messages to these listeners were sent: (thread, flags)."""
    # Which one the macros of generic netlink call depends on the kernel
    function = "netlink_broadcast_filtered"
    if not re.search(rf" {function}$", read_file("/proc/kallsyms"), re.MULTILINE):
        function = "netlink_broadcast"
    with recorded(f"p:observed {function} group=$arg4:u32", only=f"group == {group}") as trace:
        yield lambda: [(line.rsplit("-", 1)[0].split("-")[0].strip(), line.split()[2])
                       for line in trace().splitlines() if " observed: " in line]


@test
def listeners_cost_a_worker_their_events_and_no_group():
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(netlink_on(1)) for _ in range(10)]
        for one in listeners:
            one.listen()
            one.socket.settimeout(20)
        with broadcasts(listeners[0].events) as contexts:
            group = Group((1, 2))
            group.barrier()
            group[1].close()
            group[0].run()
            group[0].close()
            for one in listeners:
                heard = [one.hear()["event"]]
                while heard[-1] != "group_ended":
                    heard.append(one.hear()["event"])
                equal("the first event", heard[0], "group_began")
            seen = contexts()
        at_least("events", len(seen), len(heard))
        equal("contexts that send them, other than workers",
              [one for one in seen if not one[0].startswith("kworker") or "s" in one[1]], [])


def shortest(call):
    times = []
    for _ in range(20):
        begin = time.monotonic()
        call()
        times.append(time.monotonic() - begin)
    return min(times)


@test
def counters_of_a_namespace_cost_the_same_whatever_groups_there_are():
    watcher = rank_on(1)
    few, ranks = shortest(watcher.net_stats), []
    for _ in range(3000):
        ranks.append(rank_on(1))
        ranks[-1].join(Descriptor((1,), window=1, max_bytes=8), 0)
    many = shortest(watcher.net_stats)
    print(f"# {few * 1e6:.0f} us without groups, {many * 1e6:.0f} us with {len(ranks)}")
    at_most("times as long", many / few, 5)


@contextlib.contextmanager
def callers(function):
    """Yields a function that tells who called one of the kernel's: (process, caller)."""
    with recorded(f"p:called {function} caller=$stack0:symbol") as trace:
        yield lambda: re.findall(r"-(\d+) .* called: .*caller=(.*)", trace())


def look_again_and_again(netlink, what, seconds, before=lambda look: None):
    """Tells how often, and the share of time spent in the kernel."""
    request = struct.pack("=IHHIIBBH", 20, netlink.family, REQUEST | DUMP, 1, 0,
                          NUMBERS[what], 1, 0)
    begin, used, looks = time.monotonic(), resource.getrusage(resource.RUSAGE_THREAD), 0
    while time.monotonic() - begin < seconds:
        before(looks)
        netlink.socket.send(request)
        looks += 1
        while struct.unpack_from("=H", netlink.socket.recv(1 << 17), 4)[0] != NLMSG_DONE:
            pass
    used = resource.getrusage(resource.RUSAGE_THREAD).ru_stime - used.ru_stime
    return looks, used / (time.monotonic() - begin)


def look(line, user, *arguments):
    os.setresuid(user, user, user)
    with contextlib.closing(Netlink()) as netlink:
        line.put(look_again_and_again(netlink, *arguments))


def rests(what, most, child=None):
    """Tells how often a user dumps this in a few seconds."""
    child = child or Child(1, look, NOBODY, what, 3)
    looks, share = child.get()
    child.finish()
    print(f"# {looks} times {what}, {share:.0%} of a processor")
    at_least("looks", looks, 1)
    at_most("share of a processor in the kernel", share, most)
    return looks


def group_of_many_hosts(**fields):
    rank = rank_on(1)
    rank.join(Descriptor([1] + [f"10.1.{one // 250 + 1}.{one % 250 + 1}" for one in range(2000)],
                         **fields), 0)
    return rank


@test
def who_looks_without_privilege_rests_most_of_the_time():
    with contextlib.closing(group_of_many_hosts()):
        rests("CMD_HOST_GET", 0.3)


@contextlib.contextmanager
def looks_at_a_time(function):
    """Yields a function that tells, for each lock of the module that this process took, how often a
    function was called until the next one."""
    with recorded("p:locked _raw_spin_lock_bh caller=$stack0:symbol", f"p:told collsock:{function}",
                  only=f"common_pid == {os.getpid()}") as trace:
        yield lambda: [section.count(" told: ") for section in re.split(
            r" locked: .*\[collsock\]", trace())[1:]]


@test
def a_look_holds_the_lock_of_a_group_for_a_few_things():
    """However many it has. Those that it waits for do not exist: it lingers when it is closed."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(tunables(linger_ms=100))
        stack.callback(until_nothing_lingers, 1)
        with tunables(max_memory_kib=1 << 20):
            rank = stack.enter_context(contextlib.closing(group_of_many_hosts(
                placement=[0] * CHILDREN + list(range(1, 2001)), window=64, degree=CHILDREN,
                max_bytes=8)))
        # To its children; the others wait for the other ranks of this host
        rank.post(bytes(8), operation=BROADCAST, type=INT64, op=0, count=1, algorithm=KARY)
        for _ in range(63):
            rank.post(send_flags=socket.MSG_DONTWAIT, algorithm=KARY)
        netlink = stack.enter_context(netlink_on(1))
        for what, most in (("host", BATCH), ("rank", BATCH), ("peer", BATCH), ("operation", 1)):
            with looks_at_a_time(f"coll_report_{what}") as counts:
                netlink.all(what)
                told = counts()
            print(f"# {sum(told)} times {what}, {len(told)} locks")
            at_least(f"{what}: told of", sum(told), CHILDREN - 1)
            at_most(f"{what}: at a time", max(told), most)
        with looks_at_a_time("coll_report_state") as counts:
            rank.net_stats()
            equal("locks for the counters of the namespace", counts(), [])


def look_as_many_users(line, *arguments):
    """As root of a container, to whom the machine's root gives ids, each time as another user"""
    if libc.unshare(CLONE_NEWUSER):
        raise Failed("no user namespace")
    line.put("in a namespace")
    line.get()
    os.setresuid(0, 0, 0)
    with contextlib.closing(Netlink()) as netlink:
        line.put(look_again_and_again(netlink, *arguments,
                                      lambda look: os.setresuid(look % IDS, -1, -1)))


@test
def root_of_a_container_who_looks_as_many_users_rests_most_of_the_time():
    with contextlib.closing(group_of_many_hosts()):
        child = Child(1, look_as_many_users, "CMD_HOST_GET", 3)
        equal("the child is", child.get(), "in a namespace")
        write_file(f"/proc/{child.pid}/uid_map", f"0 {FIRST_ID} {IDS}")
        child.put("go on")
        rests("CMD_HOST_GET", 0.3, child)


@test
def who_looks_rests_even_if_no_group_has_anything_to_tell():
    with contextlib.ExitStack() as stack:
        stack.enter_context(tunables(max_memory_kib=1 << 20))
        for _ in range(1000):
            rank = stack.enter_context(contextlib.closing(rank_on(1)))
            rank.join(Descriptor((1,), window=64, max_bytes=8), 0)
        with callers("coll_pace_end") as looks:
            dumps = rests("CMD_OPERATION_GET", 0.3)
            at_least("looks, of a millisecond each", len(looks()), 2 * dumps)
    until_nothing_lingers(1)


def look_by_threads(line, *commands):
    """Until it is killed"""
    write_file("/proc/self/comm", LOOKER)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    for number in range(THREADS):
        threading.Thread(target=look_again_and_again,
                         args=(Netlink(), commands[number % len(commands)], 1000)).start()
    line.put("started")
    # They end with this process.
    line.get()


@contextlib.contextmanager
def threads_that_look(*commands):
    child = Child(1, look_by_threads, *commands)
    equal("threads have", child.get(), "started")
    try:
        yield child
    finally:
        child.kill()
        child.end()


def looks_of_another_user():
    child = Child(1, look, NOBODY - 1, "CMD_HOST_GET", 3)
    looks, _ = child.get()
    child.finish()
    return looks


@test
def who_looks_does_not_wait_for_the_threads_of_another_user():
    with contextlib.closing(group_of_many_hosts()):
        alone = looks_of_another_user()
        with threads_that_look("CMD_HOST_GET"):
            beside = looks_of_another_user()
    print(f"# {alone} dumps in the same time, {beside} beside {THREADS} threads")
    at_most("times as long", alone / beside, 4)


@contextlib.contextmanager
def sleeps(name):
    """Yields a function that tells in which functions threads of that name went to sleep."""
    event = f"{TRACING}/events/sched/sched_switch"
    write_file(f"{event}/filter", f'prev_comm == "{name}" && prev_state & 3')
    write_file(f"{TRACING}/options/stacktrace", "1")
    write_file(f"{TRACING}/trace", "")
    write_file(f"{event}/enable", "1")
    try:
        yield lambda: [tuple(re.findall(r" => (\w+)", stack))
                       for stack in read_file(f"{TRACING}/trace").split("<stack trace>")[1:]]
    finally:
        write_file(f"{event}/enable", "0")
        write_file(f"{event}/filter", "0")
        write_file(f"{TRACING}/options/stacktrace", "0")
        write_file(f"{TRACING}/trace", "")


def look_at_one(line, user, group, seconds):
    """Tells how often the group was told, and the errors and texts of the refusals."""
    write_file("/proc/self/comm", LOOKER)
    os.setresuid(user, user, user)
    told, refusals = 0, set()
    with contextlib.closing(Netlink()) as netlink:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not refusals:
            try:
                netlink.group(group)
                told += 1
            except NetlinkError as error:
                refusals.add((error.errno, error.text))
    line.put((told, sorted(refusals)))


def looks_at_one(user, group, seconds):
    child = Child(1, look_at_one, user, group, seconds)
    result = child.get()
    child.finish()
    return result


@test
def no_request_sleeps_under_the_lock_of_generic_netlink():
    """The registration of a family would wait for it, and all requests behind that."""
    with contextlib.closing(group_of_many_hosts()), netlink_on(1) as netlink:
        group = netlink.all("group")[-1]["handle"]
        with sleeps(LOOKER) as stacks, threads_that_look("CMD_HOST_GET", "CMD_PEER_GET",
                                                         "CMD_OPERATION_GET"):
            for user in (NOBODY, 0):
                looks_at_one(user, group, 3)
            seen = stacks()
    at_least("dumps that slept", sum("coll_pace_wait" in one for one in seen), 1)
    equal("requests that slept for the pace, or in a dump",
          {one for one in seen if "genl_rcv" in one and
           any(name.startswith(("coll_pace", "netlink_dump")) for name in one)}, set())


@test
def a_request_about_one_group_takes_no_mutex():
    with contextlib.closing(group_of_many_hosts()), netlink_on(1) as netlink:
        group = netlink.all("group")[-1]["handle"]
        with callers("mutex_lock") as mutexes:
            netlink.group(group)
            netlink.end(group)
            seen = [caller for process, caller in mutexes() if int(process) == os.getpid()]
    equal("mutexes taken by", [one for one in seen if "[collsock]" in one], [])


@test
def nor_does_one_that_sets_a_tunable():
    with netlink_on(1) as netlink:
        with callers("mutex_lock") as mutexes:
            netlink.set_tunables(idle_ms=12345)
            seen = [caller for process, caller in mutexes() if int(process) == os.getpid()]
        netlink.set_tunables(idle_ms=None)
    equal("mutexes taken by", [one for one in seen if "[collsock]" in one], [])


@test
def events_of_many_kinds_all_come_but_posts_after_a_failure_are_none():
    """More than a worker sends in a few turns"""
    with netlink_on(1) as listener:
        listener.listen()
        listener.socket.settimeout(20)
        listener.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 20)
        group = Group((1, 2), placement=[0] * 6 + [1], window=64)
        *local, other = group
        for _ in range(64):
            for rank in local:
                rank.post()
        other.close()
        for rank in local:
            for _ in range(64):
                rank.complete()
        for _ in range(200):
            local[0].run()
        heard = [listener.hear()["event"] for _ in range(6 * 64)]
        group.close()
        while heard[-1] != "group_ended":
            heard.append(listener.hear()["event"])
    equal("operations that failed", heard.count("operation_failed"), 6 * 64)


def keep_busy(line, processor):
    """Until it is killed"""
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    line.put("started")
    while True:
        pass


@contextlib.contextmanager
def workers_cannot_run():
    """This process and others have all processors, in real time. A worker can run while this one
    sleeps."""
    normal, limit = os.sched_getaffinity(0), read_file(REAL_TIME)
    first, *others = sorted(normal)
    write_file(REAL_TIME, "-1")
    busy = [Child(1, keep_busy, processor) for processor in others]
    for child in busy:
        equal("the child has", child.get(), "started")
    os.sched_setaffinity(0, {first})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, normal)
        for child in busy:
            child.kill()
            child.end()
        write_file(REAL_TIME, limit)


@test
def events_beyond_those_of_a_turn_are_sent_in_the_next():
    """They wait when the worker begins, and none comes later, which would start it again."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(netlink_on(1))
        listener.listen()
        listener.socket.settimeout(20)
        ranks = [stack.enter_context(contextlib.closing(rank_on(1))) for _ in range(2 * TURN + 1)]
        with workers_cannot_run():
            for rank in ranks:
                rank.join(Descriptor((1,), window=1, max_bytes=8), 0)
        equal("events", [listener.hear()["event"] for _ in ranks], ["group_began"] * len(ranks))


@test
def a_request_of_who_looks_too_often_is_refused_with_advice():
    with contextlib.closing(group_of_many_hosts()), netlink_on(1) as netlink:
        group = netlink.all("group")[-1]["handle"]
        with threads_that_look("CMD_HOST_GET"):
            _, refusals = looks_at_one(NOBODY, group, 20)
            equal("refusals", refusals,
                  [(errno.EBUSY, "this user looks too often: try again later")])
            for user in (NOBODY - 1, 0):
                told, refusals = looks_at_one(user, group, 0.1)
                at_least(f"times told to user {user}", told, 1)
                if not user:
                    equal("refusals with privilege", refusals, [])


@test
def the_request_of_a_dump_looks_at_nothing():
    """Its first message is empty, and is there before groups are looked at."""
    with contextlib.closing(group_of_many_hosts()), netlink_on(1) as netlink:
        for name in ("GROUP", "HOST", "RANK", "PEER", "OPERATION", "EARLY_PACKET", "USER"):
            netlink.send(netlink.family, NUMBERS[f"CMD_{name}_GET"], flags=REQUEST | DUMP)
            data = netlink.socket.recv(1 << 17, socket.MSG_DONTWAIT)
            equal(f"{name}: bytes, command", (len(data), data[16]), (20, NUMBERS["CMD_DUMP_BEGUN"]))
            while struct.unpack_from("=H", data, 4)[0] != NLMSG_DONE:
                data = netlink.socket.recv(1 << 17)


def dump_until_it_pauses(line, user, seconds):
    """Tells how many messages without content came after the first one of a dump."""
    os.setresuid(user, user, user)
    pauses = 0
    with contextlib.closing(Netlink()) as netlink:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not pauses:
            netlink.send(netlink.family, NUMBERS["CMD_GROUP_GET"], flags=REQUEST | DUMP)
            data = netlink.socket.recv(1 << 17)
            while struct.unpack_from("=H", data, 4)[0] != NLMSG_DONE:
                data = netlink.socket.recv(1 << 17)
                pauses += len(data) == 20 and data[16] == NUMBERS["CMD_DUMP_BEGUN"]
    line.put(pauses)


@test
def a_dump_of_one_who_looks_too_often_says_nothing_rather_than_wait():
    """Another request by its socket would wait for it, with the lock of generic netlink."""
    with contextlib.closing(group_of_many_hosts()), threads_that_look("CMD_HOST_GET"):
        child = Child(1, dump_until_it_pauses, NOBODY, 20)
        at_least("messages without content", child.get(), 1)
        child.finish()


# ---- a second request of a socket ----

READER, SENDER = "reader", "sender"
PR_SET_NAME = 15
PACE_WAIT = 0.02  # PACE_WAIT_NS
MICROSECOND = 1e-6  # what times in a trace are rounded to


@contextlib.contextmanager
def timers(name):
    """Yields a function that tells for how long threads of that name have asked to sleep, in
    seconds."""
    event = f"{TRACING}/events/timer/hrtimer_start"
    write_file(f"{TRACING}/trace_clock", "mono")
    write_file(f"{event}/filter", f'comm == "{name}"')
    write_file(f"{event}/enable", "1")
    try:
        yield lambda: [int(end) / 1e9 - float(begin) for begin, end in re.findall(
            r" (\d+\.\d+): hrtimer_start: .*function=hrtimer_wakeup expires=(\d+)",
            read_file(f"{TRACING}/trace"))]
    finally:
        write_file(f"{event}/enable", "0")
        write_file(f"{event}/filter", "0")
        write_file(f"{TRACING}/trace_clock", "local")


def receive(netlink):
    libc.prctl(PR_SET_NAME, READER.encode())
    while True:
        # Errors of refused requests may be more than there is room for
        with contextlib.suppress(OSError):
            netlink.socket.recv(1 << 17)


def ask_while_a_dump_is_received(line, user):
    """By the same socket, until it is told to end"""
    os.setresuid(user, user, user)
    netlink = Netlink()
    threading.Thread(target=receive, args=(netlink,), daemon=True).start()
    libc.prctl(PR_SET_NAME, SENDER.encode())
    line.put("started")
    line.socket.setblocking(False)
    while True:
        with contextlib.suppress(OSError):
            netlink.send(netlink.family, NUMBERS["CMD_GROUP_GET"], flags=REQUEST | DUMP)
        with contextlib.suppress(BlockingIOError):
            line.get()
            return
        time.sleep(0.001)


def waits_for_a_dump(stack):
    return "genl_rcv" in stack and "__netlink_dump_start" in stack


@test
def a_second_request_of_a_socket_waits_for_a_moment_if_its_dump_waits():
    """It has the lock of generic netlink, and so others wait for it as soon as a family begins
    or ends."""
    with contextlib.closing(group_of_many_hosts()), netlink_on(1) as netlink:
        group = netlink.all("group")[-1]["handle"]
        with timers(READER) as asked, sleeps(SENDER) as stacks, \
                threads_that_look("CMD_HOST_GET"):
            child = Child(1, ask_while_a_dump_is_received, NOBODY)
            equal("the child has", child.get(), "started")
            eventually("whether a request has waited for a dump",
                       lambda: any(map(waits_for_a_dump, stacks())), True)
            command("modprobe", "team")
            command("modprobe", "-r", "team")
            equal("handle of the group", netlink.group(group)["handle"], group)
            child.put("end")
            child.finish()
            waits = asked()
    print(f"# {len(waits)} dumps waited, for up to {max(waits, default=0) * 1e3:.3f} ms")
    at_least("dumps that waited", len(waits), 1)
    at_most("seconds for which a dump has asked to sleep", max(waits), PACE_WAIT + MICROSECOND)


main(100)
