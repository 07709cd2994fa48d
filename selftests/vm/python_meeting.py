#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=240
# suites: check debug soak
"""The Python package: event loops, ranks that meet by an exchange, and the page about it."""

import asyncio
import doctest
import pathlib
import random
import re
import signal
import subprocess
import threading

from collsock_test import (
    SLOWDOWN, Child, Failed, Skipped, at_least, equal, errno_name, main, on, set_tunables, test)
from python_common import Ranks, collsock, each, refused
from python_helpers import Exchange, in_threads

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Documentation/python.md"


# ---- event loops ----

@test
def awaited_operations_are_posted_in_the_order_of_calls_and_overlap():
    async def all_of(ranks):
        return await asyncio.gather(*(g.aallreduce(n + g.rank) for g in ranks for n in range(20)))
    with Ranks([1, 2, 2], window=2) as ranks:
        equal("results", asyncio.run(all_of(ranks)), [3 * n + 3 for n in range(20)] * 3)
        equal("in another loop", asyncio.run(all_of(ranks)), [3 * n + 3 for n in range(20)] * 3)


@test
def every_operation_can_be_awaited():
    async def of_rank(g):
        await g.abarrier()
        return (await g.areduce(1, 1), await g.abroadcast(g.rank, 1), await g.aallgather(g.rank),
                await g.agather(g.rank, 1), await g.ascatter([5, 6] if g.rank else 0, 1),
                await g.areduce_scatter_block([g.rank, 7]), await g.ascan(g.rank + 1),
                await g.aexscan(g.rank + 1), await g.post_allreduce(2.5))

    async def both(ranks):
        return await asyncio.gather(*map(of_rank, ranks))
    with Ranks([1, 2]) as ranks:
        equal("results", asyncio.run(both(ranks)),
              [(None, 1, [0, 1], None, 5, 1, 1, None, 5.0),
               (2, 1, [0, 1], [0, 1], 6, 14, 3, 1, 5.0)])


@test
def a_loop_goes_on_while_an_operation_waits():
    async def wait(ranks):
        waiting, turns = asyncio.create_task(ranks[0].abarrier()), 0
        while turns < 100:
            turns += 1
            await asyncio.sleep(0)
        equal("done before the other rank has posted", waiting.done(), False)
        await ranks[1].abarrier()
        await waiting
    with Ranks([1, 2]) as ranks:
        asyncio.run(wait(ranks))


@test
def a_cancelled_wait_leaves_the_operation_posted():
    async def cancel(ranks):
        try:
            async with asyncio.timeout(0.05):
                await ranks[0].abarrier()
        except TimeoutError:
            pass
        else:
            raise Failed("the barrier of one rank is complete")
        return await asyncio.gather(ranks[0].aallreduce(1), ranks[1].abarrier(),
                                    ranks[1].aallreduce(1))
    with Ranks([1, 2]) as ranks:
        equal("results", asyncio.run(cancel(ranks)), [2, None, 2])


@test
def a_failure_ends_what_a_loop_awaits():
    async def fail(ranks):
        waiting = asyncio.create_task(ranks[0].abarrier())
        await asyncio.sleep(0.05)
        ranks[1].close()
        try:
            await waiting
        except collsock.CollectiveError as error:
            return error.failed_rank
        raise Failed("the barrier is complete")
    with Ranks([1, 2]) as ranks:
        each(ranks, lambda g: g.barrier())
        equal("failed rank", asyncio.run(fail(ranks)), 1)


@test
def closing_ends_what_a_loop_awaits_and_what_waits_for_room():
    async def close(ranks):
        tasks = [asyncio.create_task(ranks[0].abarrier()) for _ in range(3)]
        await asyncio.sleep(0.05)
        refused("a post of a thread", RuntimeError, "come first", ranks[0].post_barrier)
        ranks[0].close()
        return [errno_name(error.errno) for error in
                await asyncio.gather(*tasks, return_exceptions=True)]
    with Ranks([1, 2], window=1) as ranks:
        equal("errors", asyncio.run(close(ranks)), ["EBADF"] * 3)


@test
def loops_of_two_threads_and_a_thread_that_waits_share_a_group():
    async def await_all(handles):
        return [await handle for handle in handles]

    with Ranks([1, 2], window=64) as ranks:
        handles, got = [ranks[0].post_allreduce(n) for n in range(30)], [None] * 3

        def run(part):
            mine = handles[part::3]
            got[part] = asyncio.run(await_all(mine)) if part else [one.wait() for one in mine]
        threads = [threading.Thread(target=run, args=(part,)) for part in range(3)]
        for thread in threads:
            thread.start()
        for n in range(30):
            ranks[1].post_allreduce(n)
        for thread in threads:
            thread.join()
    equal("results", got, [[2 * n for n in range(part, 30, 3)] for part in range(3)])


# ---- meeting ----

def meet(hosts, change=lambda rank, data: data, **options):
    """What from_exchange() gives each rank, and what barriers and sums of all of them do."""
    exchange = Exchange(len(hosts))

    def join(rank):
        tell = exchange.of(rank)
        with on(hosts[rank]):
            return collsock.Group.from_exchange(lambda mine: tell(change(rank, mine)), rank,
                                                len(hosts), **options)
    return in_threads(len(hosts), join)


@test
def ranks_meet_by_an_exchange_alone():
    ranks = meet([1, 1, 2, 3])
    for group in ranks:
        if isinstance(group, OSError):
            raise group
    handles = [group.post_allreduce(group.rank) for group in ranks]
    equal("sums", [handle.wait(30) for handle in handles], [6] * 4)
    equal("hosts", {collsock.layout.self_of(group._sock).hosts for group in ranks}, {3})
    equal("nonces", len({group.nonce for group in ranks}), 1)
    again = meet([1, 1])
    at_least("another nonce", again[0].nonce != ranks[0].nonce, True)
    for group in ranks + again:
        group.close()


@test
def a_rank_that_may_not_join_is_named_by_all():
    set_tunables(2, join_gid_low=7, join_gid_high=7)
    try:
        got = meet([1, 2, 3])
    finally:
        set_tunables(2, join_gid_low=None, join_gid_high=None)
    equal("errors", {(type(error).__name__, errno_name(error.errno), error.failed_rank)
                     for error in got}, {("CollectiveError", "EPERM", 1)})


@test
def a_rank_of_another_version_is_named_by_all():
    got = meet([1, 2], lambda rank, data: b"\0\0\0\0" + data[4:] if rank else data)
    equal("errors", [(errno_name(error.errno), error.failed_rank) for error in got],
          [("EPROTO", 1)] * 2)


MPI_PROGRAM = """
import sys
sys.path.insert(0, "libcollsock/python")
import collsock
from mpi4py import MPI
with collsock.Group.from_mpi(MPI.COMM_WORLD) as group:
    print("sum", group.allreduce(group.rank + 1, timeout=60))
"""


@test
def ranks_of_an_mpi_program_meet_by_its_communicator():
    if subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        raise Skipped("no python3-mpi4py")
    signal.setitimer(signal.ITIMER_REAL, 0)  # it has only its program's time-out
    done = subprocess.run(["mpi", "openmpi", "--hosts", "2", "--timeout", str(100 * SLOWDOWN),
                           "/usr/bin/python3", "-c", MPI_PROGRAM], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal(f"sums in {done.stdout}", re.findall("sum (.*)", done.stdout), ["3"] * 2)


# ---- the page ----

class OfOneRank(doctest.OutputChecker):
    """The page shows what rank 0 prints; the others must not fail."""

    def __init__(self, rank):
        self.rank = rank

    def check_output(self, want, got, optionflags):
        return super().check_output(want, got, optionflags) or \
            bool(self.rank) and "Traceback" not in got


def run_page(line, rank, nonce, key):
    """Run the examples as one rank; tell how many failed, and what was printed."""
    blocks = re.findall(r"^```pycon\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    example = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), {"rank": rank, "nonce": nonce, "key": key,
                            "hosts": ["10.1.0.1", "10.1.0.2"]}, "python.md", None, 0)
    said = []
    result = doctest.DocTestRunner(OfOneRank(rank), optionflags=doctest.ELLIPSIS).run(
        example, out=said.append)
    line.put((result.failed, result.attempted, "".join(said)[-20000:]))


@test
def the_page_shows_what_happens():
    nonce, key = random.getrandbits(64), random.randbytes(16)
    children = [Child(rank + 1, run_page, rank, nonce, key) for rank in range(2)]
    for rank, child in enumerate(children):
        failed, attempted, said = child.get()
        equal(f"examples of rank {rank} that fail: {said}", failed, 0)
        at_least("examples", attempted, 20)
        child.finish()


if __name__ == "__main__":
    main()
