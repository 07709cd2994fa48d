# SPDX-License-Identifier: GPL-2.0
"""Commands that start ranks in user space, for tests of collsock run."""
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import termios

from built import program

NOBODY = 65534
COMMAND = program("tools/collsock")
# Programs that run at the same time have ports of their own.
PORTS = {"test_run": "17640-17679", "test_run_alone": "17680-17699",
         "test_run_places": "17720-17739",
         "test_run_settings": "17742-17759"}[pathlib.Path(sys.argv[0]).stem]


def environment(**settings):
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith("COLLSOCK_")}
    return plain | {"COLLSOCK_BACKEND": "user", "COLLSOCK_USER_PORTS": PORTS,
                    "COLLSOCK_MEETING_PORTS": PORTS} | settings


def run(*words, command=COMMAND, settings=None, **how):
    return subprocess.run([command, *words], check=False, text=True, capture_output=True,
                          env=environment(**settings or {}), timeout=120, **how)


def shows(done):
    return f"status {done.returncode}, {done.stdout!r}, {done.stderr!r}"


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


def have_terminal():
    """The test may have been started with signals ignored."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in signal.SIGINT, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)


def report(tests):
    print(f"TAP version 13\n1..{len(tests)}")
    well = True
    for number, (name, test) in enumerate(tests.items(), 1):
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
