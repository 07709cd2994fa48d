# SPDX-License-Identifier: GPL-2.0
"""A load of mixed operations whose results are known beforehand.

One process holds all ranks, posts in random order with several operations
outstanding, and checks each operation when its last completion has arrived: the
result is right in every bit at every rank, and no completion is earlier than
the last post (all hosts share CLOCK_MONOTONIC).
"""

import math
import operator
import select
import socket
import struct
import time

import arithmetic
from collsock_test import (ALLREDUCE, AUTO, BARRIER, DEFAULT_SEGMENT, DISSEMINATION, DOUBLE, INT64,
                           MAX, MIN, NOP, NONE, EXCHANGE, SUM, UINT64, Failed, at_least, at_most,
                           equal, outcome)

MOST_ELEMENTS = 132  # of 8 bytes: one segment
MASK = (1 << 64) - 1
QUIET, NOT_A_NUMBER = 1 << 51, 0x7ff8 << 48


def fold(values, operate):
    """Fold in the order common to all ranks: neighbours first, the lower on the left."""
    partners = 1 << (len(values).bit_length() - 1)
    extra = len(values) - partners
    values = [operate(values[2 * i], values[2 * i + 1]) for i in range(extra)] + \
        values[2 * extra:]
    while len(values) > 1:
        values = [operate(values[i], values[i + 1]) for i in range(0, len(values), 2)]
    return values[0]


# ---- doubles, as bits ----

def bits(number):
    return struct.unpack("=Q", struct.pack("=d", number))[0]


def number_of(pattern):
    return struct.unpack("=d", struct.pack("=Q", pattern))[0]


def double_operate(op, left, right):
    """The first NaN wins, quieted; -0 is less than 0."""
    for pattern in (left, right):
        if math.isnan(number_of(pattern)):
            return pattern | QUIET
    numbers = number_of(left), number_of(right)
    if op == SUM:
        total = bits(numbers[0] + numbers[1])
        return NOT_A_NUMBER if math.isnan(number_of(total)) else total

    def rank(pattern):
        return number_of(pattern), -(pattern >> 63)
    return min(left, right, key=rank) if op == MIN else max(left, right, key=rank)


SPECIAL_DOUBLES = (0, 1 << 63, 1, 1 << 63 | 1, (1 << 52) - 1, 1 << 52, bits(1.0), bits(-1.0),
                   bits(1.5e308), bits(-1.5e308), bits(math.inf), bits(-math.inf),
                   NOT_A_NUMBER, NOT_A_NUMBER | 7, 0x7ff0 << 48 | 5, 1 << 63 | NOT_A_NUMBER | 3)


# ---- operations ----

class Operation:
    """The posts of one operation, and the expected results."""

    def __init__(self, chance, ranks, number):
        self.number = number
        self.posted, self.completions = [None] * ranks, [None] * ranks
        if chance.randrange(3) == 0:
            self.fields = {"operation": BARRIER, "type": NONE, "op": NOP,
                           "algorithm": chance.choice((AUTO, DISSEMINATION, EXCHANGE))}
            self.payloads, self.expected = [b""] * ranks, b""
            return
        if chance.randrange(2):
            self.draw_reduction(chance, ranks)
            return
        count = chance.choice((1, 1, 2, chance.randint(1, MOST_ELEMENTS), MOST_ELEMENTS))
        self.fields = {"operation": ALLREDUCE, "type": chance.choice((INT64, UINT64, DOUBLE)),
                       "op": chance.choice((SUM, MIN, MAX)), "count": count,
                       "algorithm": chance.choice((AUTO, EXCHANGE))}
        form, values, operate = self.data(chance, ranks, count)
        result = fold(values, lambda left, right: list(map(operate, left, right)))
        if form == "q":
            form, result = "Q", [value & MASK for value in result]
            self.payloads = [struct.pack(f"={count}q", *one) for one in values]
        else:
            result = [value & MASK for value in result] if form == "Q" else result
            self.payloads = [struct.pack(f"={count}{form}", *one) for one in values]
        self.expected = struct.pack(f"={count}{form}", *result)

    def draw_reduction(self, chance, ranks):
        """Any operator of any type, on a few elements."""
        type_, op = chance.choice(arithmetic.REDUCTIONS)
        count = chance.randint(1, min(5, DEFAULT_SEGMENT // arithmetic.element_bytes(type_)))
        self.fields = {"operation": ALLREDUCE, "type": type_, "op": op, "count": count,
                       "algorithm": chance.choice((AUTO, EXCHANGE))}
        values = [[arithmetic.draw(type_, chance) for _ in range(count)] for _ in range(ranks)]
        self.payloads = [arithmetic.pack(type_, one) for one in values]
        self.expected = arithmetic.pack(type_, [
            fold(list(column), lambda a, b: arithmetic.operate(type_, op, a, b))
            for column in zip(*values)])

    def data(self, chance, ranks, count):
        """Format, values of all ranks, and the operator."""
        type_, op = self.fields["type"], self.fields["op"]
        plain = {SUM: operator.add, MIN: min, MAX: max}[op]
        if type_ == INT64:
            return "q", [[chance.getrandbits(64) - (1 << 63) for _ in range(count)]
                         for _ in range(ranks)], plain
        if type_ == UINT64:
            return "Q", [[chance.getrandbits(64) for _ in range(count)]
                         for _ in range(ranks)], plain
        if count <= 2:
            return "Q", [[chance.choice(SPECIAL_DOUBLES) for _ in range(count)]
                         for _ in range(ranks)], lambda a, b: double_operate(op, a, b)
        return "d", [[chance.uniform(-1, 1) * 10.0 ** chance.randint(-12, 12)
                      for _ in range(count)] for _ in range(ranks)], plain

    def __str__(self):
        return f"operation {self.number} of {len(self.posted)} ranks, {self.fields}"

    def judge(self):
        """All completions have arrived; returns the time of the last one, in ns."""
        last = max(self.posted)
        for rank, completion in enumerate(self.completions):
            equal(f"rank {rank} in {self}", outcome(completion), "success")
            equal(f"result of rank {rank} in {self}", completion.result, self.expected)
            at_least(f"end at rank {rank} in {self}", completion.completed_ns, last)
        return max(completion.completed_ns for completion in self.completions) - last


class MixedLoad:
    """Run this number of operations on a group; latencies_ns has one for each."""

    def __init__(self, group, amount, chance, outstanding=4):
        self.group, self.amount, self.chance = group, amount, chance
        self.outstanding = outstanding
        self.operations = {}
        self.latencies_ns = []
        self.posted, self.done = [0] * len(group), [0] * len(group)

    def operation(self, number):
        if number not in self.operations:
            self.operations[number] = Operation(self.chance, len(self.group), number)
        return self.operations[number]

    def post(self, rank):
        """The next operation of a rank; False if the window is full."""
        operation = self.operation(self.posted[rank])
        before = time.monotonic_ns()
        try:
            self.group[rank].post(operation.payloads[rank], socket.MSG_DONTWAIT,
                                  cookie=operation.number, **operation.fields)
        except BlockingIOError:
            return False
        operation.posted[rank] = before
        self.posted[rank] += 1
        return True

    def complete(self, rank):
        after = time.monotonic_ns()
        completion = self.group[rank].complete(socket.MSG_DONTWAIT)
        operation = self.operations.get(completion.cookie)
        if not operation:
            raise Failed(f"rank {rank}: the group has ended: {outcome(completion)}")
        at_least(f"time of the post of rank {rank}", completion.posted_ns,
                 operation.posted[rank])
        at_most(f"time of the end at rank {rank}", completion.completed_ns, after)
        operation.posted[rank] = completion.posted_ns
        operation.completions[rank] = completion
        self.done[rank] += 1
        if all(operation.completions):
            self.latencies_ns.append(operation.judge())
            del self.operations[completion.cookie]

    def willing(self):
        return [rank for rank, posted in enumerate(self.posted)
                if posted < self.amount and posted - self.done[rank] < self.outstanding]

    def run(self):
        epoll = select.epoll()
        ranks = {rank.fileno(): number for number, rank in enumerate(self.group)}
        for fd in ranks:
            epoll.register(fd, select.EPOLLIN)
        while len(self.latencies_ns) < self.amount:
            willing = self.willing()
            room = bool(willing) and self.post(self.chance.choice(willing))
            for fd, _ in epoll.poll(0 if room else 0.005):
                self.complete(ranks[fd])
        epoll.close()
        return self


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
