# SPDX-License-Identifier: GPL-2.0
"""One operation of a group, as it will be drawn."""

import dataclasses

from events import Unreadable, is_packet, place
from flights import Flight, flights_of


@dataclasses.dataclass
class Operation:
    """Times are in ns since the first post."""
    tag: str
    number: int
    post: dict  # fields of the first post
    hosts: list
    traced: set  # the hosts whose events are in a trace
    posts: list
    rounds: list
    completions: list
    flights: list[Flight]

    def ranks_of(self, host):
        return sorted(event.fields["rank"] for event in self.posts
                      if event.fields["host"] == host)

    def times(self):
        """All times at which something is drawn."""
        packets = [end for flight in self.flights for end in (flight.sent, flight.received)
                   if end]
        return sorted(event.at for event in (*self.posts, *self.rounds, *self.completions,
                                             *packets))


# ---- choosing an operation ----

def groups_of(events):
    """The operations that were posted, by group: number to (posts, completions)."""
    groups = {}
    for event in events:
        if event.name in ("post", "complete"):
            group = groups.setdefault(event.fields["tag"], {})
            counts = group.setdefault(event.fields["operation"], [0, 0])
            counts[event.name == "complete"] += 1
    if not groups:
        raise Unreadable("this trace has no post or completion of an operation")
    return groups


def span(numbers):
    return f"operations {min(numbers)} to {max(numbers)}" if len(numbers) > 1 else \
        f"operation {min(numbers)}"


def choose_group(groups, wanted):
    found = [tag for tag in groups if not wanted or tag.startswith(wanted.lower())]
    if len(found) == 1:
        return found[0]
    there = "".join(f"\n  {tag}  {span(groups[tag])}" for tag in (found or groups))
    if not found:
        raise Unreadable(f"no group {wanted} in the trace; it has:{there}")
    raise Unreadable(f"several groups are in the trace, choose one with --group:{there}")


def choose_number(tag, operations, wanted):
    """The given operation, or the first that was traced completely."""
    if wanted is not None:
        if wanted not in operations:
            raise Unreadable(f"no operation {wanted} of group {tag} is in the trace, but "
                             f"{span(operations)}")
        return wanted
    full = max(max(counts) for counts in operations.values())
    for number in sorted(operations):
        if operations[number] == [full, full]:
            return number
    raise Unreadable(f"no operation of group {tag} is in the trace from its first post to its "
                     f"last completion; --operation draws another, there are "
                     f"{span(operations)}")


# ---- collecting its events ----

def packet_numbers(messages):
    """For each direction between two hosts, the packets with messages of the operation."""
    numbers = {}
    for event in messages:
        direction = event.fields["source"], event.fields["destination"]
        numbers.setdefault(direction, set()).add(event.fields["packet"])
    return numbers


def belongs(flight, number, packets, begin, end):
    """Messages say of which operation they are, acknowledgments of which message; the rest
    is drawn if it is of its time."""
    fields = flight.fields
    if flight.type == "message":
        return fields["operation"] == number
    early = begin <= (flight.sent or flight.received).at <= end
    if flight.type == "acknowledgment":
        mine = packets.get((fields["destination"], fields["source"]))
        return mine is not None and (fields["ack"] >= min(mine) if early else
                                     fields["ack"] in mine)
    return early


def operation_of(events, tag, number):
    """Collect the operation; the times of the events become relative to its first post."""
    mine = [event for event in events if event.fields.get("tag") == tag]
    own = {name: [event for event in mine if event.name == name and
                  event.fields["operation"] == number]
           for name in ("post", "round", "complete")}
    messages = [event for event in mine if is_packet(event) and
                event.fields["type"] == "message" and event.fields["operation"] == number]
    begin = min(event.at for event in (*own["post"], *own["complete"], *messages))
    end = max(event.at for event in own["complete"] or messages or own["post"])
    packets = packet_numbers(messages)
    flights = [flight for flight in flights_of(mine)
               if belongs(flight, number, packets, begin, end)]
    hosts = {event.fields["host"] for events in own.values() for event in events}
    hosts.update(flight.fields[side] for flight in flights for side in ("source", "destination"))
    zero = own["post"][0].at if own["post"] else begin
    for event in mine:
        event.at -= zero
    return Operation(tag, number, own["post"][0].fields if own["post"] else {}, sorted(hosts),
                     {where[1] for where in map(place, mine) if where},
                     own["post"], own["round"], own["complete"], flights)


def choose(events, group, number):
    """The operation to draw."""
    groups = groups_of(events)
    tag = choose_group(groups, group)
    return operation_of(events, tag, choose_number(tag, groups[tag], number))
