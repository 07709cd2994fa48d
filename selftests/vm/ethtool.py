# SPDX-License-Identifier: GPL-2.0
"""What ethtool(8) sets of a network device, for tests; it need not be installed.

    python3 ethtool.py DEVICE rx-usecs MICROSECONDS
"""

import ctypes
import fcntl
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
GCOALESCE, SCOALESCE, STSO, SGRO = 0x0e, 0x0f, 0x1f, 0x2c
COALESCE = struct.Struct("=23I")
RX_USECS = 1  # number of the field


def request(device, data):
    """Of the device in this thread's namespace; returns the answer."""
    memory = ctypes.create_string_buffer(data, len(data))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL,
                    struct.pack("@16sP16x", device.encode(), ctypes.addressof(memory)))
    return memory.raw


def switch(device, command, on):
    request(device, struct.pack("=II", command, on))


def delay_interrupts(device, microseconds):
    fields = list(COALESCE.unpack(request(device, COALESCE.pack(GCOALESCE, *[0] * 22))))
    fields[0], fields[RX_USECS] = SCOALESCE, microseconds
    request(device, COALESCE.pack(*fields))


if __name__ == "__main__":
    name, what, value = sys.argv[1:]
    assert what == "rx-usecs", what
    delay_interrupts(name, int(value))
