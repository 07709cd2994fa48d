#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""collsock run starts ranks in user space, without privilege or module; TAP."""
import os
import shutil
import socket
import subprocess
import sys
import time

from built import OUTPUT, TREE
from running import (COMMAND, NOBODY, environment, have_terminal, meet, report, run, secret,
                     shows)


# The first time that a program reads is an hour ago.
CLOCK = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *now)
{
	static int calls;
	int status = syscall(SYS_clock_gettime, id, now);

	now->tv_sec -= calls++ ? 0 : 3600;
	return status;
}
"""


def ranks_of_one_machine(_):
    done = run("run", "--local", "4", "--", COMMAND, "allreduce", "--op", "sum", "17")
    return done.returncode == 0 and done.stdout.split() == ["68"] * 4, shows(done)


def another_user(folder):
    """If this is root. What it runs is readable to all."""
    how = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    command = shutil.copy(COMMAND, folder)
    folder.chmod(0o755)
    done = run("run", "--local", "3", "--", command, "barrier", command=command, **how)
    return done.returncode == 0, shows(done)


def ranks_that_meet(folder):
    seen = meet(folder, *([COMMAND, "allreduce", "--op", "max", str(10 + rank)]
                          for rank in range(3)))
    return [said for _, said, _ in seen] == ["12\n"] * 3, repr(seen)


def a_rank_whose_program_cannot_be_started(folder):
    """All ranks are told, and no program is started. Names are looked up as by execvp(3)."""
    plain = folder / "plain"
    plain.write_text("no program", encoding="utf-8")
    for program, status, why in ((str(folder / "none"), 127, "No such file or directory"),
                                 ("none-in-the-path", 127, "No such file or directory"),
                                 (str(plain), 126, "Permission denied"),
                                 ("plain", 126, "Permission denied"),
                                 (str(folder), 126, "Permission denied"),
                                 (str(plain / "x"), 126, "Not a directory")):
        seen = meet(folder, ["echo", "started"], [program], ["echo", "started"],
                    PATH=f"{folder}:{os.environ['PATH']}")
        told = f"collsock: rank 1: its program cannot be started: {why}\n"
        wanted = [(125, told), (status, f"collsock: {program}: {why}\n"), (125, told)]
        for (found, printed, said), (number, line) in zip(seen, wanted):
            if found != number or printed or line not in said:
                return False, f"{program}: {seen}"
    return True, ""


def a_rank_whose_request_cannot_be_written(folder):
    """Its files may have no bytes."""
    limited = "sh", "-c", f"trap '' XFSZ; ulimit -f 0; exec {COMMAND} \"$@\"", "sh"
    seen = meet(folder, ["echo", "started"], ["echo", "started"], starters={1: limited})
    return all((status, printed) == (125, "") and "collsock: rank 1: File too large" in said
               for status, printed, said in seen), repr(seen)


def is_taken(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as another:
        try:
            another.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def the_port_of_a_rank_that_was_killed(_):
    """The other rank may send to it."""
    with subprocess.Popen([COMMAND, "run", "--local", "2", "--", "sh", "-c",
                           "test $COLLSOCK_RANK = 1 && kill -KILL $$; read line"],
                          env=environment(COLLSOCK_USER_PORTS="17702-17703"), text=True,
                          stdin=subprocess.PIPE, stderr=subprocess.PIPE) as ranks:
        said = ranks.stderr.readline()
        during = [is_taken(port) for port in (17702, 17703)]
        ranks.communicate(timeout=120)
    after = [is_taken(port) for port in (17702, 17703)]
    return "rank 1 was ended by signal 9" in said and all(during) and not any(after), \
        f"{said!r}, taken {during}, then {after}"


def a_backend_that_is_none(_):
    done = run("run", "--local", "2", "--", "true", settings={"COLLSOCK_BACKEND": "usr"})
    return done.returncode == 125 and "none of kernel, user, auto" in done.stderr, shows(done)


def too_few_descriptors(_):
    """Enough for the command, not for a rank, in user space or in the kernel"""
    done = run("-c", f"ulimit -n 4; {COMMAND} run --local 2 -- true", command="sh",
               settings={"COLLSOCK_BACKEND": "auto"})
    return done.returncode == 125 and "Too many open files" in done.stderr, shows(done)


def a_program_that_wants_another(_):
    done = run("run", "--local", "1", "--", "env", "COLLSOCK_BACKEND=kernel", COMMAND, "barrier")
    return done.returncode == 2 and "collsock run has prepared user" in done.stderr, shows(done)


def a_program_that_does_not_join(_):
    """Its socket is passed to nobody else."""
    done = run("run", "--local", "2", "--", "sh", "-c",
               "test -n \"$COLLSOCK_SOCKET\" && ls -l /proc/self/fd | grep -c socket:")
    return done.stdout.split() == ["1", "1"], shows(done)


def a_namespace_whose_loopback_is_down(_):
    """Which needs a user namespace."""
    if run("-rn", "true", command="unshare").returncode:
        return None, "no user namespaces here"
    done = run("-rn", COMMAND, "run", "--local", "2", "--", COMMAND, "barrier", command="unshare")
    return done.returncode == 125 and "ip link set lo up" in done.stderr, shows(done)


def ranks_in_a_namespace_of_their_own(_):
    """As in a container: auto, and no module there may be used."""
    if run("-rn", "true", command="unshare").returncode:
        return None, "no user namespaces here"
    done = run("-rn", "sh", "-c", f"ip link set lo up && {COMMAND} run --local 3 -- {COMMAND} "
               "allreduce --op sum 17", command="unshare", settings={"COLLSOCK_BACKEND": "auto"})
    return done.returncode == 0 and done.stdout.split() == ["51"] * 3, shows(done)


def a_program_without_a_launcher(_):
    done = run("run", "--", COMMAND, "barrier")
    return done.returncode == 125 and "collsock run --local N on one machine" in done.stderr, \
        shows(done)


def a_group_that_options_describe(folder):
    """Each option of a rank alone, and all of them; the request is that of a rank of run."""
    settings, seen = secret(folder), []
    inherited = settings | {"COLLSOCK_REQUEST": "99:1", "COLLSOCK_SOCKET": "98:1"}
    by_hand = {"COLLSOCK_RENDEZVOUS": "127.0.0.1", "COLLSOCK_RANK": "0", "COLLSOCK_RANKS": "1"}
    for options in ("-H localhost", "--rendezvous 127.0.0.1", "--rank 0", "--ranks 1",
                    "--rendezvous 127.0.0.1 --ranks 1 --rank 0"):
        done = run("barrier", *options.split(), settings=inherited | by_hand)
        seen.append((options, done.returncode, done.stderr))
    without = run("barrier", settings=inherited | by_hand)
    return all(status == 0 for _, status, _ in seen) and without.returncode and \
        "COLLSOCK_REQUEST=99:1" in without.stderr, f"{seen}, without options {shows(without)}"


def numbers_that_are_negative(_):
    seen = [(number, run("run", "--local", "1", "--", COMMAND, "allreduce", "--op", "max", number))
            for number in ("-5", "-.5", "-1e3", "-inf", "5")]
    wrong = run("allreduce", "--op", "max", "-5x")
    return all(done.returncode == 0 and float(done.stdout) == float(number)
               for number, done in seen) and wrong.returncode == 2, \
        f"{[shows(done) for _, done in seen]}, -5x {shows(wrong)}"


def numbers_that_are_none(_):
    """Whole numbers of more than 64 bits do not become real ones, which others do not have."""
    seen = [(number, run("allreduce", "--op", "sum", number))
            for number in ("9223372036854775808", "-9223372036854775809", "0x10", "-0x1p3", "1,5")]
    real = run("run", "--local", "1", "--", COMMAND, "allreduce", "--op", "sum",
               "9223372036854775808.0")
    return all(done.returncode == 2 and f'allreduce: "{number}" is ' in done.stderr
               for number, done in seen) and real.stdout == "9.2233720368547758e+18\n", \
        f"{[shows(done) for _, done in seen]}, {shows(real)}"


def standard_error_that_is_full(folder):
    """What cannot be printed does not change the exit status. Of the second, the interpreter is not
    there."""
    script, seen = folder / "script", []
    script.write_text("#!/none/such\n", encoding="utf-8")
    script.chmod(0o755)
    for program in "/none/such", str(script):
        with open("/dev/full", "w", encoding="utf-8") as full:
            seen.append(subprocess.run([COMMAND, "run", "--local", "1", "--", program],
                                       check=False, env=environment(), stderr=full,
                                       timeout=120).returncode)
    return seen == [127, 127], repr(seen)


def standard_error_that_nobody_reads(_):
    """A report that cannot be printed does not change the exit status, either."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([COMMAND, "run", "--local", "2", "--", "sh", "-c", "exit 3"],
                          check=False, env=environment(), stderr=writer, timeout=120)
    os.close(writer)
    return done.returncode == 3, repr(done.returncode)


def descriptors_for_some_ranks(_):
    done = run("-c", f"ulimit -n 12; {COMMAND} run --local 16 -- true", command="sh")
    return done.returncode == 125 and "Too many open files: see ulimit -n" in done.stderr and \
        "COLLSOCK_USER_PORTS" not in done.stderr, shows(done)


# Rank 1 ends without having joined; the others join when they have read a line.
ENDS_EARLY = f'[ $COLLSOCK_RANK != 1 ] || exit 3; read line; exec {COMMAND} barrier'


def a_rank_that_ends_before_it_joins(_):
    """The others join before or afterwards. Those that wait already are told, too."""
    wanted, seen = "rank 1 has left the group", []
    for script in ENDS_EARLY, ENDS_EARLY.replace("read line; ", ""), \
            f'[ $COLLSOCK_RANK = 1 ] || exec {COMMAND} barrier; read line; exec /none/such':
        with subprocess.Popen([COMMAND, "run", "--local", "3", "--", "sh", "-c", script],
                              env=environment(), text=True, stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE) as ranks:
            said = ranks.stderr.readline() if script == ENDS_EARLY else ""
            try:
                said += ranks.communicate("a line\n" * 2, timeout=120)[1]
            except subprocess.TimeoutExpired:
                ranks.terminate()
        seen.append((ranks.returncode, said))
    return all(status in (3, 127) and said.count(wanted) == 2 and
               ", before it joined" in said for status, said in seen), repr(seen)


# A program that can join as the rank that it is.
PROGRAM = f"""
import ctypes, os, sys
library = ctypes.CDLL({str(OUTPUT / "library/libcollsock.so.1")!r})
rank = ctypes.c_void_p()
def join():
    if library.collsock_join_env(ctypes.byref(rank), None):
        sys.exit("cannot join")
"""

# The rank is a child of the program, and hears from the others first.
CHILD = """
import time
done, told = os.pipe()
if not os.fork():
    join()
    os.write(told, b"joined")
    time.sleep(1)
    sys.exit(library.collsock_barrier(rank, None))
os.read(done, 6)
os.kill(os.getpid(), 9)
"""


def end_rank_1(end):
    """The status of three ranks, and what they say, if one runs and ends as this says, and the
    others join when something has been said about that."""
    script = f'[ $COLLSOCK_RANK != 1 ] || exec python3 -c "$0"; read line; exec {COMMAND} barrier'
    with subprocess.Popen([COMMAND, "run", "--local", "3", "--", "sh", "-c", script,
                           PROGRAM + end], env=environment(), text=True, stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE) as ranks:
        said = ranks.stderr.readline()
        try:
            said += ranks.communicate("a line\n" * 2, timeout=60)[1]
        except subprocess.TimeoutExpired:
            ranks.terminate()
            said += ranks.communicate()[1]
    return ranks.returncode, said


def a_rank_that_ends_after_it_has_joined(_):
    """Others, which have received no packet of it, are told when they join, be it that it was
    killed or that it has left properly."""
    for end, wanted in (("os.kill(os.getpid(), 9)", 137), ("os._exit(3)", 3), ("sys.exit(3)", 3),
                        ("print('well', file=sys.stderr, flush=True)", 1)):
        status, said = end_rank_1(f"join(); {end}")
        if status != wanted or said.count("rank 1 has left the group") != 2 or \
                "before it joined" in said:
            return False, f"{end}: status {status}, {said!r}"
    return True, ""


def a_rank_whose_parent_ends(_):
    """It goes on as a rank, and nobody takes its packets."""
    status, said = end_rank_1(CHILD)
    return (status, said) == (137, "collsock: rank 1 was ended by signal 9 (Killed)\n"), \
        f"status {status}, {said!r}"


def ranks_that_do_not_join(_):
    """One that ends well is none of the others' business, nor is one that fails if none joins."""
    one = run("run", "--local", "3", "--", "sh", "-c", "test $COLLSOCK_RANK = 1 || echo fine")
    two = run("run", "--local", "3", "--", "sh", "-c", "test $COLLSOCK_RANK != 1 && echo fine")
    return (one.returncode, one.stdout, one.stderr) == (0, "fine\n" * 2, "") and \
        (two.returncode, two.stdout) == (1, "fine\n" * 2), f"{shows(one)}, {shows(two)}"


def a_rank_that_fails_after_it_has_joined(_):
    done = run("run", "--local", "2", "--", "sh", "-c", f"{COMMAND} barrier; exit $COLLSOCK_RANK")
    return done.returncode == 1 and "rank 1: exit status 1\n" in done.stderr, shows(done)


def a_host_that_cannot_be_resolved(_):
    """A label has 63 characters at most, so no server is asked."""
    name = 64 * "x" + ".invalid"
    done = run("barrier", "-H", f"203.0.113.77,{name},y{name}")
    without = run("barrier", "-H", "203.0.113.77,203.0.113.78")
    return done.returncode == 2 and "none of the names means this host" in done.stderr and \
        f"; {name}: " in done.stderr and f"y{name}" not in done.stderr and \
        without.stderr.endswith("none of the names means this host; give --rank\n"), \
        f"{shows(done)}, {shows(without)}"


# Rank 1 is in a session, and a process group, of its own.
GROUPS = 'set -- sh -c "echo ready; exec sleep 600"; [ $COLLSOCK_RANK = 0 ] || ' \
    'set -- setsid "$@"; exec "$@"'


def on_a_terminal(what):
    """Run two ranks, do something to the terminal when both are there, and return whether all end.
    The leader of the session is run."""
    terminal, ours = os.openpty()
    with subprocess.Popen([COMMAND, "run", "--local", "2", "--", "sh", "-c", GROUPS],
                          env=environment(), stdin=ours, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, start_new_session=True,
                          preexec_fn=have_terminal) as ranks:
        os.close(ours)
        ready = ranks.stdout.readline() + ranks.stdout.readline()
        terminal = what(terminal)
        try:
            # Each rank has this pipe.
            ranks.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            ranks.kill()
            return False
        finally:
            if terminal is not None:
                os.close(terminal)
    return ready == b"ready\n" * 2 and ranks.returncode != 0


def interrupt(terminal):
    os.write(terminal, b"\x03")
    return terminal


def ranks_that_the_terminal_does_not_signal(_):
    seen = {"interrupt": on_a_terminal(interrupt), "hang-up": on_a_terminal(os.close)}
    return all(seen.values()), repr(seen)


CONTRADICTIONS = {
    ("run", "--local", "2", "--rank", "1"): ("--local", "--rank"),
    ("run", "--ranks", "2", "--local", "2"): ("--local", "--ranks"),
    ("run", "--local", "2", "--rendezvous", "localhost"): ("--local", "--rendezvous"),
    ("run", "--local", "2", "-H", "localhost"): ("--local", "--host"),
    ("run", "--network", "10.1.0.0/16", "--local", "2"): ("--local", "--network"),
    ("run", "-H", "localhost", "--ranks", "1"): ("--host", "--ranks"),
    ("barrier", "--host", "localhost", "--ranks", "1"): ("--host", "--ranks"),
    ("allreduce", "--rendezvous", "localhost", "-H", "localhost"): ("--host", "--rendezvous"),
}


def options_that_contradict_each_other(_):
    """The usage errors of run have its status."""
    seen = {words: run(*words, *{"run": ["true"], "allreduce": ["--op", "sum", "1"]}.get(
        words[0], [])) for words in CONTRADICTIONS}
    return all(done.returncode == (125 if words[0] == "run" else 2) and done.stderr ==
               f"collsock: {words[0]}: {' and '.join(CONTRADICTIONS[words])} exclude each other\n"
               for words, done in seen.items()), repr(seen)


def a_key_in_a_folder_that_is_not_there(folder):
    done = run("keygen", str(folder / "no/key"))
    return done.returncode == 1 and "no such folder (mkdir -p -m 700)" in done.stderr, shows(done)


def output_that_cannot_be_written(_):
    """A file that is full, or none"""
    for words in ("--help",), ("--version",), ("run", "--help"), ("keygen",):
        for to in ">/dev/full", ">&-":
            done = run("-c", f'exec "$0" "$@" {to}', COMMAND, *words, command="sh")
            if done.returncode != 1 or "standard output" not in done.stderr:
                return False, f"{words} {to}: {shows(done)}"
    return True, ""


def a_program_without_output(_):
    """Which needs none"""
    done = run("-c", f'{COMMAND} run --local 2 -- {COMMAND} barrier >&- <&-', command="sh")
    return done.returncode == 0, shows(done)


def an_operation_that_is_done_when_the_time_is_over(folder):
    """As joining has taken it all"""
    library = folder / "clock.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], check=True,
                   text=True, input=CLOCK)
    done = run("run", "--local", "1", "--", "env", f"LD_PRELOAD={library}", COMMAND, "allreduce",
               "--op", "sum", "--timeout", "5", "17")
    return done.returncode == 0 and done.stdout == "17\n", shows(done)


def a_rank_that_stops_after_it_has_come(folder):
    """The others give up soon after the time that they have. The status is that of a time-out."""
    settings = secret(folder)
    rank = "--rendezvous 127.0.0.1 --ranks 2 --rank".split()
    absent = {"COLLSOCK_RENDEZVOUS": "127.0.0.1", "COLLSOCK_RANK": "1", "COLLSOCK_RANKS": "2"}
    with subprocess.Popen([OUTPUT / "launched", "--absent", "1"],
                          env=environment(**settings, **absent)) as stopped:
        begin = time.monotonic()
        done = run("barrier", "--timeout", "2", *rank, "0", settings=settings)
        took = time.monotonic() - begin
        stopped.kill()
    return done.returncode == 124 and "rank 1" in done.stderr and took < 20, \
        f"{shows(done)} after {took:.1f} s"


# Rank 0 gives up; the others join when they have read a line.
GIVES_UP = f"""
if [ $COLLSOCK_RANK = 0 ]; then
    {COMMAND} %s --timeout 1 %s
    echo status $? >&2
else
    read line
    exec {COMMAND} %s %s
fi
"""


def an_operation_that_times_out(_):
    """It says for whom everyone waits. In user space the rank ends with its process, which others
    learn when they join."""
    seen = []
    for words in ("barrier", ""), ("allreduce --op sum", "1"):
        with subprocess.Popen([COMMAND, "run", "--local", "3", "--", "sh", "-c",
                               GIVES_UP % (words + words)], env=environment(), text=True,
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE) as ranks:
            said = list(iter(ranks.stderr.readline, "status 124\n"))
            printed, last = ranks.communicate("a line\n" * 2, timeout=120)
        seen.append((ranks.returncode, printed, said, last))
    return all((status, printed) == (1, "") and said[0].startswith("collsock: timed out; ") and
               "everyone waits for" in said[0] and "has not joined yet" in said[0] and
               last.count("rank 0 has left the group") == 2
               for status, printed, said, last in seen), repr(seen)


# The ranks of the first words join when they have read a line.
LATE = 'for rank in $0; do [ $COLLSOCK_RANK != $rank ] || read line; done; exec "$@"'


def ranks_that_others_wait_for(_):
    """They are named, once for all that wait, whatever the program is, and again; not the ranks
    that have joined."""
    seen = []
    for late, names in (("1", "rank 1: it has"), ("0 2", "ranks 0, 2: they have")):
        wanted = f"collsock: waiting for {names} not joined\n"
        for program in ([str(OUTPUT / "tools/collperf"), "--iterations", "2"],
                        [str(OUTPUT / "library/examples/barrier")], [COMMAND, "barrier"]):
            with subprocess.Popen([COMMAND, "run", "--local", "4", "--", "sh", "-c", LATE, late,
                                   *program], env=environment(), text=True,
                                  stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as ranks:
                said = [ranks.stderr.readline()]
                if late == "1" and program[1:] == ["barrier"]:
                    said.append(ranks.stderr.readline())
                last = ranks.communicate("a line\n" * 2, timeout=120)[1]
            if (ranks.returncode, last) != (0, "") or set(said) != {wanted}:
                seen.append((program, ranks.returncode, said, last))
    return not seen, repr(seen)


def ranks_that_nobody_waits_for(_):
    """None has joined, or the one that has does not run any more, though its script does."""
    done = run("run", "--local", "2", "--", "sh", "-c",
               f"[ $COLLSOCK_RANK = 1 ] || timeout -s KILL 0.5 {COMMAND} barrier; sleep 3; "
               "exit $COLLSOCK_RANK")
    none = run("run", "--local", "2", "--", "sleep", "3")
    return (none.returncode, none.stderr) == (0, "") and done.returncode == 1 and \
        "waiting for" not in done.stderr, \
        f"{shows(none)}, {shows(done)}"


# ---- programs that describe the group themselves, or do not join ----

OWN = f"""
import sys
sys.path.insert(0, {str(TREE / "libcollsock/python")!r})
import collsock
with collsock.join_env(max_bytes=65536) as group:
    group.barrier()
"""


def ranks_that_have_ended_without_joining(_):
    """Others that wait for them are told so: one that has ended well, and one that has failed if
    they have another description of the group than run."""
    told = "collsock: waiting for rank 1: its program has ended without joining\n"
    seen = []
    for status, program in ((0, [COMMAND, "barrier"]), (3, [sys.executable, "-B", "-c", OWN])):
        script = f'[ $COLLSOCK_RANK != 1 ] || exit {status}; exec "$0" "$@"'
        with subprocess.Popen([COMMAND, "run", "--local", "3", "--", "sh", "-c", script, *program],
                              env=environment(LD_LIBRARY_PATH=str(OUTPUT / "library")),
                              text=True, stderr=subprocess.PIPE) as ranks:
            said = iter(ranks.stderr.readline, "")
            lines = [next((line for line in said if "waiting for" in line), "") for _ in range(2)]
            ranks.terminate()
            ranks.communicate(timeout=120)
        if set(lines) != {told}:
            seen.append((status, lines))
    return not seen, repr(seen)


TESTS = {
    "ranks of one machine compute a sum": ranks_of_one_machine,
    "a user without privilege runs ranks": another_user,
    "ranks that meet over TCP": ranks_that_meet,
    "a program that cannot be started is told to all ranks": a_rank_whose_program_cannot_be_started,
    "a request that cannot be written is told to all ranks":
        a_rank_whose_request_cannot_be_written,
    "the port of a rank that was killed is not free while others run":
        the_port_of_a_rank_that_was_killed,
    "a backend that is none is refused": a_backend_that_is_none,
    "a socket that cannot be opened is told as such": too_few_descriptors,
    "a program that wants another backend than its launcher": a_program_that_wants_another,
    "a program has the socket of its rank alone": a_program_that_does_not_join,
    "ranks are in a network namespace of their own": ranks_in_a_namespace_of_their_own,
    "ranks do not wait for packets where loopback is down": a_namespace_whose_loopback_is_down,
    "without launcher and options run says which there are": a_program_without_a_launcher,
    "options of a rank come before the request of collsock run":
        a_group_that_options_describe,
    "a negative number is not an option": numbers_that_are_negative,
    "a number that is too large, or not decimal, is a wrong usage": numbers_that_are_none,
    "the exit status is right if standard error is full": standard_error_that_is_full,
    "the exit status is right if nobody reads standard error": standard_error_that_nobody_reads,
    "too many open files are not told as ports that are taken": descriptors_for_some_ranks,
    "options that contradict each other are refused": options_that_contradict_each_other,
    "a rank that ends before it joins is told to the others": a_rank_that_ends_before_it_joins,
    "a rank that ends after it has joined is told to those that join later":
        a_rank_that_ends_after_it_has_joined,
    "a rank goes on whose parent has ended": a_rank_whose_parent_ends,
    "ranks that do not join disturb nobody": ranks_that_do_not_join,
    "a rank that fails after it has joined is told as such": a_rank_that_fails_after_it_has_joined,
    "ranks in other process groups get the signals of the terminal":
        ranks_that_the_terminal_does_not_signal,
    "a host whose name cannot be resolved is named": a_host_that_cannot_be_resolved,
    "keygen names a folder that is not there": a_key_in_a_folder_that_is_not_there,
    "output that cannot be written is told": output_that_cannot_be_written,
    "an operation that is done when the time is over has not timed out":
        an_operation_that_is_done_when_the_time_is_over,
    "a rank that stops after it has come is not waited for much longer than told":
        a_rank_that_stops_after_it_has_come,
    "an operation that times out has its own status, and ends for the others":
        an_operation_that_times_out,
    "ranks that have not joined are named while others wait": ranks_that_others_wait_for,
    "ranks that do not join are not named if nobody waits": ranks_that_nobody_waits_for,
    "ranks whose programs have ended without joining are named as such":
        ranks_that_have_ended_without_joining,
    "ranks run without standard output and input": a_program_without_output,
}


if __name__ == "__main__":
    sys.exit(report(TESTS))
