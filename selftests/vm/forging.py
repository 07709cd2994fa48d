# SPDX-License-Identifier: GPL-2.0
"""Packets in plain bytes, and who sends them from anywhere: common code of the scenarios.

A packet is

  version 0, zero 1, source 4, destination 6, tag 8, descriptor 16, incarnation 20, known 24,
  epoch 28, type 32, ce 33, flags 34, done 36, credit 38, number 40, operation 48, segment 56,
  round 58, signature 59, operands, acknowledgment, payload, MAC (last 8)
"""

import socket
import struct
import subprocess

from collsock_test import MAC_NH_SIPHASH, PORT, equal, on

VERSION = 2
SMALLEST = 72
MESSAGE, ACKNOWLEDGMENT, GOODBYE, PROBE, ANSWER, MULTICAST = range(1, 7)
POSITION = 0x04  # in the second byte of the flags
TYPE, FLAGS, NUMBER, MAC_BYTES = 32, 34, 40, 8


def address(host):
    return f"10.1.0.{host}"


class Forger:
    """Sends UDP packets from a host as if they came from any other (selftests/fuzz/forger.c)."""

    RECORD = struct.Struct("=4s4sHHHHII")
    SEND, SAMPLE, SOURCE, DESTINATION, FORGE, FLOOD = range(6)

    def __init__(self, host):
        with on(host):
            self.process = subprocess.Popen(["build/fuzz/forger"], bufsize=0,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def tell(self, what, packet=b"", source=0, destination=0, port=PORT, amount=0, seed=0):
        self.process.stdin.write(self.RECORD.pack(
            socket.inet_aton(address(source)), socket.inet_aton(address(destination)), port,
            len(packet), what, 0, amount, seed) + packet)

    def send(self, packet, source, destination, port=PORT):
        self.tell(self.SEND, packet, source, destination, port)

    def forge(self, amount, packets, sources, destinations, seed):
        """Forge this number of these packets, none of them written by a member."""
        for source, destination, packet in packets:
            self.tell(self.SAMPLE, packet, source, destination)
        for source in sources:
            self.tell(self.SOURCE, source=source)
        for destination in destinations:
            self.tell(self.DESTINATION, destination=destination)
        self.tell(self.FORGE, amount=amount, seed=seed)

    def forged(self):
        """The number of packets, after they were sent."""
        return int(self.process.stdout.readline())

    def flood(self, packet, source, destination, interval_ns):
        """Send the packet at even intervals until close()."""
        self.tell(self.FLOOD, packet, source, destination, amount=interval_ns)

    def close(self):
        self.process.stdin.close()
        equal("exit status of the forger", self.process.wait(), 0)


# ---- the MAC ----

U64 = (1 << 64) - 1
LABEL_TAG, LABEL_MAC_LOW, LABEL_MAC_HIGH = 1, 2, 3
HEADER_BYTES, UNHASHED, BLOCK = 64, 80, 512


def rotated(value, bits):
    return (value << bits | value >> 64 - bits) & U64


def siphash_round(v):
    for a, b, c, d, first, second in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
        v[a] = v[a] + v[b] & U64
        v[b] = rotated(v[b], first) ^ v[a]
        v[a] = rotated(v[a], 32)
        v[c] = v[c] + v[d] & U64
        v[d] = rotated(v[d], second) ^ v[c]


def siphash(key, data):
    """SipHash-2-4 (Aumasson and Bernstein) of bytes, under a pair of numbers."""
    v = [key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
         key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573]
    tail = len(data) % 8
    last = data[len(data) - tail:] + bytes(7 - tail) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", data[:len(data) - tail] + last):
        v[3] ^= word
        siphash_round(v)
        siphash_round(v)
        v[0] ^= word
    v[2] ^= 255
    for _ in range(4):
        siphash_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def nh(key, block):
    """NH of at most 512 bytes, as 16 bytes."""
    words = [word for (word,) in struct.iter_unpack("<Q", block + bytes(-len(block) % 16))]
    keys = [siphash(key, struct.pack("!Q", number)) for number in range(len(words))]
    sums = [word + number & U64 for word, number in zip(words, keys)]
    total = sum(first * second for first, second in zip(sums[::2], sums[1::2]))
    return (total % (1 << 128)).to_bytes(16, "little")


def mac_of(key, head, algorithm=MAC_NH_SIPHASH):
    """The MAC of a packet, of what precedes it."""
    if algorithm == MAC_NH_SIPHASH and len(head) > UNHASHED:
        blocks = range(HEADER_BYTES, len(head), BLOCK)
        hashes = b"".join(nh(key, head[at:at + BLOCK]) for at in blocks)
        head = head[:HEADER_BYTES] + hashes + struct.pack("<I", len(head))
    return siphash(key, head)


def derived(key, id_, nonce, label):
    """One of the secrets of a group."""
    return siphash(struct.unpack("<2Q", key), struct.pack("!3Q", id_, nonce, label))


def sealed(packet, descriptor):
    """The packet with the MAC that a member of the group gives it."""
    fields = descriptor.fields
    low, high = (derived(fields["key"], fields["id"], fields["nonce"], label)
                 for label in (LABEL_MAC_LOW, LABEL_MAC_HIGH))
    head = packet[:-MAC_BYTES]
    return head + struct.pack("!Q", mac_of((low, high), head, fields.get("mac") or MAC_NH_SIPHASH))
