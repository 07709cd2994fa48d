#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""collsock run says which variable or file is wrong, and what to do; TAP."""
import os
import shutil
import socket
import subprocess
import sys

from running import COMMAND, NOBODY, environment, meet, report, secret, shows

ROOT_ALONE = "ports below 1024 need root"


def both_say(folder, why, starter, ports):
    """Whether both ranks that meet end and say why, if these are the ports of rank 1."""
    starters = {0: starter, 1: ["env", f"COLLSOCK_USER_PORTS={ports}", *starter]}
    seen = meet(folder, ["true"], ["true"], starters=starters)
    return all((status, said) == (125, f"collsock: rank 1: {why}\n")
               for status, _, said in seen), repr(seen)


def says(why, *words, starter=None, **settings):
    """Whether the command ends and says why."""
    done = subprocess.run([*(starter or [COMMAND]), *words], check=False, text=True, timeout=120,
                          capture_output=True, env=environment(**settings))
    return (done.returncode, done.stderr) == (125, f"collsock: {why}\n"), shows(done)


def all_are_good(*seen):
    return next((one for one in seen if not one[0]), (True, ""))


def fewer_ports_than_ranks(folder):
    """Also if other programs have them"""
    why = "no UDP port of 17740-17741 (COLLSOCK_USER_PORTS) is free: name at least one for each " \
        "rank of its host"
    local = says(f"rank 2 of 3: {why}", "run", "--local", "3", "--", "true",
                 COLLSOCK_USER_PORTS="17740-17741")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two:
        one.bind(("0.0.0.0", 17740))
        two.bind(("0.0.0.0", 17741))
        return all_are_good(local, both_say(folder, why, [COMMAND], "17740-17741"))


def ports_that_are_none(folder):
    """The value is printed, but cannot control a terminal."""
    seen = []
    for value, printed in (("abc", "abc"), ("7608", "7608"), ("5-\x1b[2J", "5-?[2J"),
                           ("70-60" + 30 * "x", "70-60" + 18 * "x")):
        why = f'COLLSOCK_USER_PORTS: "{printed}" is not FIRST-LAST, of ports from 1 to 65535'
        seen += [says(f"rank 0 of 2: {why}", "run", "--local", "2", "--", "true",
                      COLLSOCK_USER_PORTS=value), both_say(folder, why, [COMMAND], value)]
    return all_are_good(*seen)


# ---- without privilege ----

def as_nobody(folder):
    """Words that start the command as a user who is not root, to whom the secret belongs"""
    settings = secret(folder)
    folder.chmod(0o755)
    command = shutil.copy(COMMAND, folder)
    if os.geteuid():
        return [command]
    shutil.chown(settings["COLLSOCK_KEY_FILE"], NOBODY, NOBODY)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", command]


def every_user_has_low_ports():
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding="utf-8") as least:
        return int(least.read()) < 1024


def ports_that_need_root(folder):
    if every_user_has_low_ports():
        return None, "ports below 1024 need no privilege here"
    starter = as_nobody(folder)
    why = f"cannot use UDP ports 80-81 (COLLSOCK_USER_PORTS): {ROOT_ALONE}"
    return all_are_good(
        says(f"rank 0 of 2: {why}", "run", "--local", "2", "--", "true", starter=starter,
             COLLSOCK_USER_PORTS="80-81"), both_say(folder, why, starter, "80-81"))


def ports_of_a_meeting_that_need_root(folder):
    if every_user_has_low_ports():
        return None, "ports below 1024 need no privilege here"
    starter, settings = as_nobody(folder), secret(folder)
    rank = "--ranks", "2", "--rank", "0", "--", "true"
    return all_are_good(
        says("cannot listen on 127.0.0.1:86 (COLLSOCK_MEETING_PORTS is 86-86): Permission "
             f"denied: {ROOT_ALONE}", "run", "--rendezvous", "127.0.0.1", *rank, starter=starter,
             **settings | {"COLLSOCK_MEETING_PORTS": "86-86"}),
        says(f"cannot listen on 127.0.0.1:87: Permission denied: {ROOT_ALONE}", "run",
             "--rendezvous", "127.0.0.1:87", *rank, starter=starter, **settings))


def a_secret_of_another_user(folder):
    if os.geteuid():
        return None, "needs root"
    starter, settings = as_nobody(folder), secret(folder)
    key = settings["COLLSOCK_KEY_FILE"]
    shutil.chown(key, 0, 0)
    return says(f"{key}: Permission denied: make it yours (chown, chmod 600), or name a file of "
                "yours in COLLSOCK_KEY_FILE", "run", "--rendezvous", "127.0.0.1", "--ranks", "2",
                "--rank", "0", "--", "true", starter=starter, **settings)


TESTS = {
    "fewer ports than ranks are told with their variable": fewer_ports_than_ranks,
    "ports that are none are told with their variable": ports_that_are_none,
    "ports that need root are told with their variable": ports_that_need_root,
    "ports of a meeting that need root are told with their variable":
        ports_of_a_meeting_that_need_root,
    "a secret of another user is told, and what to do": a_secret_of_another_user,
}


if __name__ == "__main__":
    sys.exit(report(TESTS))
