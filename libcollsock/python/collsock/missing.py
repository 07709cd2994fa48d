# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Ranks that an operation waits for, as this host's kernel knows them (`collsock wait`)."""
from __future__ import annotations

import enum
import struct
import sys
import time

from . import user
from .lists import Kind
from .netlink import GENERIC, Answer, Netlink, answers_in, attribute, attributes, number

GROUP_GET, RANK_GET, OPERATION_GET = 4, 7, 9
HOST_UNKNOWN, HOST_UNHEARD, HOST_LEFT, HOST_DEAD = 0, 2, 4, 5
RUNNING = 1
ROOT_CONTRIBUTES = (Kind.BROADCAST, Kind.SCATTER)
PREFIXES = (Kind.SCAN, Kind.EXSCAN)

# A kernel that is asked too often lets its reader wait, and must not delay a time-out for long.
MOST_SECONDS = 1
# A host that has not answered for this fraction of the liveness time is silent.
SILENCE_OF_LIVENESS = 8


class GroupAttribute(enum.IntEnum):
    """Attributes of a group."""

    HANDLE = 1
    ID = 2
    NONCE = 3
    HOST = 9
    LIVENESS_MS = 18


class RankAttribute(enum.IntEnum):
    """Attributes of a rank."""

    GROUP = 1
    RANK = 2
    NEXT = 4


class OperationAttribute(enum.IntEnum):
    """Attributes of an operation."""

    GROUP = 1
    NUMBER = 2
    STATE = 3
    KIND = 4
    ROOT = 8
    MISSING_RANK = 13
    MISSING = 14


class MissingAttribute(enum.IntEnum):
    """Attributes of a host whose message an operation misses."""

    HOST = 1
    STATE = 2
    RANK = 3
    SILENT_MS = 5
    AWAITS_HOST = 6
    AWAITS_RANK = 7
    AWAITS_REPORTED = 11


def ranks_missing(group_id: int, nonce: int) -> dict[int, str] | None:
    """{rank: why} of the oldest operation that waits; None if the kernel does not tell.

    Ranks of this host that have not posted, else where the chains of waits of other hosts end.
    """
    try:
        with Netlink(GENERIC, time.monotonic() + MOST_SECONDS) as netlink:
            family = netlink.collsock_family()
            group = find_group(list(netlink.dump(family, GROUP_GET)), group_id, nonce)
            if group is None:
                return None
            handle = group[GroupAttribute.HANDLE][0]
            answers = list(netlink.dump(family, OPERATION_GET,
                                        attribute(OperationAttribute.GROUP, handle)))
    except OSError:
        return None
    return awaited_by_oldest(answers, group)


def ranks_missing_in_user_space(group_id: int, nonce: int, rank: int) -> dict[int, str] | None:
    """The same of a rank of this process, as all processes of this user on this machine know."""
    try:
        return ranks_missing_in(user.report(), group_id, nonce, rank)
    except (OSError, LookupError, struct.error):  # a process reports what is none
        return None


def ranks_missing_in(report: bytes, group_id: int, nonce: int, rank: int) -> dict[int, str] | None:
    """The same, in a report."""
    groups = {group[GroupAttribute.HANDLE][0]: group for group in answers_in(report, GROUP_GET)
              if find_group([group], group_id, nonce)}
    here = {number(answer, RankAttribute.RANK): answer for answer in answers_in(report, RANK_GET)
            if answer[RankAttribute.GROUP][0] in groups}
    if rank not in here:
        return None
    handle = here[rank][RankAttribute.GROUP][0]
    answers = [answer for answer in answers_in(report, OPERATION_GET)
               if answer[OperationAttribute.GROUP][0] == handle]
    posts = {other: number(answer, RankAttribute.NEXT) or 0 for other, answer in here.items()
             if other is not None}
    return late_here(answers, posts, rank) or \
        awaited_by_oldest(answers, groups[handle], posts)


def late_here(answers: list[Answer], posts: dict[int, int], rank: int) -> dict[int, str]:
    """Ranks of this machine that have not posted what this rank waits for. posts: what is next."""
    for answer in sorted(answers, key=number_of):
        if number(answer, OperationAttribute.STATE) != RUNNING:
            continue
        late = contributors(answer, [other for other, following in posts.items()
                                     if following <= number_of(answer)], rank)
        if late:
            return dict.fromkeys(late, "is on this machine, and has not posted it")
    return {}


def contributors(answer: Answer, ranks: list[int], rank: int) -> list[int]:
    """Those of the ranks that this one waits for."""
    kind = number(answer, OperationAttribute.KIND)
    if kind in ROOT_CONTRIBUTES:
        root = number(answer, OperationAttribute.ROOT)
        return [other for other in ranks if other == root]
    return [other for other in ranks if kind not in PREFIXES or other < rank]


def awaited_by_oldest(answers: list[Answer], group: Answer,
                      posts: dict[int, int] | None = None) -> dict[int, str]:
    """The ranks for which the oldest operation waits that does, but those known to have posted."""
    for answer in sorted(answers, key=number_of):
        awaited = awaited_by(answer, group)
        if awaited is not None:
            return {rank: why for rank, why in awaited.items()
                    if (posts or {}).get(rank, 0) <= number_of(answer)}
    return {}


def find_group(answers: list[Answer], group_id: int, nonce: int) -> Answer | None:
    """The group with this id and nonce."""
    for answer in answers:
        if (number(answer, GroupAttribute.ID), number(answer, GroupAttribute.NONCE)) == \
                (group_id, nonce):
            return answer
    return None


def number_of(answer: Answer) -> int:
    """The number of an operation."""
    return number(answer, OperationAttribute.NUMBER) or 0


def awaited_by(answer: Answer, group: Answer) -> dict[int, str] | None:
    """The ranks that an operation waits for; None if it waits for none."""
    if number(answer, OperationAttribute.STATE) != RUNNING:
        return None
    here = ranks_here(answer)
    if here:
        return dict.fromkeys(here, "is on this host, and has not posted it")
    hosts = [{kind: [value] for kind, value in attributes(nest)}
             for nest in answer.get(OperationAttribute.MISSING, [])]
    if not hosts:
        return None
    silent_ms = (number(group, GroupAttribute.LIVENESS_MS) or 0) // SILENCE_OF_LIVENESS
    found = [end_of_chain(host, number(group, GroupAttribute.HOST), silent_ms) for host in hosts]
    return dict(end for end in found if end)


def ranks_here(answer: Answer) -> list[int]:
    """Ranks of this host that have not posted, without those that nobody waits for."""
    ranks = [int.from_bytes(value, sys.byteorder)
             for value in answer.get(OperationAttribute.MISSING_RANK, [])]
    if number(answer, OperationAttribute.KIND) in ROOT_CONTRIBUTES:
        root = number(answer, OperationAttribute.ROOT)
        ranks = [rank for rank in ranks if rank == root]
    return ranks


def end_of_chain(host: Answer, self: int | None, silent_ms: int) -> tuple[int, str] | None:
    """The rank for which a host makes the operation wait, and why; None if it is not known."""
    state, rank = number(host, MissingAttribute.STATE), number(host, MissingAttribute.RANK)
    awaits = number(host, MissingAttribute.AWAITS_HOST)
    late = number(host, MissingAttribute.AWAITS_RANK)
    if rank is None:
        return None
    if state in (HOST_LEFT, HOST_DEAD):
        return rank, "has left, or its host does not answer any more"
    if state in (HOST_UNKNOWN, HOST_UNHEARD):
        return rank, "has not been heard from: it has not joined, or no packet gets through"
    if (number(host, MissingAttribute.SILENT_MS) or 0) > silent_ms:
        return rank, "is on a host that does not answer"
    if awaits is None or awaits == self or late is None:
        return None
    if MissingAttribute.AWAITS_REPORTED in host:
        return late, "has not posted it, as its host or another one reports"
    return late, "is on a host whose message another host misses"
