# SPDX-License-Identifier: GPL-2.0
"""Ranks in user space for tests of the Python package, and how these find the library."""
import os
import pathlib
import sys

from built import TREE, program

PACKAGE = TREE / "libcollsock/python"
sys.dont_write_bytecode = True
sys.path[:0] = [str(TREE / "selftests"), str(PACKAGE)]
import collsock  # noqa: E402
import tap  # noqa: E402
from python_helpers import Exchange, in_threads  # noqa: E402

# Ranks of other tests that run at the same time have other ports.
PORTS = "17800-17899"
LIBRARY = pathlib.Path(program("library"))
USUAL = {name: value for name, value in os.environ.items()
         if not name.startswith(("COLLSOCK_", "PYTHON"))} | {
    "COLLSOCK_USER_PORTS": PORTS, "COLLSOCK_MEETING_PORTS": PORTS,
    "LD_LIBRARY_PATH": str(LIBRARY), "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}


class Ranks(list):
    """The ranks of a group, all in this process. Leaving closes them."""

    def __init__(self, number, **options):
        exchange = Exchange(number)
        super().__init__(in_threads(number, lambda rank: collsock.Group.from_exchange(
            exchange.of(rank), rank, number, **{"backend": "user"} | options)))

    def __enter__(self):
        for one in self:
            if isinstance(one, Exception):
                raise one
        return self

    def __exit__(self, *_):
        for group in self:
            group.close()


def main(functions):
    """Run the tests of a script, given its globals(), in a process that finds the library."""
    if os.environ.get("LD_LIBRARY_PATH") != str(LIBRARY):
        os.execve(sys.executable, [sys.executable, *sys.argv], USUAL)
    sys.exit(tap.run(tap.named(functions)))
