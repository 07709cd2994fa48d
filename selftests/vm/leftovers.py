# SPDX-License-Identifier: GPL-2.0
"""What remains after the end of groups and of the module, for scenarios that check it."""

import ctypes
import os
import re

from collsock_test import MODULE, command, libc, on, rank_on, read_file

O_NONBLOCK = os.O_NONBLOCK


def unload():
    if libc.syscall(176, b"collsock", O_NONBLOCK):
        raise OSError(ctypes.get_errno(), "delete_module")


def loaded():
    return os.path.exists(MODULE)


def references():
    return int(read_file(f"{MODULE}/refcnt"))


def load():
    command("module")


def udp_sockets(host):
    """Includes sockets held by the kernel."""
    with on(host):
        return [int(count) for name in ("sockstat", "sockstat6")
                for count in re.findall(r"^UDP6?: inuse (\d+)",
                                        read_file(f"/proc/thread-self/net/{name}"), re.M)]


def left(*hosts):
    """Groups and their objects that the namespaces still have."""
    watchers = [rank_on(host) for host in hosts]
    stats = [watcher.net_stats() for watcher in watchers]
    for watcher in watchers:
        watcher.close()
    return {name: [getattr(one, name) for one in stats]
            for name in ("groups", "peers", "timewait_entries")}
