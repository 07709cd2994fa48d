# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Operations as a rank posts them: what it contributes and what it gets (uapi.md, Post)."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from . import elements
from .elements import Elements, blocks
from .lists import Kind, Operator, Type
from .operation import Operation

if TYPE_CHECKING:
    from .group import Group

T = TypeVar("T")


def check_root(group: Group, root: int) -> None:
    """The root is a rank."""
    if not 0 <= root < group.ranks:
        raise ValueError(f"root is {root}, not a rank from 0 to {group.ranks - 1}")


def check_operator(op: Operator) -> Operator:
    """Reductions have one."""
    if op == Operator.NOP:
        raise ValueError("a reduction needs an operator, such as collsock.SUM")
    return Operator(op)


def into(out: Any, need: int, otherwise: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """What makes the result: a buffer that the program passes, or else."""
    return otherwise if out is None else elements.output(out, need)


def barrier(group: Group) -> Operation[None]:
    """All wait for all."""
    return Operation(group, Kind.BARRIER)


def reduction(group: Group, kind: Kind, data: T, op: Operator, type: Type | None,
              out: Any) -> Operation[T]:
    """Allreduce, scan, exscan: each rank contributes a vector and gets one."""
    own = elements.elements(data, check_operator(op), type)
    operation: Operation[T] = Operation(group, kind, own, op)
    operation.contributes(own.payload)
    if kind != Kind.EXSCAN or group.rank:
        operation.receives(own.size(), into(out, own.size(), own.decode))
    return operation


def reduce(group: Group, data: T, root: int, op: Operator, type: Type | None,
           out: Any) -> Operation[T]:
    """The root alone gets what all contribute."""
    check_root(group, root)
    own = elements.elements(data, check_operator(op), type)
    operation: Operation[T] = Operation(group, Kind.REDUCE, own, op, root)
    operation.contributes(own.payload)
    if group.rank == root:
        operation.receives(own.size(), into(out, own.size(), own.decode))
    return operation


def broadcast(group: Group, data: T, root: int, type: Type | None) -> Operation[T]:
    """All get what the root has."""
    check_root(group, root)
    own = elements.elements(data, kind=type)
    operation: Operation[T] = Operation(group, Kind.BROADCAST, own, root=root)
    if group.rank == root:
        operation.contributes(own.payload)
        operation.gives(data)
    else:
        operation.receives(own.size(), own.decode)
    return operation


def by_rank(own: Elements) -> Callable[[bytes], list[Any]]:
    """Makes a list with the item of each rank."""
    size = own.size()
    return lambda result: [own.fresh(result[at:at + size])
                           for at in range(0, len(result), size)]


def allgather(group: Group, data: T, type: Type | None, out: Any) -> Operation[list[T]]:
    """All get the blocks of all."""
    own = elements.elements(data, kind=type)
    operation: Operation[list[T]] = Operation(group, Kind.ALLGATHER, own)
    operation.contributes(own.payload)
    need = own.size() * group.ranks
    operation.receives(need, into(out, need, by_rank(own)))
    return operation


def gather(group: Group, data: T, root: int, type: Type | None,
           out: Any) -> Operation[list[T] | None]:
    """The root alone gets the blocks of all."""
    check_root(group, root)
    own = elements.elements(data, kind=type)
    operation: Operation[list[T] | None] = Operation(group, Kind.GATHER, own, root=root)
    operation.contributes(own.payload)
    if group.rank == root:
        need = own.size() * group.ranks
        operation.receives(need, into(out, need, by_rank(own)))
    return operation


def scatter(group: Group, data: Any, root: int, type: Type | None, out: Any) -> Operation[Any]:
    """Each rank gets its block of the root's vector."""
    check_root(group, root)
    if group.rank == root:
        own = blocks(data, group.ranks, kind=type)
    else:
        own = elements.elements(data, kind=type)
    operation: Operation[Any] = Operation(group, Kind.SCATTER, own, root=root)
    if group.rank == root:
        operation.contributes(own.payload)
    operation.receives(own.size(), into(out, own.size(), own.decode))
    return operation


def reduce_scatter_block(group: Group, data: Any, op: Operator, type: Type | None,
                         out: Any) -> Operation[Any]:
    """Each rank gets its block of what all contribute."""
    own = blocks(data, group.ranks, check_operator(op), type)
    operation: Operation[Any] = Operation(group, Kind.REDUCE_SCATTER_BLOCK, own, op)
    operation.contributes(own.payload)
    operation.receives(own.size(), into(out, own.size(), own.decode))
    return operation
