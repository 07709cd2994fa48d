# SPDX-License-Identifier: GPL-2.0
"""Groups of the Python package, whose ranks this process holds."""

import pathlib
import random
import sys
import threading

from collsock_test import Failed, enter, on

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "selftests"), str(TREE / "libcollsock/python")]
import collsock  # noqa: E402


def joined(hosts, number, nonce, key, **options):
    """A rank, on the host of this thread; hosts are numbers."""
    return collsock.join([f"10.1.0.{host}" for host in hosts], number, nonce=nonce, key=key,
                         **options)


class Ranks(list):
    """The ranks of a group, each on its host, or only some of them. Leaving closes them."""

    def __init__(self, hosts, only=None, **options):
        super().__init__()
        self.hosts, self.nonce, self.key = hosts, random.getrandbits(64), random.randbytes(16)
        for number in range(len(hosts)) if only is None else only:
            with on(hosts[number]):
                self.append(joined(*self.arguments(number), **options))

    def arguments(self, number):
        """What joined() needs for a rank."""
        return self.hosts, number, self.nonce, self.key

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for group in self:
            group.close()


def each(ranks, function):
    """What the function returns for each rank, called in threads of their own, on their hosts."""
    results, raised = [None] * len(ranks), []

    def call(at, group):
        try:
            enter(ranks.hosts[group.rank])
            results[at] = function(group)
        except BaseException as error:  # pylint: disable=broad-except
            raised.append(error)

    threads = [threading.Thread(target=call, args=one) for one in enumerate(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return results


def refused(what, kind, words, function, *args, **options):
    """It raises this error with these words, and returns it."""
    try:
        value = function(*args, **options)
    except kind as error:
        if words not in str(error):
            raise Failed(f"{what}: says {error}, expected {words}") from None
        return error
    raise Failed(f"{what}: gives {value}, expected {kind.__name__}")
