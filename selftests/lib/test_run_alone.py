#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""collsock run starts one rank of a group, and stays beside it; TAP."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from built import OUTPUT, TREE
from running import COMMAND, NOBODY, environment, have_terminal, meet, report, secret


def alone(settings, rank, *program, ranks=2, where=None, command=COMMAND, **how):
    """A rank that meets the others over TCP."""
    where = where or ["--rendezvous", "127.0.0.1", "--ranks", str(ranks)]
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    return subprocess.Popen([command, "run", *where, "--rank", str(rank), "--", *program],
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


def a_rank_alone_that_survives_a_signal(folder):
    """If it fails much later, others that join still later are told. (A shell cannot catch SIGINT
    where the test was started with that ignored.)"""
    settings = secret(folder)
    fails = "sh", "-c", "trap 'echo heard' TERM; echo ready; sleep 12; exit 3"
    with alone(settings, 1, *fails) as survives, \
            alone(settings, 0, "sh", "-c", f"sleep 15; exec {COMMAND} barrier") as waits:
        survives.stdout.readline()
        survives.send_signal(signal.SIGTERM)
        said = errors_of(waits)
        survives.terminate()
        heard = survives.communicate(timeout=120)
    return survives.returncode == 3 and heard[0] == "heard\n" and waits.returncode == 1 and \
        "rank 1 has left the group" in said, f"{heard}, {said!r}"


def a_rank_that_cannot_have_a_process(folder):
    """All are told, and none is started."""
    how = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    command, settings = shutil.copy(COMMAND, folder), secret(folder)
    folder.chmod(0o755)
    if how:
        shutil.chown(settings["COLLSOCK_KEY_FILE"], NOBODY, NOBODY)
    none = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))}
    ranks = [alone(settings, rank, "echo", "started", command=command, **how, **limit)
             for rank, limit in enumerate(({}, none))]
    seen = [(rank.communicate(timeout=120), rank.returncode) for rank in ranks]
    why = "Resource temporarily unavailable"
    wanted = [(125, f"rank 1: its program cannot be started: {why}"), (126, f"echo: {why}")]
    return all((status, *said) == (number, "", f"collsock: {told}\n")
               for (said, status), (number, told) in zip(seen, wanted)), repr(seen)


# Rank 7 takes part in some operations, and is stopped before the next one.
STOPS = f"""
import os, signal, sys
sys.path.insert(0, {str(TREE / "libcollsock/python")!r})
import collsock
with collsock.join_env(liveness_ms=60000) as group:
    for _ in range(3):
        group.barrier()
    print("ready", flush=True)
    if group.rank == 7:
        os.kill(os.getpid(), signal.SIGSTOP)
    group.barrier()
"""


def a_rank_that_is_stopped_has_joined(folder):
    """Nobody says that it has not."""
    settings = secret(folder) | {"LD_LIBRARY_PATH": str(OUTPUT / "library")}
    ranks = [alone(settings, rank, sys.executable, "-B", "-c", STOPS, ranks=8)
             for rank in range(8)]
    ready = [rank.stdout.readline() for rank in ranks]
    time.sleep(8)
    for rank in ranks:
        rank.kill()
    said = [rank.communicate(timeout=120)[1] for rank in ranks]
    return ready == ["ready\n"] * 8 and "waiting for" not in "".join(said), f"{ready}, {said}"


# It prints a line for each signal, and ends with the second.
COUNTS = "python3", "-c", """
import signal, sys, time
def count(number, _):
    print(number, flush=True)
    if number not in (signal.SIGUSR1, signal.SIGALRM):
        time.sleep(1)
        sys.exit(7)
signal.signal(signal.SIGUSR1, count)
signal.signal(signal.SIGALRM, count)
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
        for number in signal.SIGUSR1, signal.SIGALRM:
            rank.send_signal(number)
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
    return (said, keys, rank.returncode) == ("ready\n10\n14\n15\n", "ready\n2\n", 7), \
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


TESTS = {
    "ranks on other hosts that have not joined are named while one waits":
        ranks_elsewhere_that_others_wait_for,
    "a rank alone that ends before it joins is told to the others":
        a_rank_alone_that_ends_before_it_joins,
    "a rank alone that does not join disturbs nobody": a_rank_alone_that_does_not_join,
    "a rank alone that survives a signal and fails later is told to the others":
        a_rank_alone_that_survives_a_signal,
    "a rank that cannot have a process is told to all": a_rank_that_cannot_have_a_process,
    "a rank that is stopped later is not one that has not joined":
        a_rank_that_is_stopped_has_joined,
    "a rank alone gets each signal once": signals_of_a_rank_alone,
    "a rank alone ends with its launcher": a_rank_alone_whose_launcher_is_killed,
}


if __name__ == "__main__":
    sys.exit(report(TESTS))
