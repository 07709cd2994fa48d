# SPDX-License-Identifier: GPL-2.0
"""What tests of the Python package share: checks, and ranks that are threads."""
import threading

SECONDS = 120


def equal(seen, wanted, what=""):
    """Both values are printed when they differ."""
    assert seen == wanted, f"{what}: {seen!r}, not {wanted!r}"


def refused(error_type, words, function, *args, **options):
    """It raises this error with these words, and returns it."""
    try:
        value = function(*args, **options)
    except error_type as error:
        assert words in str(error), f"{error}, not {words}"
        return error
    raise AssertionError(f"{value!r}, not {error_type.__name__}")


class Exchange:
    """An allgather of threads."""

    def __init__(self, ranks):
        self.told, self.all_told = [b""] * ranks, threading.Barrier(ranks)

    def of(self, rank):
        def exchange(mine):
            self.told[rank] = mine
            self.all_told.wait(SECONDS)
            everything = list(self.told)
            self.all_told.wait(SECONDS)
            return everything
        return exchange


def in_threads(number, function):
    """What the function returns for each number, or raises, in threads of their own."""
    got = [None] * number

    def call(at):
        try:
            got[at] = function(at)
        except Exception as error:  # pylint: disable=broad-except
            got[at] = error
    threads = [threading.Thread(target=call, args=(at,)) for at in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got
