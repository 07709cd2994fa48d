#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How faults that cannot be provoked in the kernel are reported to MPI programs.

Open MPI and MPICH run selftests/mpi/faults.c on this machine, with libcollsock-mpi, or the
component of Open MPI, and, in place of the kernel, stand_in.c. Whatever fails on one rank, all
ranks take a call or all pass it on, results are right, no rank hangs, and errors name the
failed rank. TAP.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = TREE / "build"
KINDS = "openmpi", "mpich"
COMPONENT = "component"  # Open MPI with it
PARAMETER = "coll_collsock_"
IN_SOAK = int(os.environ.get("COLLSOCK_SOAK") or 1) > 1
# Joining gives up on the network after 10 s; the rest is for starting processes
TIME_LIMIT_SECONDS = 100
PROCESSORS = sorted(os.sched_getaffinity(0))
AT_ONCE = 4
CALLS = 15  # of faults.c for each fault; the group has one operation more

UNABLE = {
    "socket=EMFILE": "too few file descriptors are left",
    "join=ENOMEM": "no memory, or the groups here have reached their memory limit",
    "join=EPERM": "not permitted here",
    "join=EACCES": "this namespace refuses groups without a key",
    "join=EADDRINUSE": "rank already joined",
    "end=ECONNRESET": "has left the group",
    "end=EPERM": "is on a host whose own filters refuse its packets",
}
# After these no later communicator of the process tries to join
FOR_GOOD = {
    "silent": "is UDP port 7607 open there for all others",
    "silent@1": "is UDP port 7607 open there for all others",
    "socket=EAFNOSUPPORT@0": "this kernel has no collective sockets",
    "socket=EAFNOSUPPORT@1": "this kernel has no collective sockets",
}
SLOW_PROXY = {"LD_PRELOAD": f"{BUILD}/mpi/slow_proxy.so"}
LEFT, SILENT, NO_MEMORY = "has left the group", "does not answer", "no memory"
OTHER_MODULE = "its host has another version of the module: install the same on all"


def mpi_of(kind):
    return "openmpi" if kind == COMPONENT else kind


def settings_of(kind, settings, folder):
    """Settings as words for a launcher; only ranks preload the library."""
    preload = [BUILD / "mpi/idle.so", BUILD / "mpi/stand_in.so"]
    if kind != COMPONENT:
        preload.append(BUILD / f"lib/mpi/libcollsock-mpi-{kind}.so")
    return ["env", f"STAND_IN_FILE={folder}/groups", "VM_MPI_POLL_MS=1",
            f"LD_PRELOAD={':'.join(map(str, preload))}", "COLLSOCK_MPI_AFTER=1",
            *(setting for setting in settings if not setting.startswith(PARAMETER))]


def parameters_of(kind, settings):
    """MPI_COMM_WORLD, on which Open MPI itself calls collectives, does not join."""
    if kind != COMPONENT:
        return []
    words = [f"mca_base_component_path={BUILD}/lib/mpi:SYSTEM_DEFAULT", f"{PARAMETER}priority=90",
             f"{PARAMETER}after=4",
             *(setting for setting in settings if setting.startswith(PARAMETER))]
    return [word for parameter in words for word in ("--mca", *parameter.split("=", 1))]


def launch(kind, ranks, settings, *words, program="faults", shell=None, environment=()):
    """Returns status, standard output and standard error. @shell is run before the program;
    @environment is the launcher's."""
    launcher = {
        "openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none",
                    "--mca", "mpi_yield_when_idle", "1"],
        "mpich": ["mpiexec.mpich"],
    }[mpi_of(kind)] + parameters_of(kind, settings)
    with tempfile.TemporaryDirectory(prefix="mpi-faults.") as folder:
        command = ["timeout", "--kill-after=5", str(TIME_LIMIT_SECONDS), *launcher,
                   "-np", str(ranks), *settings_of(kind, settings, folder),
                   *(["sh", "-c", f'{shell}; exec "$0" "$@"'] if shell else []),
                   BUILD / "mpi" / mpi_of(kind) / program, *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False,
                              # Launchers of Open MPI would share the folder of their user
                              env={**os.environ, **dict(environment), "TMPDIR": folder,
                                   "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    return types.SimpleNamespace(status=done.returncode, out=done.stdout, err=done.stderr,
                                 ranks=ranks)


def equal(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, not {wanted!r}")


def has(what, text, wanted):
    if wanted not in text:
        raise AssertionError(f"{what}: {text!r} without {wanted!r}")


def told(run, word):
    """For each rank: correct calls, completions received, the failure."""
    by_rank = {}
    for rank, right, taken, text in re.findall(
            rf"^{re.escape(word)}: rank (\d+): (\d+) right, (\d+) taken: (.*)$", run.out, re.M):
        by_rank[int(rank)] = types.SimpleNamespace(right=int(right), taken=int(taken), text=text)
    equal(f"ranks that came through {word}", sorted(by_rank), list(range(run.ranks)))
    return by_rank


def reasons(run):
    return re.findall(r"collsock: a communicator of \d+ ranks is left to the MPI library, "
                      r"because of rank (\d+): (.*)", run.err)


# ---- the outcome of each fault ----

def all_take(run, word):
    for rank, one in told(run, word).items():
        equal(f"rank {rank}: right, taken, failure", (one.right, one.taken, one.text),
              (CALLS, CALLS + 1, ": "))


def all_pass(run, word):
    """Nothing was taken except, perhaps, the barrier that tries out joining."""
    for rank, one in told(run, word).items():
        equal(f"rank {rank}: right, failure", (one.right, one.text), (CALLS, ": "))
        if one.taken > 1:
            raise AssertionError(f"rank {rank} has taken {one.taken} operations")


def all_pass_and_say_why(run, word, rank, text):
    all_pass(run, word)
    if not any(int(who) == rank and text in why for who, why in reasons(run)):
        raise AssertionError(f"rank {rank} and {text!r} in none of {reasons(run)}")


def all_fail(run, word, call, victim, texts, right=None):
    """With an error class and a string; @texts are those of the victim and of the others."""
    for rank, one in told(run, word).items():
        if right is not None:
            equal(f"rank {rank}: right", one.right, right)
        has(f"rank {rank}", one.text, "collsock: a collective operation has failed: "
            f"collsock: {call}")
        has(f"rank {rank}", one.text, texts[rank != victim])
        if rank != victim:
            has(f"rank {rank}", one.text, f"rank {victim} failed: rank {victim} ")


def outcomes(ranks):
    """Faults and their outcomes, for that number of ranks."""
    first, middle, last = 0, ranks // 2, ranks - 1
    victims = first, middle, last
    for number, (fault, text) in enumerate(UNABLE.items()):
        rank = victims[number % 3]
        yield f"{fault}@{rank}", all_pass_and_say_why, rank, text
    yield f"post=ENOMEM@{middle}", all_pass_and_say_why, middle, LEFT
    for word in ("nothing", "slow#5", f"post=ENOBUFS@{middle}#4", f"post=EAGAIN@{first}#2",
                 f"post=EAGAIN@{last}#5", f"post=ENOBUFS@{last}", f"wait=ENOMEM@{last}"):
        yield word, all_take
    own = NO_MEMORY, LEFT
    yield f"post=ENOMEM@{middle}#4", all_fail, "MPI_Allreduce", middle, own, 3
    yield f"post=ENOMEM@{last}#5", all_fail, "MPI_Iallreduce", last, own, 4
    yield f"wait=EBADMSG@{first}", all_fail, "", first, ("another version", LEFT)
    yield f"end=ETIMEDOUT@{last}#4", all_fail, "MPI_Allreduce", last, (SILENT, SILENT), 3
    yield f"end=ETIMEDOUT@{first}#1", all_fail, "MPI_Barrier", first, (SILENT, SILENT), 0
    yield f"end=EPROTO@{middle}#4", all_fail, "MPI_Allreduce", middle, (OTHER_MODULE,) * 2, 3
    yield f"end=ECONNRESET@{middle}#5", all_fail, "MPI_Iallreduce", middle, (LEFT, LEFT), 4


# ---- programs, each with its tests ----

def ended_well(run):
    equal("status", run.status, 0)
    has("output", run.out, "PASS\n")


def counts_are_told(run):
    """In the summary of rank 0, where some calls were handled and some passed on."""
    wanted = outcomes(run.ranks)
    unable = 3 * sum(outcome[1] is all_pass_and_say_why for outcome in wanted)
    equal("barriers passed on",
          re.findall(r"MPI_Barrier +\d+ handled +(\d+) passed on", run.err), [str(unable)])
    has("summary", run.err, f"{unable} the communicator could not join")


def many_faults(kind, ranks):
    wanted = list(outcomes(ranks))
    run = launch(kind, ranks, ["COLLSOCK_MPI_VERBOSE=1", "COLLSOCK_MPI_SUMMARY=1"],
                 *(outcome[0] for outcome in wanted), "closed")
    yield "the program ends well and its sockets are closed", run, ended_well
    yield "the summary counts what was passed on, and why", run, counts_are_told
    for word, judge, *args in wanted:
        yield f"{judge.__name__.replace('_', ' ')}, {word}", run, judge, word, *args


def said_once(run, text):
    equal("lines that say why", len(reasons(run)), 1)
    has("it", reasons(run)[0][1], text)


def remembered(kind, ranks, word):
    """In the next communicator another process is rank 0, which reports for all."""
    run = launch(kind, ranks, [], word, "reversed", "nothing")
    yield f"the program ends well, {word}", run, ended_well
    yield f"all pass, {word}", run, all_pass, word
    yield f"the next communicator does not try again, {word}", run, all_pass, "nothing"
    yield f"one line says why, {word}", run, said_once, FOR_GOOD[word]


def ends_and_says(run, *texts):
    if run.status in (0, 124, 137):
        raise AssertionError(f"status {run.status}")
    for text in texts:
        has("it says", run.out + run.err, text)


def one_rank_says(run):
    """Beside the one that failed, which is alive here, and the MPI itself."""
    saying = set(re.findall(r"^collsock: MPI_\w+ of rank (\d+): rank 1 failed", run.err, re.M))
    equal("others that say why", saying - {"1"}, {"0"})


def fatal_failure(kind, ranks):
    run = launch(kind, ranks, [], "fatal", "end=ETIMEDOUT@1#4")
    yield ("MPI_ERRORS_ARE_FATAL ends the program and names the rank", run, ends_and_says,
           "rank 1 failed: rank 1 does not answer")
    yield "one of the other ranks prints it", run, one_rank_says


def required(kind, ranks):
    run = launch(kind, ranks, ["COLLSOCK_MPI=require"], "join=EPERM@1")
    yield ("COLLSOCK_MPI=require ends the program and says why", run, ends_and_says,
           "cannot join, because of rank 1: not permitted here",
           "not allowed with COLLSOCK_MPI=require")
    yield ("it does not say that the communicator is left to the MPI library", run,
           lambda run: equal("reasons", reasons(run), []))


def misspelt_setting(kind, ranks):
    """Another rank's environment is not looked at."""
    run = launch(kind, ranks, ["COLLSOCK_MPI_AFTERR=3"], "nothing")
    yield "the program ends well, with a misspelt setting", run, ended_well
    yield "a misspelt setting is named once, and what may be meant", run, lambda run: equal(
        "lines", re.findall("collsock: (.*) is ignored: .*; is (.*) meant", run.err),
        [("COLLSOCK_MPI_AFTERR", "COLLSOCK_MPI_AFTER")])


def says_though_slow(run, *texts):
    ends_and_says(run, *texts)
    has("the proxy says", run.err, "the proxy is slow")


def invalid_setting(kind, ranks):
    """Rank 0 says why, and all ranks abort."""
    run = launch(kind, ranks, ["COLLSOCK_MPI=perhaps"], "nothing", environment=SLOW_PROXY)
    yield ("an invalid setting is named, though the launcher reads it late", run,
           says_though_slow, "COLLSOCK_MPI=perhaps")


def library_for_the_other_mpi(kind, ranks):
    other = KINDS[1 - KINDS.index(kind)]
    done = subprocess.run([BUILD / "mpi" / kind / "faults", "nothing"], capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "LD_PRELOAD":
                               f"{BUILD}/lib/mpi/libcollsock-mpi-{other}.so"})
    run = types.SimpleNamespace(status=done.returncode, out=done.stdout, err=done.stderr)
    yield ("the library for the other MPI ends the program with one line", run,
           lambda run: equal("status, lines, and tabs", (
               run.status, run.err.count("\n"), run.err.count("\t")), (2, 1, 0)))


def component_fails(kind, ranks):
    """The communicator joins in its fourth call, a nonblocking one is its second operation."""
    word = "end=ETIMEDOUT@1#2"
    run = launch(kind, ranks, [], word)
    yield "the program ends well", run, ended_well
    yield "all fail, and its request says so", run, all_fail, word, "MPI_Iallreduce", 1, (
        SILENT, SILENT), 4
    run = launch(kind, ranks, [], "fatal", word)
    yield ("MPI_ERRORS_ARE_FATAL ends the program and names the rank", run, ends_and_says,
           "rank 1 failed: rank 1 does not answer")


def component_cannot_join(kind, ranks):
    run = launch(kind, ranks, [f"{PARAMETER}require=1"], "join=EPERM@1")
    yield ("the parameter that requires it ends the program and says why", run, ends_and_says,
           "because of rank 1: not permitted here", f"not allowed with {PARAMETER}require")
    run = launch(kind, ranks, [f"{PARAMETER}window=65"], "nothing")
    yield ("an invalid parameter is named", run, ends_and_says,
           f"{PARAMETER}window=65: not a number from 1 to 64")
    run = launch(kind, ranks, [f"{PARAMETER}summary=1"], "join=EPERM@1")
    yield "all pass", run, all_pass_and_say_why, "join=EPERM@1", 1, "not permitted here"
    yield "the summary says why", run, lambda run: has(
        "summary", run.err, "the communicator could not join")


def component_of_another_version(kind, ranks):
    with tempfile.TemporaryDirectory(prefix="mpi-version.") as folder:
        other = pathlib.Path(library_of_another_version("openmpi", folder)).parent
        shell = (f'test "$OMPI_COMM_WORLD_RANK" = 0 || export '
                 f'OMPI_MCA_mca_base_component_path={other}:SYSTEM_DEFAULT')
        run = launch(kind, ranks, [], "nothing", shell=shell)
        yield ("another version on a rank ends the program with a message", run, ends_and_says,
               "coll_collsock of rank 1 has another version than that of rank 0")


def callbacks(kind, ranks):
    run = launch(kind, ranks, ["COLLSOCK_MPI_SUMMARY=1"], program="callbacks")
    yield "callbacks may use a communicator while it is freed", run, ended_well
    yield "the summary counts them", run, lambda run: has(
        "summary", run.err, "in a callback while the communicator is freed")


def invalid_arguments(kind, ranks):
    run = launch(kind, ranks, [], program="errors")
    yield "invalid arguments are refused as by the underlying MPI", run, ended_well


def nothing_is_left(kind, ranks):
    """The first rank to leave must not keep the others from completing the barrier in
    MPI_Finalize. It once did so in three runs of four, and UCX warned of messages that were
    never received."""
    for number in range(3):
        run = launch(kind, ranks, [], program="callbacks")
        yield f"the program ends well, {number}", run, ended_well
        yield f"MPI_Finalize leaves nothing behind in the underlying MPI, {number}", run, (
            lambda run: equal("warnings", re.findall("UCX +WARN.*", run.out + run.err), []))


def always_full(kind, ranks):
    """Not even the first barrier can be posted, and the program runs without the socket."""
    run = launch(kind, ranks, [], "full", "closed")
    yield "the program ends well and its sockets are closed, full", run, ended_well
    yield "all pass, full", run, all_pass, "full"


def library_of_another_version(kind, folder):
    """Only what is changed is compiled: the copies are as old as what they are of."""
    for part in "libcollsock", "uapi", "kernel/core":
        shutil.copytree(TREE / part, f"{folder}/{part}")
    shutil.copytree(BUILD / "lib", f"{folder}/lib", symlinks=True)
    source = pathlib.Path(folder, "libcollsock/mpi/announce.c")
    text = source.read_text()
    other, changes = re.subn(r"(?m)^(#define VERSION 0x)\w{4}", r"\g<1>c012", text)
    equal("versions that were changed", changes, 1)
    source.write_text(other)
    subprocess.run(["make", "-s", "-C", source.parent, f"MPIS={kind}", f"OUTPUT={folder}/lib"],
                   check=True, stdout=sys.stderr)
    return f"{folder}/lib/mpi/libcollsock-mpi-{kind}.so"


def other_version(kind, ranks):
    text = "of rank 1 has another version than that of rank 0"
    with tempfile.TemporaryDirectory(prefix="mpi-version.") as folder:
        other = library_of_another_version(kind, folder)
        shell = (f'test "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 0 && '
                 f'export LD_PRELOAD={BUILD}/lib/mpi/libcollsock-mpi-{kind}.so || '
                 f'export LD_PRELOAD={other}')
        run = launch(kind, ranks, ["LD_PRELOAD="], "nothing", shell=shell)
        yield ("another version on a rank ends the program with a message", run, ends_and_says,
               text)
        if kind == "mpich":
            run = launch(kind, ranks, ["LD_PRELOAD="], "nothing", shell=shell,
                         environment=SLOW_PROXY)
            yield ("another version on a rank is named, though the launcher reads it late", run,
                   says_though_slow, text)


def mixed_waits(kind, ranks):
    """Each rank is a host here, and has a processor of its own as far as the library knows."""
    run = launch(kind, ranks, [], "spins", program="mixed")
    yield "waits for messages and collectives do not sleep where waits spin", run, ended_well
    run = launch(kind, ranks, ["COLLSOCK_MPI_SPIN=0"], "sleeps", program="mixed")
    yield "they sleep where waits do not spin", run, ended_well


def bound_ranks(kind, ranks):
    """Two ranks on each of two hosts, which have all processors of this machine. Hosts with the
    same kernel, like containers, have them in common."""
    own_kernel, same_kernel = ["STAND_IN_RANKS=2", "STAND_IN_KERNELS=1"], ["STAND_IN_RANKS=2"]
    for what, settings, program, processors in (
            ("ranks that are bound to one processor sleep", own_kernel, "sleeps",
             PROCESSORS[:1] * 2),
            ("those that are bound to one each spin", own_kernel, "spins", PROCESSORS[:2]),
            ("they sleep if hosts have the same processors", same_kernel, "sleeps",
             PROCESSORS[:2])):
        own = f"$((${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} % 2 ? {processors[1]} : {processors[0]}))"
        run = launch(kind, ranks, settings, program, program="mixed",
                     shell=f"taskset --pid --cpu-list {own} $$ >/dev/null")
        yield f"{what}, however many the machine has", run, ended_well


# Programs with faults for both MPIs, and their numbers of ranks
FOR_BOTH = ((callbacks, 3), (invalid_arguments, 2), (always_full, 2), (required, 2),
            (fatal_failure, 3), (library_for_the_other_mpi, 1), (mixed_waits, 2),
            *[(bound_ranks, 4)] * (len(PROCESSORS) > 1))


def programs():
    """Most of them with one of both MPIs in a check; the longest first."""
    for number, kind in enumerate(KINDS):
        for word in list(FOR_GOOD) if IN_SOAK else list(FOR_GOOD)[number::2]:
            yield remembered, kind, 2, word
        for ranks in (2, 3, 4) if IN_SOAK else (3,):
            yield many_faults, kind, ranks
        for program, ranks in FOR_BOTH if IN_SOAK else FOR_BOTH[number::2]:
            yield program, kind, ranks
        if kind == "mpich":
            yield nothing_is_left, kind, 4
            yield invalid_setting, kind, 2
            yield misspelt_setting, kind, 2
        if IN_SOAK or kind == "mpich":
            yield other_version, kind, 2
    yield component_fails, COMPONENT, 2
    yield component_cannot_join, COMPONENT, 2
    yield component_of_another_version, COMPONENT, 2


# ---- running them ----

def judge_all(program, kind, ranks, *args):
    """Results for TAP: whether it passed, its name, and comments."""
    if not shutil.which(f"mpicc.{mpi_of(kind)}"):
        return [(False, f"{program.__name__}, {kind}",
                 f"no mpicc.{mpi_of(kind)}: tools/setup mpi")]
    results = []
    for name, run, judge, *rest in program(kind, ranks, *args):
        name = f"{name}, {kind}, {ranks} ranks"
        try:
            judge(run, *rest)
            results.append((True, name, ""))
        except AssertionError as error:
            results.append((False, name, f"{error}\nstatus {run.status}\n"
                                         f"{run.out[-1500:]}\n{run.err[-1500:]}"))
    return results


def build():
    """In the usual folders, as other tests are building in that of these tests."""
    os.environ.pop("OUTPUT", None)
    for part in "libcollsock", "libcollsock/mpi", "selftests/mpi":
        subprocess.run(["make", "-s", "-C", TREE / part], check=True, stdout=sys.stderr)


def main():
    build()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        running = [pool.submit(judge_all, *program) for program in programs()]
        results = [result for one in running for result in one.result()]
    print(f"TAP version 13\n1..{len(results)}")
    for number, (well, name, said) in enumerate(results, 1):
        if not well:
            print("\n".join(f"# {line}" for line in said.splitlines()))
        print(f"{'' if well else 'not '}ok {number} {name}")
    return 0 if all(well for well, _, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
