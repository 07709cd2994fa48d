# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""A group, as one of its ranks sees it: the operations.

Each operation comes in three forms: it waits for the result; post_... returns an Operation at
once; and a... is for await. All ranks post the same operations in the same order. uapi.md says
what each rank contributes and gets, Documentation/python.md what the data may be.
"""
from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from . import backend as backends
from . import launch, launcher, meeting, plan, request, user
from .lists import Kind, Operator, Type
from .member import Member
from .operation import Operation
from .ports import Ports

T = TypeVar("T")
SUM = Operator.SUM


def join(hosts: Sequence[request.Host], rank: int, *, nonce: int, key: bytes | None = None,
         id: int = 1, backend: str = "auto", keep_in_child: bool = False,
         multicast: str | None = None, algorithm: Mapping[str, str] | None = None,
         **limits: int) -> Group:
    """Join a group as one rank.

    hosts: the address of each rank's host, or (address, port); equal ones share a host, but not
        in user space
    rank: of this process, from 0
    nonce: a number that was never used with this key, the same on all ranks
    key: 16 secret bytes, the same on all ranks (key_from_file); None if the hosts allow that
    id: number of the group, chosen by its users
    backend: "kernel", "user" (libcollsock in this process) or "auto"; of this rank
    keep_in_child: a forked child keeps its copy of the descriptor; else, and in user space, it is
        closed there
    multicast: address to which what all are to have is sent once, such as "239.7.7.7", of a network
        on which all hosts are
    algorithm: of operations, such as {"allreduce": "kary"}; that of others is chosen by number of
        hosts and length (reductions.md)
    limits: max_bytes, max_result_bytes, window, segment_bytes, liveness_ms, degree

    All but rank, backend and keep_in_child must be equal on all ranks. Does not wait for them: the
    first operation does.
    """
    asked = request.join_request(hosts, rank, id, nonce, key, limits, multicast,
                                 algorithm)
    return Group(backends.join(backends.open_socket(backend), asked), keep_in_child)


def join_env(*, backend: str = "auto", keep_in_child: bool = False,
             algorithm: Mapping[str, str] | None = None, **limits: int) -> Group:
    """Join the group of which a launcher has made this process a rank.

    algorithm and limits, as of join(), must be equal on all ranks.

    With `collsock run` it does not wait for the other ranks; otherwise (srun, mpiexec, torchrun,
    variables set by hand) libcollsock finds them, and says what it waits for on standard error. If
    this is interrupted, that goes on until it gives up, and another call waits for it again.

    OSError: there is no launcher, or no library (ENOENT), or this is not the rank any more
    (EBADMSG). CollectiveError: the rank that it names cannot join, or does not come.
    """
    request.check_limits(limits)
    request.algorithm_of_each(algorithm)
    if not launch.has_request():
        return Group(launcher.join(backend, limits, algorithm), keep_in_child)
    launched = launch.backend()
    backends.check_launched(backend, launched)
    asked = request.with_choices(launch.take_request(), limits, algorithm)
    udp = launch.take_socket()
    return Group(backends.join(backends.open_socket(launched), asked, udp), keep_in_child)


class Group(Member):
    """A rank of a group. Close it, or use it in a with statement, to leave."""

    @classmethod
    def from_exchange(cls, exchange: meeting.Exchange, rank: int, ranks: int, *,
                      backend: str = "auto", keep_in_child: bool = False,
                      multicast: str | None = None,
                      algorithm: Mapping[str, str] | None = None,
                      **limits: int) -> Group:
        """Join with what the ranks tell each other, without hosts, key and nonce.

        exchange is an allgather, and called twice: exchange(mine) returns a list of the bytes of
        all ranks, in their order. Who reads what is exchanged knows the key. If a rank cannot join,
        all ranks get a CollectiveError that names it.
        """
        request.check_limits(limits)
        request.algorithm_of_each(algorithm)
        sock, failed = backends.open_or_why(backend)
        with Ports() as ports:
            try:
                in_user_space = isinstance(sock, user.Socket)
                told = meeting.tell(exchange, rank, ranks, failed,
                                    ports if in_user_space else None, backends.host_port(sock))
                if sock is None:  # though the exchange does not say so
                    raise failed or told.failed or OSError(errno.EIO, "no socket")
                hosts = meeting.hosts_of(told.records)
                first, failed = told.records[0], told.failed
                asked = request.join_request(hosts, rank, first.id, told.nonce, first.key, limits,
                                             multicast, algorithm)
                try:
                    if not failed:
                        backends.join(sock, asked,
                                      ports.take(hosts[rank]) if in_user_space else -1)
                except OSError as refused:
                    failed = refused
                meeting.tell_outcome(exchange, rank, told.records, failed)
                return cls(sock, keep_in_child)
            except BaseException:
                if sock is not None:
                    sock.close()
                raise

    @classmethod
    def from_mpi(cls, comm: Any, **options: Any) -> Group:
        """The same with a communicator of mpi4py, or an object with its methods."""
        return cls.from_exchange(comm.allgather, comm.Get_rank(), comm.Get_size(), **options)

    # ---- post and wait ----

    def barrier(self, timeout: float | None = None) -> None:
        """Return when all ranks have called it."""
        return self._run(plan.barrier(self), timeout)

    def allreduce(self, data: T, op: Operator = SUM, *, type: Type | None = None, out: Any = None,
                  timeout: float | None = None) -> T:
        """Combine the data of all ranks, element by element; all get the result."""
        return self._run(plan.reduction(self, Kind.ALLREDUCE, data, op, type, out), timeout)

    def reduce(self, data: T, root: int = 0, op: Operator = SUM, *, type: Type | None = None,
               out: Any = None, timeout: float | None = None) -> T | None:
        """The same for the root alone; the others get None, at once."""
        return self._run(plan.reduce(self, data, root, op, type, out), timeout)

    def broadcast(self, data: T, root: int = 0, *, type: Type | None = None,
                  timeout: float | None = None) -> T:
        """The data of the root, for all. That of the others says what it is, and how many; a
        writable buffer is filled."""
        return self._run(plan.broadcast(self, data, root, type), timeout)

    def allgather(self, data: T, *, type: Type | None = None, out: Any = None,
                  timeout: float | None = None) -> list[T]:
        """A list with the data of each rank; or out, a buffer for all of it."""
        return self._run(plan.allgather(self, data, type, out), timeout)

    def gather(self, data: T, root: int = 0, *, type: Type | None = None, out: Any = None,
               timeout: float | None = None) -> list[T] | None:
        """The same for the root alone; the others get None, at once."""
        return self._run(plan.gather(self, data, root, type, out), timeout)

    def scatter(self, data: Any, root: int = 0, *, type: Type | None = None, out: Any = None,
                timeout: float | None = None) -> Any:
        """Each rank gets its item of the root's list, or its block of the root's buffer. The data
        of the others is like one item; a writable buffer is filled."""
        return self._run(plan.scatter(self, data, root, type, out), timeout)

    def reduce_scatter_block(self, data: Any, op: Operator = SUM, *, type: Type | None = None,
                             out: Any = None, timeout: float | None = None) -> Any:
        """Combine lists with an item for each rank, or buffers with a block for each; each rank
        gets its own."""
        return self._run(plan.reduce_scatter_block(self, data, op, type, out), timeout)

    def scan(self, data: T, op: Operator = SUM, *, type: Type | None = None, out: Any = None,
             timeout: float | None = None) -> T:
        """Combine the data of ranks 0 up to this one. Ranks must be on hosts in their order."""
        return self._run(plan.reduction(self, Kind.SCAN, data, op, type, out), timeout)

    def exscan(self, data: T, op: Operator = SUM, *, type: Type | None = None, out: Any = None,
               timeout: float | None = None) -> T | None:
        """Combine the data of the ranks below this one; rank 0 gets None."""
        return self._run(plan.reduction(self, Kind.EXSCAN, data, op, type, out), timeout)

    # ---- post, and wait later ----

    def post_barrier(self, timeout: float | None = None) -> Operation[None]:
        """Post barrier()."""
        return self._post(plan.barrier(self), timeout)

    def post_allreduce(self, data: T, op: Operator = SUM, *, type: Type | None = None,
                       out: Any = None, timeout: float | None = None) -> Operation[T]:
        """Post allreduce()."""
        return self._post(plan.reduction(self, Kind.ALLREDUCE, data, op, type, out), timeout)

    def post_reduce(self, data: T, root: int = 0, op: Operator = SUM, *, type: Type | None = None,
                    out: Any = None, timeout: float | None = None) -> Operation[T | None]:
        """Post reduce()."""
        return self._post(plan.reduce(self, data, root, op, type, out), timeout)

    def post_broadcast(self, data: T, root: int = 0, *, type: Type | None = None,
                       timeout: float | None = None) -> Operation[T]:
        """Post broadcast()."""
        return self._post(plan.broadcast(self, data, root, type), timeout)

    def post_allgather(self, data: T, *, type: Type | None = None, out: Any = None,
                       timeout: float | None = None) -> Operation[list[T]]:
        """Post allgather()."""
        return self._post(plan.allgather(self, data, type, out), timeout)

    def post_gather(self, data: T, root: int = 0, *, type: Type | None = None, out: Any = None,
                    timeout: float | None = None) -> Operation[list[T] | None]:
        """Post gather()."""
        return self._post(plan.gather(self, data, root, type, out), timeout)

    def post_scatter(self, data: Any, root: int = 0, *, type: Type | None = None, out: Any = None,
                     timeout: float | None = None) -> Operation[Any]:
        """Post scatter()."""
        return self._post(plan.scatter(self, data, root, type, out), timeout)

    def post_reduce_scatter_block(self, data: Any, op: Operator = SUM, *,
                                  type: Type | None = None, out: Any = None,
                                  timeout: float | None = None) -> Operation[Any]:
        """Post reduce_scatter_block()."""
        return self._post(plan.reduce_scatter_block(self, data, op, type, out), timeout)

    def post_scan(self, data: T, op: Operator = SUM, *, type: Type | None = None, out: Any = None,
                  timeout: float | None = None) -> Operation[T]:
        """Post scan()."""
        return self._post(plan.reduction(self, Kind.SCAN, data, op, type, out), timeout)

    def post_exscan(self, data: T, op: Operator = SUM, *, type: Type | None = None,
                    out: Any = None, timeout: float | None = None) -> Operation[T | None]:
        """Post exscan()."""
        return self._post(plan.reduction(self, Kind.EXSCAN, data, op, type, out), timeout)

    # ---- in an event loop ----

    async def abarrier(self, timeout: float | None = None) -> None:
        """Await barrier()."""
        return await self._run_in_loop(plan.barrier(self), timeout)

    async def aallreduce(self, data: T, op: Operator = SUM, *, type: Type | None = None,
                         out: Any = None, timeout: float | None = None) -> T:
        """Await allreduce()."""
        return await self._run_in_loop(
            plan.reduction(self, Kind.ALLREDUCE, data, op, type, out), timeout)

    async def areduce(self, data: T, root: int = 0, op: Operator = SUM, *,
                      type: Type | None = None, out: Any = None,
                      timeout: float | None = None) -> T | None:
        """Await reduce()."""
        return await self._run_in_loop(plan.reduce(self, data, root, op, type, out), timeout)

    async def abroadcast(self, data: T, root: int = 0, *, type: Type | None = None,
                         timeout: float | None = None) -> T:
        """Await broadcast()."""
        return await self._run_in_loop(plan.broadcast(self, data, root, type), timeout)

    async def aallgather(self, data: T, *, type: Type | None = None, out: Any = None,
                         timeout: float | None = None) -> list[T]:
        """Await allgather()."""
        return await self._run_in_loop(plan.allgather(self, data, type, out), timeout)

    async def agather(self, data: T, root: int = 0, *, type: Type | None = None, out: Any = None,
                      timeout: float | None = None) -> list[T] | None:
        """Await gather()."""
        return await self._run_in_loop(plan.gather(self, data, root, type, out), timeout)

    async def ascatter(self, data: Any, root: int = 0, *, type: Type | None = None,
                       out: Any = None, timeout: float | None = None) -> Any:
        """Await scatter()."""
        return await self._run_in_loop(plan.scatter(self, data, root, type, out), timeout)

    async def areduce_scatter_block(self, data: Any, op: Operator = SUM, *,
                                    type: Type | None = None, out: Any = None,
                                    timeout: float | None = None) -> Any:
        """Await reduce_scatter_block()."""
        return await self._run_in_loop(
            plan.reduce_scatter_block(self, data, op, type, out), timeout)

    async def ascan(self, data: T, op: Operator = SUM, *, type: Type | None = None,
                    out: Any = None, timeout: float | None = None) -> T:
        """Await scan()."""
        return await self._run_in_loop(
            plan.reduction(self, Kind.SCAN, data, op, type, out), timeout)

    async def aexscan(self, data: T, op: Operator = SUM, *, type: Type | None = None,
                      out: Any = None, timeout: float | None = None) -> T | None:
        """Await exscan()."""
        return await self._run_in_loop(
            plan.reduction(self, Kind.EXSCAN, data, op, type, out), timeout)
