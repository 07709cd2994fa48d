# SPDX-License-Identifier: GPL-2.0
"""Common code of the scenarios of the socket interface."""

import os

from collsock_test import Group, equal, integers, post_bytes


def two(**fields):
    return Group([1, 2], **fields)


def unchanged_log(log):
    equal("lines in the kernel's log", log.lines(), [])


def post_of_three(**fields):
    return post_bytes(integers(1, 2, 3), **fields) + integers(1, 2, 3)


def nonblocking(rank):
    os.set_blocking(rank.fileno(), False)
    return rank


def blocking(rank):
    os.set_blocking(rank.fileno(), True)
    return rank
