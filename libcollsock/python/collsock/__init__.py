# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Collective sockets: barriers, reductions and broadcasts that the kernel runs.

    with collsock.join_env() as group:      # started with: collsock run --local 4 -- python3 ...
        group.barrier(timeout=30)
        total = group.allreduce(1.5)

Only the standard library and the kernel module are needed; without the module, and with other
launchers than collsock run, libcollsock.
Documentation/python.md is the guide.
"""
from .error import CollectiveError, CollectiveTimeout
from .group import Group, join, join_env
from .lists import Operator, Type
from .operation import Operation
from .request import key_from_file
from .version import __version__

SUM, PRODUCT, MIN, MAX = Operator.SUM, Operator.PRODUCT, Operator.MIN, Operator.MAX
LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR = (
    Operator.LOGICAL_AND, Operator.LOGICAL_OR, Operator.LOGICAL_XOR)
BITWISE_AND, BITWISE_OR, BITWISE_XOR = (
    Operator.BITWISE_AND, Operator.BITWISE_OR, Operator.BITWISE_XOR)
MINLOC, MAXLOC = Operator.MINLOC, Operator.MAXLOC

__all__ = [
    "BITWISE_AND", "BITWISE_OR", "BITWISE_XOR", "CollectiveError", "CollectiveTimeout", "Group",
    "LOGICAL_AND", "LOGICAL_OR", "LOGICAL_XOR", "MAX", "MAXLOC", "MIN", "MINLOC", "Operation",
    "Operator", "PRODUCT", "SUM", "Type", "__version__", "join", "join_env",
    "key_from_file",
]
