#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Ranks of a program that is none of MPI exchange blocks by PMI and PMIx, as mpiexec of MPICH and
mpirun of Open MPI have started them, on this machine; in a soak also as torchrun has. TAP."""
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402
from built import OUTPUT, program  # noqa: E402

PROGRAM = program("launched")
HYDRA = "mpiexec.hydra", "-launcher", "fork"
LAUNCHERS = {
    "PMI": (*HYDRA, "-n"),
    "PMI by a port": (*HYDRA, "-pmi-port", "-n"),
    "PMIx": ("mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-np"),
}
LIMIT_SECONDS = 300
IN_SOAK = int(os.environ.get("COLLSOCK_SOAK") or 1) > 1


def run(*words, **settings):
    """The status and the output of a launcher."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("COLLSOCK_", "SLURM_", "PMI"))}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_plm": "isolated", "OMPI_MCA_oob_tcp_if_include": "lo", **settings}
    done = subprocess.run(words, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=LIMIT_SECONDS, check=False)
    return done.returncode, done.stdout


def launch(launcher, ranks, *words, **settings):
    """The same, of one that starts @words, which begin with a program."""
    return run(*LAUNCHERS[launcher], str(ranks), *words, **settings)


def equal(what, found, wanted, said):
    if found != wanted:
        raise AssertionError(f"{what}: found {found!r}, wanted {wanted!r}\n{said}")


def says(words, said):
    if words not in said:
        raise AssertionError(f"lacks {words!r}:\n{said}")


def expect_ranks(launcher, ranks, key, status, said, times=1):
    equal("status", status, 0, said)
    by = launcher.partition(" ")[0]
    equal("ranks", sorted(re.findall(r"rank (\d+) of (\d+) by (\w+), (.*)", said)),
          sorted((str(rank), str(ranks), by, key) for rank in range(ranks) for _ in range(times)),
          said)


def ranks_receive_all_blocks(launcher):
    for ranks in 1, 2, 7:
        expect_ranks(launcher, ranks, "without a key", *launch(launcher, ranks, PROGRAM))


def key_file():
    file = tempfile.NamedTemporaryFile("w")
    file.write(32 * "a")
    file.flush()
    return file


def a_key_file_of_all_ranks_is_not_exchanged(launcher):
    with key_file() as file:
        expect_ranks(launcher, 2, "keyed",
                     *launch(launcher, 2, PROGRAM, COLLSOCK_KEY_FILE=file.name))


def jobs_with_one_key_file_have_different_keys(launcher):
    keys = []
    with key_file() as file:
        for _ in range(2):
            status, said = launch(launcher, 2, PROGRAM, COLLSOCK_KEY_FILE=file.name)
            equal("status", status, 0, said)
            found = re.findall("begin of the key: (.*)", said)
            equal("ranks with the first one's key", [found[0]] * 2, found, said)
            keys.append(found[0])
    equal("keys", len(set(keys)), 2, keys)


def a_rank_that_does_not_join_is_waited_for_and_no_longer_than_told(launcher):
    status, said = launch(launcher, 3, PROGRAM, "--absent", "2", COLLSOCK_MEETING_TIMEOUT="3")
    equal("is it a failure", status != 0, True, said)
    says("ETIMEDOUT: rank", said)
    says("not all ranks that the launcher has started have asked to join", said)
    says("rank 0: waiting for ranks that the launcher has started", said)


def a_rank_that_fences_and_gives_nothing_is_named(launcher):
    begun = time.monotonic()
    status, said = launch(launcher, 3, PROGRAM, "--fence", "1", COLLSOCK_MEETING_TIMEOUT="9")
    seconds = time.monotonic() - begun
    equal("is it a failure", status != 0, True, said)
    says("ETIMEDOUT: rank", said)
    says("rank 1 has taken part in a fence, but has not asked to join", said)
    # libpmix 4.2 by itself gives up after two seconds, others never.
    equal("is it by the limit that was told", 8 <= seconds < 30, True, f"{seconds}\n{said}")


def a_process_joins_once(launcher):
    status, said = launch(launcher, 2, PROGRAM, "--times", "2")
    equal("is it a failure", status != 0, True, said)
    says("EPIPE: ", said)
    says("each process joins once", said)


def an_earlier_process_that_ends_while_others_join_is_reported(launcher):
    for seconds in 1, 4, 16:  # in which the others' second processes begin to exchange
        status, said = launch(launcher, 3, "sh", "-c", f'"$0" --leave {seconds}; "$0"', PROGRAM,
                              COLLSOCK_MEETING_TIMEOUT="20")
        if "EREMOTEIO: rank" in said:  # they may also wait in vain
            break
    equal("is it a failure", status != 0, True, said)
    says("EREMOTEIO: rank", said)
    says("a process of the job has ended meanwhile", said)


def a_process_that_has_loaded_mpi_does_not_use_its_connection(launcher):
    status, said = launch(launcher, 2, PROGRAM, "--load", "libmpich.so.12")
    equal("is it a failure", status != 0, True, said)
    says("ENOENT: the launcher has PMI, but this process has loaded MPI", said)


def a_process_that_has_loaded_mpi_may(launcher):
    expect_ranks(launcher, 2, "without a key",
                 *launch(launcher, 2, PROGRAM, "--load", "libmpi.so.40"))


def a_connection_that_is_closed_is_named(launcher):
    status, said = launch(launcher, 2, "sh", "-c", 'eval "exec $PMI_FD>&-"; exec "$0"', PROGRAM)
    equal("is it a failure", status != 0, True, said)
    says("EBADF: PMI_FD=", said)
    says("is no connection to the launcher in this process", said)


# Until torchrun ends them, the others wait for rank 1 of the first attempt. Both are redirected, as
# torch 1.13 fails without, with Python 3.11.
FAILS_ONCE = '[ "$TORCHELASTIC_RESTART_COUNT $RANK" != "0 1" ] || exit 7; exec "$0"'


def ranks_of_an_attempt_meet_after_one_has_failed(launcher):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with key_file() as file, tempfile.TemporaryDirectory() as folder:
        status, said = run("torchrun", "--nnodes", "1", "--nproc_per_node", "3",
                           "--max_restarts", "1", "--master_port", str(port), "--redirects", "1",
                           "--tee", "1", "--log_dir", folder, "--no_python", "sh", "-c",
                           FAILS_ONCE, PROGRAM, COLLSOCK_KEY_FILE=file.name)
        said += "".join(path.read_text() for path in pathlib.Path(folder).rglob("stderr.log"))
    says("exitcode: 7", said)
    expect_ranks(launcher, 3, "keyed", status, said)


# As ranks in threads
BY_A_STORE = """
import concurrent.futures, torch.distributed, collsock
store = torch.distributed.HashStore()
def run(rank):
    for name in "first", "second":
        exchange = exchange_by(store, name, rank, 3)
        with collsock.Group.from_exchange(exchange, rank, 3, backend="user") as group:
            total = group.allreduce(rank + 1)
    return total
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    print("sums", *pool.map(run, range(3)))
"""


def a_store_is_an_exchange_as_the_page_says(page):
    text = (TREE / "Documentation" / page).read_text(encoding="utf-8")
    function, = re.findall(r"```python\n([^`]*torch\.distributed\.Store[^`]*)```", text)
    status, said = run("/usr/bin/python3", "-B", "-c", function + BY_A_STORE,
                       PYTHONPATH=str(TREE / "libcollsock/python"),
                       LD_LIBRARY_PATH=str(OUTPUT / "library"))
    equal("status", status, 0, said)
    says("sums 6 6 6", said)


TESTS = [*((launcher, test) for launcher in LAUNCHERS for test in (
    ranks_receive_all_blocks, a_key_file_of_all_ranks_is_not_exchanged,
    jobs_with_one_key_file_have_different_keys,
    a_rank_that_does_not_join_is_waited_for_and_no_longer_than_told)),
    ("PMI", a_process_joins_once), ("PMIx", a_process_joins_once),
    ("PMIx", a_rank_that_fences_and_gives_nothing_is_named),
    ("PMIx", an_earlier_process_that_ends_while_others_join_is_reported),
    ("PMI", a_process_that_has_loaded_mpi_does_not_use_its_connection),
    ("PMIx", a_process_that_has_loaded_mpi_may), ("PMI", a_connection_that_is_closed_is_named),
    *[("meeting of torchrun", ranks_of_an_attempt_meet_after_one_has_failed),
      ("python.md", a_store_is_an_exchange_as_the_page_says)] * IN_SOAK]

if __name__ == "__main__":
    sys.exit(tap.run([(f"by {launcher}: {test.__name__.replace('_', ' ')}", test, launcher)
                      for launcher, test in TESTS]))
