# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Does an installed package work here? Each rank runs these tests, in the same order:

    collsock run --local 4 -- python3 -m pytest -x libcollsock/python/tests

The ranks must be on hosts in their order. Where a test fails on one rank alone, those after it
mean nothing.
"""
import array
import asyncio
import concurrent.futures
import errno

import collsock
import pytest

try:
    import numpy
except ImportError:
    numpy = None

SECONDS = 60  # for ranks that are slower
PIECE = 16  # bytes of each rank, for which every group has room


@pytest.fixture(scope="session")
def group():
    with collsock.join_env() as joined:
        assert joined.ranks > 1, "one rank alone shows little: collsock run --local 4"
        yield joined


@pytest.fixture
def another(group):
    """A group for one test, whose ranks meet by the first one."""
    def exchange(mine):
        pieces = [group.post_allgather(mine[at:at + PIECE], timeout=SECONDS)
                  for at in range(0, len(mine), PIECE)]
        return [b"".join(parts) for parts in zip(*(piece.wait(SECONDS) for piece in pieces))]

    with collsock.Group.from_exchange(exchange, group.rank, group.ranks) as joined:
        yield joined


def ranks_of(group):
    return range(group.ranks)


# ---- operations ----

def test_barrier(group):
    group.barrier(timeout=SECONDS)


@pytest.mark.parametrize("mine", [int, float, lambda rank: [rank, 1], lambda rank: [rank, 0.5]],
                         ids=["int", "float", "list of int", "list of float"])
@pytest.mark.parametrize("op, combined", [(collsock.SUM, sum), (collsock.MIN, min),
                                          (collsock.MAX, max)], ids=["sum", "min", "max"])
def test_allreduce(group, mine, op, combined):
    parts = [mine(rank) for rank in ranks_of(group)]
    wanted = [combined(column) for column in zip(*parts)] if isinstance(parts[0], list) \
        else combined(parts)
    assert group.allreduce(mine(group.rank), op, timeout=SECONDS) == wanted


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_arrays_are_reduced_in_place(group, code):
    data = array.array(code, [group.rank % 100, 3])
    assert group.allreduce(data, collsock.MAX, timeout=SECONDS) is data
    assert data.tolist() == [min(group.ranks - 1, 99), 3]


def test_arrays_of_numpy(group):
    if not group.allreduce(int(numpy is not None), collsock.MIN, timeout=SECONDS):
        pytest.skip("a rank has no NumPy")
    data = numpy.full((3, 2), group.rank, dtype=numpy.float32)
    group.allreduce(data, timeout=SECONDS)
    assert (data == sum(ranks_of(group))).all()


def test_operations_with_a_root(group):
    for root in ranks_of(group):
        mine = group.rank
        total = group.reduce(mine + 1, root, timeout=SECONDS)
        assert total == (sum(ranks_of(group)) + group.ranks if mine == root else None)
        assert group.broadcast(10 * mine, root, timeout=SECONDS) == 10 * root
        blocks = group.gather(mine, root, timeout=SECONDS)
        assert blocks == (list(ranks_of(group)) if mine == root else None)
        shares = [rank * rank for rank in ranks_of(group)] if mine == root else 0
        assert group.scatter(shares, root, timeout=SECONDS) == mine * mine


def test_blocks_of_all(group):
    assert group.allgather(b"%04d" % group.rank, timeout=SECONDS) == \
        [b"%04d" % rank for rank in ranks_of(group)]
    assert group.reduce_scatter_block([1] * group.ranks, timeout=SECONDS) == group.ranks


def test_prefixes(group):
    assert group.scan(group.rank, timeout=SECONDS) == sum(range(group.rank + 1))
    before = group.exscan(group.rank, timeout=SECONDS)
    assert before == (sum(range(group.rank)) if group.rank else None)


# ---- what goes on meanwhile ----

def test_posts_overlap(group):
    posted = [group.post_allreduce(number, timeout=SECONDS) for number in range(100)]
    assert [one.wait(SECONDS) for one in posted] == [n * group.ranks for n in range(100)]


def test_operations_are_awaited(group):
    async def run():
        return await asyncio.gather(*(group.aallreduce(number) for number in range(20)))
    assert asyncio.run(asyncio.wait_for(run(), SECONDS)) == [n * group.ranks for n in range(20)]


def test_threads_wait_for_their_own(group):
    posted = [group.post_allreduce(number, timeout=SECONDS) for number in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda one: one.wait(SECONDS), reversed(posted))) == \
            [number * group.ranks for number in reversed(range(8))]


# ---- what fails ----

def test_late_rank_is_named_and_nothing_is_lost(group, another):
    """Rank 0 says when it has given up."""
    if another.rank == 0:
        with pytest.raises(collsock.CollectiveTimeout) as late:
            another.barrier(timeout=0.2)
        assert late.value.missing is None or set(late.value.missing) <= set(ranks_of(another))
        group.barrier(timeout=SECONDS)
        late.value.operation.wait(SECONDS)
    else:
        group.barrier(timeout=SECONDS)
        another.barrier(timeout=SECONDS)


def test_rank_that_leaves_is_named_by_all(group, another):
    another.barrier(timeout=SECONDS)
    if another.rank == 1:
        another.close()
    else:
        with pytest.raises(collsock.CollectiveError) as failed:
            another.barrier(timeout=SECONDS)
        assert (failed.value.errno, failed.value.failed_rank) == (errno.ECONNRESET, 1)
    group.barrier(timeout=SECONDS)


def test_mistakes_do_not_end_a_group(group):
    with pytest.raises(ValueError, match="not a rank"):
        group.broadcast(1, group.ranks)
    with pytest.raises(OSError, match="larger max_bytes"):
        group.allreduce(bytes(1 << 20))
    with pytest.raises(TypeError):
        group.allreduce("text")
    assert group.allreduce(1, timeout=SECONDS) == group.ranks
