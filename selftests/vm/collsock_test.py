# SPDX-License-Identifier: GPL-2.0
"""Collective sockets in plain bytes, and common code of the scenarios.

It uses only the standard library, and none of the project's headers but the list of
counters: any program that can open a socket can take part, and the bytes below are the
interface.

A host is a network namespace hN (tools/vm/guest/hosts). A socket stays on the
host where it was opened, so one process can hold sockets of many hosts.

A test is a function whose name is the promise that it checks. It fails by an
exception that shows the value and what was expected; main() writes TAP.
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import itertools
import os
import pathlib
import pickle
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
import types
import weakref

import netem_qdisc
import user_socket
from collsock_netlink import Netlink

# ---- the bytes ----

TREE = pathlib.Path(__file__).resolve().parents[2]
LISTS, UAPI = TREE / "uapi/linux/collsock_lists.h", TREE / "Documentation/uapi.md"

AF_COLLSOCK, SOL_COLLSOCK, PORT = 25, 425, 7607
JOIN, STATS, NET_STATS, SELF, FEATURES, COMPLETION_BYTES, DEVICES = range(1, 8)
(BARRIER, ALLREDUCE, REDUCE, BROADCAST, ALLGATHER, GATHER, SCATTER,
 REDUCE_SCATTER_BLOCK, SCAN, EXSCAN) = range(1, 11)
(NONE, INT64, UINT64, DOUBLE, INT8, INT16, INT32, UINT8, UINT16, UINT32, FLOAT,
 FLOAT_INT, DOUBLE_INT, INT64_INT, INT32_INT, INT16_INT, BYTE, EXACT, FLOAT16,
 BFLOAT16) = range(20)
(NOP, SUM, MIN, MAX, PRODUCT, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR,
 BITWISE_AND, BITWISE_OR, BITWISE_XOR, MINLOC, MAXLOC) = range(13)
AUTO, DISSEMINATION, EXCHANGE, BINOMIAL, KARY, FLAT, MCS, HILLIS_STEELE, HALVING = range(9)
MAC_SIPHASH, MAC_NH_SIPHASH = 1, 2
QUIET = 1
NO_RANK = 0xffffffff
COOKIE_GROUP = 0xffffffffffffffff
MAX_HOSTS, MAX_RANKS = 65536, 1048576
DEFAULT_WINDOW, MAX_WINDOW = 16, 64
DEFAULT_SEGMENT, MAX_SEGMENT = 1056, 8640
MAX_SPIN_US, MAX_PAYLOAD = 10000, 65536
MAX_DEGREE, MAX_EXCHANGE_DEGREE, MAX_KARY_HOSTS, MAX_FLAT_HOSTS = 64, 16, 4096, 65
MAX_RESULT, MAX_SEGMENTS = 1048576, 1366
MAX_COMPLETION_BYTES = 256


class Layout(struct.Struct):
    """A structure with names; fields that are not named when packing are zero."""

    BYTES = ("key", "multicast", "reserved")

    def __init__(self, form, names):
        super().__init__("=" + form)
        self.names = names.split()

    def make(self, **fields):
        fields.setdefault("size", self.size)
        unknown = set(fields) - set(self.names)
        if unknown:
            raise TypeError(f"no field {unknown}")
        return self.pack(*(fields.get(name, b"" if name in self.BYTES else 0)
                           for name in self.names))

    def read(self, data, offset=0):
        return types.SimpleNamespace(**dict(zip(self.names, self.unpack_from(data, offset))))


JOIN_HEAD = Layout("IIQQ16sIIIIHHIQQQ16BBB2sI16s",
                   "size flags id nonce key hosts ranks rank max_bytes window segment_bytes "
                   "liveness_ms features algorithms degrees algorithm0 barrier_algorithm "
                   "allreduce_algorithm reduce_algorithm broadcast_algorithm "
                   "allgather_algorithm gather_algorithm scatter_algorithm "
                   "reduce_scatter_block_algorithm scan_algorithm exscan_algorithm algorithm11 "
                   "algorithm12 algorithm13 algorithm14 algorithm15 degree mac reserved "
                   "max_result_bytes multicast")
MEMBER = struct.Struct("=HHI16s")  # family, port, scope_id, address
POST = Layout("IBBBBIIIIQ",
              "size operation type op algorithm flags root count degree cookie")
COMPLETION = Layout("IIIIQQQ",
                    "size error failed_rank bytes cookie posted_ns completed_ns")
RUN_HEAD = Layout("IHHIIQQII", "size post_bytes completion_bytes spin_us flags payload result "
                  "payload_bytes result_bytes")
WAIT_HEAD = Layout("IHHIIQQ", "size flags completion_bytes spin_us result_bytes result cookie")
SELF_ALL = Layout("8I2H3I2Q2I", "size rank ranks host hosts local locals max_bytes window "
                  "segment_bytes error failed_rank completion_bytes id nonce max_result_bytes "
                  "reserved")
FEATURES_ALL = Layout("II6Q", "size completion_bytes operations types operators algorithms "
                      "features macs")
NAME = Layout("HHIQ", "family port rank id")


def counters(which):
    """The counters of a list of the header, read from the header."""
    text = LISTS.read_text(encoding="ascii")
    lines = text.split(f"#define COLLSOCK_{which}_COUNTER_LIST(LINE)")[1].split("\n\n")[0]
    return re.findall(r"LINE\((\w+),", lines)


def stats(before, which, others=""):
    """Numbers of 32 bits, others of 64 bits, and the counters."""
    names = others.split() + counters(which)
    return Layout(f"{len(before.split())}I{len(names)}Q", f"{before} {' '.join(names)}")


STATS_ALL = stats("size hosts host peers", "GROUP")
NET_STATS_ALL = stats("size groups peers timewait_entries", "NET", "memory over_memory over_user")
RUN, WAIT = ord("K") << 8 | 0x70, ord("K") << 8 | 0x71


def integers(*values):
    return struct.pack(f"={len(values)}q", *values)


# ---- hosts ----

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1


def setns(fd):
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def enter(host):
    """Move this thread to a host: a number, or a namespace's name."""
    name = host if isinstance(host, str) else f"h{host}"
    fd = os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        setns(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def on(host):
    """Sockets and files that this thread opens inside are opened on that host."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter(host)
        yield
    finally:
        setns(home)
        os.close(home)


def write_file(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def read_file(path):
    with open(path, encoding="ascii") as file:
        return file.read()


@contextlib.contextmanager
def netlink_on(host):
    with on(host):
        netlink = Netlink()
    try:
        yield netlink
    finally:
        netlink.close()


def set_tunables(host, **values):
    """Tunables of that host's namespace; None follows the module's parameter again."""
    with netlink_on(host) as netlink:
        netlink.set_tunables(**values)


MODULE = "/sys/module/collsock"


@contextlib.contextmanager
def tunables(**values):
    """Groups that are joined inside use these module parameters. In user space there is one that
    JOIN has, too."""
    if IN_USER_SPACE:
        before, Descriptor.usual = Descriptor.usual, values
        yield
        Descriptor.usual = before
        return
    before = {name: read_file(f"{MODULE}/parameters/{name}") for name in values}
    try:
        for name, value in values.items():
            write_file(f"{MODULE}/parameters/{name}", str(value))
        yield
    finally:
        for name, value in before.items():
            write_file(f"{MODULE}/parameters/{name}", value)


def command(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(words)}: status {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def netem(hosts, *words):
    """Apply netem with these arguments to what these hosts send; without arguments, remove it."""
    for host in hosts:
        with on(host):
            netem_qdisc.apply("eth0", words)


@contextlib.contextmanager
def faulty(hosts, *words):
    """Inside netem is applied with these arguments, if there are any."""
    if words:
        netem(hosts, *words)
    try:
        yield
    finally:
        if words:
            netem(hosts)


def namespace_has_gone(name):
    """Namespaces end some time after their last process, and their devices with them."""
    eventually(f"device of namespace {name}", lambda: os.path.exists(f"/sys/class/net/of-{name}"),
               False)


def make_namespace(name, address):
    """Create a namespace with a device to the other hosts, and a veth pair that is removed with
    it. A former one of that name may still be ending."""
    namespace_has_gone(name)
    ip_batch((), f"netns add {name}",
             f"link add link switch name eth0 netns {name} type macvlan mode bridge",
             f"link add of-{name} type veth peer name pair netns {name}")
    ip_batch(("-n", name), f"address add {address}/24 dev eth0", "link set eth0 up")


def ip_batch(options, *lines):
    done = subprocess.run(["ip", *options, "-batch", "-"], input="\n".join(lines), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    equal(f"output of {lines}", done.stdout, "")


@contextlib.contextmanager
def link_down(host):
    command("ip", "-n", f"h{host}", "link", "set", "eth0", "down")
    try:
        yield
    finally:
        command("ip", "-n", f"h{host}", "link", "set", "eth0", "up")
        command("ip", "-n", f"h{host}", "address", "replace", f"fd00:1::{host}/64", "dev",
                "eth0", "nodad")


def active_objects():
    """Objects in use, by cache, after all caches have freed what they keep."""
    for cache in os.listdir("/sys/kernel/slab"):
        with contextlib.suppress(OSError):
            write_file(f"/sys/kernel/slab/{cache}/shrink", "1")
    active = {words[0]: int(words[1]) for words in
              (line.split() for line in read_file("/proc/slabinfo").splitlines()[2:])}
    # Free areas count as objects until there are 32 MB of them for each CPU
    active["vmap_area"] = len(read_file("/proc/vmallocinfo").splitlines())
    return active


def inexact_objects(cache):
    """Each CPU has a slab whose free objects count as used."""
    return 2 * os.cpu_count() * int(read_file(f"/sys/kernel/slab/{cache}/objs_per_slab"))


# Ranks are in user space (user_socket.py)
IN_USER_SPACE = os.environ.get("COLLSOCK_PLATFORM") == "user"
ON_DEBUG_KERNEL = os.path.exists("/proc/lockdep")
SLOWDOWN = int(os.environ.get("COLLSOCK_SLOWDOWN") or 1)
SOAK = int(os.environ.get("COLLSOCK_SOAK") or 1)


def work(amount):
    """An amount of work in a check, COLLSOCK_SOAK times as much in a soak; less on a slow
    machine."""
    amount *= SOAK
    return max(1, amount // 4) if ON_DEBUG_KERNEL else amount


def seeded(*purpose):
    """Random numbers that COLLSOCK_SEED reproduces."""
    return random.Random(f"{os.environ.get('COLLSOCK_SEED', '1')} {purpose}")


# ---- ranks and groups ----

# By number, as tools/vm makes them
ADDRESSES = {socket.AF_INET: "10.1.0.{}", socket.AF_INET6: "fd00:1::{}",
             socket.AF_PACKET: "02:00:00:00:00:{:02x}"}


def member(host, family=socket.AF_INET, port=0, scope_id=0):
    """A host as the table of members has it: by number, or by address."""
    address = ADDRESSES[family].format(host) if isinstance(host, int) else host
    if family == socket.AF_PACKET:
        packed = bytes.fromhex(address.replace(":", ""))
    else:
        packed = socket.inet_pton(family, address)
    return MEMBER.pack(family, port, scope_id, packed)


class Descriptor:
    """The request of all ranks of a group; each host has one rank, unless placement lists
    the host of each rank."""

    numbers = iter(range(1, 1 << 32))
    ports = itertools.cycle(range(10000, 30000))  # of ranks in user space
    usual = {}

    def __init__(self, hosts, family=socket.AF_INET, placement=None, **fields):
        self.host_of_rank = list(placement or range(len(hosts)))
        self.members = [member(host, family) for host in hosts]
        if IN_USER_SPACE:  # each rank is a host of its own
            self.members = [member(hosts[host], family, next(self.ports))
                            for host in self.host_of_rank]
        self.fields = {"id": next(self.numbers), "nonce": random.getrandbits(64),
                       "key": random.randbytes(16), "hosts": len(self.members),
                       "ranks": len(self.host_of_rank), **fields}

    def bytes(self, number, /, **fields):
        hosts = range(len(self.members)) if IN_USER_SPACE else self.host_of_rank
        return (JOIN_HEAD.make(**{**self.usual, **self.fields, "rank": number, **fields}) +
                b"".join(self.members) + struct.pack(f"={len(hosts)}I", *hosts))


class Completion:
    """The result of recv, WAIT and RUN: the fields and the payload, which follows or is in
    that memory."""

    def __init__(self, data, offset=0, memory=None):
        self.__dict__.update(vars(COMPLETION.read(data, offset)))
        result = data[offset + self.size:] if memory is None else memory
        self.result = bytes(result[:self.bytes])

    def __repr__(self):
        return f"completion of {self.cookie}: {outcome(self)}, {self.bytes} bytes"


def outcome(completion):
    """An error and the rank that it names, as text."""
    if not completion.error:
        return "success"
    rank = "no rank" if completion.failed_rank == NO_RANK else f"rank {completion.failed_rank}"
    return f"{errno_name(completion.error)} {rank}"


class Memory(bytearray):
    """Bytes with an address, as long as their number does not change."""

    @property
    def address(self):
        return ctypes.addressof((ctypes.c_char * len(self)).from_buffer(self)) if self else 0


class KernelSocket(socket.socket):
    """Of the kernel"""

    def ioctl(self, number, data):
        fcntl.ioctl(self, number, data)


class Rank(user_socket.Socket if IN_USER_SPACE else KernelSocket):
    """A collective socket, opened on the host of the calling thread."""

    opened = weakref.WeakSet()

    def __init__(self, family=AF_COLLSOCK, kind=socket.SOCK_SEQPACKET, proto=0, fileno=None):
        super().__init__(family, kind, proto, fileno)
        self.opened.add(self)

    def join(self, descriptor, number, /, **fields):
        self.setsockopt(SOL_COLLSOCK, JOIN, descriptor.bytes(number, **fields))

    def post(self, payload=b"", send_flags=0, **fields):
        """A barrier, or with a payload of int64 their sum, unless fields say else."""
        return self.send(post_bytes(payload, **fields) + payload, send_flags)

    def complete(self, flags=0, room=COMPLETION.size + MAX_PAYLOAD):
        return Completion(self.recv(room, flags))

    def run(self, payload=b"", spin_us=0, head=None, memory=None, **fields):
        """Post and wait; see post(). The result goes to that memory, or replaces the
        payload."""
        payload = Memory(payload)
        memory = payload if memory is None else memory
        data = bytearray(run_bytes(payload, memory, {"spin_us": spin_us, **(head or {})},
                                   **fields))
        self.ioctl(RUN, data)
        return Completion(data, RUN_HEAD.size + POST.size, memory)

    def wait(self, cookie, room=1024, **fields):
        memory = Memory(room)
        data = bytearray(wait_bytes(cookie, memory, **fields))
        self.ioctl(WAIT, data)
        return Completion(data, WAIT_HEAD.size, memory)

    def set_timeout(self, seconds):
        """Set SO_RCVTIMEO; 0 means no time-out."""
        self.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                        struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6)))

    def me(self):
        """COLLSOCK_SELF."""
        return SELF_ALL.read(self.getsockopt(SOL_COLLSOCK, SELF, SELF_ALL.size))

    def features(self):
        return FEATURES_ALL.read(self.getsockopt(SOL_COLLSOCK, FEATURES, FEATURES_ALL.size))

    def error(self):
        """SO_ERROR, as text."""
        number = self.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        return errno_name(number) if number else "none"

    def stats(self):
        return STATS_ALL.read(self.getsockopt(SOL_COLLSOCK, STATS, STATS_ALL.size))

    def net_stats(self):
        return NET_STATS_ALL.read(self.getsockopt(SOL_COLLSOCK, NET_STATS, NET_STATS_ALL.size))


def post_bytes(payload, **fields):
    usual = {"operation": ALLREDUCE, "type": INT64, "op": SUM, "count": len(payload) // 8} \
        if payload else {"operation": BARRIER}
    return POST.make(**{**usual, **fields})


def run_bytes(payload=Memory(), memory=Memory(), head=None, **fields):
    """RUN of a payload, whose result goes to that memory."""
    return (RUN_HEAD.make(**{"post_bytes": POST.size, "completion_bytes": COMPLETION.size,
                             "payload": payload.address, "payload_bytes": len(payload),
                             "result": memory.address, "result_bytes": len(memory),
                             **(head or {})}) +
            post_bytes(payload, **fields) + bytes(COMPLETION.size))


def wait_bytes(cookie, memory, **fields):
    return WAIT_HEAD.make(**{"completion_bytes": COMPLETION.size, "cookie": cookie,
                             "result": memory.address, "result_bytes": len(memory),
                             **fields}) + bytes(COMPLETION.size)


def rank_on(host):
    with on(host):
        return Rank()


def barrier(ranks, **fields):
    """All of these ranks, which this process holds, complete a barrier."""
    for rank in ranks:
        rank.post(**fields)
    for number, rank in enumerate(ranks):
        equal(f"barrier at rank {number}", outcome(rank.complete()), "success")


class Group(list):
    """All ranks of a group, held by this process: hosts are numbers."""

    def __init__(self, hosts, family=socket.AF_INET, placement=None, **fields):
        super().__init__()
        self.hosts = list(hosts)
        self.descriptor = Descriptor(self.hosts, family, placement, **fields)
        for number, host in enumerate(self.descriptor.host_of_rank):
            rank = rank_on(self.hosts[host])
            rank.join(self.descriptor, number)
            self.append(rank)

    def post(self, *payloads, **fields):
        """Every rank posts; without payloads, a barrier."""
        for number, rank in enumerate(self):
            rank.post(payloads[number] if payloads else b"", **fields)

    def complete(self):
        return [rank.complete() for rank in self]

    def barrier(self, **fields):
        barrier(self, **fields)

    def close(self):
        for rank in self:
            rank.close()

    def end(self):
        """Close it, and wait until no host has a group any more."""
        witnesses = [rank_on(host) for host in self.hosts]
        self.close()
        for host, witness in zip(self.hosts, witnesses):
            eventually(f"groups on host {host}", lambda w=witness: w.net_stats().groups, 0)
            witness.close()


def documented_memory():
    """The function memory() of Documentation/uapi.md"""
    code = re.search("^```python\n(def memory.*?)^```", UAPI.read_text(encoding="utf-8"),
                     re.DOTALL | re.MULTILINE)[1]
    names = {}
    exec(code, names)  # pylint: disable=exec-used
    return names["memory"]


# ---- processes ----

class Line:
    """A connection to pass objects between processes."""

    def __init__(self, end):
        self.socket = end

    def put(self, value):
        self.socket.send(pickle.dumps(value))

    def get(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise Failed("the other end of the line is gone")
        return pickle.loads(data)


class Child(Line):
    """A process on a host that calls function(line, ...).

    It holds none of our collective sockets and sniffers except those among the
    arguments. It is killed when its maker ends.
    """

    running = []

    def __init__(self, host, function, *args):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        super().__init__(ours)
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            ours.close()
            self.child_main(host, theirs, function, args)
        theirs.close()
        self.running.append(self)

    @staticmethod
    def child_main(host, end, function, args):
        status = 1
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            for one in (*Rank.opened, *Sniffer.opened):
                if one not in args:
                    one.close()
            if host is not None:
                enter(host)
            function(Line(end), *args)
            status = 0
        except BaseException as error:  # pylint: disable=broad-except
            show_failure(error)
        finally:
            sys.stdout.flush()
            if IN_USER_SPACE:  # what is under way is completed
                libc.exit(status)
            os._exit(status)

    def put(self, value):
        try:
            super().put(value)
        except BrokenPipeError:
            raise Failed(f"a process has ended with status {self.end()}") from None

    def kill(self, number=signal.SIGKILL):
        os.kill(self.pid, number)

    def end(self):
        """Wait for its end; returns the status, or minus the signal."""
        if self in self.running:
            self.running.remove(self)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def finish(self):
        """Wait for it to exit with status 0."""
        equal("exit status of a process", self.end(), 0)


def post_once(line, descriptor, number):
    """For a child: join and post a barrier; report how it ends."""
    rank = Rank()
    rank.join(descriptor, number)
    line.put("joined")
    line.get()
    line.put(outcome(rank.run()))
    line.get()


# ---- the network ----

class Sniffer:
    """Sees the UDP packets of our port on a host's device, in both directions."""

    ETH_P_ALL, PACKET_OUTGOING, SO_RCVBUFFORCE = 3, 4, 33
    opened = weakref.WeakSet()

    def __init__(self, host, device="eth0"):
        self.opened.add(self)
        with on(host):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                                        socket.htons(self.ETH_P_ALL))
            self.socket.setsockopt(socket.SOL_SOCKET, self.SO_RCVBUFFORCE, 1 << 22)
            self.socket.bind((device, self.ETH_P_ALL))
        self.socket.setblocking(False)

    def packets(self):
        """The packets since the last call: (outgoing, IP packet, UDP payload)."""
        found = []
        while True:
            try:
                data, address = self.socket.recvfrom(1 << 16)
            except BlockingIOError:
                return found
            payload = udp_payload(data)
            if payload is not None:
                found.append((address[2] == self.PACKET_OUTGOING, data, payload))

    def close(self):
        self.socket.close()


def udp_payload(data):
    """The payload of an IP packet from or to our port, else None."""
    version = data[0] >> 4 if data else 0
    head = (data[0] & 15) * 4 if version == 4 else 40
    protocol = {4: 9, 6: 6}.get(version)
    if protocol is None or len(data) < head + 8 or data[protocol] != socket.IPPROTO_UDP:
        return None
    source, destination, length = struct.unpack_from("!HHH", data, head)
    return data[head + 8:head + length] if PORT in (source, destination) else None


class KernelLog:
    """The kernel's log from now on, except lines of programs and about a slow machine."""

    SLOW_MACHINE = re.compile("hrtimer: interrupt took|clocksource|perf: interrupt took")

    def __init__(self):
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def lines(self):
        lines = []
        while True:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except BlockingIOError:
                return lines
            except BrokenPipeError:  # the ring was overwritten
                continue
            head, _, text = record.partition(";")
            if int(head.split(",")[0]) >> 3 == 0 and not self.SLOW_MACHINE.match(text):
                lines.append(text.splitlines()[0])


# ---- expectations ----

class Failed(Exception):
    """A promise is broken."""


class Skipped(Exception):
    """The test is impossible on this machine."""


def errno_name(number):
    return errno.errorcode.get(number, str(number))


def shown(value):
    if isinstance(value, (bytes, bytearray)):
        return value.hex() if len(value) <= 64 else f"{value[:64].hex()}… ({len(value)} bytes)"
    return repr(value) if isinstance(value, float) else str(value)


def equal(what, value, expected):
    if value != expected:
        raise Failed(f"{what}: is {shown(value)}, expected {shown(expected)}")


def at_least(what, value, least):
    if not value >= least:
        raise Failed(f"{what}: is {shown(value)}, expected at least {shown(least)}")


def at_most(what, value, most):
    if not value <= most:
        raise Failed(f"{what}: is {shown(value)}, expected at most {shown(most)}")


def what_happens(function, *args, **fields):
    """The error of a call, or "done"."""
    try:
        function(*args, **fields)
    except OSError as error:
        return errno_name(error.errno)
    return "done"


def run_until_failure(line, descriptor, number):
    """A child that joins as that rank, and runs all-reduces."""
    rank = Rank()
    rank.join(descriptor, number)
    line.put("joined")
    while True:
        rank.run(integers(1))


def refused(error, what, function, *args, **fields):
    """The call fails with that error."""
    try:
        value = function(*args, **fields)
    except OSError as failure:
        equal(what, errno_name(failure.errno), errno_name(error))
    else:
        raise Failed(f"{what}: is accepted ({shown(value)}), expected {errno_name(error)}")


SYSTEM_CALLS = {
    "x86_64": {"read": 0, "write": 1, "ioctl": 16, "sendto": 44, "recvfrom": 45, "epoll_wait": 232},
    "aarch64": {"read": 63, "write": 64, "ioctl": 29, "sendto": 206, "recvfrom": 207,
                "epoll_wait": 22},
}[os.uname().machine]


def eventually_in(call, thread):
    """The thread has entered a system call and is still in it."""
    path = f"/proc/self/task/{thread.native_id}/syscall"
    if os.path.exists(path) and not IN_USER_SPACE:
        eventually(f"system call of a thread, for {call}",
                   lambda: read_file(path).split()[0], str(SYSTEM_CALLS[call]))
    else:
        time.sleep(0.5)


def eventually(what, read, expected, seconds=20):
    """The value becomes the expected one."""
    limit = time.monotonic() + seconds
    while True:
        value = read()
        if value == expected:
            return
        if time.monotonic() > limit:
            raise Failed(f"{what}: is {shown(value)} after {seconds} s, "
                         f"expected {shown(expected)}")
        time.sleep(0.02)


def until_nothing_lingers(*hosts):
    """Wait until the memory of earlier groups is freed. In user space each process counts its
    own."""
    for host in () if IN_USER_SPACE else hosts:
        watcher = rank_on(host)
        eventually(f"memory of earlier groups on host {host}",
                   lambda w=watcher: w.net_stats().memory, 0)


# ---- running tests ----

tests = []


def test(function):
    tests.append((function, ()))
    return function


def in_kernel(reason):
    """A test that ranks in user space cannot pass, and why."""
    def register(function):
        @functools.wraps(function)
        def skipped(*_):
            raise Skipped(f"in user space {reason}")
        return skipped if IN_USER_SPACE else function
    return register


def test_each(*variants):
    """The test runs once for each value, or tuple of values."""
    def register(function):
        tests.extend((function, variant if isinstance(variant, tuple) else (variant,))
                     for variant in variants)
        return function
    return register


def show_failure(error):
    text = str(error) if isinstance(error, Failed) else \
        "".join(traceback.format_exception(error))
    print("\n".join(f"# {line}" for line in text.rstrip().splitlines()), flush=True)


def clean_up():
    for child in list(Child.running):
        child.kill()
        child.end()
    for opened in Rank.opened, Sniffer.opened:
        for one in list(opened):
            one.close()
        opened.clear()


def run_test(function, args, limit):
    """Returns the rest of the line after the name, or raises."""
    def too_long(*_):
        raise Failed(f"not done after {limit} s: " +
                     "".join(traceback.format_stack(limit=8)))

    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        function(*args)
        return ""
    except Skipped as reason:
        return f" # SKIP {reason}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        clean_up()


def main(limit=60):
    """Run all tests, or those whose names contain a word of the command line, or of
    COLLSOCK_TEST."""
    limit *= SLOWDOWN * (1 + SOAK // 2)  # like the limit of selftests/run
    words = sys.argv[1:] or os.environ.get("COLLSOCK_TEST", "").split()
    chosen = [(function, args) for function, args in tests
              if not words or any(word in function.__name__ for word in words)]
    print(f"TAP version 13\n1..{len(chosen)}", flush=True)
    failed = 0
    for number, (function, args) in enumerate(chosen, 1):
        name = function.__name__.replace("_", " ")
        name += "".join(f", {arg}" for arg in args)
        begin = time.monotonic()
        try:
            remark = run_test(function, args, limit)
            print(f"ok {number} {name}{remark}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            show_failure(error)
            print(f"not ok {number} {name}", flush=True)
        print(f"# {time.monotonic() - begin:.2f} s", flush=True)
    sys.exit(1 if failed else 0)
