# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Ranks meet by an exchange: which hosts they are on, and by which addresses these talk."""
from __future__ import annotations

import errno
import itertools
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import record
from .addresses import Address, Reach
from .error import CollectiveError, advice_for
from .ports import Ports
from .record import Record
from .request import Host

# An allgather: gets bytes, and returns those of all ranks, in their order
Exchange = Callable[[bytes], Sequence[bytes]]

OUTCOME = struct.Struct("=II")


class Told(NamedTuple):
    """The records of all ranks, and the nonce that follows from them.

    failed: EBADMSG if this rank's is not what it gave to the exchange: all may be of a former run
    """

    records: list[Record]
    nonce: int
    failed: OSError | None


def tell(exchange: Exchange, rank: int, ranks: int, failed: OSError | None = None,
         ports: Ports | None = None, host_port: int = 0) -> Told:
    """What all ranks tell. failed: why this one cannot join. ports: in user space; host_port: with
    the module"""
    if not 0 <= rank < ranks:
        raise ValueError(f"rank is {rank}, not 0 to {ranks - 1}")
    own, failed = record.own(rank, ranks, failed, ports, host_port)
    mine = own.pack()
    answers = exchange(mine)
    records = record.check(answers, ranks, rank, failed)
    return Told(records, record.nonce(records[0].key, answers),
                record.cannot_join(rank, errno.EBADMSG) if answers[rank] != mine else None)


def tell_outcome(exchange: Exchange, rank: int, records: Sequence[Record],
                 failed: OSError | None) -> None:
    """Has any rank failed to join? Then the group can do nothing, and all ranks say which. failed:
    why this one has"""
    ranks, mine = len(records), OUTCOME.pack(record.VERSION, record.number_of(failed))
    answers = exchange(mine)
    if len(answers) != ranks:
        raise CollectiveError(errno.EPROTO, f"the exchange gave {len(answers)} outcomes, not "
                              f"{ranks}")
    if answers[rank] != mine:
        raise record.cannot_join(rank, errno.EBADMSG)
    for other, answer in enumerate(answers):
        if len(answer) != OUTCOME.size or OUTCOME.unpack(answer)[0] != record.VERSION:
            raise record.strange(other, "sent what no rank sends")
        error = OUTCOME.unpack(answer)[1]
        if error and other == rank and failed and error != errno.EBADMSG:
            raise record.this_cannot_join(rank, failed)
        if error:
            raise record.cannot_join(other, error, advice_for(error, records[other].port > 0))


def hosts_of(records: Sequence[Record]) -> list[Host]:
    """The address of each rank's host; the same on all ranks, as it follows from the records. A
    rank in user space is a host by itself, with its port."""
    lowest: dict[tuple[bytes, int], Record] = {}
    for one in records:
        lowest.setdefault((one.host, one.port), one)
    chosen = dict(zip(lowest, choose(list(lowest.values()))))
    addresses = [str(chosen[one.host, one.port].address) for one in records]
    ports = [one.port or one.host_port for one in records]
    return [(address, port) if port else address for address, port in zip(addresses, ports)]


def choose(hosts: Sequence[Record]) -> list[Address]:
    """An address of each host, in one network if there is one, else in any of a family."""
    if len(hosts) == 1:
        return [hosts[0].addresses[0]]
    if len({host.host for host in hosts}) == 1:
        shared = [one for one in hosts[0].addresses
                  if all(one in host.addresses for host in hosts)]
        if shared:  # loopback is the last
            return [shared[-1 if shared[-1].reach == Reach.HOST else 0]] * len(hosts)
    for reach, shares in itertools.product((Reach.NETWORK, Reach.BRIDGE, Reach.UNPLUGGED),
                                           (Address.shares_network, Address.shares_family)):
        for network in usable(hosts[0], reach):
            found = [first_in(host, reach, lambda other: shares(network, other)) for host in hosts]
            if all_differ(hosts, found):
                return [one for one in found if one]
    raise CollectiveError(errno.EADDRNOTAVAIL, "the hosts have no addresses of one family by "
                          "which they can reach each other: see ip address on each")


def usable(host: Record, reach: Reach) -> list[Address]:
    """Its addresses that have at least this reach."""
    return [one for one in host.addresses if one.reach <= reach]


def first_in(host: Record, reach: Reach, is_there: Callable[[Address], bool]) -> Address | None:
    """The first of these that is there."""
    return next((one for one in usable(host, reach) if is_there(one)), None)


def all_differ(hosts: Sequence[Record], found: Sequence[Address | None]) -> bool:
    """Has each machine one of its own? Those of containers may be the same everywhere. Hosts of one
    machine have different ports."""
    machines: dict[object, bytes] = {}
    return all(one and machines.setdefault(one.address, host.host) == host.host
               for host, one in zip(hosts, found))
