#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""collperf as a rank in user space, without privilege or module; TAP."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from built import TREE, program  # noqa: E402

sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402

COMMAND = program("tools/collsock")
COLLPERF = program("tools/collperf")
SECONDS = 60
USUAL = {name: value for name, value in os.environ.items() if not name.startswith("COLLSOCK_")} | {
    "COLLSOCK_BACKEND": "user", "COLLSOCK_USER_PORTS": "18400-18499"}
NO_FORK = "#include <errno.h>\nint fork(void) { errno = EAGAIN; return -1; }\n"


def run(*words):
    done = subprocess.run(words, check=False, text=True, capture_output=True, env=USUAL,
                          timeout=SECONDS)
    return done.returncode, done.stdout, done.stderr


def refused(words, *options):
    status, _, error = run(COLLPERF, *options)
    assert status == 2 and words in error, f"{options}: status {status}, {error!r}"


def test_options_of_groups_that_no_launcher_describes_are_refused():
    for options in (("--startup",), ("--startup", "--forget-neighbours"), ("--nonce", "1"),
                    ("--rank", "1"), ("--key-file", "key")):
        refused("only with --hosts-file or --hosts", *options)


def test_the_algorithm_and_the_length_count_in_a_group_of_collsock_run():
    status, said, error = run(
        COMMAND, "run", "--local", "3", "--", COLLPERF, "--iterations", "10", "--warm-up", "0",
        "--json", "--algorithm", "mcs", "--operation", "allreduce", "--count", "1000")
    assert status == 0, error
    sent = {one["rank"]: one["stats"]["messages"] - one["stats"]["retransmits"]
            for one in map(json.loads, said.splitlines())}
    # Twice as many; of an exchange all send the same. A few are not of the operations measured.
    assert sent[0] > 1.5 * max(sent[1], sent[2]) > 0, f"of the root and its children: {sent}"


def test_what_collsock_run_has_decided_cannot_be_chosen():
    for option in ("--ipv6",), ("--ethernet",), ("--port", "7"), ("--multicast", "239.7.7.7"):
        status, _, error = run(COMMAND, "run", "--local", "1", "--", COLLPERF, *option)
        assert status == 2 and "collsock run has decided that" in error, (option, error)


def test_neighbours_are_forgotten_over_ipv4_only():
    hosts = "--hosts", "2", "--rank", "0", "--nonce", "1"
    refused("over IPv4", *hosts, "--forget-neighbours")
    refused("over IPv4", *hosts, "--forget-neighbours", "--startup", "--ipv6")


def team(kind, *before):
    return run(COMMAND, "run", "--local", "1", "--", *before, COLLPERF, "--iterations", "2",
               "--warm-up", "0", "--members", "3", "--team", kind)


def test_a_team_whose_members_cannot_be_started_is_not_waited_for():
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/no_fork.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], check=True,
                       text=True, input=NO_FORK)
        status, _, error = team("futex:processes", "env", f"LD_PRELOAD={library}")
        assert status == 1 and "a member cannot be started: Resource" in error, (status, error)


def test_a_team_of_processes_that_is_a_rank_in_user_space_is_refused():
    status, _, error = team("central:processes")
    assert status == 1 and error.count("cannot be a team of processes: use threads") == 1, \
        (status, error)
    status, said, error = team("central:threads")
    assert status == 0 and said, (status, error)


def test_a_member_that_ends_ends_a_team_of_a_bare_futex():
    """A child is no rank in user space, so that the one that arrives last ends."""
    status, _, error = team("futex:processes")
    assert status == 1 and "a member has ended" in error, (status, error)


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
