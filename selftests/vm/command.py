#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=240
# suites: check soak
"""The command collsock: it shows correct data, names the right rank, and needs no privilege."""

import csv
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import threading

from collsock_test import (
    PORT, Descriptor, Failed, Group, at_least, equal, errno_name, eventually, integers, link_down,
    main, on, outcome, rank_on, read_file, test, test_each, work, write_file)
from command_common import (
    DONE, ERROR, HOSTS, LIVENESS_MS, LONG_LIVENESS_MS, NETLINK_GENERIC, NOBODY, PROBLEMS, TOOL,
    WAITS, Processes, Said, all_refused, contains, eventually_waits, handle_of, only, prepare,
    problems, refuses, run, run_all, show)
from held import Held, holdable
from leftovers import load, unload

WRONG_USAGE = 2  # of collperf


# ---- queries ----

@test
def groups_hosts_ranks_and_peers_are_shown_as_they_are():
    group = Group(HOSTS, window=8)
    group.barrier()
    found = only(show(2, "group"))
    for key, value in {"id": group.descriptor.fields["id"], "hosts": 4, "ranks": 4, "host": 1,
                       "local_ranks": 1, "joined": 1, "uid": 0, "keyed": True, "window": 8,
                       "state": "running"}.items():
        equal(key, found[key], value)
    equal("posted", show(2, "-s", "group")[0]["stats"]["posted"], 1)
    handle = str(found["handle"])
    equal("hosts", [(h["host"], h["address"], h["port"], h["rank"])
                    for h in show(2, "host", "group", handle)],
          [(i, f"10.1.0.{i + 1}", PORT, i) for i in range(4)])
    rank = only(show(2, "rank", handle))
    equal("rank and process", (rank["rank"], rank["pid"], rank["state"]),
          (1, os.getpid(), "joined"))
    peers = show(2, "peer", "id", str(found["id"]))
    at_least("peers", len(peers), 2)
    for peer in peers:
        equal("a peer is", peer["state"], "heard")
        equal("its address", peer["address"], f"10.1.0.{peer['host'] + 1}")
    texts = {("group",): ("HANDLE", str(found["id"])), ("host",): ("10.1.0.4",),
             ("rank",): ("PID", str(os.getpid())), ("peer",): ("RTT",),
             ("-s", "group"): ("posted", "retransmits"), ("stat",): ("UDP port",),
             ("op",): (), ("wait", "--last"): ()}
    for said, parts in zip(run_all(2, texts), texts.values()):
        contains(f"collsock {said.words}", said.out, *parts)
    equal("groups of the namespace", show(2, "stat")["groups"], 1)
    group.close()


@test
def operations_are_shown_with_what_they_wait_for():
    group = Group(HOSTS)
    group.barrier()
    for rank in group[:3]:
        rank.post(integers(1, 2))
    operation = only([o for o in show(1, "op") if o["state"] == "running"])
    equal("operation", [operation[key] for key in ("kind", "type", "op", "bytes")],
          ["allreduce", "int64", "sum", 16])
    at_least("hosts that it misses", len(operation["missing"]), 1)
    contains("the same as text", run(1, "op").out, "allreduce", "host ")
    eventually("rank that has not posted, on host 4",
               lambda: [o["missing_rank"] for o in show(4, "op") if o["state"] == "early"], [[3]])
    group[3].post(integers(1, 2))
    group.complete()
    eventually("status when no operation waits", lambda: run_status(1, "wait"), DONE)
    equal("words when no operation waits", run(1, "wait").out, "no operation waits\n")


def run_status(host, *words):
    with on(host):
        return Said(words).end().status


@test
def commands_can_be_abbreviated_and_mistakes_are_explained():
    equal("gr", show(1, "gr"), [])
    equal("gr show", show(1, "gr", "show"), [])
    run(1, "o", "-p")
    run(1, "-V")
    contains("help", run(1, "--help").out, "doctor", "--prometheus")
    contains("help of a command that starts ranks", run(1, "run", "--help").out, "--rendezvous")
    all_refused(1, {("g",): ("several",), ("grop",): ("\"group\"",),
                    ("group", "99"): ("no group", "handle 99"),
                    ("group", "1", "2"): ("too many",), ("group", "x"): ("whole number",),
                    ("host", "group"): ("which group",), ("set",): ("which tunable",),
                    ("set", "window"): ("which value",), ("end",): ("which group",),
                    ("end", "show"): ("which group",), ("stat", "--last"): ("option",),
                    ("wait", "--interval", "0"): ("--interval",),
                    ("-n", "nowhere", "group"): ("nowhere",), ("--nonsense",): ("--help",)})
    run(1, status=ERROR)
    with on(1):
        equal("namespace by name", Said(("-n", "h2", "-j", "stat")).ended(DONE).json()["groups"],
              0)


@test
def a_key_is_made_once_and_only_its_owner_may_read_it():
    with tempfile.TemporaryDirectory() as folder:
        file, keys = f"{folder}/key", [run(1, "keygen").out for _ in range(2)]
        run(1, "keygen", file)
        keys.append(read_file(file))
        equal("32 digits each", [bool(re.fullmatch("[0-9a-f]{32}\n", key)) for key in keys],
              [True] * 3)
        equal("different keys", len(set(keys)), 3)
        equal("mode", os.stat(file).st_mode & 0o777, 0o600)
        contains("error", run(1, "keygen", file, status=ERROR).error, file, "File exists")
        equal("the file", read_file(file), keys[2])
        contains("error", run(1, "keygen", f"{folder}/no/key", status=ERROR).error, "no key was made")


@test
def a_missing_module_is_explained():
    unload()
    try:
        with on(1):
            doctor = Said(("-j", "doctor"), COLLSOCK_BACKEND="kernel")
            group, get = Said(("group",)), Said(("get",))
        contains("collsock group", group.ended(ERROR).error, "modprobe collsock")
        contains("collsock get", get.ended(ERROR).error, "modprobe collsock")
        equal("problem", [finding["check"] for finding in
                          problems(doctor.ended(PROBLEMS).json())], ["module"])
    finally:
        load()


@test
def any_process_name_is_valid_json():
    processes = Processes(name=b'a"\\\n\x1b)\xff\xc3\xa9')
    equal("command", only(show(1, "rank"))["command"], 'a"\\??)?é')
    contains("the same as text", run(1, "rank").out, 'a"\\??)?é')
    processes.finish()


@test
def large_groups_are_shown_completely():
    many = 5000
    addresses = [f"10.{2 + i // 60000}.{i // 250 % 240}.{i % 250 + 1}" for i in range(1, many)]
    rank = rank_on(1)
    rank.join(Descriptor([1, *addresses]), 0)
    hosts = show(1, "host")
    equal("hosts", [host["host"] for host in hosts], list(range(many)))
    equal("the last address", hosts[-1]["address"], addresses[-1])
    rank.close()


@test
def groups_that_come_and_go_do_not_disturb_queries():
    over = threading.Event()

    def come_and_go():
        while not over.is_set():
            Group([1]).close()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(work(2)):
            run_all(1, [("group",), ("host",), ("rank",), ("peer",), ("op",)])
    finally:
        over.set()
        thread.join()


# ---- finding the straggler ----

@test
def a_stopped_rank_is_named_on_every_host():
    processes = Processes()
    culprit = processes[2]
    processes.begin()
    processes.end()
    culprit.kill(signal.SIGSTOP)
    processes.begin()
    for host in HOSTS:
        wait = eventually_waits(host, lambda w: w.get("rank") == 2 and (
            w["reason"] == "here" if host == 3 else w["reason"] in ("not-posted", "told")))
        equal("operation", wait["kind"], "barrier")
        equal("address", wait["address"], "10.1.0.3")
    here = eventually_waits(3, lambda w: w["ranks"][0].get("process") == "T")
    equal("process", here["ranks"][0]["pid"], culprit.pid)
    contains("sentence", here["sentence"], f"process {culprit.pid} (", "is stopped (T)",
             f"kill -CONT {culprit.pid}")
    other = only(run(3, "-j", "wait", status=WAITS, user=NOBODY).json())
    equal("what another user is told of it", (other["rank"], other["host"], other["uid"],
                                              other["ranks"][0].get("pid")), (2, 2, 0, None))
    contains("its sentence", other["sentence"], "rank 2, which is here and has not posted it: "
             "its process, of user 0, is not visible here")
    text = run(1, "wait", "--count", "2", "--interval", "0.1", status=WAITS).out
    equal("sentences of two looks", len(text.splitlines()), 2)
    contains("sentence", text, "everyone waits for rank 2 on host 2 (10.1.0.3), which has not "
             "posted it")
    culprit.kill(signal.SIGCONT)
    processes.end()
    for host in HOSTS:
        eventually("status when all have met", lambda: run_status(host, "wait"), DONE)
    processes.finish()


@test
def a_rank_that_has_not_joined_is_named():
    descriptor = Descriptor((1, 2), placement=(0, 0, 1), liveness_ms=LIVENESS_MS)
    rank = rank_on(1)
    rank.join(descriptor, 0)
    rank.post()
    wait = eventually_waits(1, lambda w: w["rank"] == 1)
    contains("sentence", wait["sentence"], "rank 1, which is here", "has not joined")
    sibling = rank_on(1)
    sibling.join(descriptor, 1)
    sibling.post()
    wait = eventually_waits(1, lambda w: w["reason"] == "unheard")
    equal("rank", wait["rank"], 2)
    contains("sentence", wait["sentence"], "never been heard", "collsock doctor 10.1.0.2")
    other = rank_on(2)
    other.join(descriptor, 2)
    other.post()
    for one in (rank, sibling, other):
        equal("barrier", outcome(one.complete()), "success")


@test
def a_host_that_is_cut_off_is_named_as_silent():
    group = Group(HOSTS, liveness_ms=LONG_LIVENESS_MS // 6)
    group.barrier()
    with link_down(3):
        for rank in group:
            rank.post()
        silent = 0
        for host in 1, 2, 4:
            wait = eventually_waits(host, lambda w: w.get("host") == 2 and
                                    w["reason"] in ("silent", "missed"))
            silent += wait["reason"] == "silent"
            if wait["reason"] == "silent":
                contains("sentence", wait["sentence"], "10.1.0.3", "silent for", "counts as dead")
        at_least("hosts that know it by themselves", silent, 1)
    for completion in group.complete():
        equal("barrier when the link is up again", outcome(completion), "success")


@test
def the_ranks_that_were_last_are_counted():
    group = Group((1, 2))
    group.barrier()
    before = [last(host) for host in (1, 2)]
    times = 20
    for _ in range(times):
        come = group[1].stats().messages_received
        group[0].post()
        eventually("message at host 2", lambda: group[1].stats().messages_received, come + 1)
        group[1].post()
        group.complete()
    equal("at host 1, host 1 was last", last(1) - before[0], times)
    equal("at host 2, rank 1 was last", last(2) - before[1], times)
    entry = show(1, "wait", "--last")[0]
    equal("who at host 1", (entry["host"], entry["address"]), (1, "10.1.0.2"))
    contains("as text", run(1, "wait", "--last").out, "SHARE", "host 1 (10.1.0.2)", " %")
    contains("as text", run(2, "wait", "--last").out, "rank 1, here")


def last(host):
    """How often rank 1 or its host was last, according to that host."""
    return sum(entry["last"] for entry in show(host, "wait", "--last")
               if entry.get("host", entry.get("rank")) == 1)


# ---- events ----

class Monitor:
    """collsock monitor on a host, read line by line."""

    def __init__(self, host, *words, preexec_fn=None):
        self.pending = b""
        with on(host):
            self.process = subprocess.Popen([TOOL, "monitor", *words], stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, preexec_fn=preexec_fn)
            self.begin()

    def begin(self):
        eventually("it listens", lambda: bool(self.listens()), True)

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def until(self, wanted):
        """Read lines up to the first wanted one."""
        lines = []
        while not lines or not wanted(lines[-1]):
            if b"\n" in self.pending:
                line, self.pending = self.pending.split(b"\n", 1)
                lines.append(line.decode())
                continue
            if not select.select([self.process.stdout], [], [], 20)[0]:
                raise Failed(f"events: {lines}, and no more within 20 s")
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                raise Failed(f"events: {lines}, and its end")
            self.pending += more
        return lines

    def listens(self):
        """Its sockets that are subscribed to a group of generic netlink (protocol 16). Of the
        port numbers that libnl chooses the lower 22 bits are those of the process."""
        lines = read_file(f"/proc/{self.process.pid}/net/netlink").splitlines()[1:]
        return [line for line in map(str.split, lines) if line[1] == "16" and
                int(line[2]) & 0x3fffff == self.process.pid and int(line[3], 16)]

    def drops(self):
        return int(only(self.listens())[8])

    def end(self):
        self.process.send_signal(signal.SIGINT)
        equal("status after SIGINT", self.process.wait(), DONE)
        self.process.stdout.close()


class MonitorBeforeALook(Monitor):
    """It has subscribed and found nothing to read. Now it is about to query the module: it opens
    its second socket of generic netlink."""

    def __init__(self, host):
        super().__init__(host, preexec_fn=holdable)

    def begin(self):
        sockets = []

        def is_second(arguments):
            family, _, protocol = arguments[:3]
            if (family, protocol) == (socket.AF_NETLINK, NETLINK_GENERIC):
                sockets.append(protocol)
            return len(sockets) == 2

        self.held = Held(self.process.pid)
        self.held.run_to(is_second)

    def stop(self):
        equal("it listens", bool(self.listens()), True)

    def go_on(self):
        self.held.release()


@test
def events_are_printed_as_they_happen():
    plain, timed = Monitor(1), Monitor(1, "-j", "-t")
    processes = Processes((1, 2))
    processes.begin()
    processes.end()
    processes[1].kill()
    equal("end of the child", processes[1].end(), -signal.SIGKILL)
    processes.begin(processes[0])
    said = plain.until(lambda line: "rank-left" in line)
    contains("events", "".join(said), "group-began", "peer-opened",
             f"group {processes.descriptor.fields['id']} (handle ")
    contains("the failure", said[-1], "ECONNRESET", "rank 1")
    told = [json.loads(line) for line in timed.until(lambda line: "rank-left" in line)]
    equal("error", (told[-1]["error"], told[-1]["rank"]), ("ECONNRESET", 1))
    for event in told:
        equal(f"time {event['time']}", bool(re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d{4}", event["time"])), True)
    plain.end()
    timed.end()


@test
def events_continue_after_the_module_was_reloaded():
    monitor = Monitor(1)
    unload()
    load()
    is_reloaded(monitor)


def is_reloaded(monitor):
    contains("the last line", monitor.until(lambda line: "module-" in line)[-1], "unloaded")
    contains("the next one", monitor.until(lambda line: "module-" in line)[-1], "loaded")
    Group([1]).close()
    contains("the event", monitor.until(lambda line: "group-began" in line)[-1], "handle")
    monitor.end()


@test
def events_of_a_module_are_printed_before_its_reload():
    monitor = MonitorBeforeALook(1)
    monitor.stop()
    Group([1]).close()
    unload()
    load()
    monitor.go_on()
    contains("the first line", monitor.until(lambda line: True)[0], "group-began")
    is_reloaded(monitor)


def monitor_with_little_room(kind=Monitor):
    """Newer kernels give a socket as much as it asks for, 4 MiB, which a test fills slowly."""
    limit = "/proc/sys/net/core/rmem_max"
    before = read_file(limit)
    write_file(limit, "65536")
    try:
        return kind(1)
    finally:
        write_file(limit, before)


def until_events_are_lost(monitor):
    monitor.stop()
    while not monitor.drops():
        Group([1]).close()


@test
def lost_events_are_reported():
    monitor = monitor_with_little_room()
    until_events_are_lost(monitor)
    monitor.go_on()
    contains("the last event", monitor.until(lambda line: "overrun" in line)[-1], "were lost")
    monitor.end()


def is_reloaded_among_lost_events(monitor):
    until_events_are_lost(monitor)
    unload()
    load()
    monitor.go_on()
    contains("the first line", monitor.until(lambda line: True)[0], "overrun")
    is_reloaded(monitor)


@test
def a_reload_among_lost_events_is_noticed():
    is_reloaded_among_lost_events(monitor_with_little_room())


@test
def a_reload_among_lost_events_is_noticed_before_a_query():
    is_reloaded_among_lost_events(monitor_with_little_room(MonitorBeforeALook))


# ---- changing ----

def value_of(host, name):
    return only(show(host, "get", name))["value"]


@test
def tunables_are_set_all_or_none():
    names = [tunable["name"] for tunable in show(1, "get")]
    for name in "port window rto_floor_us liveness_ms max_memory_kib require_keys".split():
        contains("names", names, name)
    before = only(show(1, "get", "liveness_ms"))
    try:
        tunables_are_set(before)
    finally:
        run(1, "set", "liveness_ms", "default", "window", "default")
    equal("afterwards", only(show(1, "get", "liveness_ms")), before)


def tunables_are_set(before):
    run(1, "set", "liveness_ms", "1234", "window", "4")
    changed = only(show(1, "get", "liveness_ms"))
    equal("value", (changed["value"], changed["own"]), (1234, True))
    contains("as text", run(1, "get", "liveness_ms").out, "1234", "ms", "here")
    equal("the same on host 2", only(show(2, "get", "liveness_ms")), before)
    group = Group([1])
    equal("liveness of a new group", only(show(1, "group"))["liveness_ms"], 1234)
    group.close()
    too_much = str(changed["maximum"] + 1)
    refuses(1, "set", "window", "5", "liveness_ms", too_much, says=("range",))
    equal("window, set in the same request", value_of(1, "window"), 4)
    refuses(1, "set", "livenes_ms", "1", says=("liveness_ms",))
    refuses(1, "set", "liveness_ms", "much", says=("whole number",))


@test
def any_user_may_read_but_not_change():
    group = Group((1, 2))
    group.barrier()
    handle = handle_of(1, group)
    run_all(1, [("group",), ("host",), ("rank",), ("peer",), ("op",), ("stat",), ("get",),
                ("wait",), ("doctor", "10.1.0.2")], user=NOBODY)
    all_refused(1, {("set", "window", "4"): ("CAP_NET_ADMIN",),
                    ("end", handle): ("CAP_NET_ADMIN",)}, user=NOBODY)
    group.barrier()


@test
def a_group_is_ended_everywhere_and_its_processes_are_named():
    group = Group((1, 2))
    group.barrier()
    for rank in group:
        rank.set_timeout(20)
    group[1].post()
    ended = only(show(1, "end", handle_of(1, group)))
    equal("who holds a socket", [(one["rank"], one["pid"]) for one in ended["holders"]],
          [(0, os.getpid())])
    equal("the other rank's barrier", errno_name(group[1].complete().error), "ECANCELED")
    other = Group([1])
    text = run(1, "end", "id", str(other.descriptor.fields["id"])).out
    contains("as text", text, "has ended", f"process {os.getpid()} (python")


# ---- collperf ----

def begin_collperf(host, key, nonce, *options):
    with on(host):
        return subprocess.Popen(["build/tools/collperf", "--hosts", "3", "--key-file", key,
                                 "--nonce", str(nonce), "--iterations", "10", *options], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@test
def collperf_says_at_once_which_hosts_it_waits_for_and_for_how_long():
    with tempfile.NamedTemporaryFile("w") as key:  # of mode 600
        key.write("00112233445566778899aabbccddeeff")
        key.flush()
        programs = [begin_collperf(1, key.name, 1)]
        contains("on host 1 alone", programs[0].stderr.readline(),
                 "waiting for 10.1.0.2 (rank 1), 10.1.0.3 (rank 2) for up to 4 min 5")
        programs.append(begin_collperf(2, key.name, 1))
        contains("on host 1 when host 2 is there", programs[0].stderr.readline(),
                 "waiting for 10.1.0.3 (rank 2) for up to 4 min 5")
        programs.append(begin_collperf(3, key.name, 1))
        for program in programs:
            out, error = program.communicate()
            equal(f"status, with {error!r}", program.returncode, DONE)
            contains("figures", out, "barrier", "of 3", "mean")


@test
def collperf_measures_each_operation_and_checks_its_results():
    with tempfile.NamedTemporaryFile("w") as key:
        key.write("00112233445566778899aabbccddeeff")
        key.flush()
        for number, operation in enumerate((
                "allreduce", "reduce", "broadcast", "allgather", "gather", "scatter",
                "reduce-scatter-block", "scan", "exscan")):
            programs = [begin_collperf(host, key.name, 100 + number, "--operation", operation)
                        for host in (1, 2, 3)]
            for program in programs:
                out, error = program.communicate()
                equal(f"status, with {error!r}", program.returncode, DONE)
                contains("figures", out, operation, "of 3", "mean")


def run_collperf(nonce, *options):
    """What collperf says on three hosts"""
    with tempfile.NamedTemporaryFile("w") as key:
        key.write("00112233445566778899aabbccddeeff")
        key.flush()
        programs = [begin_collperf(host, key.name, nonce, *options)
                    for host in (1, 2, 3)]
        for program in programs:
            out, error = program.communicate()
            equal(f"status, with {error!r}", program.returncode, DONE)
            yield out


def collperf_json(nonce, *options):
    return map(json.loads, run_collperf(nonce, "--json", *options))


@test
def collperf_starts_groups_and_counts_the_connections_that_their_first_barrier_opens():
    for nonce, degree in (200, "2"), (201, "3"):
        for said in collperf_json(nonce, "--startup", "--degree", degree):
            equal("connections of a host, each of 10 times", said["peers"], 2)
            equal("barriers of the group in which hosts meet", said["stats"]["operations"], 40)
            for name in "join_ns", "first_ns", "later_ns":
                equal(f"{name} was measured", said[name] > 0, True)


@test_each("barrier", "allgather", "reduce-scatter-block")
def collperf_measures_ranks_that_collsock_run_has_started(operation):
    said = run(1, "run", "--local", "3", "--", "build/tools/collperf", "--iterations", "10",
               "--json", "--operation", operation).out
    found = [json.loads(line) for line in said.splitlines()]
    equal("ranks", sorted((one["rank"], one["hosts"]) for one in found),
          [(0, 3), (1, 3), (2, 3)])


@test_each((("--nonce", "1"), "only with --hosts-file"), (("--startup",), "only with --hosts-file"),
           (("--hosts", "3", "--rank", "0"), "never used with this key"))
def collperf_says_what_describes_a_group(options, says):
    with on(1):
        done = subprocess.run(["build/tools/collperf", *options], text=True, check=False,
                              capture_output=True)
    equal("status", done.returncode, WRONG_USAGE)
    contains("error", done.stderr, says)


@test
def collperf_starts_groups_whose_first_barrier_looks_up_neighbours():
    def entries():
        """How many the kernel has made so far, of all hosts."""
        names, *processors = read_file("/proc/net/stat/arp_cache").splitlines()
        column = names.split().index("allocs")
        return sum(int(line.split()[column], 16) for line in processors)

    before = entries()
    for said in collperf_json(202, "--startup", "--iterations", "2", "--forget-neighbours"):
        equal("connections of a host", said["peers"], 2)
    equal("entries of two groups, of 3 hosts for 2 others each", entries() - before >= 12, True)


@test
def collperf_runs_programs_that_compute():
    for said in collperf_json(400, "--steps", "10,20,30", "--vary", "10"):
        equal("operations: of 10 programs of 3 steps, 100 to warm up, 1 before and 1 after",
              (said["computes_us"], said["stats"]["operations"]), (60, 132))


@test
def collperf_searches_for_the_least_computation_of_an_efficiency():
    for said in collperf_json(401, "--efficiency", "50,75", "--iterations", "1", "--warm-up", "0"):
        equal("efficiencies", [one["percent"] for one in said["efficiency"]], [50, 75])
        equal("operations: of 29 computations, each with one before and one after",
              said["stats"]["operations"], 87)


@test
def collperf_measures_teams_as_lines_of_a_table():
    for number, (team, kind, members) in enumerate((
            ("central", "threads", 1), ("mcs", "processes", 3), ("futex-ioctl", "threads", 3))):
        for rank, said in enumerate(run_collperf(
                500 + number, "--csv", "--team", f"{team}:{kind}", "--members", str(members),
                "--algorithm", "kary", "--spin", "7")):
            (row,) = csv.DictReader(said.splitlines(), strict=True)
            times = [float(row.pop(name)) for name in ("min_ns", "p50_ns", "p99_ns", "mean_ns")]
            least, median, most, mean = times
            # Of other operations than the rest, which are measured one by one
            at_least("the mean", mean, 1)
            equal("columns", row, {
                "team": team, "kind": kind, "members": str(members), "algorithm": "kary",
                "rank": str(rank), "hosts": "3", "iterations": "10", "spin_us": "7"})
            equal(f"{times} are in order", 0 < least <= median <= most, True)


@test
def collperf_has_tables_of_teams_only():
    for options in (), ("--team", "central", "--json"):
        done = subprocess.run(["build/tools/collperf", "--hosts", "3", "--rank", "0", "--csv",
                               *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        equal(f"status with {options}", (done.returncode, done.stdout), (WRONG_USAGE, ""))
        contains("error", done.stderr, "--csv: only with --team, and without --json")


# ---- Prometheus and doctor ----

@test
def prometheus_output_has_the_right_format():
    group = Group((1, 2))
    group.barrier()
    text = run(1, "stat", "--prometheus").out
    types, helps, samples = {}, set(), {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helps.add(line.split()[2])
        elif line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            equal(f"types of {name} so far", name in types, False)
            types[name] = kind
        else:
            sample = re.fullmatch(r'([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (\d+)',
                                  line)
            equal(f"{line!r} is a sample", bool(sample), True)
            equal(f"{sample[1]} has type and help", sample[1] in types and sample[1] in helps,
                  True)
            equal(f"type of {sample[1]}", types[sample[1]],
                  "counter" if sample[1].endswith("_total") else "gauge")
            samples[sample[1] + (sample[2] or "")] = int(sample[3])
    labels = f'{{handle="{handle_of(1, group)}",id="{group.descriptor.fields["id"]}"}}'
    equal("groups", samples["collsock_groups"], 1)
    equal("operations posted", samples["collsock_group_posted_total" + labels], 1)


if __name__ == "__main__":
    prepare()
    main()
