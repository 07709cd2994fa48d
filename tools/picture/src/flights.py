# SPDX-License-Identifier: GPL-2.0
"""Flights: matches received packets with sent ones."""

import dataclasses

from events import Event, is_packet

# Fields that a retransmission shares with the original, and a drop with its packet
MESSAGE = ("source", "destination", "type", "operation", "segment", "round")
DROPPED = MESSAGE + ("packet",)
PACKET = DROPPED + ("ack", "bytes")


def key(event, names):
    return tuple(event.fields.get(name) for name in names)


@dataclasses.dataclass
class Flight:
    """A packet in flight; parts that were not traced are None."""
    sent: Event | None
    received: Event | None
    again: bool = False
    dropped: str = ""

    @property
    def fields(self):
        return (self.sent or self.received).fields

    @property
    def type(self):
        return self.fields["type"]


def pair(sends, receipts):
    """Pair identical packets: in order, with the shortest possible time in flight.

    Mostly there is one of them. But a host that has left answers a packet that arrives
    twice with the same packet, and one that joins again numbers from 1 again.
    """
    pairs, left = [], list(sends)
    for receipt in reversed(receipts):
        before = [send for send in left if send.at <= receipt.at]
        if before:
            send = before[-1]
        elif left:
            send = left[-1]  # clocks differ slightly
        else:
            # The network has duplicated it
            pairs.append((next((send for send in reversed(sends) if send.at <= receipt.at),
                               None), receipt))
            continue
        pairs.append((send, receipt))
        left = left[:left.index(send)]
    seen = {id(send) for send, _ in pairs}
    pairs.extend((send, None) for send in sends if id(send) not in seen)
    return pairs


def repetitions(events):
    """Identities of the packets that the core has traced as retransmitted."""
    announced, found = set(), set()
    for event in events:
        if event.name == "message_again":
            announced.add((event.clock, *key(event, MESSAGE)))
        elif event.name == "packet_sent":
            identity = (event.clock, *key(event, MESSAGE))
            if identity in announced:
                announced.remove(identity)
                found.add(id(event))
    return found


def refusals(events):
    """Reasons why received packets were dropped, by identity of the receipt."""
    latest, reasons = {}, {}
    for event in events:
        identity = (event.clock, *key(event, DROPPED))
        if event.name == "packet_received":
            latest[identity] = event
        elif event.name == "packet_dropped" and identity in latest:
            reasons[id(latest.pop(identity))] = event.fields["reason"]
    return reasons


def flights_of(events):
    """All packets of one group's events, in the order in which they were sent."""
    alike = {}
    for event in filter(is_packet, events):
        sends, receipts = alike.setdefault(key(event, PACKET), ([], []))
        (sends if event.name == "packet_sent" else receipts).append(event)
    again, reasons = repetitions(events), refusals(events)
    flights = [Flight(send, receipt, id(send) in again, reasons.get(id(receipt), ""))
               for sends, receipts in alike.values() for send, receipt in pair(sends, receipts)]
    return sorted(flights, key=lambda flight: (flight.sent or flight.received).at)
