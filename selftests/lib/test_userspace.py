#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The command shows ranks in user space, without privilege or module; TAP."""
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from built import OUTPUT, TREE, program  # noqa: E402

COMMAND = program("tools/collsock")
SECONDS = 60
NOBODY = 65534
USUAL = {name: value for name, value in os.environ.items()
         if not name.startswith(("COLLSOCK_", "PYTHON"))} | {
    "COLLSOCK_BACKEND": "user", "COLLSOCK_USER_PORTS": "18000-18099",
    "LD_LIBRARY_PATH": str(OUTPUT / "library"),
    "PYTHONPATH": str(TREE / "libcollsock/python"), "PYTHONDONTWRITEBYTECODE": "1"}
# A barrier of all; then rank 1 is late until it is told to go on. Where ranks are patient, none counts
# as dead while the test lasts.
PROGRAM = """
import collsock, os, signal, struct
from collsock import launch
if "PATIENT" in os.environ:
    taken = launch.take_request()
    launch.take_request = lambda: taken[:60] + struct.pack("=I", 600000) + taken[64:]
group = collsock.join_env()
group.barrier()
print(group.rank, os.getpid(), flush=True)
if group.rank == 1:
    signal.sigwait([signal.SIGUSR1])
group.barrier()
if "STAY" in os.environ:
    signal.sigwait([signal.SIGUSR1])
"""
BLOCKED = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])" + PROGRAM


def equal(seen, wanted, what=""):
    assert seen == wanted, f"{what}: {seen!r}, not {wanted!r}"


def run(folder, *words, status=0, **settings):
    done = subprocess.run([COMMAND, *words], check=False, text=True, capture_output=True,
                          env=USUAL | {"XDG_RUNTIME_DIR": str(folder)} | settings,
                          timeout=SECONDS)
    assert status is None or done.returncode == status, f"{words}: {done}"
    return done


def shown(folder, *words, status=0):
    return json.loads(run(folder, "-j", *words, status=status).stdout)


class Ranks:
    """Three ranks, of which rank 1 is late. Other programs of this user may have groups, too."""

    def __init__(self, folder, patient=False, stay=False):
        self.folder, self.pids = folder, {}
        settings = {"PATIENT": "1"} if patient else {}
        settings |= {"STAY": "1"} if stay else {}
        self.all = subprocess.Popen(
            [COMMAND, "run", "--local", "3", "--", sys.executable, "-c", BLOCKED], text=True,
            env=USUAL | {"XDG_RUNTIME_DIR": str(folder)} | settings, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(3):
            rank, pid = self.all.stdout.readline().split()
            self.pids[int(rank)] = int(pid)
        equal(set(self.pids), {0, 1, 2}, "ranks")
        return self

    def __exit__(self, *_):
        self.all.terminate()
        self.all.wait(SECONDS)
        self.all.stdout.close()

    def tell(self, *ranks):
        for rank in ranks:
            os.kill(self.pids[rank], signal.SIGUSR1)

    def go_on(self, *ranks):
        self.tell(*ranks or (1,))
        equal(self.all.wait(SECONDS), 0, "status")

    def shown(self, what):
        """What the command shows of their groups, or of them"""
        return [one for one in shown(self.folder, what) if one["pid"] in self.pids.values()]

    def shown_pids(self):
        return {rank["rank"]: rank["pid"] for rank in self.shown("rank")}


def sockets(folder):
    return sorted(int(path.name) for path in (folder / "collsock").iterdir())


def test_groups_are_shown_with_their_processes(folder):
    with Ranks(folder) as ranks:
        groups = ranks.shown("group")
        equal(len(groups), 3)
        equal({(group["hosts"], group["ranks"], group["state"], group["keyed"])
               for group in groups}, {(3, 3, "running", True)})
        equal(ranks.shown_pids(), ranks.pids)
        equal(sockets(folder), sorted(ranks.pids.values()))
        equal([host["address"] for host in
               shown(folder, "host", "group", str(groups[0]["handle"]))], ["127.0.0.1"] * 3)
        assert run(folder, "group").stdout.count("running") >= 3
        assert shown(folder, "stat")["user_space"]["groups"] >= 3
        assert "in user space" in run(folder, "stat").stdout
        said = run(folder, "end", str(groups[0]["handle"]), status=None)
        assert f"end its process, {groups[0]['pid']}" in said.stderr, said
        ranks.go_on()
        equal(sockets(folder), [], "sockets of processes that have ended")


def stop(*pids):
    """Processes do not stop at once."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        stat = pathlib.Path(f"/proc/{pid}/stat")
        while stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "T":
            time.sleep(0.01)


def waits(folder, ranks):
    """What the command says of the barrier: one finding for all processes, as of one host"""
    found = [wait for wait in shown(folder, "wait", status=None)
             if wait["reason"] != "mute" and wait["handle"] >> 8 & 0x7fffff in ranks.pids.values()]
    assert len(found) <= 1, found
    return found


def straggler(folder, ranks):
    """Rank 1, which has not posted: no finding blames others alone, not even the first."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        for wait in waits(folder, ranks):
            equal(wait["reason"], "here", wait)
            late = {rank["rank"]: rank for rank in wait["ranks"]}
            if set(late) == {1}:
                equal((wait["rank"], wait["operation"], wait["address"]), (1, 1, "127.0.0.1"))
                return late[1]["state"], wait["sentence"]
    raise AssertionError(f"rank 1 is not named: {waits(folder, ranks)}")


def test_options_of_looks_that_contradict_each_other_are_refused(folder):
    for option in "--interval", "--count":
        said = run(folder, "wait", "--last", option, "1", status=1).stderr
        assert f"wait: --last and {option} exclude each other" in said, said
    said = run(folder, "wait", "--count", "0", status=1).stderr
    assert '--count: "0"' in said, said


def test_the_straggler_is_named(folder):
    with Ranks(folder) as ranks:
        state, said = straggler(folder, ranks)
        equal(state, "joined")
        which = f"waits for rank 1, which is here and has not posted it: process {ranks.pids[1]} "
        assert which in said, said
        assert which in run(folder, "wait", status=3).stdout
        ranks.go_on()


def test_the_straggler_is_named_if_it_is_stopped_or_killed(folder):
    with Ranks(folder, patient=True) as ranks:
        os.kill(ranks.pids[1], signal.SIGSTOP)
        state, said = straggler(folder, ranks)
        equal(state, "joined")
        assert "waits for rank 1, which is here and does not reply: process" in said, said
        pid = ranks.pids[1]
        equal(mute(folder, [pid]), {}, "it is named already")
        assert f"process {pid} (" in said and f"is stopped (T): kill -CONT {pid}" in said, said
        os.kill(pid, signal.SIGKILL)
        while f"process {pid} " in said:
            state, said = straggler(folder, ranks)
        equal(state, "left")
        assert "rank 1, which is here and does not reply: it has left" in said, said


def test_a_stopped_process_is_told_of_however_often_it_is_asked(folder):
    """The system keeps questions that a stopped process does not take, but not any number."""
    with Ranks(folder, patient=True) as ranks:
        os.kill(ranks.pids[1], signal.SIGSTOP)
        try:
            for _ in range(30):
                state, said = straggler(folder, ranks)
                equal(state, "joined")
                assert f"is stopped (T): kill -CONT {ranks.pids[1]}" in said, said
        finally:
            os.kill(ranks.pids[1], signal.SIGCONT)
        ranks.go_on(0, 1, 2)


def mute(folder, pids):
    """{pid: finding} of those processes that do not reply, and of which no other finding tells"""
    return {wait["pid"]: wait for wait in shown(folder, "wait", status=None)
            if wait["reason"] == "mute" and wait["pid"] in pids}


def test_processes_that_do_not_reply_are_named(folder):
    """Though none is left that waits for them. One that has ended is not."""
    with Ranks(folder, patient=True) as ranks:
        groups, pids = ranks.shown("group"), ranks.pids.values()
        stop(*pids)
        try:
            for _ in range(30):  # more questions than the system keeps
                found = mute(folder, pids)
                equal(set(found), set(pids))
            text = run(folder, "wait", status=3).stdout
            assert "no operation waits" not in text, text
            for pid, wait in found.items():
                equal(wait["process"], "T")
                equal(wait["sentence"],
                      f"process {pid} ({wait['command']}), which has ranks in user space, does not "
                      f"reply: it is stopped (T): kill -CONT {pid} continues it.")
                assert wait["sentence"] + "\n" in text, text
            ids = {group["id"] for group in groups}
            equal([last for last in shown(folder, "wait", "--last") if last["id"] in ids], [],
                  "--last is about operations")
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        stop(ranks.pids[2])
        equal(list(mute(folder, pids)), [ranks.pids[2]], "beside the rank that is late")
        group, = [group for group in groups if group["pid"] == ranks.pids[0]]
        told = shown(folder, "wait", "group", str(group["handle"]), status=3)
        equal([wait["reason"] for wait in told], ["here"], "a group has been named")
        os.kill(ranks.pids[2], signal.SIGKILL)
        deadline = time.monotonic() + SECONDS
        while mute(folder, pids):
            assert time.monotonic() < deadline, "it has ended"


def test_process_that_is_delayed_is_named_with_its_own_number(folder):
    """In another PID namespace it has another one, which its socket has."""
    (folder / "collsock").mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as delayed:
        delayed.bind(str(folder / "collsock/1"))
        delayed.listen()
        found = mute(folder, [1, os.getpid()])
        equal(list(found), [os.getpid()])
        assert "does not reply: it sleeps (S)." in found[os.getpid()]["sentence"], found


def test_who_was_last_is_one_list_of_all_processes(folder):
    """Each has seen a part. What others have seen of rank 1 is told of it, not of its host."""
    with Ranks(folder, stay=True) as ranks:
        straggler(folder, ranks)
        ranks.tell(1)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            lasts = [last for last in shown(folder, "wait", "--last")
                     if last["handle"] >> 8 & 0x7fffff in ranks.pids.values()]
            if sum(last["last"] for last in lasts if last.get("rank") == 1) >= 2:
                break
        equal(len({last["handle"] for last in lasts}), 1, lasts)
        equal([last for last in lasts if "host" in last], [], "all hosts are here")
        equal(len({last["rank"] for last in lasts}), len(lasts), lasts)
        late = [last for last in lasts if last["rank"] == 1]
        equal([(last["who"], last["last"] >= 2) for last in late], [("rank 1, here", True)], lasts)
        equal(round(sum(last["share"] for last in lasts)), 100)
        ranks.go_on(0, 1, 2)


def test_socket_of_a_killed_process_is_removed(folder):
    with Ranks(folder) as ranks:
        killed = ranks.pids[2]
        os.kill(killed, signal.SIGKILL)
        deadline = time.monotonic() + SECONDS
        while killed in sockets(folder) and time.monotonic() < deadline:
            run(folder, "group", status=None)
        assert killed not in sockets(folder)
        equal(set(ranks.shown_pids()), {0, 1})


def test_process_that_is_stopped_delays_nobody_for_long(folder):
    with Ranks(folder) as ranks:
        stop(ranks.pids[2])
        equal(set(ranks.shown_pids()), {0, 1})
        for process in sockets(folder):
            os.kill(process, signal.SIGCONT)


def test_folder_that_others_could_change_is_not_used(folder):
    place = folder / "collsock"
    usual = pathlib.Path(f"/tmp/collsock-{os.geteuid()}")

    def is_shown_elsewhere():
        with Ranks(folder) as ranks:
            equal(ranks.shown_pids(), ranks.pids)
            assert set(ranks.pids.values()) <= {int(path.name) for path in usual.iterdir()}
    place.mkdir(mode=0o755)
    is_shown_elsewhere()
    equal(list(place.iterdir()), [], "others can read it")
    place.rmdir()
    (folder / "mine").mkdir(mode=0o700)
    place.symlink_to(folder / "mine")
    is_shown_elsewhere()
    equal(list((folder / "mine").iterdir()), [], "a link")
    if os.geteuid() == 0:
        place.unlink()
        place.mkdir(mode=0o700)
        os.chown(place, NOBODY, NOBODY)
        is_shown_elsewhere()
        equal(list(place.iterdir()), [], "another user's")


def test_folder_of_another_user_is_named(folder):
    """In /tmp anybody can be the first; here, before a user whose ranks have no other."""
    if os.geteuid() or os.path.exists("/sys/module/collsock"):
        return
    user = 100000 + os.getpid()
    place = pathlib.Path(f"/tmp/collsock-{user}")
    folder.chmod(0o755)
    command = shutil.copy(COMMAND, folder)

    def says(*words):
        return subprocess.run([command, *words], user=user, group=user, extra_groups=[], text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=USUAL | {"XDG_RUNTIME_DIR": "/nowhere"}).stdout

    assert "no rank of yours is in a group" in says("wait"), says("wait")
    place.mkdir()
    try:
        os.chown(place, NOBODY, NOBODY)
        for mode in 0o700, 0o755:
            place.chmod(mode)
            for said in says("wait"), says("doctor"):
                assert f"{place} belongs to user {NOBODY}" in said, said
                assert "no rank of yours" not in said, said
    finally:
        place.rmdir()


def test_folder_that_ranks_would_make_is_no_reason_for_a_warning(folder):
    """Though the other one is of another user, as after su."""
    if os.geteuid():
        return
    user = 200000 + os.getpid()
    (folder / "roots/collsock").mkdir(mode=0o700, parents=True)
    folder.chmod(0o755)
    done = subprocess.run([shutil.copy(COMMAND, folder), "doctor"], user=user, group=user,
                          extra_groups=[], text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=USUAL | {"XDG_RUNTIME_DIR": str(folder / "roots")})
    assert "cannot be seen" not in done.stdout and "ports" in done.stdout, done.stdout


def replies_for_ever(fake, report):
    while True:
        client, _ = fake.accept()
        file = os.memfd_create("report", os.MFD_ALLOW_SEALING)
        os.write(file, report)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, 15)
        with contextlib.suppress(BrokenPipeError):  # it only counts who is there
            socket.send_fds(client, [b"\0"], [file])
        os.close(file)
        client.close()


def test_reply_of_another_users_process_is_ignored(folder):
    """A file system in user space may claim any owner of its folders."""
    if os.geteuid():
        return
    (folder / "collsock").mkdir(mode=0o700)
    group = struct.pack("=I12xBBHHHIHHQ", 40, 4, 1, 0, 8, 1, 1 << 31, 12, 2, 7)
    for user, wanted in (0, [7]), (NOBODY, []):
        path = folder / "collsock/1"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as fake:
            fake.bind(str(path))
            ready, told = os.pipe()
            child = os.fork()
            if not child:
                try:
                    os.setuid(user)
                    fake.listen()
                    os.close(told)
                    replies_for_ever(fake, group)
                finally:
                    os._exit(1)
            os.close(told)
            try:
                os.read(ready, 1)
                found = json.loads(run(folder, "-j", "group", status=None).stdout or "[]")
                equal([one["id"] for one in found if one["pid"] == 1 and "id" in one], wanted, user)
            finally:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                os.close(ready)


def test_answer_that_is_none_is_ignored(folder):
    """Of a process of this user, whatever it is."""
    (folder / "collsock").mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as fake:
        fake.bind(str(folder / "collsock/1"))
        fake.listen()
        group = struct.pack("=I12xBBHHHIHHQ", 40, 4, 1, 0, 8, 1, 1 << 31, 12, 2, 7)
        for report, seals in ((os.urandom(4096), 15), (b"", 15), (os.urandom(64), 0),
                              (b"\xff\xff\xff\xff" + bytes(60), 15), (bytes(64), 15),
                              (b"\x14\0\0\0" + bytes(12) + b"\4\1\0\0", 15),
                              (b"\x20\0\0\0" + bytes(12) + b"\4\1\0\0" + b"\xff" * 12, 15),
                              (group + bytes(64 << 20), 15)):
            asking = subprocess.Popen([COMMAND, "-j", "group"], stdout=subprocess.PIPE,
                                      env=USUAL | {"XDG_RUNTIME_DIR": str(folder)})
            for _ in range(2):  # first whether anybody is there
                client, _ = fake.accept()
                file = os.memfd_create("report", os.MFD_ALLOW_SEALING)
                os.write(file, report)
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
                try:
                    socket.send_fds(client, [b"\0"], [file])
                except BrokenPipeError:
                    pass
                os.close(file)
                client.close()
            told = json.loads(asking.communicate(timeout=SECONDS)[0])
            equal([group for group in told if group["pid"] == 1 and "id" in group], [],
                  report[:32])
            equal(asking.returncode, 0)


def test_what_the_port_after_the_last_gets_is_said(folder):
    """264 ports are the usual ones: here are two."""
    done = run(folder, "run", "--local", "3", "--", "true", status=125,
               COLLSOCK_USER_PORTS="18100-18101")
    assert "rank 2 of 3: no UDP port of 18100-18101 (COLLSOCK_USER_PORTS)" in done.stderr, done
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, \
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as two:
        one.bind(("127.0.0.1", 18100))
        for free in 1, 0:
            said = run(folder, "doctor", status=None, COLLSOCK_USER_PORTS="18100-18101").stdout
            assert (f"{free} of the 2 UDP ports 18100-18101 are free" if free else
                    "all of the 2 UDP ports 18100-18101 are taken") in said, said
            if free:
                two.bind(("::1", 18101))
    said = run(folder, "doctor", status=None, COLLSOCK_USER_PORTS="18100").stdout
    assert "COLLSOCK_USER_PORTS is not FIRST-LAST" in said, said


def test_missing_module_is_a_problem_of_the_kernel_backend_alone(folder):
    """Here it is not loaded."""
    if os.path.exists("/sys/module/collsock"):
        return
    for backend, result in ("user", "note"), ("auto", "note"), ("kernel", "problem"):
        done = run(folder, "-j", "doctor", status=None, COLLSOCK_BACKEND=backend)
        said = [one for one in json.loads(done.stdout) if one["check"] == "module"]
        equal([one["result"] for one in said], [result], backend)
        equal("groups are in user space" in said[0]["finding"], result == "note", said)
        others = [one for one in json.loads(done.stdout) if one["result"] == "problem"]
        equal(done.returncode, 2 if others else 0, backend)


def in_folder(test):
    def in_one():
        with tempfile.TemporaryDirectory(prefix="userspace.") as folder:
            test(pathlib.Path(folder))
    return in_one


if __name__ == "__main__":
    sys.path.insert(0, str(TREE / "selftests"))
    import tap
    sys.exit(tap.run([(name, in_folder(test)) for name, test in tap.named(globals())]))
