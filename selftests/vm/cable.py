# SPDX-License-Identifier: GPL-2.0
"""A cable of its own between hosts 1 and 2, whose devices have no offload of a kind."""

import contextlib
import ctypes
import fcntl
import socket
import struct

from collsock_test import command, on

CHECKSUMS, SEGMENTATION = 0x17, 0x24  # ETHTOOL_STXCSUM, ETHTOOL_SGSO
SIOCETHTOOL = 0x8946
ENDS = 1, 2


def address_on_cable(host):
    return f"fd00:2::{host}"


@contextlib.contextmanager
def cable(offload):
    """Devices "cable" on both hosts, without this offload."""
    command("ip", "-n", "h1", "link", "add", "cable", "type", "veth", "peer", "name", "cable",
            "netns", "h2")
    try:
        for host in ENDS:
            command("ip", "-n", f"h{host}", "address", "add", f"{address_on_cable(host)}/64", "dev",
                    "cable", "nodad")
            command("ip", "-n", f"h{host}", "link", "set", "cable", "up")
            with on(host), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
                off = ctypes.create_string_buffer(struct.pack("@II", offload, 0))
                fcntl.ioctl(any_socket, SIOCETHTOOL,
                            struct.pack("@16sP16x", b"cable", ctypes.addressof(off)))
        yield
    finally:
        command("ip", "-n", "h1", "link", "delete", "cable")
