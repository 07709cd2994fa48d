#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The port and the network of ranks are told, or found; TAP."""
import subprocess
import sys

from running import COMMAND, environment, report, run, secret, shows


# The port of the first member of the request
PRINT_PORT = "python3", "-c", """
import os, struct
fd = int(os.environ["COLLSOCK_REQUEST"].split(":")[0])
request = os.pread(fd, 1 << 16, 0)
members, = struct.unpack_from("I", request)
print(struct.unpack_from("HH", request, members)[1])
"""


def groups_on_another_port(folder):
    """With the kernel, by what it would be asked; there need not be any."""
    seen, kernel = [], secret(folder) | {"COLLSOCK_BACKEND": "kernel"}
    for kind in "--local 1", "--rendezvous 127.0.0.1 --ranks 1 --rank 0":
        for options, value, port in (([], "7700", 7700), (["--port", "7701"], "", 7701),
                                     (["--port", "7702"], "7703", 7702), ([], "0", 7607)):
            done = run("run", *kind.split(), *options, "--", *PRINT_PORT,
                       settings=kernel | {"COLLSOCK_PORT": value})
            if done.stdout != f"{port}\n":
                seen.append((kind, options, value, shows(done)))
    return not seen, repr(seen)


def ports_that_are_none(folder):
    rank = "--rendezvous 127.0.0.1 --ranks 2 --rank 0".split()
    commands = ((("run", "--local", "1"), ["true"], 125), (("run", *rank), ["true"], 125),
                (("barrier", *rank), [], 2), (("allreduce", *rank, "--op", "sum"), ["1"], 2))
    for words, program, status in commands:
        for value in "65536", "-1", "7607x":
            variable = run(*words, *program, settings=secret(folder) | {"COLLSOCK_PORT": value})
            option = run(*words, "--port", value, *program)
            if (variable.returncode, option.returncode) != (status, status) or \
                    f"COLLSOCK_PORT: \"{value}\" is not a whole number from 0 to 65535" \
                    not in variable.stderr or \
                    f"--port: \"{value}\" is not a whole number from 1 to 65535" \
                    not in option.stderr:
                return False, f"{words}: {shows(variable)}, {shows(option)}"
    return True, ""


def pair(folder, words, program, options, **settings):
    """The status and the output of two ranks that meet, each with its options."""
    settings = secret(folder) | {"COLLSOCK_MEETING_TIMEOUT": "20"} | settings
    ranks = [subprocess.Popen([COMMAND, *words.split(), "--rendezvous", "127.0.0.1", "--ranks", "2",
                               "--rank", str(rank), *own, *program],
                              env=environment(**settings), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
             for rank, own in enumerate(options)]
    told = [rank.communicate(timeout=120) for rank in ranks]
    return [(rank.returncode, *said) for rank, said in zip(ranks, told)]


# Commands of a rank, and their status when ranks do not agree
COMMANDS = (("run", ["echo", "started"], 125), ("barrier", [], 1), ("allreduce --op sum", ["1"], 1))


def fails(folder, options, wanted, **settings):
    """All commands end on both ranks, with these words; returns what is wrong."""
    for words, program, status in COMMANDS:
        seen = pair(folder, words, program, options, **settings)
        if any(found != status or printed or wanted not in said for found, printed, said in seen):
            return f"{words}: {seen}"
    return ""


def ranks_that_name_different_ports(folder):
    """In user space, too: another rank may be with the kernel."""
    wrong = fails(folder, (["--port", "7700"], []),
                  "rank 1 has port 7607 in its options, and rank 0 7700: all must have the same")
    return not wrong, wrong


# How many members of the request have the loopback address
COUNT_LOOPBACK = "python3", "-c", """
import os, struct
fd = int(os.environ["COLLSOCK_REQUEST"].split(":")[0])
request = os.pread(fd, 1 << 16, 0)
print(request.count(bytes((127, 0, 0, 1)), *struct.unpack_from("I", request)))
"""


def groups_in_a_network(folder):
    """The option comes before the variable, and --local needs none."""
    one, none = "127.0.0.0/8", "203.0.113.0/24"
    for options, value in ([], one), (["--network", one], none), (["--network", "127.9.9.9/8"], ""):
        for words, program in (("run", COUNT_LOOPBACK), ("allreduce --op sum", ["1"])):
            seen = pair(folder, words, program, [options] * 2, COLLSOCK_NETWORK=value)
            if any((status, printed) != (0, "2\n") for status, printed, _ in seen):
                return False, f"{words} {options} {value}: {seen}"
    done = run("run", "--local", "1", *COUNT_LOOPBACK, settings={"COLLSOCK_NETWORK": none})
    return (done.returncode, done.stdout) == (0, "1\n"), shows(done)


def networks_without_an_address(folder):
    wanted = "rank 0 has no address that others can reach (see ip address, COLLSOCK_NETWORK, the"
    wrong = fails(folder, ([], []), wanted, COLLSOCK_NETWORK="203.0.113.0/24") or \
        fails(folder, [["--network", "2001:db8::/32"]] * 2, wanted)
    return not wrong, wrong


def ranks_that_name_different_networks(folder):
    """127.0.0.0/9 is another network, though all addresses are in both."""
    other = "rank 1 has another network in its options than rank 0: all must have the same"
    longer = "rank 1 has prefix 9 in its options, and rank 0 8: all must have the same"
    named = ["--network", "127.0.0.0/8"]
    wrong = fails(folder, (named, []), other) or fails(folder, ([], named), other) or \
        fails(folder, (named, ["--network", "127.0.0.0/9"]), longer)
    return not wrong, wrong


def networks_that_are_none(folder):
    rank = "--rendezvous 127.0.0.1 --ranks 2 --rank 0".split()
    form = "not an address and a prefix length, as in 10.1.0.0/16"
    for words, program, status in COMMANDS:
        for value in "eth0", "10.1.0.0", "10.1.0.0/33":
            variable = run(*words.split(), *rank, *program,
                           settings=secret(folder) | {"COLLSOCK_NETWORK": value})
            option = run(*words.split(), *rank, "--network", value, *program)
            if variable.returncode != max(status, 2) or option.returncode != max(status, 2) or \
                    f"COLLSOCK_NETWORK={value}: {form}" not in variable.stderr or \
                    f"--network: \"{value}\" is {form}" not in option.stderr:
                return False, f"{words}: {shows(variable)}, {shows(option)}"
    return True, ""


TESTS = {
    "an option or the environment names the port of ranks with the kernel": groups_on_another_port,
    "a port that is none is refused": ports_that_are_none,
    "ranks that name different ports are told so": ranks_that_name_different_ports,
    "an option or the environment names the network of ranks": groups_in_a_network,
    "a network in which a host has no address is told": networks_without_an_address,
    "ranks that name different networks are told so": ranks_that_name_different_networks,
    "a network that is none is refused": networks_that_are_none,
}


if __name__ == "__main__":
    sys.exit(report(TESTS))
