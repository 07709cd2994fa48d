#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=13 limit=120 smp=2
# suites: check rt soak
"""Under loss, reordering and repetition every result is right and none is early.

The latency is printed beside that of a model: the same schedules, each message
lost with the same probability, sent again after the initial time-out and then
after twice the time, up to the ceiling. Processing and wake-ups take no time in
the model; here they do, so what is measured without loss is added to it.
"""

from collsock_test import (
    SOAK, Group, at_least, at_most, equal, main, netem, seeded, test_each, work)
from mixed_load import MixedLoad, percentile

SIZES = (2, 3, 5, 8, 13) if SOAK > 1 else (2, 13)
HOSTS = range(1, max(SIZES) + 1)
LOSSES = 0, 5, 20
AMOUNT = 60  # operations, in a check
MORE = {2: 4}  # times as many, since two hosts send so few packets that perhaps none is lost
DELAY_MS, JITTER_MS = 1, 0.5
RTO_MS, CEILING_MS = 10, 100
ROOM = 10  # times the model's latency is accepted


# ---- the model ----

def dissemination(size):
    distance = 1
    while distance < size:
        yield [(host, (host + distance) % size) for host in range(size)]
        distance *= 2


def pairwise_exchange(size):
    """Uses the natural numbering, which has the same times."""
    partners = 1 << (size.bit_length() - 1)
    extra = size - partners
    if extra:
        yield [(partners + host, host) for host in range(extra)]
    distance = 1
    while distance < partners:
        yield [(host, host ^ distance) for host in range(partners)]
        distance *= 2
    if extra:
        yield [(host, partners + host) for host in range(extra)]


def crossing_ms(chance, loss):
    """The time until a message reaches the other side."""
    waited, timeout = 0, RTO_MS
    while chance.random() * 100 < loss:
        waited += timeout
        timeout = min(2 * timeout, CEILING_MS)
    return waited + chance.gauss(DELAY_MS, JITTER_MS / 2)


def model_ms(chance, size, loss):
    """The duration of one operation that all hosts post at the same time."""
    algorithm = chance.choice((dissemination, pairwise_exchange, pairwise_exchange))
    at = [0] * size
    for edges in algorithm(size):
        begin = list(at)
        for source, destination in edges:
            at[destination] = max(at[destination], begin[source] + crossing_ms(chance, loss))
    return max(at)


# ---- measurement ----

def latency_ms(size, count, chance):
    """Checks the results of the load, and returns the 99th percentile of its latency."""
    group = Group(range(1, size + 1))
    load = MixedLoad(group, count, chance).run()
    for number, rank in enumerate(group):
        stats = rank.stats()
        equal(f"operations of rank {number} that completed and failed",
              (stats.completed, stats.failed), (count, 0))
        equal(f"packets without sense at rank {number}", stats.invalid, 0)
    repeated = sum(rank.stats().retransmits for rank in group)
    received_again = sum(rank.stats().duplicates for rank in group)
    group.close()
    return percentile(load.latencies_ns, 0.99) / 1e6, repeated, received_again


present_loss = None
without_loss_ms = {}


def let_lose(loss):
    """The packets of every host are delayed, reordered, repeated and lost."""
    global present_loss  # pylint: disable=global-statement
    if present_loss != loss:
        netem(HOSTS, "delay", f"{DELAY_MS}ms", f"{JITTER_MS}ms", "reorder", "10%",
              "duplicate", "10%", "loss", f"{loss}%")
        present_loss = loss


@test_each(*((loss, size) for loss in LOSSES for size in SIZES))
def every_result_is_right_and_none_is_early(loss, size):
    chance = seeded("loss", loss, size)
    let_lose(loss)
    real, repeated, received_again = latency_ms(size, work(AMOUNT) * MORE.get(size, 1), chance)
    model = percentile([model_ms(chance, size, loss) for _ in range(1000)], 0.99)
    print(f"# {loss} % loss, {size} hosts: 99 % of latencies up to {real / RTO_MS:.2f} time-outs,"
          f" of the model's up to {model / RTO_MS:.2f};"
          f" sent again {repeated}, received again {received_again}")
    if not loss:
        without_loss_ms[size] = real
        return
    at_most("latency in milliseconds", real, ROOM * (model + without_loss_ms[size]))
    at_least("messages sent again", repeated, 1)


main()
