# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What fails, whose fault it is, and what to do."""
from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import layout

if TYPE_CHECKING:
    from .operation import Operation


class CollectiveError(OSError):
    """An operation of a group has failed, and with it the group.

    failed_rank: the rank to blame, or None
    missing: {rank: why} of ranks that are known not to have posted; None if that is not known,
        as after a failure, of which failed_rank is the reason
    """

    failed_rank: int | None
    missing: Mapping[int, str] | None

    def __init__(self, number: int, text: str, failed_rank: int | None = None,
                 missing: Mapping[int, str] | None = None) -> None:
        super().__init__(number, text)
        self.failed_rank = failed_rank
        self.missing = missing


class CollectiveTimeout(CollectiveError, TimeoutError):
    """The time-out of a call has expired. The group has not failed.

    operation: it stays posted, and can be waited for; None if there was no room to post it
    missing: as `collsock wait` finds; None if this host's kernel does not tell
    """

    operation: Operation[Any] | None

    def __init__(self, text: str, operation: Operation[Any] | None,
                 missing: Mapping[int, str] | None) -> None:
        super().__init__(errno.ETIMEDOUT, text, None, missing)
        self.operation = operation


# Of an operation: the text goes on after "rank N "
BLAME = {
    errno.ECONNRESET: "has left the group: it closed its socket, or its process ended; "
                      "its output may say why",
    errno.ETIMEDOUT: "does not answer: check that it runs and is not stopped, that UDP port 7607 "
                     "(in user space COLLSOCK_USER_PORTS) is open, and that id, nonce, key and "
                     "hosts are equal on all ranks",
    errno.EPROTO: "posted a different operation, or data of another type (int where this rank "
                  "has float, or the reverse) or length, joined with a different description, or "
                  "has another version of the module: run the same program everywhere",
    errno.EPERM: "is on a host whose own filters refuse its packets: see there nft list ruleset",
    errno.ECANCELED: "is on the host where the group was ended with collsock end",
}

# Of opening, joining and posting
ADVICE = {
    errno.EINVAL: "there is no such group: its size, limits, or the algorithms of its operations "
                  "(see JOIN in uapi.md, and reductions.md)",
    errno.EAFNOSUPPORT: "no collsock in this kernel: load the module (modprobe collsock), or "
                        "install libcollsock, which needs none",
    errno.EACCES: "give a key, or allow groups without one (collsock set require_keys 0); "
                  "or start all ranks of this host alike",
    errno.EPERM: "this user may not join: see collsock get join_gid_low join_gid_high, and for "
                 "MAC addresses collsock device",
    errno.EADDRNOTAVAIL: "the address of this rank is not one of this host: see ip address",
    errno.EADDRINUSE: "this rank has joined already, or the group was left a moment ago: use a "
                      "new nonce; or the port is in use: see collsock doctor",
    errno.EXDEV: "the address of this rank is in a VRF, or of the port of a bridge",
    errno.ENOTUNIQ: "several devices have this MAC address: name one (ADDRESS%eth0)",
    errno.EPROTO: "another rank of this host has joined with other arguments",
    errno.E2BIG: "too many ranks on this host, or this kernel does not know what is asked for",
    errno.EOPNOTSUPP: "this kernel cannot do that, or ranks are not placed on hosts in their "
                      "order, as scans need",
    errno.EMSGSIZE: "too large: join with larger max_bytes or max_result_bytes",
    errno.ENOMEM: "no memory, or the groups here have all they may (collsock get max_memory_kib): "
                  "lower window first, which multiplies it, then max_bytes",
    errno.EDQUOT: "the groups of this user have all the memory they may (collsock user): lower "
                  "window first, which multiplies it, then max_bytes",
    errno.ENOBUFS: "as many operations as the group's window are under way or unread: wait for "
                   "one; or this host may join no other multicast address "
                   "(net.ipv4.igmp_max_memberships)",
    errno.ENFILE: "too many groups or files here: see collsock group, collsock get max_groups",
    errno.EMFILE: "this user has all the groups it may (collsock user), or this process all files",
}


# The same of a rank in user space, where it is something else
ADVICE_IN_USER_SPACE = {
    errno.EACCES: "groups with ranks in user space need a key: give one, or load the module "
                  "(modprobe collsock)",
    errno.E2BIG: "ranks in user space cannot share a port: give each host as (address, port), with "
                 "ports of their own",
    errno.EADDRINUSE: "another program has the port of this rank: see ss -ulnp",
    errno.EMSGSIZE: "too large: join with larger max_bytes or max_result_bytes; in user space the "
                    "latter is twice net.core.wmem_max at most",
}

# The same of a post
ADVICE_FOR_A_POST = {
    errno.EINVAL: "there is no such operation: the type of the data does not have this operator "
                  "(logical and bitwise ones need integers, see Types and operators in uapi.md)",
}


def advice_for(number: int, in_user_space: bool = False, posting: bool = False) -> str | None:
    """What to do, as far as that is known."""
    return (posting and ADVICE_FOR_A_POST.get(number)) or \
        (in_user_space and ADVICE_IN_USER_SPACE.get(number)) or ADVICE.get(number)


def explained(error: OSError, in_user_space: bool = False, posting: bool = False) -> OSError:
    """The error of a call, with what to do."""
    number = error.errno or 0
    advice = advice_for(number, in_user_space, posting)
    text = f"{os.strerror(number)}: {advice}" if advice else os.strerror(number)
    return OSError(number, text)


def failure(number: int, rank: int) -> CollectiveError:
    """The error of an operation as a completion reports it."""
    failed_rank = None if rank == layout.NO_RANK else rank
    who = "a rank" if failed_rank is None else f"rank {failed_rank}"
    return CollectiveError(number, f"{who} {BLAME.get(number, os.strerror(number))}", failed_rank)


def not_posted_by(missing: Mapping[int, str] | None) -> str:
    """For the text of a time-out."""
    if missing is None:
        return "which rank it waits for is not known, as this host's kernel did not tell: " \
               "ask collsock wait"
    return "; ".join(f"rank {rank} {why}" for rank, why in missing.items()) or \
        "no rank is known not to have posted it"


def closed() -> OSError:
    """Of a group that is closed here."""
    return OSError(errno.EBADF, "the group is closed, perhaps because this process is a forked "
                   "child: join after the fork, or with keep_in_child=True")
