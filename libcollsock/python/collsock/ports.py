# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Ports of ranks in user space. A rank takes one that is free, before the ranks meet, at all
addresses of its host that others may choose; so nobody else can take it until the rank joins."""
from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Sequence

from .addresses import Address
from .request import Host

VARIABLE = "COLLSOCK_USER_PORTS"
USUAL = "7608-7871"
IN_USE = (errno.EADDRINUSE, errno.EACCES)


def port_range() -> range:
    """The ports that ranks of this host may take."""
    text = os.environ.get(VARIABLE) or USUAL
    named = re.fullmatch("([0-9]{1,5})-([0-9]{1,5})", text, re.ASCII)
    if not named or not 0 < int(named[1]) <= int(named[2]) <= 0xffff:
        raise OSError(errno.EINVAL, f"{VARIABLE} is {text!r}, not FIRST-LAST, of ports from 1 to "
                      "65535")
    return range(int(named[1]), int(named[2]) + 1)


def none_of(ports: range, error: int) -> OSError:
    """Why none of these can be taken."""
    if error == errno.EACCES:
        return OSError(error, f"cannot use UDP ports {ports[0]}-{ports[-1]} ({VARIABLE}): ports "
                       "below 1024 need root")
    return OSError(error, f"no UDP port of {ports[0]}-{ports[-1]} ({VARIABLE}) is free: name at "
                   "least one for each rank of its host")


def bound(address: Address, port: int) -> socket.socket | None:
    """A socket; None if the host has lost the address, or still checks it."""
    family = socket.AF_INET if address.address.version == 4 else socket.AF_INET6
    sock = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    try:
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((str(address.address), port))
    except OSError as failed:
        sock.close()
        if failed.errno == errno.EADDRNOTAVAIL:
            return None
        raise
    return sock


class Ports:
    """Sockets of one port, each bound to an address of the host."""

    def __init__(self) -> None:
        self.port = 0
        self._sockets: dict[str, socket.socket] = {}

    def __enter__(self) -> Ports:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Those that were not taken."""
        for sock in self._sockets.values():
            sock.close()
        self._sockets.clear()

    def reserve(self, addresses: Sequence[Address]) -> list[Address]:
        """Take a port; return the addresses that can be used. Ranks that begin together begin to
        look at different ports."""
        ports, error = port_range(), errno.EADDRINUSE
        for number in range(len(ports)):
            self.port = ports[(os.getpid() + number) % len(ports)]
            try:
                return self._bind(addresses)
            except OSError as failed:
                self.close()
                if failed.errno not in IN_USE:
                    raise
                error = failed.errno
        raise none_of(ports, error)

    def _bind(self, addresses: Sequence[Address]) -> list[Address]:
        """The same port at all addresses."""
        for address in addresses:
            sock = bound(address, self.port)
            if sock:
                self._sockets[str(address.address)] = sock
        found = [one for one in addresses if str(one.address) in self._sockets]
        if not found:
            raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
        return found

    def take(self, host: Host) -> int:
        """The socket of the address that was chosen, which is the caller's from now on."""
        return self._sockets.pop(host if isinstance(host, str) else host[0]).detach()
