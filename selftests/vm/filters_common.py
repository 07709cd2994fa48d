# SPDX-License-Identifier: GPL-2.0
"""Filters of control groups for packets, for the scenarios about them."""

import ctypes
import os
import pathlib
import platform
import struct

from collsock_test import Skipped

INGRESS, EGRESS, SOCK_CREATE = 0, 1, 2
PROG_LOAD, PROG_ATTACH, PROG_DETACH = 5, 8, 9
OF_PACKETS, OF_SOCKETS = 8, 9  # BPF_PROG_TYPE_CGROUP_SKB, _SOCK
DEVICE_AT, MARK_AT = 0, 16  # in struct bpf_sock
LOAD_BYTES = 26  # bpf_skb_load_bytes()
CGROUPS = pathlib.Path("/sys/fs/cgroup")
libc = ctypes.CDLL(None, use_errno=True)


def bpf(number, attributes):
    buffer = ctypes.create_string_buffer(attributes, 128)
    call = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    result = libc.syscall(call, number, buffer, len(buffer))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf({number}): {os.strerror(ctypes.get_errno())}")
    return result


def instruction(code, target=0, source=0, offset=0, value=0):
    return struct.pack("=BBhi", code, source << 4 | target, offset, value)


def load(code, kind=OF_PACKETS):
    memory = ctypes.create_string_buffer(code, len(code))
    name = ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, struct.pack("=IIQQ", kind, len(code) // 8,
                                      ctypes.addressof(memory), ctypes.addressof(name)))


REFUSE_ALL = instruction(0xb7, 0, value=0) + instruction(0x95)
ALLOW_ALL = instruction(0xb7, 0, value=1) + instruction(0x95)


def set_in_sockets(at, value):
    """Sets a field of each socket: r2 = value; *(u32 *)(r1 + at) = r2."""
    return load(instruction(0xb7, 2, value=value) + instruction(0x63, 1, 2, at) + ALLOW_ALL,
                OF_SOCKETS)


def deny_address(at, last_four):
    """As systemd's IPAddressDeny=: refuses packets with these bytes of an address there."""
    code = b"".join((
        # The stack is read even if the helper fails
        instruction(0x7a, 10, 0, -8, 0),                    # *(u64 *)(r10 - 8) = 0
        instruction(0xb7, 2, value=at),                     # r2 = at
        instruction(0xbf, 3, 10),                           # r3 = r10
        instruction(0x07, 3, value=-8),                     # r3 -= 8
        instruction(0xb7, 4, value=4),                      # r4 = 4
        instruction(0x85, value=LOAD_BYTES),                # load_bytes(r1, r2, r3, r4)
        instruction(0x61, 1, 10, -8),                       # r1 = *(u32 *)(r10 - 8)
        instruction(0xb7, 0, value=1),                      # r0 = 1
        instruction(0x56, 1, 0, 1, int.from_bytes(last_four, "little", signed=True)),
        instruction(0xb7, 0, value=0),                      # if (r1 == value) r0 = 0
        instruction(0x95)))                                 # return r0
    return load(code)


class ControlGroup:
    """A control group with programs that filter its packets."""

    def __init__(self, name):
        self.path = CGROUPS / name
        if not (CGROUPS / "cgroup.procs").exists():
            raise Skipped("no control groups here")
        self.path.mkdir(exist_ok=True)
        self.fd = os.open(self.path, os.O_RDONLY)
        self.attached = []

    def attach(self, program, direction):
        bpf(PROG_ATTACH, struct.pack("=IIII", self.fd, program, direction, 0))
        self.attached.append((program, direction))

    def detach(self):
        for program, direction in self.attached:
            bpf(PROG_DETACH, struct.pack("=IIII", self.fd, program, direction, 0))
        self.attached = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.detach()
        os.close(self.fd)
