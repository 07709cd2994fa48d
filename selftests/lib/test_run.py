#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""collsock run starts ranks in user space, without privilege or module; TAP."""
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = pathlib.Path(os.environ.get("OUTPUT", TREE / "build/selftests-lib"))
COMMAND = str(OUTPUT / "tools/collsock")
PORTS = "17640-17699"
NOBODY = 65534

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


def environment(**settings):
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith("COLLSOCK_")}
    return plain | {"COLLSOCK_BACKEND": "user", "COLLSOCK_USER_PORTS": PORTS} | settings


def run(*words, command=COMMAND, settings=None, **how):
    return subprocess.run([command, *words], check=False, text=True, capture_output=True,
                          env=environment(**settings or {}), timeout=120, **how)


def shows(done):
    return f"status {done.returncode}, {done.stdout!r}, {done.stderr!r}"


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


def secret(folder):
    key = folder / "key"
    run("keygen", str(key))
    return {"COLLSOCK_KEY_FILE": str(key), "COLLSOCK_JOB": f"run-{os.getpid()}"}


def meet(folder, *programs, starters=None, **settings):
    """The status and the output of ranks that meet over TCP, one for each program. Starters are
    words in place of the command."""
    settings, starters = secret(folder) | settings, starters or {}
    ranks = [subprocess.Popen([*starters.get(rank, [COMMAND]), "run", "--rendezvous", "127.0.0.1",
                               "--ranks", str(len(programs)), "--rank", str(rank), "--", *program],
                              env=environment(**settings), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
             for rank, program in enumerate(programs)]
    told = [rank.communicate(timeout=120) for rank in ranks]
    return [(rank.returncode, *said) for rank, said in zip(ranks, told)]


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


def more_ranks_than_ports(_):
    done = run("run", "--local", "3", "--", "true",
               settings={"COLLSOCK_USER_PORTS": "17700-17701"})
    return done.returncode == 125 and "rank 2: Address already in use: COLLSOCK_USER_PORTS" \
        in done.stderr, shows(done)


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


def have_terminal():
    """The test may have been started with signals ignored."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in signal.SIGINT, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)


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


# ---- one rank here ----

def alone(settings, rank, *program, ranks=2, where=None, **how):
    """A rank that meets the others over TCP."""
    where = where or ["--rendezvous", "127.0.0.1", "--ranks", str(ranks)]
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    return subprocess.Popen([COMMAND, "run", *where, "--rank", str(rank), "--", *program],
                            env=environment(**settings), text=True, **pipes | how)


def ranks_elsewhere_that_others_wait_for(folder):
    """They are named with their hosts, whatever the program is, to all that wait for them."""
    settings, seen = secret(folder), []
    late = "sh", "-c", 'read line; exec "$0" "$@"'
    for name, where, program in (
            ("127.0.0.1", None, [str(OUTPUT / "tools/collperf"), "--iterations", "2"]),
            ("127.0.0.1", None, [str(OUTPUT / "library/examples/barrier")]),
            ("localhost", ["-H", "127.0.0.1,localhost"], [COMMAND, "barrier"])):
        told = f"waiting for rank 1 ({name}): it has not joined, or no packet of it arrives"
        with alone(settings, 0, *program, where=where) as waits, \
                alone(settings, 1, *late, *program, where=where) as slow:
            begin = time.monotonic()
            said = next((line for line in waits.stderr if "waiting for rank 1 (" in line), "")
            took = time.monotonic() - begin
            last = [rank.communicate("a line\n", timeout=120)[1] for rank in (slow, waits)]
        if took > 8 or (waits.returncode, slow.returncode, said) != (0, 0, f"collsock: {told}\n"):
            seen.append((program, took, said, waits.returncode, slow.returncode, last))
    return not seen, repr(seen)


def errors_of(rank):
    """Until it ends; not for as long as it would wait for another."""
    try:
        return rank.communicate(timeout=30)[1]
    except subprocess.TimeoutExpired:
        rank.terminate()
        return rank.communicate()[1]


def a_rank_alone_that_ends_before_it_joins(folder):
    """The others have joined, or join soon. The program's status is that of run, also if a signal
    ends it while it still tells others."""
    settings, seen = secret(folder), []
    for program, wanted, why in (("exit 3", 3, "exit status 3"),
                                 ("kill -TERM $$", 143, "signal 15"),
                                 ("exec /none/such", 127, "exit status 127")):
        for pause in "0", "3":
            later = "sh", "-c", f"sleep {pause}; exec {COMMAND} barrier"
            with alone(settings, 1, "sh", "-c", program) as fails, \
                    alone(settings, 0, *later) as waits:
                begin = time.monotonic()
                said = errors_of(waits)
                took = time.monotonic() - begin
                fails.terminate()
                failed = errors_of(fails)
            if (fails.returncode, waits.returncode) != (wanted, 1) or took > 10 or \
                    "rank 1 has left the group" not in said or \
                    why not in failed or ", before it joined" not in failed:
                seen.append((program, pause, took, fails.returncode, failed, said))
    return not seen, repr(seen)


def a_rank_alone_that_does_not_join(folder):
    """It is nobody's business if it ends well."""
    begin = time.monotonic()
    seen = meet(folder, ["true"], ["echo", "fine"])
    took = time.monotonic() - begin
    return [done[:2] for done in seen] == [(0, ""), (0, "fine\n")] and took < 5 and \
        "exit status" not in "".join(done[2] for done in seen), f"{seen} in {took:.1f} s"


# It prints a line for each signal, and ends with the second.
COUNTS = "python3", "-c", """
import signal, sys, time
def count(number, _):
    print(number, flush=True)
    if number != signal.SIGUSR1:
        time.sleep(1)
        sys.exit(7)
signal.signal(signal.SIGUSR1, count)
signal.signal(signal.SIGINT, count)
signal.signal(signal.SIGTERM, count)
print("ready", flush=True)
while True:
    time.sleep(60)
"""


def signals_of_a_rank_alone(folder):
    """The program gets each once, and decides what to do."""
    settings = secret(folder)
    with alone(settings, 0, *COUNTS, ranks=1) as rank:
        said = rank.stdout.readline()
        rank.send_signal(signal.SIGUSR1)
        said += rank.stdout.readline()
        rank.send_signal(signal.SIGTERM)
        said += rank.communicate(timeout=60)[0]
    terminal, ours = os.openpty()
    with alone(settings, 0, *COUNTS, ranks=1, start_new_session=True, stdin=ours,
               preexec_fn=have_terminal) as rank:
        os.close(ours)
        keys = rank.stdout.readline()
        os.write(terminal, b"\x03")
        keys += rank.communicate(timeout=60)[0]
    os.close(terminal)
    return (said, keys, rank.returncode) == ("ready\n10\n15\n", "ready\n2\n", 7), \
        f"{said!r}, {keys!r}, {rank.returncode}"


def a_rank_alone_whose_launcher_is_killed(folder):
    """Its program ends, too, although it ignores what a launcher sends first."""
    with alone(secret(folder), 0, "sh", "-c", "trap '' TERM; echo $$; exec sleep 60",
               ranks=1) as rank:
        program = int(rank.stdout.readline())
        rank.kill()
        begin = time.monotonic()
        rank.communicate(timeout=120)
        took = time.monotonic() - begin
    return took < 20 and program != rank.pid, f"{took:.1f} s"


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
    "ranks of one machine compute a sum": ranks_of_one_machine,
    "a user without privilege runs ranks": another_user,
    "ranks that meet over TCP": ranks_that_meet,
    "a program that cannot be started is told to all ranks": a_rank_whose_program_cannot_be_started,
    "a request that cannot be written is told to all ranks":
        a_rank_whose_request_cannot_be_written,
    "more ranks than ports are refused": more_ranks_than_ports,
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
    "ranks on other hosts that have not joined are named while one waits":
        ranks_elsewhere_that_others_wait_for,
    "a rank alone that ends before it joins is told to the others":
        a_rank_alone_that_ends_before_it_joins,
    "a rank alone that does not join disturbs nobody": a_rank_alone_that_does_not_join,
    "a rank alone gets each signal once": signals_of_a_rank_alone,
    "a rank alone ends with its launcher": a_rank_alone_whose_launcher_is_killed,
    "ranks whose programs have ended without joining are named as such":
        ranks_that_have_ended_without_joining,
    "ranks run without standard output and input": a_program_without_output,
    "an option or the environment names the port of ranks with the kernel": groups_on_another_port,
    "a port that is none is refused": ports_that_are_none,
    "ranks that name different ports are told so": ranks_that_name_different_ports,
    "an option or the environment names the network of ranks": groups_in_a_network,
    "a network in which a host has no address is told": networks_without_an_address,
    "ranks that name different networks are told so": ranks_that_name_different_networks,
    "a network that is none is refused": networks_that_are_none,
}


def main():
    print(f"TAP version 13\n1..{len(TESTS)}")
    well = True
    for number, (name, test) in enumerate(TESTS.items(), 1):
        with tempfile.TemporaryDirectory(prefix="run.") as folder:
            good, seen = test(pathlib.Path(folder))
        if good is None:
            print(f"ok {number} {name} # SKIP {seen}")
            continue
        if not good:
            print(f"# {seen}")
        print(f"{'' if good else 'not '}ok {number} {name}")
        well = well and good
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
