#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=90
# suites: check debug soak
"""The port belongs to the module: no user can take it, and a program that has it is named."""

import contextlib
import errno
import json
import os
import socket
import subprocess

from api_common import sockname
from collsock_netlink import Netlink, NetlinkError
from collsock_test import (
    MODULE, PORT, Child, Descriptor, Failed, KernelLog, Rank, clean_up, command, equal,
    errno_name, eventually, ip_batch, main, make_namespace, member, rank_on,
    read_file, refused, set_tunables, test, tunables, write_file)
from leftovers import load, udp_sockets, unload

USER = 1000
SO_REUSEPORT, LIVENESS_MS = 15, 100  # time-wait entries stay for twice as long
HELD, CLOSED = [1, 1], [0, 0]  # sockets of a namespace that has no others


# ---- who can have the port ----

def be_user():
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)


def attempts(line, port):
    """Every way in which a user can bind to the port, and what happens."""
    be_user()
    said = {}
    for family, addresses in ((socket.AF_INET, ("0.0.0.0", "127.0.0.1")),
                              (socket.AF_INET6, ("::", "::1", "::ffff:127.0.0.1"))):
        for address in addresses:
            for option in (None, socket.SO_REUSEADDR, SO_REUSEPORT, socket.SO_BINDTODEVICE):
                with socket.socket(family, socket.SOCK_DGRAM) as one:
                    try:
                        if option is not None:
                            one.setsockopt(socket.SOL_SOCKET, option, b"lo\0\0")
                        one.bind((address, port))
                        said[f"{address}, option {option}"] = "bound"
                    except OSError as error:
                        said[f"{address}, option {option}"] = errno_name(error.errno)
    line.put(said)


def nobody_can_take(host, port=PORT):
    child = Child(host, attempts, port)
    equal(f"attempts at port {port} of {host or 'the first namespace'}",
          {how: said for how, said in child.get().items() if said != "EADDRINUSE"}, {})
    child.finish()


def anybody_can_take(host, port=PORT):
    child = Child(host, attempts, port)
    equal(f"attempts at port {port} of {host or 'the first namespace'}",
          [said for how, said in child.get().items() if said != "bound"], [])
    child.finish()


@contextlib.contextmanager
def fresh_namespace(name="port1", address="10.1.0.201"):
    make_namespace(name, address)
    command("ip", "-n", name, "link", "set", "lo", "up")
    try:
        yield name, address
    finally:
        clean_up()
        ip_batch((), f"netns delete {name}")


def first_namespace():
    return contextlib.closing(Netlink())


def no_trace_of_groups(host):
    watcher = rank_on(host)
    eventually("groups and time-wait entries", lambda: (
        watcher.net_stats().groups, watcher.net_stats().timewait_entries), (0, 0))
    watcher.close()


def join_and_leave(host, address):
    with tunables(liveness_ms=LIVENESS_MS):
        rank = rank_on(host)
        rank.join(Descriptor([address]), 0)
        rank.run()
        rank.close()
    no_trace_of_groups(host)


@test
def the_first_namespace_holds_the_port_from_loading_on():
    unload()
    anybody_can_take(None)
    load()
    nobody_can_take(None)
    with first_namespace() as netlink:
        equal("held, as it is told", "port_open" in netlink.net(), True)


@test
def another_namespace_holds_the_port_from_its_first_group_on():
    with fresh_namespace() as (name, address):
        anybody_can_take(name)
        equal("sockets before", udp_sockets(name), CLOSED)
        join_and_leave(name, address)
        nobody_can_take(name)
        equal("sockets after", udp_sockets(name), HELD)


@test
def the_port_is_held_until_the_administrator_says_no():
    with fresh_namespace() as (name, address):
        join_and_leave(name, address)
        set_tunables(name, hold_port=0)
        anybody_can_take(name)
        rank = rank_on(name)
        rank.join(Descriptor([address], liveness_ms=LIVENESS_MS), 0)
        nobody_can_take(name)
        rank.close()
        no_trace_of_groups(name)
        eventually("sockets when the group has ended", lambda: udp_sockets(name), CLOSED)
    with first_namespace() as netlink:
        netlink.set_tunables(hold_port=0)
        try:
            anybody_can_take(None)
            equal("open, as it is told", "port_open" in netlink.net(), False)
            netlink.set_tunables(hold_port=1)
            nobody_can_take(None)
        finally:
            netlink.set_tunables(hold_port=None)
        with tunables(hold_port=0):
            anybody_can_take(None)
        nobody_can_take(None)


@test
def another_number_opens_another_port_when_there_is_no_group():
    with first_namespace() as netlink:
        netlink.set_tunables(port=7700)
        try:
            nobody_can_take(None, 7700)
            anybody_can_take(None)
            rank = Rank()
            equal("getsockname() gives port", sockname(rank).port, 7700)
            descriptor = Descriptor(["127.0.0.1"], liveness_ms=LIVENESS_MS)
            refused(errno.EADDRNOTAVAIL, "a member with the old port", rank.join, descriptor, 0)
            descriptor.members = [member("127.0.0.1", port=7700)]
            rank.join(descriptor, 0)
            rank.run()
            refused(errno.EBUSY, "another port", netlink.set_tunables, port=7701)
            equal("port", netlink.net()["port"], 7700)
            rank.close()
            eventually("groups", lambda: netlink.net()["groups"], 0)
            netlink.set_tunables(port=7701)
            nobody_can_take(None, 7701)
        finally:
            clean_up()
            eventually("groups", lambda: netlink.net()["groups"], 0)
            netlink.set_tunables(port=None)
        nobody_can_take(None)
        with tunables(port=7702):
            nobody_can_take(None, 7702)
            anybody_can_take(None)
        nobody_can_take(None)


@test
def a_number_that_is_taken_is_refused_and_the_old_port_stays():
    for family in socket.AF_INET, socket.AF_INET6:
        with first_namespace() as netlink, socket.socket(family, socket.SOCK_DGRAM) as other:
            other.bind(("", 7710))
            try:
                netlink.set_tunables(port=7710, idle_ms=1234)
                raise Failed("a port that is taken: is accepted")
            except NetlinkError as error:
                equal("error", (errno_name(error.errno), "cannot be opened" in error.text),
                      ("EADDRINUSE", True))
            equal("port", netlink.net()["port"], PORT)
            equal("tunables with a value of their own",
                  [name for name, row in netlink.tunables().items() if "own" in row], [])
        nobody_can_take(None)


def user_joins(line, address, port):
    be_user()
    try:
        rank = Rank()
        descriptor = Descriptor([address])
        descriptor.members = [member(address, port=port)]
        rank.join(descriptor, 0)
        line.put(rank.run().error)
    except OSError as error:
        line.put(errno_name(error.errno))
    line.get()


@test
def a_user_joins_over_a_privileged_port():
    with fresh_namespace() as (name, address):
        set_tunables(name, port=600)
        child = Child(name, user_joins, address, 600)
        equal("a barrier of a user", child.get(), 0)
        child.put("go on")
        child.finish()


# ---- a port that is taken ----

TAKER = "import socket, sys; one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); " \
    "one.bind(('127.0.0.1', {})); print('bound', flush=True); sys.stdin.read()"


@contextlib.contextmanager
def another_program(port=PORT):
    with subprocess.Popen(["python3", "-c", TAKER.format(port)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        equal("the program says", program.stdout.readline(), "bound\n")
        yield program.pid
        program.stdin.close()


def doctor_says():
    done = subprocess.run(["build/tools/collsock", "-j", "doctor"], stdout=subprocess.PIPE,
                          text=True, check=False)
    return [one for one in json.loads(done.stdout) if one["check"] == "port"][0]


@test
def the_module_loads_although_the_port_is_taken_and_says_so():
    unload()
    log = KernelLog()
    rank = None
    with another_program() as pid:
        load()
        lines = [line for line in log.lines() if "port" in line]
        equal("lines about the port", len(lines), 1)
        equal(f"{lines[0]!r} names the port", f"UDP port {PORT}" in lines[0], True)
        rank = Rank()
        refused(errno.EADDRINUSE, "a group", rank.join, Descriptor(["127.0.0.1"]), 0)
        found = doctor_says()
        equal("the doctor finds a", found["result"], "problem")
        for part in (f"UDP port {PORT}", "python3", f"pid {pid}"):
            equal(f"{found['finding']!r} says {part!r}", part in found["finding"], True)
    rank.join(Descriptor(["127.0.0.1"]), 0)
    rank.run()
    nobody_can_take(None)
    equal("the doctor finds it", doctor_says()["result"], "ok")


@test
def the_port_is_held_as_soon_as_a_setting_is_made():
    unload()
    with another_program():
        load()
    with first_namespace() as netlink:
        equal("open", "port_open" in netlink.net(), False)
        netlink.set_tunables(hold_port=1)
        nobody_can_take(None)
        netlink.set_tunables(hold_port=None)
    write_file(f"{MODULE}/parameters/hold_port", read_file(f"{MODULE}/parameters/hold_port"))
    nobody_can_take(None)


@test
def nothing_is_left_of_the_port_when_the_module_is_gone():
    with fresh_namespace() as (name, address):
        join_and_leave(name, address)
        unload()
        equal("sockets", udp_sockets(name), CLOSED)
        anybody_can_take(name)
        anybody_can_take(None)
        load()


if __name__ == "__main__":
    main()
