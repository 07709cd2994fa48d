#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=60
# suites: check debug soak
"""UDP packets over IPv6 carry a checksum (RFC 8200, 8.1), and those without are refused."""

import contextlib
import ctypes
import fcntl
import socket
import statistics
import struct

from collsock_test import (
    PORT, Descriptor, Failed, Group, Sniffer, at_least, barrier, command, equal, eventually,
    integers, main, on, rank_on, read_file, test, work)
from forging import VERSION

HOSTS = 1, 2
TAG = slice(8, 16)  # of a packet
SIOCETHTOOL, ETHTOOL_STXCSUM, IPV6_HDRINCL = 0x8946, 0x17, 36


def pseudo_header(source, destination, bytes_):
    return source + destination + struct.pack("!IHBB", bytes_, 0, 0, socket.IPPROTO_UDP)


def checksum(data):
    """RFC 1071."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def udp_packet(source, destination, payload):
    """An IPv6 packet without a checksum, and the one that it should have."""
    ends = [socket.inet_pton(socket.AF_INET6, f"fd00:1::{host}") for host in (source, destination)]
    udp = struct.pack("!HHHH", PORT, PORT, 8 + len(payload), 0) + payload
    head = struct.pack("!IHBB", 6 << 28, len(udp), socket.IPPROTO_UDP, 64) + b"".join(ends)
    return head + udp, checksum(pseudo_header(*ends, len(udp)) + udp) or 0xffff


# The first of all: nobody has the port yet
@test
def an_ordinary_socket_receives_packets_over_ipv6():
    with on(2):
        receiver = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    receiver.bind(("fd00:1::2", PORT))
    receiver.settimeout(10)
    rank = rank_on(1)
    rank.join(Descriptor(HOSTS, socket.AF_INET6), 0)
    rank.post()
    try:
        payload, sender = receiver.recvfrom(1 << 16)
    except TimeoutError as error:
        raise Failed("no packet came") from error
    finally:
        receiver.close()
    equal("its sender", sender[:2], ("fd00:1::1", PORT))
    equal("its version", payload[0], VERSION)


@contextlib.contextmanager
def cable():
    """A device "cable" on both hosts, for which the sender computes checksums."""
    command("ip", "-n", "h1", "link", "add", "cable", "type", "veth", "peer", "name", "cable",
            "netns", "h2")
    try:
        for host in HOSTS:
            command("ip", "-n", f"h{host}", "address", "add", f"fd00:2::{host}/64", "dev", "cable",
                    "nodad")
            command("ip", "-n", f"h{host}", "link", "set", "cable", "up")
            with on(host), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
                off = ctypes.create_string_buffer(struct.pack("@II", ETHTOOL_STXCSUM, 0))
                fcntl.ioctl(any_socket, SIOCETHTOOL,
                            struct.pack("@16sP16x", b"cable", ctypes.addressof(off)))
        yield
    finally:
        command("ip", "-n", "h1", "link", "delete", "cable")


@test
def every_packet_over_ipv6_has_a_right_checksum():
    with cable():
        sniffers = [Sniffer(host, "cable") for host in HOSTS]
        descriptor = Descriptor([f"fd00:2::{host}" for host in HOSTS], socket.AF_INET6)
        ranks = [rank_on(host) for host in HOSTS]
        for number, rank in enumerate(ranks):
            rank.join(descriptor, number)
        for number in range(work(10)):
            elements = 1 + number % 10 * 7
            barrier(ranks)
            for rank in ranks:
                rank.post(integers(*range(elements)))
            for rank in ranks:
                equal("sums", rank.complete().result, integers(*range(0, 2 * elements, 2)))
        packets = [packet for sniffer in sniffers for outgoing, packet, _ in sniffer.packets()
                   if outgoing]
        for rank in ranks:
            rank.close()
    at_least("packets", len(packets), 4 * work(10))
    for packet in packets:
        udp = packet[40:]
        at_least("the checksum", struct.unpack_from("!H", udp, 6)[0], 1)
        equal("the sum over it", checksum(
            pseudo_header(packet[8:24], packet[24:40], len(udp)) + udp), 0)


def checksum_errors(host):
    with on(host):
        lines = read_file("/proc/thread-self/net/snmp6").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("Udp6InCsumErrors")))


@test
def a_wrong_checksum_and_none_are_refused():
    sniffer, group, watcher = Sniffer(1), Group(HOSTS, socket.AF_INET6), rank_on(2)
    for _ in range(10):
        group.barrier()
    sent = [payload for outgoing, _, payload in sniffer.packets() if outgoing]
    # An earlier group may still answer: most are of this one
    tag = statistics.mode(payload[TAG] for payload in sent)
    payload = bytearray(next(payload for payload in sent if payload[TAG] == tag))
    payload[-1] ^= 1
    packet, right = udp_packet(1, 2, bytes(payload))
    with on(3):
        forger = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
    forger.setsockopt(socket.IPPROTO_IPV6, IPV6_HDRINCL, 1)

    def send(value):
        forger.sendto(packet[:46] + struct.pack("!H", value) + packet[48:], ("fd00:1::2", 0))

    before, errors = watcher.net_stats(), checksum_errors(2)
    for number, wrong in enumerate((right ^ 1, 0), 1):
        send(wrong)
        eventually("checksum errors", lambda: checksum_errors(2) - errors, number)
    send(right)
    eventually("forgeries", lambda: watcher.net_stats().forged - before.forged, 1)
    forger.close()
    group.barrier()


main()
