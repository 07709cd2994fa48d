# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Record of a rank: what it tells the others before they join.

Records have 512 bytes and begin with a version, as those of the library in C do, so that a rank
which uses another version, or that library, is recognised and named.
"""
from __future__ import annotations

import errno
import hmac
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Sequence
from typing import NamedTuple

from . import addresses
from .addresses import Address, Reach
from .error import CollectiveError, advice_for
from .layout import KEY_BYTES
from .ports import Ports

BYTES = 512
VERSION = 0xc0115005  # numbers have the byte order of the host, which is so checked, too
HEAD = struct.Struct("=IIIiQQ16s32sIHH")
ONE = struct.Struct("=HBB16s")
MOST_ADDRESSES = 8
MOST_ERROR = 4095
MOST_PORT = 0xffff

# Why a rank cannot join that has not tried yet
PREPARING = {
    errno.EINVAL: "COLLSOCK_BACKEND or COLLSOCK_USER_PORTS is wrong there, as its own error says",
    errno.EACCES: "no port of COLLSOCK_USER_PORTS may be used there, or no socket, as its own "
                  "error says",
    errno.EADDRINUSE: "no port is free there among COLLSOCK_USER_PORTS, as its own error says",
    errno.EADDRNOTAVAIL: "its host has no address that can be used: see ip address there",
}


class Record(NamedTuple):
    """error: 0, or the errno for which it cannot join. Id and key of rank 0 are used.

    fresh: drawn by each rank; the nonce of the group is made of all (nonce())

    port: of this rank alone, which is in user space; 0: it has the module
    host_port: what ranks with the module share, on all hosts; 0 in user space
    """

    rank: int
    ranks: int
    error: int = 0
    id: int = 0
    fresh: int = 0
    key: bytes = bytes(KEY_BYTES)
    host: bytes = bytes(32)
    port: int = 0
    addresses: Sequence[Address] = ()
    host_port: int = 0

    def pack(self) -> bytes:
        """As bytes."""
        head = HEAD.pack(VERSION, self.rank, self.ranks, self.error, self.id, self.fresh, self.key,
                         self.host, self.port, self.host_port, len(self.addresses))
        tail = (ONE.pack(socket.AF_INET if one.address.version == 4 else socket.AF_INET6,
                         one.prefix, one.reach, one.address.packed) for one in self.addresses)
        return (head + b"".join(tail)).ljust(BYTES, b"\0")


def number_of(failed: OSError | None) -> int:
    """What other ranks are told; 0: nothing has failed."""
    return (failed.errno or errno.EIO) if failed else 0


def own(rank: int, ranks: int, failed: OSError | None = None,
        ports: Ports | None = None, host_port: int = 0) -> tuple[Record, OSError | None]:
    """The record of this rank, and why it cannot join; rank 0 draws id and key. failed: why it
    cannot, before. ports: takes one, in user space. host_port: with the module"""
    host, found = bytes(32), []
    try:
        host, found = addresses.identity(), addresses.addresses()[:MOST_ADDRESSES]
        if ports:
            found = ports.reserve(found)
    except OSError as another:
        failed = failed or another
    if not found:
        failed = failed or OSError(errno.EADDRNOTAVAIL, PREPARING[errno.EADDRNOTAVAIL])
    mine = Record(rank, ranks, number_of(failed), fresh=drawn(), host=host,
                  port=ports.port if ports else 0, addresses=found, host_port=host_port)
    return mine if rank else mine._replace(id=drawn(), key=os.urandom(KEY_BYTES)), failed


def drawn() -> int:
    """A random number of 64 bits."""
    return int.from_bytes(os.urandom(8), sys.byteorder)


def nonce(key: bytes, answers: Sequence[bytes]) -> int:
    """The nonce of a group: a MAC of the records of its ranks, and so new if any of them is."""
    return int.from_bytes(hmac.digest(key, b"".join(answers), "sha256")[:8], "big")


def address_of(data: bytes, at: int) -> Address:
    """An address of a record; ValueError if it is none."""
    family, prefix, reach, packed = ONE.unpack_from(data, at)
    length = {socket.AF_INET: 4, socket.AF_INET6: 16}.get(family)
    if length is None or prefix > 8 * length:
        raise ValueError
    return Address(Reach(reach), ipaddress.ip_address(packed[:length]), prefix)


def parse(data: object, rank: int, ranks: int) -> Record:
    """The record of a rank; CollectiveError names the rank if it is none."""
    if not isinstance(data, (bytes, bytearray)) or len(data) != BYTES:
        raise strange(rank, f"sent no record of {BYTES} bytes: the exchange has to deliver what "
                      "each rank gave it")
    (version, its_rank, its_ranks, error, group, fresh, key, host, port, host_port,
     count) = HEAD.unpack_from(data)
    if version != VERSION:
        raise strange(rank, f"has another version of the package, or the library in C "
                      f"({version:#x}, here {VERSION:#x}): use the same on all ranks")
    if (its_rank, its_ranks) != (rank, ranks):
        raise strange(rank, f"says that it is rank {its_rank} of {its_ranks}, not {rank} of "
                      f"{ranks}: give each rank its number, and keep their order")
    try:
        found = [address_of(data, HEAD.size + at * ONE.size)
                 for at in range(min(count, MOST_ADDRESSES + 1))]
        if not 0 <= error <= MOST_ERROR or len(found) > MOST_ADDRESSES or \
                not (found or error) or port > MOST_PORT:
            raise ValueError
    except ValueError:
        raise strange(rank, "sent what no rank sends") from None
    return Record(rank, ranks, error, group, fresh, key, host, port, found, host_port)


def strange(rank: int, why: str) -> CollectiveError:
    """A record that cannot be used."""
    return CollectiveError(errno.EPROTO, f"rank {rank} {why}", rank)


def cannot_join(rank: int, error: int, advice: str | None = None) -> CollectiveError:
    """The error of a rank."""
    if error == errno.EBADMSG:
        return CollectiveError(error, f"rank {rank} did not get back what it gave to the exchange, "
                               "which must not alter anything", rank)
    why = advice or os.strerror(error)
    return CollectiveError(error, f"rank {rank} cannot join: {why}", rank)


def this_cannot_join(rank: int, failed: OSError) -> CollectiveError:
    """The error of this rank, which knows more than its number."""
    error = cannot_join(rank, number_of(failed), failed.strerror or str(failed))
    error.__cause__ = failed
    return error


def check(answers: Sequence[object], ranks: int, rank: int | None = None,
          failed: OSError | None = None) -> list[Record]:
    """The records of all ranks; CollectiveError names the first that prevents the group. failed:
    why this rank does"""
    if len(answers) != ranks:
        raise CollectiveError(errno.EPROTO, f"the exchange gave {len(answers)} records, not one "
                              f"for each of {ranks} ranks")
    records = [parse(data, rank, ranks) for rank, data in enumerate(answers)]
    for record in records:
        if failed and record.rank == rank and record.error == number_of(failed):
            raise this_cannot_join(rank, failed)
        if record.error:
            raise cannot_join(record.rank, record.error,
                              PREPARING.get(record.error) or advice_for(record.error))
    check_ports(records)
    return records


def check_ports(records: Sequence[Record]) -> None:
    """Ranks with the module have one port; else a CollectiveError names the first that differs."""
    shared = [record for record in records if record.host_port]
    for record in shared:
        if record.host_port != shared[0].host_port:
            raise CollectiveError(
                errno.EPROTO, f"rank {record.rank} has UDP port {record.host_port}, and rank "
                f"{shared[0].rank} {shared[0].host_port}: all hosts with the module must have the "
                "same (collsock get port there)", record.rank)
