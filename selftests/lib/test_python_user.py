#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The Python package with ranks in user space: real sockets, no module, no privilege; TAP."""
import array
import asyncio
import contextlib
import ctypes
import errno
import gc
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

from built import OUTPUT
from python_user import LIBRARY, PACKAGE, USUAL, Ranks, main
import collsock
from collsock import backend, missing, netlink, user
from python_helpers import SECONDS, equal, in_threads, refused

HELLO = """
import collsock
with collsock.join_env() as group:
    print(group.allreduce(group.rank + 1))
"""


# ---- how ranks begin ----

def launched(program, ranks=4, **settings):
    return subprocess.run([str(OUTPUT / "tools/collsock"), "run", "--local", str(ranks), "--",
                           sys.executable, "-c", program], check=False, text=True,
                          capture_output=True, env=USUAL | settings, timeout=SECONDS)


def test_three_lines_are_a_program():
    done = launched(HELLO, COLLSOCK_BACKEND="user")
    equal((done.returncode, done.stdout.split()), (0, ["10"] * 4), done.stderr)


def by_hand(program, ranks, rank, folder, stdin=None, **settings):
    """A process that meets the others at a port of this machine. What a shell starts in the
    background, such as these tests, ignores SIGINT."""
    return subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, "-c", program], text=True, stdin=stdin,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=USUAL | {
            "COLLSOCK_BACKEND": "user", "COLLSOCK_RENDEZVOUS": "127.0.0.1",
            "COLLSOCK_JOB": folder, "COLLSOCK_KEY_FILE": f"{folder}/key",
            "COLLSOCK_RANKS": str(ranks), "COLLSOCK_RANK": str(rank)} | settings)


@contextlib.contextmanager
def folder_with_a_key():
    with tempfile.TemporaryDirectory(prefix="python-user.") as folder:
        subprocess.run([OUTPUT / "tools/collsock", "keygen", f"{folder}/key"], check=True)
        yield folder


def test_library_finds_ranks_that_another_launcher_has_started():
    with folder_with_a_key() as folder:
        ranks = [by_hand(HELLO, 3, rank, folder) for rank in range(3)]
        said = [rank.communicate(timeout=SECONDS) for rank in ranks]
    equal([(rank.returncode, out.strip()) for rank, (out, _) in zip(ranks, said)], [(0, "6")] * 3,
          said)
    done = subprocess.run(
        ["mpiexec.hydra", "-launcher", "fork", "-n", "3", sys.executable, "-c", HELLO],
        check=False, text=True, capture_output=True, timeout=SECONDS,
        env=USUAL | {"COLLSOCK_BACKEND": "user"})
    equal((done.returncode, done.stdout.split()), (0, ["6"] * 3), done.stderr)


def threads_of(process):
    """The main thread, then those that the library has."""
    return sorted(map(int, os.listdir(f"/proc/{process.pid}/task")),
                  key=lambda thread: thread != process.pid)


def test_rank_that_waits_for_others_can_be_interrupted():
    """The kernel may give a signal to any thread, and wakes no other."""
    library = ctypes.CDLL(None, use_errno=True)
    with folder_with_a_key() as folder:
        for which in 0, 1:
            rank = by_hand(HELLO, 2, 0, folder)
            try:
                waiting = rank.stderr.readline()
                assert "waiting for rank 1" in waiting, waiting
                equal(library.tgkill(rank.pid, threads_of(rank)[which], signal.SIGINT), 0)
                said = rank.communicate(timeout=SECONDS)[1]
                assert said.rstrip().endswith("KeyboardInterrupt"), said
            finally:
                rank.kill()


INTERRUPTED = """
import collsock, os, signal
def handle(*_):
    raise RuntimeError("as a program may")
signal.signal(signal.SIGINT, handle)
try:
    collsock.join_env()
except RuntimeError:
    print("interrupted", flush=True)
if not os.fork():
    for name in "COLLSOCK_RENDEZVOUS", "COLLSOCK_RANK", "COLLSOCK_RANKS":
        del os.environ[name]
    try:
        collsock.join_env()
    except FileNotFoundError:
        os._exit(0)
    os._exit(1)
print("child", os.wait()[1])
try:
    collsock.join_env(backend="kernel")
except OSError as error:
    print(error)
with collsock.join_env() as group:
    print(group.allreduce(group.rank + 1))
"""


def test_rank_that_was_interrupted_can_be_waited_for_again():
    with folder_with_a_key() as folder:
        rank = by_hand(INTERRUPTED, 2, 0, folder, COLLSOCK_BACKEND="")
        try:
            rank.stderr.readline()
            rank.send_signal(signal.SIGINT)
            equal(rank.stdout.readline(), "interrupted\n")
            other = by_hand(HELLO, 2, 1, folder, COLLSOCK_BACKEND="")
            said = other.communicate(timeout=SECONDS), rank.communicate(timeout=SECONDS)
            equal((other.returncode, said[0][0], rank.returncode, said[1][0].split("\n")[-2]),
                  (0, "3\n", 0, "3"), said)
            assert "child 0\n" in said[1][0], said
            assert "an interrupted join_env() goes on, with the backend auto" in said[1][0], said
        finally:
            rank.kill()


NO_DESCRIPTOR = """
import collsock, os
def dup(_):
    raise OSError(24, "Too many open files")
os.dup = dup
try:
    collsock.join_env()
except OSError as error:
    print(error.errno, flush=True)
os.read(0, 1)
"""


def test_rank_that_cannot_use_its_socket_leaves_the_group():
    with folder_with_a_key() as folder:
        broken = by_hand(NO_DESCRIPTOR, 2, 0, folder, stdin=subprocess.PIPE)
        other = by_hand(HELLO, 2, 1, folder)
        try:
            said = other.communicate(timeout=SECONDS)[1]
            assert "rank 0 has left the group" in said, said
            equal(broken.stdout.readline(), "24\n")
        finally:
            broken.communicate("x", timeout=SECONDS)


def test_program_without_a_launcher_is_told_what_to_do():
    for library, words in (LIBRARY, "no launcher was found"), ("", "which is not installed"):
        done = subprocess.run([sys.executable, "-c", HELLO], check=False, text=True,
                              capture_output=True, env=USUAL | {"LD_LIBRARY_PATH": str(library)},
                              timeout=SECONDS)
        equal((done.returncode, "FileNotFoundError" in done.stderr, words in done.stderr),
              (1, True, True), done.stderr)


def test_tests_for_users_pass():
    """Python's of the distribution has pytest."""
    done = subprocess.run(
        [OUTPUT / "tools/collsock", "run", "--local", "3", "--", "/usr/bin/python3", "-m", "pytest",
         "-q", "-p", "no:cacheprovider", PACKAGE / "tests"], check=False, text=True,
        capture_output=True, env=USUAL | {"COLLSOCK_BACKEND": "user"}, timeout=3 * SECONDS)
    equal((done.returncode, done.stdout.count(" passed in ")), (0, 3), done.stdout[-3000:])


def test_programs_choose_what_the_group_can_carry():
    """With collsock run, and with other launchers"""
    program = HELLO.replace("env()", "env(max_bytes=8000, window=4, "
                                     "algorithm={'allreduce': 'mcs'})")
    program += "    assert len(group.broadcast([0.] * 1000)) == 1000\n"
    done = launched(program, 2, COLLSOCK_BACKEND="user")
    equal((done.returncode, done.stdout.split()), (0, ["3"] * 2), done.stderr)
    with folder_with_a_key() as folder:
        ranks = [by_hand(program, 2, rank, folder) for rank in range(2)]
        said = [rank.communicate(timeout=SECONDS) for rank in ranks]
    equal([(rank.returncode, out.strip()) for rank, (out, _) in zip(ranks, said)], [(0, "3")] * 2,
          said)
    done = launched(HELLO.replace("env()", "env(max_byte=1)"), 1, COLLSOCK_BACKEND="user")
    assert "no limit max_byte" in done.stderr, done


def test_program_may_not_choose_another_backend_than_its_launcher():
    done = launched(HELLO.replace("env()", "env(backend='kernel')"), 1, COLLSOCK_BACKEND="user")
    assert "collsock run has prepared user" in done.stderr, done
    program = "import os; os.environ['COLLSOCK_SOCKET'] = '0:1'" + HELLO
    assert "which is no socket" in launched(program, 1, COLLSOCK_BACKEND="user").stderr


def test_ranks_meet_and_end_as_with_the_kernel():
    with Ranks(3) as ranks:
        equal(in_threads(3, lambda at: ranks[at].allreduce([at, 1.5])), [[3.0, 4.5]] * 3)
        equal(in_threads(3, lambda at: ranks[at].allgather(at)), [[0, 1, 2]] * 3)
        vector = [array.array("d", [at, 1]) for at in range(3)]
        got = in_threads(3, lambda at: ranks[at].allreduce(vector[at]))
        assert all(one is mine for one, mine in zip(got, vector)), "not in place"
        equal(vector[0].tolist(), [3, 3])
        ranks[1].close()
        for at in 0, 2:
            failed = refused(collsock.CollectiveError, "rank 1 has left", ranks[at].barrier)
            equal((failed.errno, failed.failed_rank), (errno.ECONNRESET, 1))
        equal(ranks[0].failure().failed_rank, 1)


def test_group_has_the_algorithms_that_its_ranks_name():
    with Ranks(3, algorithm={"barrier": "flat", "allreduce": "halving"}) as ranks:
        in_threads(3, lambda at: ranks[at].barrier())
        equal(in_threads(3, lambda at: ranks[at].allreduce([at, 1])), [[3, 3]] * 3)
    for error in list(Ranks(2, algorithm={"barrier": "halving"})):
        equal((error.errno, "the algorithms of its operations" in str(error)),
              (errno.EINVAL, True), error)


def test_hosts_with_ports_are_joined_by_hand():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        hosts = [one.getsockname(), two.getsockname()]
    args = {"nonce": random.getrandbits(64), "key": random.randbytes(16), "backend": "user"}
    ranks = [collsock.join(hosts, rank, **args) for rank in range(2)]
    equal(in_threads(2, lambda at: ranks[at].broadcast(at + 5, 1)), [6, 6])
    for rank in ranks:
        rank.close()
    refused(OSError, "ports of their own", collsock.join, ["127.0.0.1"] * 2, 0, **args)
    refused(OSError, "need a key", collsock.join, hosts, 0, **args | {"key": None})


def test_backend_is_chosen_as_by_the_library():
    real = backend.socket.socket
    for number, chosen in ((errno.EAFNOSUPPORT, "user"), (errno.EPERM, "user"),
                           (errno.EMFILE, None)):
        def refuse(*_, why=number):
            raise OSError(why, os.strerror(why))
        backend.socket.socket = refuse
        try:
            if chosen:
                backend.open_socket("auto").close()
            else:
                equal(refused(OSError, "", backend.open_socket, "auto").errno, number)
            equal(refused(OSError, "", backend.open_socket, "kernel").errno, number)
        finally:
            backend.socket.socket = real
    refused(ValueError, "not kernel, user or auto", backend.open_socket, "usr")
    os.environ[backend.VARIABLE] = "usr"
    try:
        refused(OSError, "not kernel, user or auto", backend.open_socket, "auto")
    finally:
        del os.environ[backend.VARIABLE]


def test_without_the_library_joining_says_what_to_do():
    done = subprocess.run(
        [sys.executable, "-c", "import collsock\ncollsock.join(['127.0.0.1'], 0, nonce=1)"],
        check=False, text=True, capture_output=True,
        env=USUAL | {"LD_LIBRARY_PATH": "", "COLLSOCK_BACKEND": "user"}, timeout=SECONDS)
    assert "need libcollsock" in done.stderr or "need a key" in done.stderr, done


def test_ranks_say_that_ports_are_all_taken():
    os.environ["COLLSOCK_USER_PORTS"] = "17900-17901"
    try:
        got = list(Ranks(3))
    finally:
        os.environ["COLLSOCK_USER_PORTS"] = USUAL["COLLSOCK_USER_PORTS"]
    equal([error.errno for error in got], [errno.EADDRINUSE] * 3)
    equal(len({error.failed_rank for error in got}), 1, "all name one rank")
    for rank, error in enumerate(got):
        words = "no UDP port of 17900-17901 (COLLSOCK_USER_PORTS) is free" \
            if rank == error.failed_rank else "no port is free there among"
        assert words in str(error), error


# ---- what a group does ----

def test_operations_are_awaited_beyond_the_window():
    async def of_rank(group):
        await group.abarrier()
        return await asyncio.gather(*(group.aallreduce(n + group.rank) for n in range(50)))

    async def of_all(ranks):
        return await asyncio.gather(*map(of_rank, ranks))
    with Ranks(3, window=2) as ranks:
        equal(asyncio.run(of_all(ranks)), [[3 * n + 3 for n in range(50)]] * 3)


def test_awaited_operations_time_out_as_others_do():
    def waited(group, words):
        error = refused(collsock.CollectiveTimeout, words, asyncio.run, group.abarrier(timeout=0.1))
        equal(error.missing, {1: "is on this machine, and has not posted it"})
        return error.operation

    with Ranks(2) as ranks:
        in_threads(2, lambda at: ranks[at].barrier())
        posted = waited(ranks[0], "it stays posted")
        turns = ranks[0]._reader.posting  # pylint: disable=protected-access
        turns.append("a thread that posts")
        equal(waited(ranks[0], "nothing was posted"), None)
        turns.clear()
        ranks[1].barrier()
        posted.wait(SECONDS)
        for patience in SECONDS, 1e30, float("inf"):
            equal(in_threads(2, lambda at: asyncio.run(ranks[at].aallreduce(1, timeout=patience))),
                  [2, 2])
        refused(ValueError, "not a number of seconds", asyncio.run, ranks[0].abarrier(timeout=-1))


def test_loop_that_could_not_watch_the_socket_once_does_so_later():
    async def run(group, operation):
        loop = asyncio.get_running_loop()
        add, loop.add_reader = loop.add_reader, lambda *_: 1 / 0
        try:
            await operation
        except ZeroDivisionError:
            loop.add_reader = add
        threading.Timer(0.2, group.barrier).start()
        return await asyncio.wait_for(operation, SECONDS)

    with Ranks(2) as ranks:
        equal(asyncio.run(run(ranks[1], ranks[0].post_barrier())), None)


def test_loop_of_another_thread_has_the_descriptor_until_it_has_forgotten_it():
    """Else it would remove another file that has the number by then."""
    busy, closed = threading.Event(), threading.Event()

    def block():
        busy.set()
        closed.wait(SECONDS)

    async def run(group):
        waiting = asyncio.gather(group.abarrier(), group.abarrier(), return_exceptions=True)
        await asyncio.sleep(0.05)
        asyncio.get_running_loop().call_soon(block)
        return [error.errno for error in await waiting]

    def close(group):
        busy.wait(SECONDS)
        number = group.fileno()
        group.close()
        try:
            os.fstat(number)  # still open
        finally:
            closed.set()
        return number
    with Ranks(2) as ranks:
        errors, number = in_threads(
            2, lambda at: close(ranks[0]) if at else asyncio.run(run(ranks[0])))
        equal(errors, [errno.EBADF] * 2)
        equal(refused(OSError, "", os.fstat, number).errno, errno.EBADF)


def test_loop_of_this_thread_forgets_a_group_that_it_closes():
    async def run(group):
        waiting = asyncio.gather(group.abarrier(), group.abarrier(), return_exceptions=True)
        await asyncio.sleep(0.05)
        number = group.fileno()
        group.close()
        equal(refused(OSError, "", os.fstat, number).errno, errno.EBADF)
        return [error.errno for error in await waiting]
    with Ranks(2) as ranks:
        equal(asyncio.run(run(ranks[0])), [errno.EBADF] * 2)


def test_post_that_is_refused_does_not_fail_the_group():
    with Ranks(2) as ranks:
        error = refused(OSError, "larger max_bytes", ranks[0].allreduce, bytes(100000))
        equal((error.errno, isinstance(error, collsock.CollectiveError)), (errno.EMSGSIZE, False))
        equal(ranks[0].failure(), None)
        equal(in_threads(2, lambda at: ranks[at].allreduce(1)), [2, 2])


def test_post_of_what_does_not_exist_is_refused():
    with Ranks(1) as ranks:
        error = refused(OSError, "does not have this operator", ranks[0].allreduce, 1.0,
                        collsock.BITWISE_AND)
        equal((error.errno, ranks[0].failure()), (errno.EINVAL, None))
        equal(ranks[0].allreduce(3, collsock.BITWISE_AND), 3)


def test_ranks_with_another_type_are_told_of_types():
    with Ranks(2) as ranks:
        for error in in_threads(2, lambda at: ranks[at].allreduce([at, 1] if at else [0.5, 1])):
            assert "int where this rank has float, or the reverse" in str(error), error


def test_buffers_of_bool_stay_such():
    with Ranks(1) as ranks:
        data = memoryview(bytearray([1, 0])).cast("?")
        for operator in collsock.SUM, collsock.PRODUCT:
            for function in ranks[0].allreduce, ranks[0].reduce_scatter_block:
                refused(TypeError, "use LOGICAL_OR, LOGICAL_AND", function, data, op=operator)
        equal(ranks[0].allreduce(data, collsock.LOGICAL_OR).tolist(), [True, False])
        equal(ranks[0].allgather(data)[0].tolist(), [True, False])
        equal(ranks[0].allreduce([True, True]), [1, 1])


def test_time_out_leaves_the_operation_posted_and_names_who_is_missing():
    with Ranks(2) as ranks:
        in_threads(2, lambda at: ranks[at].barrier())
        late = refused(collsock.CollectiveTimeout, "it stays posted", ranks[0].barrier, timeout=0.1)
        equal(late.missing, {1: "is on this machine, and has not posted it"})
        ranks[1].barrier(timeout=SECONDS)
        late.operation.wait(SECONDS)
        equal(in_threads(2, lambda at: ranks[at].allreduce(1)), [2, 2])


def test_wait_without_patience_sees_what_has_completed_behind_others():
    with Ranks(1) as ranks:
        posted = [ranks[0].post_allreduce(number) for number in range(3)]
        with socket.socket(fileno=os.dup(ranks[0].fileno())) as descriptor:
            descriptor.shutdown(socket.SHUT_WR)
        # The end is behind the completions
        poller = select.poll()
        poller.register(ranks[0], select.POLLRDHUP)
        equal(len(poller.poll(1000 * SECONDS)), 1)
        equal(posted[2].wait(timeout=0), 2)


def test_time_outs_may_be_infinite():
    with Ranks(1) as ranks:
        equal(ranks[0].allreduce(3, timeout=float("inf")), 3)
        equal(ranks[0].post_allreduce(4).wait(timeout=1e30), 4)


def test_buffers_may_be_resized_when_an_operation_has_ended():
    with Ranks(1) as ranks:
        data = array.array("d", [1, 2])
        posted = ranks[0].post_allreduce(data, out=data)
        posted.wait(SECONDS)
        data.append(3)
        equal(list(data), [1, 2, 3])


def test_no_post_reaches_a_descriptor_that_another_thread_has_closed():
    """Posts and closing exclude each other, as the number may be another file's afterwards."""
    with Ranks(1) as ranks:
        group, sent = ranks[0], []
        send = group._sock.send  # pylint: disable=protected-access

        def close_first(*args):
            closer = threading.Thread(target=group.close)
            closer.start()
            closer.join(0.2)
            sent.append(group.fileno())
            return send(*args)
        group._sock.send = close_first  # pylint: disable=protected-access
        group.post_barrier()
        equal(len(sent), 1)
        equal(sent[0] >= 0, True)


LATE = """
import collsock, os
with collsock.join_env() as group:
    group.barrier()
    if group.rank == 1:
        os.read(0, 1)
    else:
        late = group.post_broadcast(1, 0), group.post_allreduce(1)
        try:
            late[1].wait(timeout=0.1)
        except TimeoutError as error:
            print(error.missing, flush=True)
    group.close()
"""


def test_ranks_of_other_processes_are_known_to_be_late_at_once():
    """The first time-out says so, as each process of this machine is asked what it has posted."""
    begin, end = os.pipe()
    program = subprocess.Popen(
        [str(OUTPUT / "tools/collsock"), "run", "--local", "2", "--", sys.executable, "-c", LATE],
        stdin=begin, stdout=subprocess.PIPE, text=True, env=USUAL | {"COLLSOCK_BACKEND": "user"})
    os.close(begin)
    try:
        said = program.stdout.readline().strip()
        equal(said, "{1: 'is on this machine, and has not posted it'}")
        os.write(end, b"12")
        equal(program.wait(SECONDS), 0, "status")
    finally:
        os.close(end)
        program.kill()
        program.wait()
        program.stdout.close()


def report_message(command, *found):
    content = netlink.GENL_HEAD.pack(command, 1, 0) + b"".join(
        netlink.attribute(kind, value) for kind, value in found)
    return netlink.HEAD.pack(netlink.HEAD.size + len(content), 0, 0, 0, 0) + content


def test_report_that_is_none_does_not_hide_a_time_out():
    """Other processes of this user report, whatever they are."""
    with Ranks(2) as ranks:
        late = ranks[0].post_barrier()
        this_group = ((missing.GroupAttribute.ID, struct.pack("=Q", ranks[0].id)),
                      (missing.GroupAttribute.NONCE, struct.pack("=Q", ranks[0].nonce)))
        real = user.report
        try:
            for report in (netlink.HEAD.pack(netlink.HEAD.size, 0, 0, 0, 0),
                           netlink.HEAD.pack(netlink.HEAD.size + 1, 0, 0, 0, 0),
                           report_message(missing.RANK_GET,
                                          (missing.RankAttribute.RANK, bytes(4))),
                           report_message(missing.GROUP_GET, *this_group)):
                user.report = lambda told=report: told
                refused(collsock.CollectiveTimeout, "", late.wait, timeout=0.1)
        finally:
            user.report = real
        ranks[1].barrier()
        late.wait()


def test_forked_child_has_no_rank_whatever_it_keeps():
    with Ranks(2, keep_in_child=True) as ranks:
        child = os.fork()
        if not child:
            failed = 1
            try:
                ranks[0].barrier(timeout=5)
            except OSError as error:
                failed = error.errno != errno.EBADF
            os._exit(failed)
        equal(os.waitpid(child, 0)[1], 0, "status of the child")
        equal(in_threads(2, lambda at: ranks[at].allreduce(1)), [2, 2])


def test_group_that_nobody_refers_to_is_left():
    with Ranks(2) as ranks:
        in_threads(2, lambda at: ranks[at].barrier())
        del ranks[1]
        gc.collect()
        equal(refused(collsock.CollectiveError, "has left", ranks[0].barrier).failed_rank, 1)


if __name__ == "__main__":
    main(globals())
