# SPDX-License-Identifier: GPL-2.0
"""Frames with other addresses, for scenarios in which a stranger sends them."""

import socket
import struct

IPV4, IPV6 = 0x0800, 0x86dd
HEADER = 14  # of Ethernet


def checksum(data):
    """The Internet checksum"""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data[:len(data) & ~1]))
    total += data[-1] << 8 if len(data) & 1 else 0
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def addressed4(packet, source, target):
    head = packet[:10] + b"\0\0" + (source or packet[12:16]) + (target or packet[16:20])
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + packet[20:]


def addressed6(packet, source, target):
    ends = (source or packet[8:24]) + (target or packet[24:40])
    udp = packet[40:46] + b"\0\0" + packet[48:]
    total = checksum(ends + struct.pack("!II", len(udp), socket.IPPROTO_UDP) + udp)
    return packet[:8] + ends + udp[:6] + struct.pack("!H", total or 0xffff) + udp[8:]


def addressed(frame, target_mac=None, source_mac=None, source=None, target=None):
    """The same frame from and to other addresses, of Ethernet and of IP, if it has some"""
    ethertype, = struct.unpack("!H", frame[12:HEADER])
    head = (target_mac or frame[:6]) + (source_mac or frame[6:12]) + frame[12:HEADER]
    rewrite = {IPV4: addressed4, IPV6: addressed6}.get(ethertype)
    packet = frame[HEADER:]
    return head + (rewrite(packet, source, target) if rewrite else packet)
