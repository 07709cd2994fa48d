#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the command's doctor finds without privilege or module; TAP."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from built import TREE, program  # noqa: E402

sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402

COMMAND = program("tools/collsock")
SECONDS = 60
# It writes down whom it was to reach
PING = """#!/bin/sh
for word; do last=$word; done
echo "$last" >>"$0.log"
"""


def equal(found, wanted):
    assert found == wanted, f"{found!r}, not {wanted!r}"


def doctor(folder, *hosts, begin=(), settings=None, **how):
    """The findings, as {check: [text]}, with a ping of our own."""
    ping = pathlib.Path(folder, "ping")
    ping.write_text(PING, encoding="utf-8")
    ping.chmod(0o755)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("COLLSOCK_")} | {
        "PATH": f"{folder}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(folder)}
    done = subprocess.run([*begin, COMMAND, "-j", "doctor", *hosts], check=False, text=True,
                          capture_output=True, env=environment | (settings or {}),
                          timeout=SECONDS, **how)
    assert done.returncode in (0, 2), done
    found = {}
    for finding in json.loads(done.stdout):
        found.setdefault(finding["check"], []).append(finding["finding"])
    return found


def pinged(folder):
    return pathlib.Path(folder, "ping.log").read_text(encoding="utf-8").split()


def test_programs_that_it_runs_are_waited_for_though_sigchld_is_ignored():
    with tempfile.TemporaryDirectory() as folder:
        found = doctor(folder, "127.0.0.1",
                       preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert found["reachability"] == ["127.0.0.1 answers a ping"], found


def test_addresses_of_ipv4_are_preferred_as_by_ranks():
    begin = "unshare", "-rm", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"'
    with tempfile.TemporaryDirectory() as folder:
        hosts = pathlib.Path(folder, "hosts")
        hosts.write_text("::1 both.test\n127.0.0.1 both.test\n", encoding="utf-8")
        if subprocess.run([*begin, hosts, "true"], check=False, capture_output=True).returncode:
            return  # no user namespaces here
        found = doctor(folder, "both.test", begin=(*begin, hosts))
        equal(pinged(folder), ["127.0.0.1"])
    equal(found["route"], ["both.test is this host"])


def bound(family, address):
    taken = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    taken.bind((address, 0))
    return taken


def test_ports_that_sockets_hold_are_not_free():
    with tempfile.TemporaryDirectory() as folder, bound(socket.AF_INET, "127.0.0.1") as one, \
            bound(socket.AF_INET6, "::1") as other:
        for port in one.getsockname()[1], other.getsockname()[1]:
            found = doctor(folder, settings={"COLLSOCK_USER_PORTS": f"{port}-{port}"})
            equal(found["user space"], ["no more rank can begin in user space: all of the 1 UDP "
                                        f"ports {port}-{port} are taken"])
        all_of_them, = doctor(folder, settings={"COLLSOCK_USER_PORTS": "1-65535"})["user space"]
    free, = re.findall(r"(\d+) of the 65535 UDP ports 1-65535 are free", all_of_them)
    assert int(free) <= 65533, all_of_them


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
