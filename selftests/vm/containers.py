#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=90 needs=SECCOMP_FILTER
# suites: check soak
"""A rank in an unprivileged container: it takes part, reads, and tunes only its own
namespace.

A container here consists of namespaces as runtimes set them up, without a runtime: the process
of an ordinary user who becomes root of a user namespace that owns a network namespace. /sys and
/proc/sys are read-only, and its eth0 is a macvlan device that the machine's root has created.
Then it drops root, and installs a filter for system calls.
"""

import contextlib
import ctypes
import errno
import os
import shutil
import socket
import subprocess
import tempfile

from collsock_netlink import Netlink
from collsock_test import (
    AF_COLLSOCK, CLONE_NEWNET, MODULE, REDUCE, Child, Descriptor, Group, Rank, Skipped, barrier,
    clean_up, command, equal, integers, ip_batch, libc, main, netlink_on, on, outcome,
    read_file, setns, test, what_happens, work, write_file)

USER = 1000             # user that starts it
FIRST_ID = 100000       # its ids 0 to 65535 are these outside
INSIDE = 1234           # user and group of the program in it
ADDRESS = "10.1.0.100"
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER = 0x20000, 0x4000000, 0x8000000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18
PR_SET_NO_NEW_PRIVS = 38
TOOL = "/run/collsock-command"  # where another user can start it
MEETING = ("--rendezvous", "10.1.0.1", "--ranks", "2")
PATIENCE_S = 60
ANOTHER_FAMILY = 22     # AF_SNA: defined, never implemented, on the lists of runtimes


# ---- filters for system calls ----

class Comparison(ctypes.Structure):
    """struct scmp_arg_cmp"""

    EQUAL, GREATER = 4, 6
    _fields_ = [("argument", ctypes.c_uint), ("way", ctypes.c_int),
                ("value", ctypes.c_uint64), ("value2", ctypes.c_uint64)]


class Filter:
    """A filter made with libseccomp, which apt depends on."""

    ALLOW, REFUSE = 0x7fff0000, 0x50000 | errno.EPERM
    # What the runtimes' default profiles refuse without capabilities, as far as relevant
    # here. They list allowed calls; this one only refuses sockets.
    REFUSED = ("mount", "umount2", "unshare", "setns", "pivot_root", "init_module",
               "finit_module", "delete_module", "bpf", "perf_event_open", "keyctl", "add_key",
               "request_key", "open_by_handle_at", "kexec_load", "reboot", "swapon", "acct")

    def __init__(self):
        self.library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.filter = ctypes.c_void_p(self.library.seccomp_init(ctypes.c_uint32(self.ALLOW)))
        for call in self.REFUSED:
            self.rule(self.REFUSE, call)

    def rule(self, action, call, *comparisons):
        number = self.library.seccomp_syscall_resolve_name(call.encode("ascii"))
        array = (Comparison * len(comparisons))(*comparisons)
        self.check(call, self.library.seccomp_rule_add_array(
            self.filter, ctypes.c_uint32(action), number, len(comparisons), array))

    def refuse_families(self, way, *families):
        for family in families:
            self.rule(self.REFUSE, "socket", Comparison(0, way, family, 0))

    def load(self):
        """Apply it to this process."""
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        self.check("load", self.library.seccomp_load(self.filter))

    @staticmethod
    def check(what, status):
        if status:
            raise OSError(-status, f"seccomp: {what}: {os.strerror(-status)}")


def some_families_refused():
    """Docker's profile until recently, and containerd's: all families but AF_ALG and AF_VSOCK."""
    made = Filter()
    made.refuse_families(Comparison.EQUAL, 38, 40)
    return made


def listed_families_allowed():
    """Docker's newest profile lists families that may be used; these are not on it."""
    made = Filter()
    made.refuse_families(Comparison.EQUAL, 12, 19, 20, 23, 25, 34, 37, 38, 40)
    made.refuse_families(Comparison.GREATER, 45)
    return made


# ---- containers ----

def succeed(what, status):
    if status:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def mount(source, target, kind, flags):
    succeed(f"mount {target}", libc.mount(source, target, kind, flags, None))


def be_user(number):
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)


def contained(line, address, make_filter, function, *args):
    """The process in a container: first its root, then an ordinary user."""
    be_user(USER)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC):
        line.put(Skipped(f"no user namespaces here: {os.strerror(ctypes.get_errno())}"))
        return
    line.put("in namespaces of its own")
    line.get()  # the machine's root gives ids and a network device
    be_user(0)
    mount(None, b"/", None, MS_REC | MS_PRIVATE)
    mount(b"sysfs", b"/sys", b"sysfs", MS_RDONLY | MS_NOSUID)
    mount(b"/proc/sys", b"/proc/sys", None, MS_BIND)
    mount(None, b"/proc/sys", None, MS_BIND | MS_REMOUNT | MS_RDONLY)
    ip_batch((), f"address add {address}/24 dev eth0", "link set eth0 up", "link set lo up")
    try:
        function(line, make_filter, *args)
    except Skipped as reason:
        line.put(reason)


class Container(Child):
    """A container in which function(line, make_filter, ...) runs, as its root."""

    def __init__(self, function, *args, make_filter=some_families_refused, address=ADDRESS):
        super().__init__(None, contained, address, make_filter, function, *args)
        self.get()
        for ids in "uid_map", "gid_map":
            write_file(f"/proc/{self.pid}/{ids}", f"0 {FIRST_ID} 65536")
        ip_batch((), f"link add link switch name eth0 netns {self.pid} type macvlan mode bridge")
        self.put("go on")

    def get(self):
        said = super().get()
        if isinstance(said, Skipped):
            raise said
        return said


def become_anybody(make_filter, number=INSIDE):
    """Drop all capabilities permanently."""
    made = make_filter()
    be_user(number)
    try:
        made.load()
    except OSError as error:
        raise Skipped(f"no filters for system calls here: {error}") from error


def family_number():
    return int(read_file(f"{MODULE}/parameters/family"))


def status_of_process():
    rows = dict(row.split(":\t", 1) for row in read_file("/proc/self/status").splitlines())
    return int(rows["CapEff"], 16) | int(rows["CapPrm"], 16), rows["NoNewPrivs"], rows["Seccomp"]


# ---- taking part ----

def takes_part(line, make_filter, descriptor, number):
    """A rank that executes commands until it receives None."""
    become_anybody(make_filter)
    line.put([status_of_process(),
              what_happens(write_file, f"{MODULE}/parameters/settle_us", "1"),
              what_happens(write_file, "/proc/sys/net/ipv4/ip_forward", "1"),
              what_happens(mount, None, b"/sys", None, MS_BIND | MS_REMOUNT),
              what_happens(socket.socket, 40, socket.SOCK_STREAM)])
    rank = Rank(family_number())
    rank.join(descriptor, number)
    line.put("joined")
    while True:
        order = line.get()
        if order is None:
            return
        payload, fields = order
        completion = rank.run(payload, **fields)
        line.put((outcome(completion), completion.result))


def group_with(function, **fields):
    """A group of hosts 1, 2 and a container, whose rank is 2 and executes commands."""
    descriptor = Descriptor([1, 2, ADDRESS])
    container = Container(function, descriptor, 2, **fields)
    ranks = []
    for number, host in enumerate((1, 2)):
        with on(host):
            ranks.append(Rank(family_number()))
        ranks[-1].join(descriptor, number)
    return container, ranks, descriptor


@test
def an_unprivileged_container_takes_part():
    container, ranks, _ = group_with(takes_part)
    equal("what confines it", container.get(),
          [(0, "1", "2"), "EROFS", "EROFS", "EPERM", "EPERM"])
    equal("the container has", container.get(), "joined")
    for _ in range(work(20)):
        container.put((b"", {}))
        barrier(ranks)
        equal("a barrier there", container.get(), ("success", b""))
    total = integers(111)
    for fields, results in (({}, [total] * 3),
                            ({"operation": REDUCE, "root": 2}, [b"", b"", total]),
                            ({"operation": REDUCE, "root": 0}, [total, b"", b""])):
        container.put((integers(100), fields))
        for rank, value in zip(ranks, (1, 10)):
            rank.post(integers(value), **fields)
        equal(f"here, {fields}", [rank.complete().result for rank in ranks], results[:2])
        equal(f"there, {fields}", container.get(), ("success", results[2]))
    container.put(None)
    container.finish()


@test
def a_container_that_is_killed_is_named():
    container, ranks, _ = group_with(takes_part)
    container.get()
    equal("the container has", container.get(), "joined")
    container.put((b"", {}))
    barrier(ranks)
    equal("a barrier there", container.get(), ("success", b""))
    for rank in ranks:
        rank.post()
    container.kill()
    for rank in ranks:
        equal("after the kill", outcome(rank.complete()), "ECONNRESET rank 2")


# ---- queries and tunables ----

def looks(line, make_filter, descriptor, number):
    become_anybody(make_filter)
    rank = Rank(family_number())
    rank.join(descriptor, number)
    rank.run()
    netlink = Netlink()
    (group,) = netlink.all("group")
    (own,) = netlink.all("rank")
    line.put([group["id"], group["uid"], own["rank"], own["pid"] == os.getpid(),
              netlink.tunables()["settle_us"]["value"],
              what_happens(netlink.set_tunables, settle_us=30_000),
              what_happens(netlink.end, group["handle"])])
    line.get()


@test
def a_container_sees_its_own_groups_and_changes_nothing():
    other = Group([1, 2])
    container, ranks, descriptor = group_with(looks)
    for rank in ranks:
        rank.post()
    equal("what it sees, and may", container.get(),
          [descriptor.fields["id"], INSIDE, 2, True, 20_000, "EPERM", "EPERM"])
    equal("barriers", [outcome(rank.complete()) for rank in ranks], ["success"] * 2)
    other.barrier()
    container.put("end")
    container.finish()


def rules(line, _):
    """Root of the container."""
    netlink = Netlink()
    memory = netlink.tunables()["max_memory_kib"]["value"]
    large = Descriptor([ADDRESS], max_bytes=65536, window=64)
    line.put([what_happens(netlink.set_tunables, settle_us=30_000),
              what_happens(netlink.set_tunables, max_memory_kib=memory + 1),
              what_happens(netlink.set_tunables, user_memory_kib=memory // 4 + 1),
              what_happens(netlink.set_tunables, user_memory_kib=4096),
              what_happens(netlink.set_tunables, max_memory_kib=1024),
              what_happens(netlink.set_tunables, max_memory_kib=None),
              what_happens(Rank().join, large, 0),
              what_happens(netlink.set_tunables, join_gid_low=5, join_gid_high=5),
              netlink.tunables()["join_gid_low"]["value"]])
    for gid in INSIDE, 5:
        os.setegid(gid)
        line.put(what_happens(Rank().join, Descriptor([ADDRESS]), 0))
    line.get()


@contextlib.contextmanager
def netlink_in(container):
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    there = os.open(f"/proc/{container.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    setns(there)
    try:
        netlink = Netlink()
    finally:
        setns(home)
        os.close(home)
        os.close(there)
    try:
        yield netlink
    finally:
        netlink.close()


@test
def root_of_a_container_tunes_its_namespace_but_cannot_raise_the_machines_limit():
    container = Container(rules)
    equal("what root may there", container.get(),
          ["done", "EPERM", "EPERM", "done", "done", "EPERM", "ENOMEM", "done", 5])
    equal("joining with another group id", container.get(), "EPERM")
    equal("joining with that group id", container.get(), "done")
    with netlink_in(container) as netlink:
        told = netlink.tunables()
        equal("the range as the machine numbers it",
              [told[name]["value"] for name in ("join_gid_low", "join_gid_high")],
              [FIRST_ID + 5] * 2)
        netlink.set_tunables(max_memory_kib=None)
        equal("the machine's root lifts the limit", "own" in netlink.tunables()["max_memory_kib"],
              False)
    with netlink_on(1) as netlink:
        equal("tunables of their own on a host",
              [name for name, row in netlink.tunables().items() if "own" in row], [])
    container.put("end")
    container.finish()


# ---- ranks in user space ----

def collsock(*words, **settings):
    """The command: its status, and what it prints"""
    done = subprocess.run([TOOL, *words], check=False, text=True, capture_output=True,
                          env={"PATH": os.environ["PATH"]} | settings, timeout=PATIENCE_S)
    return done.returncode, done.stdout.split(), done.stderr


def where_ranks_are(**settings):
    """run passes a socket to ranks in user space."""
    return collsock("run", "--local", "1", "--", "sh", "-c", "echo ${COLLSOCK_SOCKET:+user}",
                    **settings)


def meets(line, make_filter, key):
    become_anybody(make_filter)
    path = f"/tmp/key-{os.getpid()}"
    with open(path, "x", encoding="ascii", opener=lambda *how: os.open(*how, 0o600)) as file:
        file.write(key)
    line.put(where_ranks_are())
    line.put(collsock("run", "--local", "3", "--", TOOL, "allreduce", "--op", "sum", "17"))
    line.put(collsock("allreduce", "--op", "sum", *MEETING, "--rank", "1", "5",
                      COLLSOCK_KEY_FILE=path))
    os.unlink(path)


def meets_as_host(line, key):
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
        file.write(key)
        file.flush()
        line.put(where_ranks_are())
        line.put(collsock("allreduce", "--op", "sum", *MEETING, "--rank", "0", "7",
                          COLLSOCK_KEY_FILE=file.name))


@test
def where_the_family_is_refused_auto_is_user_space_in_one_group_with_hosts_that_have_it():
    key = os.urandom(16).hex() + "\n"
    shutil.copy("build/tools/collsock", TOOL)
    container = Container(meets, key, make_filter=listed_families_allowed)
    equal("ranks there are in", container.get(), (0, ["user"], ""))
    equal("a group there", container.get()[:2], (0, ["51"] * 3))
    host = Child(1, meets_as_host, key)
    equal("ranks of the host are in", host.get(), (0, [], ""))
    equal("what both compute", [rank.get()[:2] for rank in (host, container)], [(0, ["12"])] * 2)
    host.finish()
    container.finish()


# ---- runtimes that list families ----

def opens(line, make_filter, family):
    become_anybody(make_filter)
    line.put(what_happens(Rank, family))


@test
def if_a_runtime_refuses_the_family_another_number_works():
    for family, outcome_there in (AF_COLLSOCK, "EPERM"), (ANOTHER_FAMILY, "EAFNOSUPPORT"):
        container = Container(opens, family, make_filter=listed_families_allowed)
        equal(f"family {family}", container.get(), outcome_there)
        container.finish()
    command("module", f"family={ANOTHER_FAMILY}")
    try:
        container, ranks, _ = group_with(takes_part, make_filter=listed_families_allowed)
        container.get()
        equal("the container has", container.get(), "joined")
        container.put((b"", {}))
        barrier(ranks)
        equal("a barrier there", container.get(), ("success", b""))
        container.put(None)
        container.finish()
    finally:
        clean_up()
        command("module")


if __name__ == "__main__":
    main()
