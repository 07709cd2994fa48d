#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=120 smp=2
# suites: check soak
"""Teams of threads and of processes, each combined with a socket: every host is one rank."""

import ctypes
import errno
import os
import pathlib
import random
import signal
import struct
import threading

from collsock_test import Child, NO_RANK, equal, main, test_each, work

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "build/lib/libcollsock.so"
library = ctypes.CDLL(LIBRARY)
CENTRAL, MCS, DISSEMINATION = ALGORITHMS = (1, 2, 3)
HOSTS = (1, 2, 3, 4)
MEMBERS = 4
ROUNDS = work(20)
ODD_NUMBERS = 16
OPEN_KEEP = 4
INT64, DOUBLE, SUM = 1, 3, 1
NO_MEMBER = 0xffffffff
SUCCESS = (0, NO_MEMBER, NO_RANK)

Culprit = ctypes.c_uint32 * 2


def good(result):
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


class Description:
    """A group with as many ranks on each host"""

    def __init__(self, ranks=1):
        self.nonce = ctypes.c_uint64(random.getrandbits(64))
        self.key = random.randbytes(16)
        self.hosts = [host for host in HOSTS for _ in range(ranks)]

    def join(self, rank):
        """A struct collsock of this host; children keep it."""
        group, sock = ctypes.c_void_p(), ctypes.c_void_p()
        good(library.collsock_group_new(ctypes.byref(group), ctypes.c_uint64(1), self.nonce,
                                        self.key))
        for host in self.hosts:
            good(library.collsock_group_add_host(group, f"10.1.0.{host}".encode(), 0))
        good(library.collsock_open(ctypes.byref(sock), OPEN_KEEP))
        good(library.collsock_join(sock, group, rank))
        library.collsock_group_free(group)
        return sock


def barrier(team):
    """Returns the errno, and the member and rank that are to blame."""
    culprit = Culprit()
    return (-library.collsock_team_barrier(team, culprit), *culprit)


def sum_of(team, *numbers, type_=DOUBLE):
    """Returns the same, and the bytes of the sums."""
    culprit = Culprit()
    layout = f"={len(numbers)}{'d' if type_ == DOUBLE else 'q'}"
    data = ctypes.create_string_buffer(struct.pack(layout, *numbers), 8 * len(numbers))
    error = library.collsock_team_allreduce(team, data, data, len(numbers), type_, SUM, culprit)
    return (-error, *culprit, data.raw)


def odd(number):
    """Many sums of these depend on the order in which they are made."""
    return [random.Random(number * ODD_NUMBERS + index).uniform(1, 2)
            for index in range(ODD_NUMBERS)]


def take_part(team, host, member):
    """What each member does; returns what went wrong."""
    number = (host - 1) * MEMBERS + member
    count = len(HOSTS) * MEMBERS
    for turn in range(ROUNDS):
        found = barrier(team)
        if found != SUCCESS:
            return f"barrier {turn}: {found}"
        found = sum_of(team, number, turn, type_=INT64)
        wanted = (*SUCCESS, struct.pack("=qq", count * (count - 1) // 2, count * turn))
        if found != wanted:
            return f"sum {turn}: {found}, expected {wanted}"
    return sum_of(team, *odd(number))


def threads_of_host(line, description, host, algorithm):
    """One rank of MEMBERS threads"""
    sock = description.join(host - 1)
    teams = (ctypes.c_void_p * MEMBERS)()
    good(library.collsock_team_new(teams, MEMBERS, algorithm, 0))
    results = [None] * MEMBERS
    members = [ctypes.c_void_p(team) for team in teams]
    for team in members:
        good(library.collsock_team_combine(team, sock))

    def run(member):
        results[member] = take_part(members[member], host, member)

    threads = [threading.Thread(target=run, args=(member,)) for member in range(MEMBERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    line.put(results)
    line.get()


def open_member(memfd, member, sock):
    team = ctypes.c_void_p()
    good(library.collsock_team_open(ctypes.byref(team), memfd, member))
    good(library.collsock_team_combine(team, sock))
    return team


def fork_members(sock, algorithm, job):
    """One process for each member; returns pids and pipes when all have opened the team: one that
    ends before is not missed. job(team, member) returns what is written to its pipe."""
    memfd = good(library.collsock_team_memfd(MEMBERS, algorithm, 0))
    all_opened, opening = os.pipe()
    processes = []
    for member in range(MEMBERS):
        read_end, write_end = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                team = open_member(memfd, member, sock)
                os.close(opening)
                said = repr(job(team, member))
            except OSError as error:
                said = repr(str(error))
            os.write(write_end, said.encode())
            os._exit(0)
        os.close(write_end)
        processes.append((pid, read_end))
    os.close(memfd)
    os.close(opening)
    os.read(all_opened, 1)
    os.close(all_opened)
    # Members hold the socket; the parent is none
    library.collsock_close(sock)
    return processes


def hear_members(processes):
    results = []
    for pid, read_end in processes:
        said = b""
        while more := os.read(read_end, 4096):
            said += more
        os.close(read_end)
        os.waitpid(pid, 0)
        results.append(eval(said))  # pylint: disable=eval-used
    return results


def processes_of_host(line, description, host, algorithm):
    sock = description.join(host - 1)
    line.put(hear_members(fork_members(sock, algorithm,
                                       lambda team, member: take_part(team, host, member))))
    line.get()


def ranks_of_host(line, description, host):
    """The same number of ranks without teams; returns the bytes of their sum."""
    results = [None] * MEMBERS

    def run(member):
        rank = (host - 1) * MEMBERS + member
        sock = description.join(rank)
        data = ctypes.create_string_buffer(struct.pack(f"={ODD_NUMBERS}d", *odd(rank)),
                                           8 * ODD_NUMBERS)
        good(library.collsock_allreduce(sock, data, data, ODD_NUMBERS, DOUBLE, SUM, None))
        results[member] = data.raw

    threads = [threading.Thread(target=run, args=(member,)) for member in range(MEMBERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    line.put(results)
    line.get()


def on_all_hosts(function, description, *args):
    """Returns the results of all members of all hosts. No rank leaves before all have theirs."""
    children = [Child(host, function, description, host, *args) for host in HOSTS]
    results = [result for child in children for result in child.get()]
    for child in children:
        child.put(None)
    return results


@test_each(*((kind, algorithm) for kind in ("threads", "processes") for algorithm in ALGORITHMS))
def members_get_what_ranks_of_all_hosts_would(kind, algorithm):
    function = threads_of_host if kind == "threads" else processes_of_host
    wanted = on_all_hosts(ranks_of_host, Description(MEMBERS))
    found = on_all_hosts(function, Description(), algorithm)
    equal("sums of ranks", set(wanted), {wanted[0]})
    equal("results of members", set(found), {(*SUCCESS, wanted[0])})


def barriers_until_one_fails(team, _member):
    while (found := barrier(team)) == SUCCESS:
        pass
    return found, barrier(team)


def host_with_a_member_to_kill(line, description, host, algorithm):
    """Says the pids of its members, and in the end what survivors found."""
    processes = fork_members(description.join(host - 1), algorithm, barriers_until_one_fails)
    line.put([pid for pid, _ in processes])
    lost = line.get()
    survivors = [process for member, process in enumerate(processes) if member != lost]
    line.put(hear_members(survivors))


@test_each(*((algorithm,) for algorithm in ALGORITHMS))
def killed_member_is_named_on_its_host_and_its_rank_on_others(algorithm):
    description, lost = Description(), 2
    children = [Child(host, host_with_a_member_to_kill, description, host, algorithm)
                for host in HOSTS]
    pids = [child.get() for child in children]
    os.kill(pids[1][lost], signal.SIGKILL)
    for host, child in zip(HOSTS, children):
        child.put(lost if host == 2 else None)
    for host, child in zip(HOSTS, children):
        for first, second in child.get():
            if host == 2:
                dead = (errno.EOWNERDEAD, lost, NO_RANK)
                equal(f"host {host}", (first, second), (dead, dead))
            else:
                equal(f"host {host}", first, (errno.ECONNRESET, NO_MEMBER, 1))


if __name__ == "__main__":
    main(120)
