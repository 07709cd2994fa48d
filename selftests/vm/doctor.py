#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=240 needs=NETFILTER
# suites: check soak
"""collsock doctor finds what is wrong, and says what to do; recipes for firewalls work."""

import contextlib
import os
import pathlib
import re
import select
import socket

from collsock_test import (
    BARRIER, BROADCAST, INT64, MAX_SEGMENT, NOP, PORT, Descriptor, Group, at_least, command, equal,
    errno_name, eventually, integers, main, member, on, outcome, rank_on, read_file, test,
    write_file)
from command_common import (
    DONE, LONG_LIVENESS_MS, PROBLEMS, Said, contains, findings, only, prepare, problems, run,
    show)


@test
def the_doctor_finds_no_problem_if_there_is_none():
    group = Group((1, 2))
    group.barrier()
    found = findings(1, "10.1.0.2", "fd00:1::2", status=DONE)
    equal("problems", problems(found), [])
    equal("checks", {"module", "version", "route", "packet size", "reachability"} <=
          {finding["check"] for finding in found}, True)
    for finding in found:
        if finding["check"] in ("module", "version", "route", "packet size", "reachability"):
            equal(str(finding), finding["result"], "ok")


@test
def the_doctor_finds_a_wrong_key():
    right = Descriptor((1, 2), liveness_ms=LONG_LIVENESS_MS)
    wrong = Descriptor((1, 2), liveness_ms=LONG_LIVENESS_MS,
                       **{name: right.fields[name] for name in ("id", "nonce")})
    ranks = [rank_on(1), rank_on(2)]
    for number, (rank, descriptor) in enumerate(zip(ranks, (right, wrong))):
        rank.join(descriptor, number)
        rank.post()
    for host, other in (1, "10.1.0.2"), (2, "10.1.0.1"):
        eventually(f"{other} has sent an early packet to host {host}, and was spoken to",
                   lambda: (show(host, "stat")["unknown_group"] > 0,
                            [peer["state"] for peer in show(host, "peer")]), (True, ["unheard"]))
        finding = only(problems(findings(host, status=PROBLEMS)))
        contains("finding", finding["finding"], other,
                 "was never heard from as host", "key, id or nonce differ")
        contains("advice", finding["advice"], "compare")
    # Otherwise they would linger until the join time-out
    for host in 1, 2:
        run(host, "end", "id", str(right.fields["id"]))
    for rank in ranks:
        rank.close()


@test
def the_doctor_finds_packets_that_do_not_fit_and_hosts_without_a_route():
    rank = rank_on(3)
    rank.join(Descriptor([3], segment_bytes=MAX_SEGMENT, max_bytes=MAX_SEGMENT), 0)
    too_large, no_route = problems(findings(3, "10.1.0.4", "192.0.2.1", status=PROBLEMS))
    if too_large["check"] == "route":
        too_large, no_route = no_route, too_large
    contains("finding", too_large["finding"], "MTU of 1500", "8764")
    contains("finding", no_route["finding"], "to 192.0.2.1")
    rank.close()


@test
def the_doctor_finds_a_path_that_long_packets_do_not_pass():
    group = Group((1, 2))
    group.barrier()
    with on(2):
        command("nft", "add table netdev path; add chain netdev path rules { type filter hook "
                "ingress device eth0 priority 0; }; add rule netdev path rules "
                "ip frag-off & 0x4000 != 0 meta length > 1000 drop")
    try:
        group.post(*[integers(*range(128))] * 2)
        equal("outcomes", [outcome(one) for one in group.complete()], ["success"] * 2)
    finally:
        with on(2):
            command("nft", "delete table netdev path")
    finding = only([finding for finding in findings(1, status=DONE)
                    if finding["check"] == "groups" and finding["result"] == "warning"])
    contains("finding", finding["finding"], "long packets to 1 of its hosts got lost")
    contains("advice", finding["advice"], "smaller MTU")


@test
def the_doctor_says_why_ranks_of_a_group_could_not_agree():
    group = Group((1, 2))
    group.barrier()
    for rank, payload in zip(group, (b"", integers(1))):
        rank.post(payload)
    for rank in group:
        contains("outcome", outcome(rank.complete()), "EPROTO")
    finding = only([finding for finding in findings(1, status=DONE)
                    if finding["check"] == "groups" and finding["result"] == "warning"])
    contains("finding", finding["finding"], "EPROTO because of rank")
    contains("advice", finding["advice"], "posted another operation",
             "another version of the module")


def flush_rules(host):
    with on(host):
        command("nft", "flush ruleset")


def firewall_result(host, rules):
    """The doctor's output about the firewall with these rules of nftables, and nothing else."""
    with on(host):
        command("nft", "flush ruleset; table inet guard { chain input { "
                f"type filter hook input priority 0; {rules}; }}; }}")
        said = [finding for finding in Said(("-j", "doctor")).end().json()
                if finding["check"] == "firewall"]
    return only(said)


@test
def the_doctor_finds_a_firewall_that_is_closed():
    for rules, result, *words in (
            ("policy drop", "warning", f"none accepts UDP port {PORT}"),
            ("ct state established accept; counter reject", "warning",
             f"none accepts UDP port {PORT}"),
            ("ip saddr 10.1.0.0/24 accept; drop", "note", "ip saddr 10.1.0.0/24 accept"),
            ("ip saddr 10.1.0.0/24 accept", "ok"),
            (f"policy drop; udp dport 1{PORT} accept", "warning", f"none accepts UDP port {PORT}"),
            (f"policy drop; udp dport {PORT} accept", "ok"),
            (f"policy drop; udp dport {{ 53, {PORT - 7}-{PORT + 1} }} accept", "ok"),
            (f"ip saddr 10.1.0.2 udp dport {PORT} counter drop", "warning", "10.1.0.2", "drop"),
            (f"udp dport 53 counter packets {PORT} bytes {PORT} drop", "ok"),
            (f"udp dport {PORT + 1} drop", "ok")):
        found = firewall_result(2, rules)
        equal(f"result for {rules}", found["result"], result)
        contains(f"finding on {rules}", found["finding"], *words)
    flush_rules(2)


def recipes(page):
    """The commands of nft that a page gives, for the hosts of this machine."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    found = re.findall(r"^ +(?:sudo )?(nft '[^']+'|nft [^\n|]+\|(?:.*\\\n)*.*\| nft -f -)$", text,
                       re.M)
    return [recipe.replace("10.0.0.0/24", "10.1.0.0/24") for recipe in found]


INPUT = "table inet filter {{ chain input {{ type filter hook input priority 0; {} }}; }}"
CLOSED = (INPUT.format("policy drop;"), INPUT.format("tcp dport 22 accept; drop;"),
          INPUT.format(f"udp dport {PORT} drop;"))
CLOSED_ELSEWHERE = (
    "table ip guard { chain c { type filter hook input priority 5; policy drop; }; }",
    INPUT.format("policy drop;") + """
    table inet other {
        chain last { type filter hook input priority 9; udp dport 7000-8000 reject; }
        chain out { type filter hook output priority 9; }
    }
    table ip6 six { chain input { type filter hook input priority 0; policy drop; }; }""")


def opens(recipe, rules):
    """With these rules on host 2 a barrier waits until the recipe has been followed."""
    with on(2):
        command("nft", "flush ruleset; " + rules)
    group = Group((1, 2))
    group.post()
    if rules:
        equal(f"completions with {rules}", select.select([group[1]], [], [], 0.3)[0], [])
    with on(2):
        command("sh", "-c", recipe)
    for rank in group:
        rank.set_timeout(20)
        equal(f"barrier with {rules} after {recipe}", outcome(rank.complete()), "success")
    group.close()


@test
def recipes_for_nftables_open_the_port_whatever_the_rules():
    simple, general, for_all = recipes("Documentation/firewall.md")
    udp, tcp = simple[:-1].split("; ")[-2:]
    equal("recipe for meetings", tcp, udp.replace("udp dport 7607-7871", "tcp dport 7607-7670"))
    equal("recipe for multicast", for_all,
          f"nft '{udp.replace(' udp', ' ip daddr 239.7.7.7 udp').replace('7607-7871', '7607')}'")
    equal("recipe of README.md", recipes("README.md"), [simple])
    try:
        for rules in ("", *CLOSED):
            opens(simple, rules)
        for rules in ("", CLOSED[0], *CLOSED_ELSEWHERE):
            opens(general, rules)
    finally:
        flush_rules(2)


def copies_received(rules, recipe):
    """By host 2, of broadcasts to four hosts, with these rules and after the recipe."""
    with on(2):
        command("nft", "flush ruleset; " + rules)
        command("sh", "-c", recipe)
    group = Group((1, 2, 3, 4), multicast=socket.inet_aton("239.7.7.7"))
    for _ in range(8):
        group.post(integers(7), b"", b"", b"", operation=BROADCAST, type=INT64, op=NOP, count=1)
        equal(f"outcomes after {recipe}", [outcome(one) for one in group.complete()],
              ["success"] * 4)
    copies = group[1].stats().copies_received
    group.close()
    return copies


@test
def the_recipe_for_multicast_lets_packets_to_the_address_in():
    recipe = recipes("Documentation/firewall.md")[2]
    rules = INPUT.format("policy drop; ip saddr 10.1.0.0/24 ip daddr 10.1.0.2 "
                         f"udp dport {PORT} accept;")
    try:
        equal("copies without it", copies_received(rules, "true"), 0)
        at_least("copies with it", copies_received(rules, recipe), 1)
    finally:
        flush_rules(2)


@test
def the_recipe_for_ethernet_lets_no_packet_of_groups_in():
    recipe, = recipes("Documentation/ethernet.md")
    group = Group((1, 2), socket.AF_PACKET, liveness_ms=LONG_LIVENESS_MS)
    group.barrier()
    try:
        with on(2):
            command("sh", "-c", recipe)
        group.post()
        equal("completions", select.select([group[1]], [], [], 0.3)[0], [])
        Group((1, 2)).barrier()  # over UDP
    finally:
        flush_rules(2)
    for rank in group:
        rank.set_timeout(20)
        equal("barrier without the rule", outcome(rank.complete()), "success")


def link_local(host):
    with on(host):
        shown = command("ip", "-6", "addr", "show", "dev", "eth0", "scope", "link")
    return re.search(r"inet6 ([0-9a-f:]+)", shown)[1]


@test
def link_local_addresses_are_shown_with_their_interface():
    """As a member never heard from, because of its key; as an early packet; as an argument."""
    rank, other = rank_on(1), rank_on(2)
    descriptor = Descriptor([1, 2], liveness_ms=LONG_LIVENESS_MS)
    with on(1):
        scope = socket.if_nametoindex("eth0")
    descriptor.members = [member(link_local(host), socket.AF_INET6, scope_id=scope)
                          for host in (1, 2)]
    name = f"{link_local(2)}%eth0"
    rank.join(descriptor, 0)
    rank.post(operation=BARRIER)
    equal("address of host 1", show(1, "host", "id", str(descriptor.fields["id"]))[1]["address"],
          name)
    found = {finding["check"]: finding for finding in findings(1, status=DONE)}
    equal("result", found["reachability"]["result"], "ok")
    contains("route", found["route"]["finding"], f"to {name} from fe80::", "%eth0 through eth0")

    with on(2):
        scope = socket.if_nametoindex("eth0")
    descriptor.members = [member(link_local(host), socket.AF_INET6, scope_id=scope)
                          for host in (1, 2)]
    other.join(descriptor, 1, key=b"another key here")
    other.post(operation=BARRIER)
    eventually("problem", lambda: [finding["finding"].split()[0] for finding in
                                   problems(findings(1, name, status=PROBLEMS))], [name])
    for host, member_of in ((1, rank), (2, other)):
        run(host, "end", "id", str(descriptor.fields["id"]))
        member_of.close()


NEIGHBOURS_MOST = pathlib.Path("/proc/sys/net/ipv4/neigh/default/gc_thresh3")


def said_of_neighbours():
    """The doctor's finding about the table of IPv4, by its user in the first namespace"""
    return [finding for finding in Said(("-j", "doctor")).end().json()
            if finding["check"] == "neighbours" and "IPv4" in finding["finding"]]


def resolve(hosts):
    """Packets to hosts that do not exist, each of which takes an entry"""
    with on(1), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for host in hosts:
            with contextlib.suppress(OSError):
                sender.sendto(b"", (f"10.1.0.{host}", 9))


@test
def the_doctor_finds_a_table_of_neighbours_that_is_full():
    before = NEIGHBOURS_MOST.read_text(encoding="ascii")
    equal("result", only(said_of_neighbours())["result"], "ok")
    resolve(range(200, 220))
    try:
        NEIGHBOURS_MOST.write_text("20", encoding="ascii")
        nearly = only(said_of_neighbours())
        equal("result", nearly["result"], "warning")
        contains("finding", nearly["finding"], "room for 20,", "entries")
        NEIGHBOURS_MOST.write_text("1", encoding="ascii")
        resolve(range(220, 240))
        full = only(said_of_neighbours())
    finally:
        NEIGHBOURS_MOST.write_text(before, encoding="ascii")
    equal("result", full["result"], "warning")
    contains("finding", full["finding"], "was full")
    contains("advice", full["advice"], "net.ipv4.neigh.default.gc_thresh3")


def what_bind_says(taken):
    try:
        taken.bind(("", PORT))
    except OSError as error:
        return errno_name(error.errno)
    return "bound"


def is_found_on_the_port():
    problem = only(problems(findings(4, status=PROBLEMS)))
    equal("check", problem["check"], "port")
    contains("finding", problem["finding"], f"port {PORT}", f"pid {os.getpid()}")
    contains("advice", problem["advice"], "collsock set port NUMBER, on all hosts")


@test
def the_doctor_finds_another_program_on_the_port():
    run(4, "set", "hold_port", "0")
    with on(4):
        taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # Time-wait entries keep the port open
    eventually("port taken", lambda: what_bind_says(taken), "bound")
    is_found_on_the_port()
    name = read_file("/proc/self/comm").strip()
    # The name of what keeps the ports of ranks in user space for them
    write_file("/proc/self/comm", "collsock run")
    try:
        is_found_on_the_port()
    finally:
        write_file("/proc/self/comm", name)
    taken.close()
    run(4, "set", "hold_port", "default")


if __name__ == "__main__":
    prepare()
    main()
