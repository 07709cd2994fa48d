#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=60 smp=2
# suites: check debug rt soak
"""The socket interface: waiting, several operations, sharing a socket, addresses."""

import contextlib
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import threading
import time

from api_common import blocking, nonblocking, post_of_three, two, unchanged_log
from collsock_test import (
    BYTE, COMPLETION, DEFAULT_WINDOW, DISSEMINATION, GATHER, JOIN, MAX_RESULT, MAX_SPIN_US,
    MAX_WINDOW, NET_STATS, NET_STATS_ALL, NOP, POST, QUIET, REDUCE, RUN, RUN_HEAD, SOL_COLLSOCK,
    STATS, STATS_ALL, WAIT, Child, Descriptor, Failed, Group, KernelLog, Memory, Skipped, at_least,
    at_most, barrier, equal, errno_name, eventually, eventually_in, integers, main, member, on,
    outcome, post_bytes, rank_on, read_file, refused, run_bytes, seeded, test, test_each,
    wait_bytes, work, write_file)


# ---- waiting ----

# Of 0.1 s: one of the kernel's ticks, of at most 10 ms, may be missing
LEAST_WAIT = 0.09
ATTEMPTS = 5


def gives_up(error, name, call):
    """The call ends after its time-out of 0.1 s, not earlier.

    Time-outs count ticks, and those of a busy emulated CPU stop and then catch up
    at once: the longest of some attempts counts.
    """
    longest = 0
    for _ in range(ATTEMPTS):
        begin = time.monotonic()
        refused(error, name, call)
        longest = max(longest, time.monotonic() - begin)
        if longest >= LEAST_WAIT:
            break
    at_least(f"seconds that {name} waited", longest, LEAST_WAIT)


@test
def poll_reports_completions_and_room():
    rank, other = two(window=1)
    poll = select.poll()
    poll.register(rank, select.POLLIN | select.POLLOUT)
    equal("events when joined", poll.poll(0), [(rank.fileno(), select.POLLOUT)])
    rank.post()
    equal("events when posted", poll.poll(50), [])
    other.post()
    poll.modify(rank, select.POLLIN)
    equal("events when completed", poll.poll(), [(rank.fileno(), select.POLLIN)])
    rank.complete()
    equal("events when received", poll.poll(0), [])
    poll.modify(rank, select.POLLOUT)
    equal("events when there is room", poll.poll(), [(rank.fileno(), select.POLLOUT)])


@test
def an_edge_triggered_epoll_reports_every_completion():
    rank, other = two()
    epoll = select.epoll()
    epoll.register(rank, select.EPOLLIN | select.EPOLLET)
    equal("events before", epoll.poll(0), [])
    for number in range(work(5)):
        rank.post(cookie=number)
        equal("events when posted", epoll.poll(0), [])
        other.post()
        equal("error of the other rank", other.complete().error, 0)
        equal("events when completed", epoll.poll(), [(rank.fileno(), select.EPOLLIN)])
        equal("events afterwards", epoll.poll(0), [])
        if number % 2:
            # An unreceived completion does not hide later ones
            equal("cookies", [rank.complete().cookie for _ in range(2)], [number - 1, number])


@test
def epoll_wakes_a_thread_that_sleeps_in_it():
    rank, other = two()
    epoll, events = select.epoll(), []
    epoll.register(rank, select.EPOLLIN)
    rank.post()
    sleeper = threading.Thread(target=lambda: events.extend(epoll.poll()))
    sleeper.start()
    eventually_in("epoll_wait", sleeper)
    equal("events before", events, [])
    other.post()
    sleeper.join()
    equal("events", events, [(rank.fileno(), select.EPOLLIN)])


@test
def recv_waits_until_its_time_out():
    rank, other = two()
    rank.post(cookie=1)
    refused(errno.EAGAIN, "recv with MSG_DONTWAIT", rank.complete, socket.MSG_DONTWAIT)
    refused(errno.EAGAIN, "recv of a non-blocking socket", nonblocking(rank).complete)
    blocking(rank).set_timeout(0.1)
    gives_up(errno.EAGAIN, "recv with SO_RCVTIMEO", rank.complete)
    rank.set_timeout(0)
    threading.Timer(0.1, other.post).start()
    equal("cookie", rank.complete().cookie, 1)


@test
def run_posts_and_waits_in_one_call():
    rank, other = two()
    for spin_us in (0, 1, 100, MAX_SPIN_US):
        for delay in (0, 0.03):
            thread = threading.Timer(delay, other.run, [integers(1, -1)])
            thread.start()
            completion = rank.run(integers(5, 6), spin_us=spin_us, cookie=spin_us)
            thread.join()
            equal("sums", completion.result, integers(6, 5))
            equal("cookie", completion.cookie, spin_us)
    other.post()
    equal("a barrier", outcome(rank.run(spin_us=10)), "success")
    refused(errno.EAGAIN, "recv after RUN", rank.complete, socket.MSG_DONTWAIT)


@test
def run_of_a_non_blocking_socket_is_einprogress_and_its_completion_comes_later():
    rank, other = two()
    nonblocking(rank)
    refused(errno.EINPROGRESS, "RUN", rank.run, integers(3), cookie=1)
    refused(errno.EINPROGRESS, "another RUN", rank.run, integers(4), cookie=2)
    refused(errno.EAGAIN, "recv", rank.complete)
    refused(errno.EAGAIN, "WAIT", rank.wait, 2)
    equal("operations posted", rank.stats().posted, 2)
    for value in (10, 20):
        other.post(integers(value))
    blocking(rank)
    equal("the second sum", rank.wait(2).result, integers(24))
    completion = rank.complete()
    equal("the first sum", (completion.cookie, completion.result), (1, integers(13)))
    # No EINPROGRESS for an operation that has completed before the wait
    other.post(integers(5))
    eventually("early messages", lambda: rank.stats().early >= 1, True)
    equal("a RUN that completes at once", nonblocking(rank).run(integers(6)).result, integers(11))


@test
def a_non_blocking_socket_spins_before_it_gives_up():
    rank, other = two()
    nonblocking(rank)
    begin = time.monotonic()
    refused(errno.EINPROGRESS, "RUN", rank.run, spin_us=MAX_SPIN_US, cookie=1)
    refused(errno.EAGAIN, "WAIT", rank.wait, 1, spin_us=MAX_SPIN_US)
    at_least("seconds that it took", time.monotonic() - begin, 2 * MAX_SPIN_US / 1e6)
    later = threading.Timer(0.002, other.post)
    later.start()
    for _ in range(1000):
        try:
            equal("the barrier", outcome(rank.wait(1, spin_us=MAX_SPIN_US)), "success")
            break
        except BlockingIOError:
            pass
    later.join()
    refused(errno.ENOENT, "WAIT once more", rank.wait, 1)


@test
def run_and_wait_give_up_after_the_time_out_of_the_socket():
    rank, other = two()
    rank.set_timeout(0.1)
    cookies = []

    def run(**arguments):
        cookies.append(len(cookies) + 1)
        rank.run(cookie=cookies[-1], **arguments)

    gives_up(errno.EINPROGRESS, "RUN", run)
    gives_up(errno.EAGAIN, "WAIT", lambda: rank.wait(1))
    gives_up(errno.EINPROGRESS, "a spinning RUN", lambda: run(spin_us=1000))
    equal("operations posted", rank.stats().posted, len(cookies))
    for _ in cookies:
        other.post()
    rank.set_timeout(20)
    equal("cookies", sorted(rank.complete().cookie for _ in cookies), cookies)


def signalled(line, rank, restart, call):
    """Send a signal every 20 ms during a call."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, not restart)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.02)
    try:
        line.put(call(rank))
    except OSError as error:
        line.put(errno.errorcode[error.errno])
    signal.setitimer(signal.ITIMER_REAL, 0)
    line.put(rank.stats().posted)
    line.put(rank.complete().cookie)


@test_each(False, True)
def a_signal_after_posting_is_eintr_and_run_is_never_restarted(restart):
    rank, other = two()
    for spin_us in (0, MAX_SPIN_US):
        posted = rank.stats().posted
        child = Child(None, signalled, rank, restart,
                      lambda rank, spin=spin_us: rank.run(cookie=5, spin_us=spin).cookie)
        equal("RUN that is signalled", child.get(), "EINTR")
        equal("operations posted", child.get(), posted + 1)
        other.post()
        equal("cookie of what comes by recv", child.get(), 5)
        child.finish()


@test
def a_signal_restarts_wait_if_the_program_wants_it():
    rank, other = two()
    for restart, expected in ((False, "EINTR"), (True, 1)):
        rank.post(cookie=1)
        rank.post(cookie=2)
        child = Child(None, signalled, rank, restart, lambda rank: rank.wait(1).cookie)
        if restart:
            time.sleep(0.3)
            other.post()
            other.post()
        equal(f"WAIT that is signalled, restart {restart}", child.get(), expected)
        if not restart:
            other.post()
            other.post()
        child.get()
        equal("cookie of what comes by recv", child.get(), 2 if restart else 1)
        child.finish()
        if not restart:
            equal("the other cookie", rank.complete().cookie, 2)


# ---- several operations at once ----

@test
def completions_carry_the_cookies_of_their_posts():
    for window in (1, 2, 7, 0, MAX_WINDOW):
        rank, other = two(window=window)
        amount = window or DEFAULT_WINDOW
        for number in range(amount):
            rank.post(integers(number), cookie=1000 - number)
        refused(errno.EAGAIN, "another post", rank.post, send_flags=socket.MSG_DONTWAIT)
        for number in range(amount):
            other.post(integers(100), cookie=number)
        expected = {1000 - number: integers(100 + number) for number in range(amount)}
        got = [rank.complete() for _ in range(amount)]
        equal("sums by cookie", {one.cookie: one.result for one in got}, expected)


@test
def wait_receives_the_completion_of_its_cookie_in_any_order():
    rank, other = two()
    for cookie in range(8):
        rank.post(integers(cookie), cookie=cookie)
        other.post(integers(0))
    for cookie in (5, 0, 7, 1):
        equal(f"sum of {cookie}", rank.wait(cookie).result, integers(cookie))
    equal("cookies of the rest", sorted(rank.complete().cookie for _ in range(4)), [2, 3, 4, 6])


@test
def of_equal_cookies_the_oldest_comes_first():
    rank, other = two()
    for value in range(6):
        rank.post(integers(value), cookie=4)
        other.post(integers(0))
    for value in range(6):
        equal("sum", rank.wait(4).result, integers(value))


@test
def threads_that_wait_for_different_cookies_do_not_steal_from_each_other():
    rank, other = two()
    cookies = range(6)
    for turn in range(work(5)):
        got = {}

        def wait(cookie, got=got):
            got[cookie] = rank.wait(cookie).result

        for cookie in cookies:
            rank.post(integers(turn, cookie), cookie=cookie)
        threads = [threading.Thread(target=wait, args=[cookie]) for cookie in cookies]
        for thread in threads:
            thread.start()
        for thread in threads:
            eventually_in("ioctl", thread)
        # One that no thread waits for: recv gets this one only
        rank.post(cookie=99)
        for _ in range(len(cookies)):
            other.post(integers(0, 0))
        other.post()
        equal("cookie that recv takes", rank.complete().cookie, 99)
        for thread in threads:
            thread.join()
        equal("sums by cookie", got, {cookie: integers(turn, cookie) for cookie in cookies})
        for _ in range(len(cookies) + 1):
            other.complete()


def switches(thread):
    status = read_file(f"/proc/self/task/{thread.native_id}/status")
    return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])


def sleeping(amount, function, call):
    """Threads that sleep in that system call"""
    threads = [threading.Thread(target=function, daemon=True) for _ in range(amount)]
    for thread in threads:
        thread.start()
    for thread in threads:
        eventually_in(call, thread)
    return threads


def ended(threads):
    """How many have, as soon as none ended for 20 s"""
    for amount, thread in enumerate(threads):
        eventually(f"a further one of {len(threads)} threads ends, after {amount}",
                   lambda: sum(not one.is_alive() for one in threads) > amount, True)
    return sum(not thread.is_alive() for thread in threads)


@test
def a_completion_wakes_one_of_the_threads_that_wait_and_the_end_all():
    rank, other = two()
    got = []
    threads = sleeping(40, lambda: got.append(len(rank.recv(256))), "recvfrom")
    before = {thread: switches(thread) for thread in threads}
    rank.post()
    other.post()
    eventually("completions received", lambda: len(got), 1)
    time.sleep(0.1)
    asleep = [thread for thread in threads if thread.is_alive()]
    at_most("threads that were woken", 1 + sum(switches(thread) != before[thread]
                                               for thread in asleep), 2)
    for _ in range(3):
        rank.post()
    for _ in range(3):
        other.post()
    eventually("completions received", lambda: len(got), 4)
    rank.shutdown(socket.SHUT_WR)
    equal("threads that have ended", ended(threads), len(threads))
    equal("bytes received, but at the end", sum(1 for one in got if one), 4)


@contextlib.contextmanager
def timers_stay():
    """Timers do not migrate to a busy processor."""
    path = "/proc/sys/kernel/timer_migration"
    for value in "01":
        if os.path.exists(path):
            write_file(path, value)
        if value == "0":
            yield


def wait_spinning(rank, cookie):
    """A WAIT that never sleeps."""
    os.set_blocking(rank.fileno(), False)
    while True:
        with contextlib.suppress(BlockingIOError):
            return rank.wait(cookie, spin_us=MAX_SPIN_US)


def see_the_end_while_another_thread_spins():
    processors, got = sorted(os.sched_getaffinity(0)), []
    with timers_stay():
        os.sched_setaffinity(0, processors[:1])
        rank, other = group = Group((1, 2))
        group.barrier()
        rank.post(cookie=1)
        epoll = select.epoll()
        epoll.register(rank, select.EPOLLRDHUP)
        threads = sleeping(1, lambda: got.append(epoll.poll(20)), "epoll_wait")
        other.close()
        # The failure settles on the first processor
        os.sched_setaffinity(0, processors[-1:])
        equal("completion", outcome(wait_spinning(rank, 1)), "ECONNRESET rank 1")
        os.sched_setaffinity(0, processors)
    threads[0].join()
    equal("events", got, [[(rank.fileno(), select.EPOLLRDHUP)]])


@test
def the_end_is_seen_when_another_thread_spins_for_the_last():
    """It releases the completion at once; nothing wakes threads that wait for the end later. It is
    between two calls if it is unlucky, and proves nothing then."""
    for _ in range(5):
        see_the_end_while_another_thread_spins()


def contribute(rank, root):
    rank.post(integers(1), operation=REDUCE, root=root, flags=QUIET)


def contribute_at_last(rank, root):
    """Other threads may have the slots of the window, though it has room."""
    while True:
        try:
            return contribute(rank, root)
        except OSError as error:
            equal("error", error.errno, errno.ENOBUFS)


@test
def room_reaches_all_threads_that_wait_for_it():
    rank, other = two(window=2)
    for _ in range(2):
        contribute(rank, 1)
    threads = sleeping(20, lambda: contribute_at_last(rank, 1), "sendto")
    for _ in range(2 + len(threads)):
        other.post(integers(1), operation=REDUCE, root=1)
        equal("the sum", other.complete().result, integers(2))
    equal("threads that have ended", ended(threads), len(threads))


def look_for(rank, cookie, over, found):
    """Nothing can be waited for."""
    room = Memory(bytes(8))
    while not over.is_set():
        try:
            fcntl.ioctl(rank, WAIT, bytearray(wait_bytes(cookie, room)))
            found.append("a completion")
        except OSError as error:
            if error.errno != errno.ENOENT:
                found.append(errno_name(error.errno))


@test
def no_thread_can_wait_for_a_quiet_post():
    """A long contribution is copied without the group's lock, so others see the post meanwhile."""
    block = MAX_RESULT // 2
    root, rank = Group([1], placement=(0, 0), window=2, max_bytes=8, max_result_bytes=MAX_RESULT)
    gather = {"operation": GATHER, "type": BYTE, "op": NOP, "count": block}
    over, found = threading.Event(), []
    thread = threading.Thread(target=look_for, args=(rank, 7, over, found), daemon=True)
    thread.start()
    for _ in range(work(50)):
        rank.post(bytes(block), cookie=7, flags=QUIET, **gather)
        root.post(bytes(block), **gather)
        equal("gathered", outcome(root.complete(room=COMPLETION.size + MAX_RESULT)), "success")
    over.set()
    equal("threads that have ended", ended([thread]), 1)
    equal("what was found", found, [])


@test
def threads_share_a_socket():
    """Each rank runs operations of a single kind: all ranks must post in the same order."""
    rank, other = two(window=MAX_WINDOW)
    amount, threads = work(40), 4

    def run():
        for _ in range(amount):
            equal("a barrier", outcome(rank.run()), "success")

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    for _ in range(amount * threads):
        other.run()
    for thread in running:
        thread.join()
    equal("completed", rank.stats().completed, amount * threads)


# ---- sharing a socket ----

@test
def a_duplicate_is_the_same_rank():
    rank, other = two()
    copy = rank.dup()
    rank.post(cookie=1)
    rank.close()
    other.post()
    equal("cookie at the duplicate", copy.complete().cookie, 1)
    other.complete()
    barrier([copy, other])
    copy.close()
    other.post()
    equal("when both are closed", outcome(other.complete()), "ECONNRESET rank 0")


def inherited(line, rank):
    line.get()
    for number in range(3):
        line.put(rank.run(integers(number)).result)
    line.get()


@test
def a_child_uses_the_socket_that_it_inherits():
    rank, other = two()
    child = Child(None, inherited, rank)
    rank.close()
    child.put("the parent has closed it")
    for number in range(3):
        equal("sum at the other rank", other.run(integers(10)).result, integers(10 + number))
        equal("sum at the child", child.get(), integers(10 + number))
    child.put("end")
    child.finish()
    other.post()
    equal("when the child is gone", outcome(other.complete()), "ECONNRESET rank 0")


@test
def a_call_that_waits_outlives_the_close_by_another_thread():
    for name, call in (("ioctl", lambda fd: fcntl.ioctl(fd, RUN, bytearray(run_bytes()))),
                       ("read", lambda fd: len(os.read(fd, 4096)))):
        rank, other = two()
        if name == "read":
            rank.post()
        fd, got = rank.detach(), []
        thread = threading.Thread(target=lambda fd=fd, call=call, got=got: got.append(call(fd)))
        thread.start()
        eventually_in(name, thread)
        os.close(fd)
        equal(f"what {name} gave", got, [])
        other.run()
        thread.join()
        equal(f"what {name} gave", len(got), 1)
        other.post()
        equal("the next operation", outcome(other.complete()), "ECONNRESET rank 0")


def close_at_any_moment(line, seed):
    """Threads use a socket by every call while another closes it."""
    pause = seed % 13 / 1000
    group = two(window=4)
    fds = [rank.detach() for rank in group]

    def use(fd, calls):
        for number in range(1000 * len(calls)):
            try:
                calls[number % len(calls)](fd)
            except OSError as error:
                if error.errno == errno.EBADF:
                    return

    calls = [[lambda fd: os.write(fd, post_bytes(b"")), lambda fd: os.read(fd, 100)],
             [lambda fd: fcntl.ioctl(fd, RUN, bytearray(run_bytes()))],
             [lambda fd: fcntl.ioctl(fd, WAIT, bytearray(wait_bytes(0, Memory()))),
              lambda fd: select.select([fd], [fd], [], 0.001)]]
    for fd in fds:
        for some in calls:
            threading.Thread(target=use, args=[fd, some], daemon=True).start()
    time.sleep(pause)
    for fd in fds:
        os.close(fd)
    time.sleep(pause / 2)
    line.put("closed")


@test
def a_socket_may_be_closed_at_any_moment():
    log, watchers = KernelLog(), [rank_on(1), rank_on(2)]
    for seed in range(work(12)):
        child = Child(None, close_at_any_moment, seed)
        equal("the child says", child.get(), "closed")
        child.finish()
    eventually("groups that remain", lambda: [one.net_stats().groups for one in watchers], [0, 0])
    unchanged_log(log)


# ---- addresses and groups ----

@test_each("IPv4", "IPv6")
def groups_run_over(version):
    family = socket.AF_INET if version == "IPv4" else socket.AF_INET6
    group = Group([1, 2, 3], family)
    for number in range(5):
        group.post(*(integers(number, rank) for rank in range(3)))
        for completion in group.complete():
            equal("sums", completion.result, integers(3 * number, 3))
        group.barrier()


@test
def groups_run_over_link_local_addresses():
    found = []
    for host in (1, 2):
        with on(host):
            for line in read_file("/proc/thread-self/net/if_inet6").splitlines():
                address, index, _, scope, _, device = line.split()
                if device == "eth0" and scope == "20":
                    found.append((bytes.fromhex(address), int(index, 16)))
    if len(found) != 2 or found[0][1] != found[1][1]:
        raise Skipped(f"the interfaces have different numbers: {found}")
    descriptor = Descriptor([1, 2])
    descriptor.members = [member(socket.inet_ntop(socket.AF_INET6, address), socket.AF_INET6,
                                 scope_id=index) for address, index in found]
    ranks = [rank_on(1), rank_on(2)]
    for number, rank in enumerate(ranks):
        rank.join(descriptor, number)
    barrier(ranks)


@test
def both_ends_of_a_group_may_be_in_one_namespace():
    for addresses, family in ((("127.0.0.1", "127.0.0.2", "127.9.9.9"), socket.AF_INET),
                              (("::1", "fd00:1::1"), socket.AF_INET6)):
        descriptor = Descriptor([1] * len(addresses))
        descriptor.members = [member(address, family) for address in addresses]
        ranks = [rank_on(1) for _ in addresses]
        for number, rank in enumerate(ranks):
            rank.join(descriptor, number)
        for _ in range(3):
            barrier(ranks)


@test
def many_groups_of_the_same_hosts_do_not_mix():
    groups = [Group([1, 2, 3], (socket.AF_INET, socket.AF_INET6)[number % 2],
                    barrier_algorithm=number % 3) for number in range(12)]
    for number, group in enumerate(groups):
        group.post(*(integers(number) for _ in group))
    for number, group in enumerate(groups):
        for completion in group.complete():
            equal("sum", completion.result, integers(3 * number))
    equal("groups", groups[0][0].net_stats().groups >= 12, True)


@test
def groups_that_differ_in_key_id_or_nonce_are_different_groups():
    base = Descriptor([1, 2])
    first, second = rank_on(1), rank_on(2)
    first.join(base, 0)
    other_key = bytes(byte ^ 1 for byte in base.fields["key"])
    for field, value in (("key", other_key), ("id", base.fields["id"] ^ 1 << 40),
                         ("nonce", base.fields["nonce"] ^ 1)):
        stranger, before = rank_on(2), first.net_stats().unknown_group
        stranger.join(base, 1, **{field: value})
        stranger.post()
        eventually(f"packets for unknown groups, {field} differs",
                   lambda least=before: first.net_stats().unknown_group > least, True)
        stranger.close()
    second.join(base, 1)
    barrier([first, second])


@test
def packets_of_a_rank_with_another_descriptor_are_refused():
    base = Descriptor([1, 2])
    first, stranger = rank_on(1), rank_on(2)
    first.join(base, 0)
    stranger.join(base, 1, window=3)
    before = first.net_stats().wrong_descriptor
    stranger.post()
    eventually("packets with a wrong descriptor",
               lambda: first.net_stats().wrong_descriptor > before, True)
    equal("messages that host 1 took", first.stats().messages_received, 0)
    equal("messages before their time", first.stats().early, 0)


# ---- counters ----

def stats_twice(rank, option):
    """All, and the first 16 bytes of the same: groups of earlier tests may end in between."""
    while True:
        before = rank.getsockopt(SOL_COLLSOCK, option, 1000)
        short = rank.getsockopt(SOL_COLLSOCK, option, 16)
        after = rank.getsockopt(SOL_COLLSOCK, option, 1000)
        if before[:16] == after[:16]:
            return after, short


@test
def stats_fill_the_callers_structure():
    rank, other = two()
    barrier([rank, other])
    for option, layout in ((STATS, STATS_ALL), (NET_STATS, NET_STATS_ALL)):
        full, short = stats_twice(rank, option)
        equal("bytes filled", len(full), layout.size)
        equal("size", layout.read(full).size, layout.size)
        equal("bytes filled of 16", len(short), 16)
        equal("the rest", short[4:], full[4:16])
        equal("size", struct.unpack_from("=I", short)[0], 16)
        for room in (1, 3):
            refused(errno.EINVAL, f"{room} bytes", rank.getsockopt, SOL_COLLSOCK, option, room)


@test
def stats_count_what_happened():
    rank, other = two(barrier_algorithm=DISSEMINATION)
    for _ in range(10):
        barrier([rank, other])
    for number, one in enumerate((rank, other)):
        stats = one.stats()
        equal("hosts", stats.hosts, 2)
        equal("host", stats.host, number)
        equal("peers", stats.peers, 1)
        equal("posted, completed, failed", (stats.posted, stats.completed, stats.failed),
              (10, 10, 0))
        equal("rounds", stats.rounds, 10)
        equal("rounds misplaced", stats.rounds_misplaced, 0)
        equal("messages sent", stats.messages_sent, 10)
        equal("messages received", stats.messages_received, 10)
    before = rank.net_stats()
    barrier([rank, other])
    after = rank.net_stats()
    at_least("packets of a barrier", after.packets - before.packets, 1)
    at_least("groups", after.groups, 1)
    at_least("peers", after.peers, 1)


@test
def random_bytes_are_refused_and_change_nothing():
    log, chance = KernelLog(), seeded("api")
    rank, other = two()
    fresh = rank_on(1)
    good = Descriptor([1, 2]).bytes(0)
    for _ in range(work(1000)):
        data = bytearray(chance.choice((good, post_of_three())))
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7f, 0xff,
                                                               chance.randrange(256)))
        length = chance.choice((len(data), chance.randrange(len(data) + 1)))
        try:
            fresh.setsockopt(SOL_COLLSOCK, JOIN, bytes(data[:length]))
            fresh.close()
            fresh = rank_on(1)
        except OSError:
            pass
        memory = Memory(integers(1, 2, 3))
        data = bytearray(run_bytes(memory, memory))
        # Never the valid one: an accepted post would have to be completed
        data[chance.choice((0, 1, 2, 3, 4, 5, 7, 11, 12, 15, 23, 40, 44, 48, 49, 52, 54))] ^= \
            chance.choice((0x80, 0xff))
        refused_somehow(fcntl.ioctl, rank, RUN, bytearray(data))
        refused_somehow(rank.send, bytes(data[RUN_HEAD.size:RUN_HEAD.size + POST.size]))
    equal("operations posted", rank.stats().posted, 0)
    barrier([rank, other])
    unchanged_log(log)


def refused_somehow(function, *args):
    try:
        value = function(*args)
    except OSError:
        return
    raise Failed(f"{args} is accepted ({value})")


main()
