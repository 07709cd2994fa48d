# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Forked children: a copy of the descriptor would keep a rank alive that has ended."""
from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .member import Member

# Whether a child keeps its copy open
_members: weakref.WeakKeyDictionary[Member, bool] = weakref.WeakKeyDictionary()


def add(member: Member, keep: bool) -> None:
    """From now on children close their copies, or keep them."""
    _members[member] = keep


def remove(member: Member) -> None:
    """It is closed."""
    _members.pop(member, None)


def _after_fork() -> None:
    for member, keep in list(_members.items()):
        member.after_fork_in_child(keep)
        if not keep:
            remove(member)


os.register_at_fork(after_in_child=_after_fork)
