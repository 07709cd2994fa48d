#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=300 needs=CGROUP_BPF,NETFILTER,KPROBES
# suites: check soak
"""Packets of a group belong to the process that joined: filters, firewall and routes see it."""

import collections
import contextlib
import errno
import functools
import os
import pathlib
import random
import re
import socket
import struct

from collsock_test import (
    BROADCAST, INT64, NOP, PORT, Child, Descriptor, Failed, Group, Rank, Skipped, Sniffer, at_least,
    command, equal, eventually, integers, main, member, netem, on, outcome, rank_on, set_tunables,
    test, test_each, tunables, write_file)
from filters_common import (
    ALLOW_ALL, CGROUPS, DEVICE_AT, EGRESS, INGRESS, MARK_AT, OF_SOCKETS, REFUSE_ALL,
    SOCK_CREATE, ControlGroup, deny_address, load, set_in_sockets)
from forging import MESSAGE, TYPE, Forger
from kprobes import calls

LIVENESS_MS = 600
USER, OTHER_USER = 1234, 1235
FAMILIES = {"IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}

# ---- filters of control groups ----

DIRECTIONS = {"in": INGRESS, "out": EGRESS}
# Where the last four bytes of the other end's address are in an IP packet
ADDRESS_AT = {("IPv4", INGRESS): 12, ("IPv4", EGRESS): 16, ("IPv6", INGRESS): 20,
              ("IPv6", EGRESS): 36}


def deny(version, direction, host):
    end = socket.inet_aton(f"10.1.0.{host}") if version == "IPv4" else struct.pack("!I", host)
    return deny_address(ADDRESS_AT[version, direction], end)


# ---- ranks as processes ----

OPTIONS = {"mark": socket.SO_MARK, "priority": socket.SO_PRIORITY,
           "device": socket.SO_BINDTODEVICE}


@functools.cache
def hierarchy(controller):
    """Of control groups v1, which give packets a class, or a priority on each device."""
    path = pathlib.Path("/run") / controller
    path.mkdir()
    try:
        command("mount", "-t", "cgroup", "-o", controller, controller, str(path))
    except Failed as error:
        raise Skipped(f"no control groups with {controller} here: {error}") from error
    return path


def enter_hierarchy(controller, number):
    path = hierarchy(controller) / str(number)
    path.mkdir(exist_ok=True)
    if controller == "net_cls":
        write_file(path / "net_cls.classid", str(number))
    write_file(path / "cgroup.procs", str(os.getpid()))


def take_identity(rank, cgroup=None, user=None, group=None, groups=(), net_cls=None,
                  net_prio=None, **options):
    if cgroup:
        write_file(f"{CGROUPS}/{cgroup}/cgroup.procs", str(os.getpid()))
    if net_cls:
        enter_hierarchy("net_cls", net_cls)
    if net_prio:
        enter_hierarchy("net_prio", net_prio)
    for name, value in options.items():
        rank.setsockopt(socket.SOL_SOCKET, OPTIONS[name], value)
    if groups:
        os.setgroups(groups)
    if user:
        group = group or user
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)


def rank_process(line, descriptor, number, identity):
    """Joins with that identity; then runs as many barriers as each request says, or until one
    fails."""
    rank = Rank()
    take_identity(rank, **identity)
    try:
        rank.join(descriptor, number)
    except OSError as error:
        line.put(errno.errorcode[error.errno])
        return
    line.put("joined")
    while True:
        for _ in range(line.get()):
            said = outcome(rank.run())
            if said != "success":
                break
        line.put(said)


def rank_child(host, descriptor, number, **identity):
    child = Child(host, rank_process, descriptor, number, identity)
    child.joined = child.get()
    return child


def pair(family=socket.AF_INET, **identity):
    """A group of two hosts, of which the first one's rank has that identity."""
    descriptor = Descriptor((1, 2), family, liveness_ms=LIVENESS_MS)
    children = [rank_child(1, descriptor, 0, **identity), rank_child(2, descriptor, 1)]
    for child in children:
        equal("a rank", child.joined, "joined")
    return children


def run(children, times=1):
    for child in children:
        child.put(times)
    return [child.get() for child in children]


def the_refused_host_blames_itself(children, counter):
    """Its own rank, with EPERM; the other host can only say that it is silent.

    The first barrier may succeed on the host that hears the other one.
    """
    before = getattr(rank_on(1).net_stats(), counter)
    equal("when it is refused", run(children, 2), ["EPERM rank 0", "ETIMEDOUT rank 0"])
    at_least(counter, getattr(rank_on(1).net_stats(), counter), before + 3)


def nft(words):
    # Not in "ip netns exec", whose /sys has no control groups
    with on(1):
        command("nft", words)


class Firewall:
    """A rule of the first host, in the chain of a hook, that drops."""

    def __init__(self, hook, *rule):
        self.hook, self.rule = hook, rule

    def __enter__(self):
        nft(f"add table inet guard; add chain inet guard rules {{ type filter hook {self.hook} "
            f"priority 0; }}; add rule inet guard rules {' '.join(self.rule)} drop")

    def __exit__(self, *_):
        nft("delete table inet guard")


# ---- what refuses ----

@test_each(*((version, word) for version in FAMILIES for word in DIRECTIONS))
def a_filter_of_the_control_group_applies(version, word):
    direction = DIRECTIONS[word]
    with ControlGroup("policy") as cgroup:
        denied = pair(FAMILIES[version], cgroup="policy")
        free = pair(FAMILIES[version])
        equal("before", run(denied), ["success", "success"])
        cgroup.attach(deny(version, direction, 3), direction)
        equal("with a filter for another host", run(denied), ["success", "success"])
        cgroup.detach()
        cgroup.attach(deny(version, direction, 2), direction)
        the_refused_host_blames_itself(
            denied, "receive_refused" if direction == INGRESS else "send_refused")
        equal("a group of another control group", run(free), ["success", "success"])


@test_each(*DIRECTIONS)
def it_applies_to_a_host_that_was_never_heard_from(word):
    direction = DIRECTIONS[word]
    with ControlGroup("policy") as cgroup, tunables(join_timeout_ms=2 * LIVENESS_MS):
        cgroup.attach(deny("IPv4", direction, 2), direction)
        the_refused_host_blames_itself(
            pair(cgroup="policy"), "receive_refused" if direction == INGRESS else "send_refused")


@test
def three_hosts_name_the_one_that_is_refused():
    with ControlGroup("policy") as cgroup:
        descriptor = Descriptor((1, 2, 3), liveness_ms=LIVENESS_MS)
        children = [rank_child(1, descriptor, 0), rank_child(2, descriptor, 1, cgroup="policy"),
                    rank_child(3, descriptor, 2)]
        equal("before", run(children), ["success"] * 3)
        cgroup.attach(load(REFUSE_ALL), EGRESS)
        equal("when it is refused", run(children, 2),
              ["ETIMEDOUT rank 1", "EPERM rank 1", "ETIMEDOUT rank 1"])


@test_each(*FAMILIES)
def a_firewall_rule_about_the_user_applies(version):
    theirs, others = pair(FAMILIES[version], user=USER), pair(FAMILIES[version], user=OTHER_USER)
    equal("before", run(theirs), ["success", "success"])
    with Firewall("output", "meta", "skuid", str(USER)):
        the_refused_host_blames_itself(theirs, "send_refused")
        equal("a group of another user", run(others), ["success", "success"])


@test
def a_firewall_rule_about_the_control_group_applies():
    with ControlGroup("policy"):
        theirs, others = pair(cgroup="policy"), pair()
        equal("before", run(theirs), ["success", "success"])
        with Firewall("output", "socket", "cgroupv2", "level", "1", '"policy"'):
            the_refused_host_blames_itself(theirs, "send_refused")
            equal("a group of another control group", run(others), ["success", "success"])


def sent_by(device):
    with on(1):
        return int(re.search(r"TX:.*\n\s+\d+\s+(\d+)",
                             command("ip", "-s", "link", "show", device))[1])


@contextlib.contextmanager
def second_device():
    """Of the first host, to the others."""
    command("ip", "link", "add", "link", "switch", "name", "second", "netns", "h1", "type",
            "macvlan", "mode", "bridge")
    try:
        command("ip", "-n", "h1", "link", "set", "second", "up")
        eventually("the second device's carrier", lambda: "LOWER_UP" in
                   command("ip", "-n", "h1", "link", "show", "second"), True)
        yield
    finally:
        command("ip", "-n", "h1", "link", "delete", "second")
        # They may have learned the address of that device
        for host in 2, 3:
            command("ip", "-n", f"h{host}", "neighbor", "flush", "all")


@test
def security_modules_see_the_socket_the_routes_and_the_packets():
    cloned, classified, received = hooks = (
        "security_sk_clone", "security_sk_classify_flow", "security_sock_rcv_skb")
    with calls(*hooks) as called:
        before = {hook: called(hook) for hook in hooks}
        ours = pair()
        equal("barriers", run(ours, 20), ["success", "success"])
        at_least("sockets with the label of a process", called(cloned) - before[cloned], 2)
        at_least("routes for one", called(classified) - before[classified], 2)
        at_least("packets that came", called(received) - before[received], 40)


# A selector of "ip rule", and the ranks that it means
SELECTORS = {"mark": (["fwmark", "7"], {"mark": 7}),
             "user": (["uidrange", f"{USER}-{USER}"], {"user": USER})}


@contextlib.contextmanager
def route_by(version, selector):
    """What this selects on the first host leaves by the second device to the second host."""
    network, options = ("10.1.0.", []) if version == "IPv4" else ("fd00:1::", ["-6"])
    with second_device():
        command("ip", "-n", "h1", *options, "rule", "add", *selector, "table", "100")
        try:
            command("ip", "-n", "h1", *options, "route", "add", f"{network}2", "dev", "second",
                    "table", "100")
            yield
        finally:
            command("ip", "-n", "h1", *options, "rule", "delete", "table", "100")


@test_each(*((version, name) for version in FAMILIES for name in SELECTORS))
def the_process_chooses_the_route(version, name):
    """What it selects leaves by the second device, the rest by the first."""
    selector, identity = SELECTORS[name]
    with route_by(version, selector):
        ours, others = pair(FAMILIES[version], **identity), pair(FAMILIES[version])
        before = sent_by("second")
        equal("barriers of the process", run(ours, 20), ["success", "success"])
        middle = sent_by("second")
        at_least("packets by the second device", middle - before, 20)
        equal("barriers of another", run(others, 20), ["success", "success"])
        equal("packets of others by the second device", sent_by("second") - middle < 5, True)


@test_each(*FAMILIES)
def a_firewall_rule_about_the_mark_applies(version):
    marked = pair(FAMILIES[version], mark=7)
    equal("before", run(marked), ["success", "success"])
    with Firewall("output", "meta", "mark", "7"):
        the_refused_host_blames_itself(marked, "send_refused")


CS4, ECT_0 = 32, 2


def traffic_class(packet):
    return packet[1] if packet[0] >> 4 == 4 else int.from_bytes(packet[:2], "big") >> 4 & 255


@test_each(*FAMILIES)
def a_firewall_rule_gives_packets_a_code_point(version):
    ours, others = pair(FAMILIES[version], mark=7), pair(FAMILIES[version])
    sniffer = Sniffer(1)

    def classes(children):
        sniffer.packets()
        equal("barriers", run(children, 5), ["success", "success"])
        return collections.Counter(traffic_class(packet)
                                   for outgoing, packet, _ in sniffer.packets() if outgoing)

    ip = "ip" if version == "IPv4" else "ip6"
    nft("add table inet qos; add chain inet qos out { type filter hook output priority mangle; }; "
        f"add rule inet qos out udp dport {PORT} meta mark 7 {ip} dscp set cs4")
    try:
        at_least("packets with the mark", classes(ours)[CS4 << 2 | ECT_0], 5)
        at_least("packets without", classes(others)[ECT_0], 5)
    finally:
        nft("delete table inet qos")


# ---- the device of the process's sockets ----

NETWORKS = {"IPv4": ("10.1.0.", 24), "IPv6": ("fd00:1::", 64)}


def device_of_sockets(cgroup, device):
    """As a program of the control group that confines its processes to a device."""
    cgroup.attach(set_in_sockets(DEVICE_AT, index_of(device)), SOCK_CREATE)
    return {"cgroup": cgroup.path.name}


def index_of(device):
    with on(1):
        return socket.if_nametoindex(device)


def mac_of(device):
    return re.search("link/ether ([0-9a-f:]+)",
                     command("ip", "-n", "h1", "link", "show", device))[1]


def neighbour(host, address, mac, device):
    command("ip", "-n", f"h{host}", "neighbor", "replace", address, "lladdr", mac, "dev", device,
            "nud", "permanent")


@test_each(*FAMILIES)
def a_group_keeps_to_the_device_of_the_process(version):
    """Its packets leave by that one, and what comes by another is not for it."""
    network, bits = NETWORKS[version]
    with second_device(), ControlGroup("policy") as cgroup:
        command("ip", "-n", "h1", "route", "add", f"{network}{'0' if bits == 24 else ''}/{bits}",
                "dev", "second", "metric", "2048")
        for device in "second", "eth0":
            neighbour(1, f"{network}2", "02:00:00:00:00:02", device)
        try:
            neighbour(2, f"{network}1", mac_of("second"), "eth0")
            free = pair(FAMILIES[version])
            bound = pair(FAMILIES[version], **device_of_sockets(cgroup, "second"))
            before = sent_by("second"), sent_by("eth0")
            equal("barriers by the second device", run(bound, 20), ["success", "success"])
            at_least("packets by the second device", sent_by("second") - before[0], 20)
            equal("packets by the first", sent_by("eth0") - before[1] < 5, True)
            equal("a group of others, by both", run(free), ["success", "success"])
            neighbour(2, f"{network}1", mac_of("eth0"), "eth0")
            the_refused_host_blames_itself(bound, "receive_refused")
            equal("a group of others, by the first", run(free), ["success", "success"])
        finally:
            for host, other in (1, 2), (2, 1):
                command("ip", "-n", f"h{host}", "neighbor", "delete", f"{network}{other}", "dev",
                        "eth0")


def joins_by(devices, **identity):
    """What JOIN gives on the first host, whose member and the other one are at these devices."""
    descriptor = Descriptor((1, 2), socket.AF_INET6)
    descriptor.members = [member(f"fe80::{number}", socket.AF_INET6, scope_id=index_of(device))
                          for number, device in enumerate(devices, 1)]
    return rank_child(1, descriptor, 0, **identity).joined


@test_each("option", "program")
def no_member_is_at_another_device_than_that_of_the_process(word):
    with second_device(), ControlGroup("policy") as cgroup:
        for device in "second", "eth0":
            command("ip", "-n", "h1", "address", "add", "fe80::1/64", "dev", device, "nodad")
        identity = {"device": b"second"} if word == "option" else \
            device_of_sockets(cgroup, "second")
        try:
            equal("its own", joins_by(("eth0", "second"), **identity), "EADDRNOTAVAIL")
            equal("the other", joins_by(("second", "eth0"), **identity), "EADDRNOTAVAIL")
            equal("neither", joins_by(("second", "second"), **identity), "joined")
            equal("a process without one", joins_by(("eth0", "eth0")), "joined")
        finally:
            command("ip", "-n", "h1", "address", "delete", "fe80::1/64", "dev", "eth0")


# ---- answers from time-wait ----

WAITING = 1000  # answers; a send buffer of 208 KiB takes fewer than 300


def waiting_on(device):
    return int(re.search(r"backlog \d+b (\d+)p",
                         command("tc", "-n", "h1", "-s", "qdisc", "show", "dev", device))[1])


def closed_group(*hosts):
    """The messages that the first host of a group got before the group closed."""
    sniffer, group = Sniffer(1), Group(hosts, liveness_ms=60000)  # half of the time-wait
    group.barrier()
    recorded = [packet for outgoing, _, packet in sniffer.packets()
                if not outgoing and packet[TYPE] == MESSAGE]
    at_least("messages", len(recorded), 1)
    group.end()
    sniffer.close()
    return recorded


def answered(witness, forger, packets, host):
    """Send these to the first host, and wait until it has answered."""
    before = witness.net_stats().timewait_answered
    for packet in packets:
        forger.send(packet, host, 1)
    eventually("answers", lambda: witness.net_stats().timewait_answered - before, len(packets))


@test
def answers_for_a_group_that_has_closed_are_packets_of_the_port():
    """Filters of a user do not see them, those of all do."""
    with ControlGroup("") as everybody:
        witness, recorded = rank_on(1), closed_group(1, 2)
        sniffer, forger = Sniffer(1), Forger(2)

        def refused(packets):
            before = witness.net_stats().send_refused
            answered(witness, forger, recorded, 2)
            equal("packets back", [out for out, _, _ in sniffer.packets()].count(True), packets)
            return witness.net_stats().send_refused - before

        equal("refused", refused(len(recorded)), 0)
        everybody.attach(deny("IPv4", EGRESS, 2), EGRESS)
        equal("refused by a filter", refused(0), len(recorded))
        everybody.detach()
        forger.close()


@test
def answers_that_wait_here_keep_none_to_other_hosts_back():
    """Those to the second host wait in the queue of a device that sends a byte in a second."""
    witness, sniffer = rank_on(1), Sniffer(1)
    waiting, other = closed_group(1, 2), closed_group(1, 3)
    with second_device():
        command("tc", "-n", "h1", "qdisc", "add", "dev", "second", "root", "tbf", "rate",
                "8bit", "burst", "1600", "limit", "1000000")
        command("ip", "-n", "h1", "neighbor", "add", "10.1.0.2", "lladdr", "02:00:00:00:00:02",
                "dev", "second")
        command("ip", "-n", "h1", "route", "add", "10.1.0.2", "dev", "second")
        forgers = {host: Forger(host) for host in (2, 3)}
        before = witness.net_stats().send_buffer_full
        answered(witness, forgers[2], [waiting[0]] * WAITING, 2)
        sniffer.packets()
        answered(witness, forgers[3], other, 3)
        equal("answers to the third host", [out for out, _, _ in sniffer.packets()].count(True),
              len(other))
        equal("answers without room", witness.net_stats().send_buffer_full, before)
        at_least("answers that wait", waiting_on("second"), WAITING - 50)
        for forger in forgers.values():
            forger.close()


# ---- who shares a group's packets ----

def second_rank(first, second, **values):
    """Two ranks of one host; returns what the second one's JOIN gave."""
    descriptor = Descriptor((1, 2), placement=(0, 0, 1))
    children = [rank_child(1, descriptor, 0, **first), rank_child(1, descriptor, 1, **second)]
    equal("the first", children[0].joined, "joined")
    if children[1].joined == "joined":
        children.append(rank_child(2, descriptor, 2))
        equal("a barrier", run(children), ["success"] * 3)
    return children[1].joined


@test
def no_rank_uses_the_policy_of_another_one():
    with ControlGroup("policy") as cgroup, ControlGroup("policy2") as second:
        program = deny("IPv4", EGRESS, 3)
        cgroup.attach(program, EGRESS)
        ours = {"user": USER, "cgroup": "policy"}
        equal("the same", second_rank(ours, ours), "joined")
        equal("another user", second_rank(ours, {**ours, "user": OTHER_USER}), "EACCES")
        equal("no filter", second_rank(ours, {**ours, "cgroup": "policy2"}), "EACCES")
        equal("filtered first", second_rank({**ours, "cgroup": "policy2"}, ours), "EACCES")
        second.attach(program, EGRESS)
        equal("another control group, same filter",
              second_rank(ours, {**ours, "cgroup": "policy2"}), "joined")
        second.attach(deny("IPv4", INGRESS, 3), INGRESS)
        equal("another filter of what comes",
              second_rank(ours, {**ours, "cgroup": "policy2"}), "EACCES")
        set_tunables(1, same_policy=0)
        try:
            equal("all of it, where that is allowed",
                  second_rank(ours, {"user": OTHER_USER, "cgroup": "policy2"}), "joined")
        finally:
            set_tunables(1, same_policy=None)


DIFFERENT = {"mark": 7, "priority": 3, "device": b"eth0", "group": OTHER_USER,
             "groups": (OTHER_USER,), "net_cls": 5, "net_prio": 5}


@test_each(*DIFFERENT)
def ranks_of_one_host_have_the_same(name):
    if name.startswith("net_"):
        hierarchy(name)
    ours, theirs = {"user": USER}, {"user": USER, name: DIFFERENT[name]}
    equal("both", second_rank(theirs, theirs), "joined")
    equal("the second", second_rank(ours, theirs), "EACCES")
    equal("the first", second_rank(theirs, ours), "EACCES")


@test
def no_rank_evades_programs_that_see_how_a_socket_is_made():
    """They refuse it, choose its mark, device and priority, or note something about it."""
    with ControlGroup("policy") as cgroup, ControlGroup("policy2") as second:
        ours, theirs = {"user": USER, "cgroup": "policy"}, {"user": USER, "cgroup": "policy2"}
        second.attach(load(REFUSE_ALL, OF_SOCKETS), SOCK_CREATE)
        equal("no socket", second_rank(ours, theirs), "EPERM")
        second.detach()
        marks = set_in_sockets(MARK_AT, 9)
        second.attach(marks, SOCK_CREATE)
        equal("a mark", second_rank(ours, theirs), "EACCES")
        equal("a mark of the first", second_rank(theirs, ours), "EACCES")
        cgroup.attach(marks, SOCK_CREATE)
        equal("another control group, same program", second_rank(ours, theirs), "joined")
        cgroup.detach()
        second.detach()
        second.attach(load(ALLOW_ALL, OF_SOCKETS), SOCK_CREATE)
        equal("a program that changes nothing", second_rank(ours, theirs), "EACCES")
        set_tunables(1, same_policy=0)
        try:
            equal("where that is allowed", second_rank(ours, theirs), "joined")
        finally:
            set_tunables(1, same_policy=None)


# ---- the send buffer ----

@test
def packets_that_wait_here_fill_the_send_buffer():
    """Not more than it takes wait; the rest is counted, and sent again."""
    netem((1,), "delay", "20ms")
    try:
        descriptor = Descriptor((1, 2), max_bytes=65536)
        ranks = [rank_on(1), rank_on(2)]
        # Less than the packets of an initial congestion window
        ranks[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        for number, rank in enumerate(ranks):
            rank.join(descriptor, number)
        payload = random.randbytes(65536)
        ranks[0].post(payload, operation=BROADCAST, type=INT64, op=NOP, count=8192, root=0)
        ranks[1].post(operation=BROADCAST, type=INT64, op=NOP, count=8192, root=0)
        equal("what came", ranks[1].complete().result, payload)
        at_least("packets that were not sent", rank_on(1).net_stats().send_buffer_full, 1)
    finally:
        netem((1,))


# ---- ICMP ----

def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def quoted(version, protocol):
    """The beginning of a packet from the first host to the second one, as a stranger guesses it."""
    rest = struct.pack("!HHHH", 7607, 7607, 1200, 0)
    if protocol != socket.IPPROTO_UDP:
        # An answer to a ping: that of our own pings is for their sockets
        rest = struct.pack("!BBHHH", 0 if version == "IPv4" else 129, 0, 0, 1, 1)
    ends = [socket.inet_pton(FAMILIES[version], a) for a in
            (("10.1.0.1", "10.1.0.2") if version == "IPv4" else ("fd00:1::1", "fd00:1::2"))]
    if version == "IPv4":
        head = struct.pack("!BBHHHBBH", 0x45, 0, 1220, 0, 0x4000, 64, protocol, 0)
        return head + b"".join(ends) + rest
    return struct.pack("!IHBB", 6 << 28, 1200, protocol, 64) + b"".join(ends) + rest


def stranger(version):
    """A raw socket of the third host. Only redirects from a router's address are considered."""
    with on(3):
        if version == "IPv4":
            return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        router = re.search(r"inet6 (fe80::[0-9a-f:]+)", command("ip", "address", "show", "eth0"))[1]
        raw.bind((router, 0, 0, socket.if_nametoindex("eth0")))
    raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 255)
    return raw


def forge(version, head, about):
    """A stranger sends ICMP to the first host, about a packet of that protocol."""
    message = head + quoted(version, about)
    if version == "IPv4":
        message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
    with stranger(version) as raw:
        raw.sendto(message, ("10.1.0.1" if version == "IPv4" else "fd00:1::1", 0))


def forge_too_big(version, mtu):
    """The path's MTU is smaller. It is said of a ping: what is said of a port is ignored there."""
    if version == "IPv4":
        forge(version, struct.pack("!BBHHH", 3, 4, 0, 0, mtu), socket.IPPROTO_ICMP)
    else:
        forge(version, struct.pack("!BBHI", 2, 0, 0, mtu), socket.IPPROTO_ICMPV6)


def forge_redirect(version):
    """There is a shorter path to the second host, by an address that nobody has."""
    if version == "IPv4":
        head = struct.pack("!BBH", 5, 1, 0) + socket.inet_aton("10.1.0.99")
    else:
        head = struct.pack("!BBHI", 137, 0, 0, 0) + b"".join(
            socket.inet_pton(socket.AF_INET6, a) for a in ("fe80::99", "fd00:1::2"))
    forge(version, head, socket.IPPROTO_UDP)


def route_mtu(version):
    to = "10.1.0.2" if version == "IPv4" else "fd00:1::2"
    found = re.search(r"mtu (\d+)", command("ip", "-n", "h1", "route", "get", to))
    return int(found[1]) if found else None


SMALL = {"IPv4": 576, "IPv6": 1280}


@test_each(*FAMILIES)
def forged_reports_about_the_path_change_nothing(version):
    family = FAMILIES[version]
    group = Group((1, 2), family, segment_bytes=1344)
    payload = integers(*range(168))
    group.post(payload, payload)
    group.complete()
    forge_redirect(version)
    forge_too_big(version, SMALL[version])
    eventually("MTU of the route", lambda: route_mtu(version), SMALL[version])
    sniffer = Sniffer(1)
    for _ in range(10):
        group.post(payload, payload)
        for completion in group.complete():
            equal("outcome", outcome(completion), "success")
    largest = max(len(packet) for outgoing, packet, _ in sniffer.packets() if outgoing)
    at_least("bytes of the largest packet", largest, 1344)
    equal("hosts with fragments", [rank.stats().peers_fragmented for rank in group], [0, 0])
    # A group that is joined now may use the same size
    Group((1, 2), family, segment_bytes=1344).barrier()


@test_each(*FAMILIES)
def long_packets_that_do_not_get_through_are_fragmented(version):
    """As a path with a smaller MTU does: it drops long packets that must not be fragmented."""
    segment = 1344
    group = Group((1, 2), FAMILIES[version], segment_bytes=segment)
    payload = integers(*range(segment // 8))
    group.barrier()
    sniffer = Sniffer(1)
    may_not = "ip frag-off & 0x4000 != 0 " if version == "IPv4" else ""
    with on(2):
        command("nft", "add table netdev path; add chain netdev path rules { type filter hook "
                f"ingress device eth0 priority 0; }}; add rule netdev path rules {may_not}"
                "meta length > 1300 drop")
    try:
        group.post(payload, payload)
        for completion in group.complete():
            equal("outcome", outcome(completion), "success")
    finally:
        with on(2):
            command("nft", "delete table netdev path")
    equal("hosts with fragments", [rank.stats().peers_fragmented for rank in group], [1, 0])
    if version == "IPv4":
        flags = {struct.unpack_from("!H", packet, 6)[0] for outgoing, packet, _ in
                 sniffer.packets() if outgoing and len(packet) > segment}
        equal("don't-fragment of long packets", flags, {0x4000, 0})


main()
