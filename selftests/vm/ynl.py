#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=90 needs=HAVE_EFFICIENT_UNALIGNED_ACCESS
# suites: soak
"""The specification of the netlink family is correct: the kernel's own client works with it. It
cannot read attributes that pad numbers, which kernels need whose processors read no unaligned
ones."""

import pathlib
import socket
import subprocess
import sys

from collsock_test import PORT, Group, equal, eventually, main, member, on, outcome, test

TREE = pathlib.Path(__file__).resolve().parents[2]
SPEC = TREE / "Documentation/netlink/specs/collsock.yaml"


def client():
    ynl = subprocess.run([TREE / "tools/vm/ynl"], stdout=subprocess.PIPE, text=True,
                         check=True).stdout.strip()
    sys.path.insert(0, f"{ynl}/tools/net/ynl")
    from lib import YnlFamily  # pylint: disable=import-error,import-outside-toplevel
    with on(1):
        return YnlFamily(str(SPEC), f"{ynl}/Documentation/netlink/genetlink-legacy.yaml")


FAMILY = client()


@test
def tunables_are_read_and_set_by_the_specification():
    FAMILY.do("tunable-set", {"tunable": [{"name": "settle_us", "value": 12345}]})
    told = {row["name"]: row for row in FAMILY.do("tunable-get", {})["tunable"]}
    equal("settle_us", (told["settle_us"]["value"], told["settle_us"]["unit"]), (12345, "us"))
    FAMILY.do("tunable-set", {"tunable": [{"name": "settle_us", "reset": True}]})


@test
def all_objects_are_read_by_the_specification():
    group = Group([1, 2], id=7)
    for _ in range(3):
        group.barrier()
    group[0].post()
    group[1].post(send_flags=socket.MSG_DONTWAIT)
    (told,) = FAMILY.dump("group-get", {})
    equal("group", (told["id"], told["state"], told["stats"]["posted"]), (7, "running", 4))
    handle = told["handle"]
    equal("the same alone", FAMILY.do("group-get", {"handle": handle})["nonce"], told["nonce"])
    equal("hosts", [row["state"] for row in FAMILY.dump("host-get", {"group": handle})],
          ["self", "heard"])
    equal("ranks", [row["state"] for row in FAMILY.dump("rank-get", {"group": handle})],
          ["joined"])
    equal("peers", [row["host"] for row in FAMILY.dump("peer-get", {"group": handle})], [1])
    equal("port", FAMILY.do("net-get", {})["port"], PORT)
    equal("early packets", FAMILY.dump("early-packet-get", {}), [])
    for rank in group:
        rank.complete()


@test
def addresses_of_all_families_are_read_by_the_specification():
    for family, length in (socket.AF_INET, 4), (socket.AF_INET6, 16), (socket.AF_PACKET, 6):
        group = Group([1, 2], family)
        (told,) = [row for row in FAMILY.dump("group-get", {})
                   if row["nonce"] == group.descriptor.fields["nonce"]]
        equal("addresses", [row["address"] for row in
                            FAMILY.dump("host-get", {"group": told["handle"]})],
              [member(host, family)[-16:][:length] for host in (1, 2)])
        group.close()


@test
def missing_ranks_are_read_by_the_specification():
    group = Group([1, 2])
    group[0].post()

    def ends():
        (operation,) = FAMILY.dump("operation-get", {})
        (missing,) = operation["missing"]
        return operation["state"], missing["host"], missing.get("awaits-rank")

    eventually("operation", ends, ("running", 1, 1))
    group[1].run()


def heard(listener):
    """Events so far: a worker sends them."""
    listener.check_ntf()
    return [message["msg"]["event"] for message in listener.async_msg_queue]


@test
def ending_a_group_and_its_event_work_by_the_specification():
    # It is bound when it subscribes, so it cannot have sent a request before
    listener = client()
    listener.ntf_subscribe("events")
    group = Group([1, 2], id=8)
    (told,) = [row for row in FAMILY.dump("group-get", {}) if row["id"] == 8]
    group[0].post()
    FAMILY.do("group-end", {"handle": told["handle"]})
    equal("after that", outcome(group[0].complete()), "ECANCELED rank 0")
    for event in ("group-began", "group-failed", "operation-failed"):
        eventually(f"{event} heard", lambda name=event: name in heard(listener), True)


if __name__ == "__main__":
    main()
