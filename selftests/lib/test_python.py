#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The Python package without the module: its bytes, its data, its errors; TAP."""
import array
import ctypes
import errno
import fcntl
import ipaddress
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = TREE / "libcollsock/python"
sys.dont_write_bytecode = True
sys.path[:0] = [str(TREE / "selftests"), str(TREE / "selftests/vm"), str(PACKAGE)]
import collsock  # noqa: E402
import collsock_netlink  # noqa: E402
import tap  # noqa: E402
from collsock import (  # noqa: E402
    addresses, backend, elements, launch, launcher, layout, lists, meeting, missing, record,
    request)
from collsock.ports import Ports  # noqa: E402
from collsock_layout import FIELDS, NUMBERS, SIZES, format_items  # noqa: E402
from python_helpers import equal, refused  # noqa: E402

NOBODY = 65534
FORMATS = {"collsock_join": layout.JOIN_HEAD, "collsock_member": layout.MEMBER,
           "collsock_post": layout.POST, "collsock_completion": layout.COMPLETION,
           "collsock_self": layout.SELF_ANSWER, "sockaddr_collsock": layout.NAME}


# ---- layouts and numbers ----

def test_structures_have_the_fields_of_c():
    for name, form in FORMATS.items():
        equal(form.size, SIZES[name], name)
        at = 0
        for item, (field, offset) in zip(format_items(form.format), FIELDS[name], strict=True):
            equal(at, offset, f"{name}.{field}")
            at += struct.calcsize("=" + item)


def test_numbers_are_those_of_c():
    for name in ("AF_COLLSOCK", "SOL_COLLSOCK", "SELF", "PORT", "NO_RANK", "COOKIE_GROUP",
                 "MAX_RANKS", "MAX_HOSTS", "MAX_OPERATIONS"):
        equal(getattr(layout, name), NUMBERS[name], name)
    equal(layout.JOIN, NUMBERS["COLLSOCK_JOIN"])


def test_options_of_the_library_are_those_of_c():
    for name in "degrees", "failed_rank", "text_bytes", "backend", "multicast":
        equal(getattr(launcher.Options, name).offset, NUMBERS[f"OPTION_{name}"], name)
    equal(ctypes.sizeof(launcher.Options), NUMBERS["OPTIONS_BYTES"])


def test_every_operation_type_and_operator_of_c_is_there():
    text = (TREE / "uapi/linux/collsock_lists.h").read_text(encoding="utf-8")
    for name, kind in (("OPERATION", lists.Kind), ("TYPE", lists.Type),
                       ("OPERATOR", lists.Operator), ("ALGORITHM", lists.Algorithm)):
        body = text.split(f"#define COLLSOCK_{name}_LIST(LINE)")[1].split("\n\n")[0]
        equal({one.name: int(one) for one in kind if one.name != "AUTO"},
              {word: int(number) for word, number in re.findall(r"LINE\((\w+),\s*(\d+)", body)},
              name)


def test_numbers_of_netlink_are_those_of_the_header():
    numbers = collsock_netlink.NUMBERS
    for prefix, kind in (("A_GROUP", missing.GroupAttribute),
                         ("A_RANK", missing.RankAttribute),
                         ("A_OPERATION", missing.OperationAttribute),
                         ("A_MISSING", missing.MissingAttribute)):
        for one in kind:
            equal(int(one), numbers[f"{prefix}_{one.name}"], one.name)
    for name in "GROUP_GET", "RANK_GET", "OPERATION_GET":
        equal(getattr(missing, name), numbers[f"CMD_{name}"], name)
    for name in "UNKNOWN", "UNHEARD", "LEFT", "DEAD":
        equal(getattr(missing, f"HOST_{name}"), numbers[f"HOST_STATE_{name}"], name)
    equal(missing.RUNNING, numbers["OPERATION_STATE_RUNNING"])


def test_version_is_that_of_the_library():
    header = (TREE / "uapi/linux/collsock.h").read_text(encoding="utf-8")
    equal(collsock.__version__, re.search(r'COLLSOCK_VERSION\s+"(.*)"', header)[1])


FORGED = """
import socket, time
from collsock import netlink
NAME = netlink.GENL_HEAD.pack(netlink.CTRL_GETFAMILY, 1, 0) + netlink.attribute(2, b"nlctrl\\0")
REPLY = netlink.GENL_HEAD.pack(1, 2, 0) + netlink.attribute(1, bytes(2))
with netlink.Netlink(netlink.GENERIC, time.monotonic() + 60) as asking, \\
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, netlink.GENERIC) as another:
    asking.socket.bind((0, 0))
    for kind, content in (netlink.GENL_ID_CTRL, REPLY), (netlink.DONE, bytes(4)):
        head = netlink.HEAD.pack(netlink.HEAD.size + len(content), kind, 0, 1, 0)
        another.sendto(head + content, asking.socket.getsockname())
    for content in asking.ask(netlink.GENL_ID_CTRL, netlink.ACK, NAME):
        print(int.from_bytes(netlink.answer_of(content)[1][0], "little"))
"""


def test_messages_of_processes_are_not_the_kernels():
    """Who administers a namespace sends them; here, of its own."""
    if subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True).returncode:
        return
    equal(run("unshare", "-rn", "/usr/bin/python3", "-c", FORGED,
              env=os.environ | {"PYTHONPATH": str(PACKAGE)}).split(), ["16"])


# ---- the request ----

def asked(hosts, rank=0, key=bytes(range(16)), algorithm=None, **limits):
    return request.join_request(hosts, rank, 5, 6, key, limits, algorithm=algorithm)


def test_request_holds_hosts_then_the_host_of_each_rank():
    got = asked(["10.0.0.2", ("10.0.0.1", 9000), ("10.0.0.2", 7607), "10.0.0.1"], 3, window=7,
                max_bytes=4096, segment_bytes=96, liveness_ms=500, degree=3, max_result_bytes=8192)
    fixed = SIZES["collsock_join"]
    head = layout.JOIN_HEAD.unpack_from(got)
    equal(head[:8], (fixed, 0, 5, 6, bytes(range(16)), 3, 4, 3))
    equal(head[8:12] + head[16:17] + head[19:20], (4096, 7, 96, 500, 3, 8192))
    equal(head[20:], (bytes(16),))
    equal([struct.unpack_from("=2xH4x4s12x", got, fixed + 24 * i) for i in range(3)],
          [(7607, bytes([10, 0, 0, 2])), (9000, bytes([10, 0, 0, 1])),
           (7607, bytes([10, 0, 0, 1]))])
    equal(got[fixed + 3 * 24:], struct.pack("=4I", 0, 1, 0, 2))


def test_request_names_algorithms_of_operations():
    got = asked(["10.0.0.1"], algorithm={"barrier": "mcs", "reduce-scatter-block": "kary",
                                         "exscan": "hillis_steele", "scan": "auto"})
    chosen = layout.JOIN_HEAD.unpack_from(got)[15]
    equal(chosen, bytes([0, 6, 0, 0, 0, 0, 0, 0, 4, 0, 7, 0, 0, 0, 0, 0]))
    refused(ValueError, "'barier' is no operation; there are barrier, allreduce", asked,
            ["10.0.0.1"], algorithm={"barier": "mcs"})
    refused(ValueError, "'tree' is no algorithm; there are auto, dissemination", asked,
            ["10.0.0.1"], algorithm={"barrier": "tree"})
    refused(ValueError, "'scan' is there twice", asked, ["10.0.0.1"],
            algorithm={"SCAN": "hillis-steele", "scan": "hillis-steele"})
    for wrong in "kary", [("barrier", "mcs")], "":
        refused(TypeError, "not a dictionary", asked, ["10.0.0.1"], algorithm=wrong)
    for wrong in {"barrier": 4}, {lists.Kind.BARRIER: "mcs"}, {"barrier": None}, {b"scan": "auto"}:
        refused(TypeError, "is not the name of an", asked, ["10.0.0.1"], algorithm=wrong)


def test_request_has_a_multicast_address():
    got = request.join_request(["fd00::1", "fd00::2"], 0, 5, 6, None, {}, "ff15::7:7")
    equal(layout.JOIN_HEAD.unpack_from(got)[20:],
          (bytes.fromhex("ff15") + bytes(11) + bytes([7, 0, 7]),))
    got = request.join_request(["02:00:00:00:00:01"], 0, 5, 6, None, {}, "03:00:00:00:00:07")
    equal(layout.JOIN_HEAD.unpack_from(got)[20:], (bytes([3, 0, 0, 0, 0, 7]) + bytes(10),))


def test_members_of_every_family():
    equal(request.member("fd00::1")[8:], bytes([0xfd]) + bytes(14) + bytes([1]))
    equal(request.member("52:54:00:12:34:Ff")[:14],
          struct.pack("=HHI6s", socket.AF_PACKET, 0x88b5, 0, bytes.fromhex("5254001234ff")))
    equal(struct.unpack_from("=HHI", request.member("fe80::1%lo")),
          (socket.AF_INET6, 7607, socket.if_nametoindex("lo")))


def test_bad_arguments_of_join_are_named():
    two = ["10.0.0.1", "10.0.0.2"]
    for kind, words, hosts, rank, options in (
            (ValueError, "host of rank 1: 'localhost' is not an IPv4", ["10.0.0.1", "localhost"],
             0, {}),
            (ValueError, "host of rank 0: 70000 is not a UDP port", [("10.0.0.1", 70000)], 0, {}),
            (ValueError, "'nowhere' is not a network interface", ["fe80::1%nowhere"], 0, {}),
            (ValueError, "rank 2 of 2 hosts", two, 2, {}),
            (ValueError, "rank -1 of 2 hosts", two, -1, {}),
            (TypeError, "not a list with the host of each rank", "10.0.0.1", 0, {}),
            (ValueError, "a key has 16 bytes, not 3", two, 0, {"key": b"abc"}),
            (TypeError, "string", two, 0, {"key": "0123456789abcdef"}),
            (ValueError, "pass None", two, 0, {"key": bytes(16)}),
            (ValueError, "window is 65536, not 0 to 65535", two, 0, {"window": 65536}),
            (TypeError, "no limit windows", two, 0, {"windows": 1})):
        refused(kind, words, asked, hosts, rank, **options)
    refused(ValueError, "nonce is -1", collsock.join, two, 0, nonce=-1)
    for address, words in (("10.0.0.9", "not a multicast address"), ("all", "is not an IPv4"),
                           ("02:00:00:00:00:01", "not a multicast address"),
                           ("ff15::7", "of another address family")):
        refused(ValueError, words, collsock.join, two, 0, nonce=1, multicast=address)


def test_key_file_that_is_none_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "key")
        path.write_text("000102030405060708090a0b0c0d0eff\n", encoding="ascii")
        path.chmod(0o600)
        equal(collsock.key_from_file(path)[-1], 0xff)
        path.chmod(0o640)
        refused(PermissionError, "chmod 600", collsock.key_from_file, path)
        path.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(path, 1234, -1)
            refused(PermissionError, "another user's file", collsock.key_from_file, path)
            os.chown(path, 0, -1)
        for text, words in (("00" * 16, "a key of zeros"), ("ab" * 15, "32 hexadecimal"),
                            ("zz" * 16, "32 hexadecimal"), ("ab" * 40, "32 hexadecimal")):
            path.write_text(text, encoding="ascii")
            refused(ValueError, words, collsock.key_from_file, path)
        os.mkfifo(pathlib.Path(folder, "fifo"), 0o600)
        refused(ValueError, "plain file", collsock.key_from_file, pathlib.Path(folder, "fifo"))


def test_without_the_module_joining_says_what_to_do():
    def no_family(*_):
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    real, backend.socket.socket = backend.socket.socket, no_family
    try:
        error = refused(OSError, "no collsock in this kernel: load the module", collsock.join,
                        ["127.0.0.1"], 0, nonce=1, backend="kernel")
    finally:
        backend.socket.socket = real
    equal(error.errno, errno.EAFNOSUPPORT)


# ---- started by collsock run ----

def sealed(data, seals=launch.SEALS):
    file = os.memfd_create("request", os.MFD_ALLOW_SEALING)
    os.write(file, data)
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
    return file


def named(file, inode=None):
    os.environ[launch.VARIABLE] = f"{file}:{inode or os.fstat(file).st_ino}"


def test_request_of_collsock_run_is_taken_once():
    request_bytes = asked(["127.0.0.1"] * 3, 1)
    named(sealed(request_bytes))
    equal(launch.take_request(), request_bytes)
    equal(refused(OSError, "was used already", launch.take_request).errno, errno.EBADMSG)


def test_request_that_is_none_is_refused_and_not_closed():
    data = asked(["127.0.0.1"], 0)
    for file in (sealed(data, fcntl.F_SEAL_GROW), sealed(data[:layout.JOIN_HEAD.size - 8]),
                 sealed(b"")):
        named(file)
        equal(refused(OSError, "no request", launch.take_request).errno, errno.EBADMSG)
        os.close(file)
    file = sealed(data)
    for value in (f"{file}", f"{file}:", f"{file}:{os.fstat(file).st_ino}x", f"-{file}:1", "x:y",
                  f"{file}:{os.fstat(file).st_ino + 1}", f"999999999:{os.fstat(file).st_ino}"):
        os.environ[launch.VARIABLE] = value
        equal(refused(OSError, "no request", launch.take_request).errno, errno.EBADMSG)
    os.close(file)
    for value in "", None:
        os.environ.pop(launch.VARIABLE, None)
        if value is not None:
            os.environ[launch.VARIABLE] = value
        equal(refused(OSError, "collsock run", collsock.join_env).errno, errno.ENOENT)


# ---- elements ----

def test_data_of_python_has_the_type_that_holds_it():
    kinds = lists.Type
    for data, kind, payload in (
            (5, kinds.INT64, struct.pack("=q", 5)), (True, kinds.INT64, struct.pack("=q", 1)),
            (1.5, kinds.DOUBLE, struct.pack("=d", 1.5)),
            ([1, 2], kinds.INT64, struct.pack("=2q", 1, 2)),
            ((1, 2.5), kinds.DOUBLE, struct.pack("=2d", 1, 2.5)),
            (range(2), kinds.INT64, struct.pack("=2q", 0, 1)),
            (b"abc", kinds.BYTE, b"abc"), (bytearray(b"abc"), kinds.BYTE, b"abc"),
            (memoryview(b"abc"), kinds.UINT8, b"abc"),
            *((array.array(code, [1, 2]), kind, struct.pack(f"=2{code}", 1, 2)) for code, kind in
              zip("bBhHiIqQfd", (kinds.INT8, kinds.UINT8, kinds.INT16, kinds.UINT16, kinds.INT32,
                                 kinds.UINT32, kinds.INT64, kinds.UINT64, kinds.FLOAT,
                                 kinds.DOUBLE)))):
        got = elements.elements(data)
        equal((got.type, got.payload, got.size()), (kind, payload, len(payload)), repr(data))
        equal(got.fresh(got.payload), list(data) if isinstance(data, (tuple, range)) else data)
    got = elements.elements(bytearray(6), kind=kinds.BFLOAT16)
    equal((got.type, got.number, got.size()), (kinds.BFLOAT16, 3, 6))
    equal(elements.elements(b"abc", collsock.MAX).type, kinds.UINT8, "bytes that are reduced")


def test_data_that_cannot_be_sent_is_refused():
    for kind, words, data, options in (
            (TypeError, "str has no elements", "abc", {}), (TypeError, "int or float", ["a"], {}),
            (TypeError, "dict has no elements", {}, {}), (ValueError, "no elements", [], {}),
            (ValueError, "no elements", b"", {}), (OverflowError, "need a buffer", 2**63, {}),
            (ValueError, "not contiguous", memoryview(bytes(8))[::2], {}),
            (TypeError, "format 'P'", memoryview(bytes(8)).cast("P"), {}),
            (ValueError, "12 bytes are not whole", bytes(12), {"kind": lists.Type.INT64}),
            (ValueError, "99 is not a valid Type", bytes(8), {"kind": 99}),
            (TypeError, "type= needs a buffer", 1, {"kind": lists.Type.INT64}),
            (TypeError, "tuples (value, index)", [1], {"op": collsock.MINLOC})):
        refused(kind, words, elements.elements, data, **options)
    refused(ValueError, "writable buffer of 8 bytes, not 9", elements.output, bytearray(9), 8)
    refused(ValueError, "a read-only one of 8", elements.output, bytes(8), 8)


WITH_NUMPY = """
import sys
from collsock import elements
assert "numpy" not in sys.modules, "the package has imported numpy"
import numpy
vector = numpy.full((2, 2), 1.5, dtype=numpy.float32)
got = elements.elements(vector)
assert got.type.name == "FLOAT", got
assert got.decode(numpy.float32([1, 2, 3, 4]).tobytes()) is vector, "another value"
assert vector.tolist() == [[1, 2], [3, 4]], vector
assert numpy.asarray(elements.blocks(vector, 2).fresh(vector[1].tobytes())).tolist() == [3, 4]
half = numpy.array([1, 2.5], dtype=numpy.float16)
got = elements.elements(half)
assert (got.type.name, got.number) == ("FLOAT16", 2), got
assert got.decode(numpy.float16([3, 4]).tobytes()) is half and half.tolist() == [3, 4], half
assert got.fresh(got.payload) == elements.blocks(half, 1).fresh(got.payload) == got.payload, got
for number in numpy.int64(5), numpy.float32(1.5):
    got = elements.elements(number)
    assert got.fresh(got.payload) == number, (got, number)
"""


def test_arrays_of_numpy_are_buffers_without_importing_it():
    run("/usr/bin/python3", "-c", WITH_NUMPY, env={**os.environ, "PYTHONPATH": str(PACKAGE)})


def test_items_for_ranks_that_do_not_fit_are_refused():
    for kind, words, data in (
            (ValueError, "3 items, but 2 ranks", [1, 2, 3]), (TypeError, "int has no item", 1),
            (ValueError, "differ in length", [[1], [2, 3]]), (ValueError, "differ", [1, [2]]),
            (TypeError, "need to be one buffer", [array.array("i", [1])] * 2),
            (ValueError, "3 elements are not a block", b"abc")):
        refused(kind, words, elements.blocks, data, 2)


# ---- meeting ----

def host(number, *found):
    """A record of a rank on that host: (reach, address/prefix)."""
    return record.Record(0, 1, host=bytes([number] * 32), addresses=[
        addresses.Address(addresses.Reach(reach), ipaddress.ip_interface(text).ip,
                          ipaddress.ip_interface(text).network.prefixlen)
        for reach, text in found])


def test_hosts_use_a_network_that_all_share():
    bridge, loop = (1, "172.17.0.1/16"), (3, "127.0.0.1/8")
    one, two = host(1, (0, "192.168.1.1/24"), (0, "10.0.0.1/24"), bridge, loop), \
        host(2, (0, "10.0.0.2/24"), bridge, loop)
    equal(meeting.hosts_of([one, two, one]), ["10.0.0.1", "10.0.0.2", "10.0.0.1"])
    equal(meeting.hosts_of([host(1, loop)] * 2), ["127.0.0.1"] * 2, "one host")


def test_hosts_use_a_network_without_a_carrier_only_if_there_is_no_other():
    one, two = host(1, (0, "10.1.0.1/24"), (0, "10.2.0.1/24")), \
        host(2, (0, "10.2.0.2/24"), (2, "10.1.0.2/24"))
    equal(meeting.hosts_of([one, two]), ["10.2.0.1", "10.2.0.2"])
    equal(meeting.hosts_of([one, host(2, (2, "10.1.0.2/24"))]), ["10.1.0.1", "10.1.0.2"])
    routed = host(2, (0, "10.3.0.2/24"), (1, "10.1.0.2/24"))
    equal(meeting.hosts_of([one, routed]), ["10.1.0.1", "10.3.0.2"], "a bridge is later")
    up, loopback, running = 1, 8, 0x40
    equal([addresses.reach_of(flags, b"") for flags in (
        0, running, up, up | running, up | loopback, up | loopback | running)],
        [None, None, 2, 0, 3, 3])


def test_hosts_in_different_networks_use_one_family():
    equal(meeting.hosts_of([host(1, (0, "10.0.1.1/24"), (0, "fd00:1::1/64")),
                            host(2, (0, "fd00:2::1/64"))]), ["fd00:1::1", "fd00:2::1"])


def test_ranks_in_user_space_are_hosts_with_ports_of_their_own():
    network, bridge, loop = (0, "10.0.0.1/24"), (1, "172.17.0.1/16"), (3, "127.0.0.1/8")
    one = host(1, network, bridge, loop)
    here = [one._replace(port=7608), one._replace(port=7609), one]
    equal(meeting.hosts_of(here), [("127.0.0.1", 7608), ("127.0.0.1", 7609), "127.0.0.1"],
          "one machine")
    equal(meeting.hosts_of([*here, host(2, (0, "10.0.0.2/24"), bridge)]),
          [("10.0.0.1", 7608), ("10.0.0.1", 7609), "10.0.0.1", "10.0.0.2"], "two machines")
    error = refused(collsock.CollectiveError, "see ip address", meeting.hosts_of,
                    [host(1, bridge)._replace(port=7608), host(2, bridge)._replace(port=7609)])
    equal(error.errno, errno.EADDRNOTAVAIL)


def test_hosts_never_meet_by_loopback_or_equal_addresses():
    for found in (3, "127.0.0.1/8"), (1, "172.17.0.1/16"):
        error = refused(collsock.CollectiveError, "see ip address", meeting.hosts_of,
                        [host(1, found), host(2, found)])
        equal(error.errno, errno.EADDRNOTAVAIL)


def test_this_host_is_known():
    equal(len(addresses.identity()), 32)
    found = addresses.addresses()
    assert "127.0.0.1" in [str(one.address) for one in found], found
    equal([one.reach for one in found], sorted(one.reach for one in found))


def told(rank, ranks=2, **fields):
    usual = host(rank, (0, f"10.0.0.{rank + 1}/24"))
    return usual._replace(rank=rank, ranks=ranks, **fields).pack()


def test_records_arrive_as_they_were_sent():
    sent = record.Record(1, 3, 0, 2**63, 2**64 - 1, bytes(range(16)), bytes(32), 7608,
                         record.own(1, 3)[0].addresses, 7700)
    equal(record.parse(sent.pack(), 1, 3), sent)
    equal(len(sent.pack()), record.BYTES)


def test_record_that_no_rank_sends_is_refused_and_named():
    good = told(1)
    for words, data in (("sent no record", b""), ("sent no record", None),
                        ("another version of the package", b"\0" + good[1:]),
                        ("says that it is rank 0 of 2", told(0)),
                        ("says that it is rank 1 of 3", told(1, 3)),
                        ("sent what no rank sends", told(1, error=-1)),
                        ("sent what no rank sends", told(1, port=65536)),
                        ("sent what no rank sends", told(1, addresses=())),
                        ("sent what no rank sends", good[:record.HEAD.size - 4] + b"\xff" * 4 +
                         good[record.HEAD.size:]),
                        ("sent what no rank sends", good[:record.HEAD.size] + b"\xff" * 2 +
                         good[record.HEAD.size + 2:])):
        error = refused(collsock.CollectiveError, words, record.check, [told(0), data], 2)
        equal((error.errno, error.failed_rank), (errno.EPROTO, 1), words)
    refused(collsock.CollectiveError, "gave 1 records", record.check, [told(0)], 2)


def test_ranks_with_the_module_have_the_port_of_their_hosts():
    in_user_space = told(0, port=7608)
    records = record.check([in_user_space, told(1, host_port=7700)], 2)
    equal(meeting.hosts_of(records), [("10.0.0.1", 7608), ("10.0.0.2", 7700)])
    error = refused(collsock.CollectiveError, "rank 1 has UDP port 7607, and rank 0 7700:",
                    record.check, [told(0, host_port=7700), told(1, host_port=7607)], 2)
    equal((error.errno, error.failed_rank), (errno.EPROTO, 1))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:  # whose name begins alike
        sock.bind(("127.0.0.1", 0))
        equal(backend.host_port(sock), socket.htons(sock.getsockname()[1]))
    equal(backend.host_port(None), 0)


def test_rank_that_cannot_join_is_named():
    error = refused(collsock.CollectiveError, "rank 1 cannot join: no collsock in this kernel",
                    record.check, [told(0), told(1, error=errno.EAFNOSUPPORT)], 2)
    equal((error.errno, error.failed_rank), (errno.EAFNOSUPPORT, 1))


def every_user_has_low_ports():
    least = pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
    return int(least.read_text(encoding="ascii")) < 1024


def test_what_prevents_a_rank_is_told_in_its_own_words():
    """Others know the number only."""
    def says(words, rank, failed, **settings):
        def exchange(_):
            mine = record.Record(1, 2, failed.errno) if failed else record.own(1, 2, None, ports)[0]
            return [told(0), mine.pack()]
        os.environ.update(settings)
        ports = Ports()
        try:
            error = refused(collsock.CollectiveError, words, meeting.tell, exchange, rank, 2,
                            failed if rank else None, ports if rank else None)
            equal(error.failed_rank, 1)
        finally:
            for name in settings:
                del os.environ[name]

    wrong = OSError(errno.EINVAL, "COLLSOCK_BACKEND is 'bogus', not kernel, user or auto")
    says("rank 1 cannot join: COLLSOCK_BACKEND is 'bogus'", 1, wrong)
    says("rank 1 cannot join: COLLSOCK_BACKEND or COLLSOCK_USER_PORTS is wrong", 0, wrong)
    says("rank 1 cannot join: no port is free there", 0, OSError(errno.EADDRINUSE, ""))
    says("rank 1 cannot join: COLLSOCK_USER_PORTS is 'foo'", 1, None, COLLSOCK_USER_PORTS="foo")
    says("rank 1 cannot join: no port of COLLSOCK_USER_PORTS may be used there, or no socket", 0,
         OSError(errno.EACCES, ""))
    if os.geteuid() == 0 and not every_user_has_low_ports():
        os.seteuid(NOBODY)
        try:
            says("rank 1 cannot join: cannot use UDP ports 80-81 (COLLSOCK_USER_PORTS): ports "
                 "below 1024 need root", 1, None, COLLSOCK_USER_PORTS="80-81")
        finally:
            os.seteuid(0)


def test_outcome_of_a_rank_in_user_space_has_its_advice():
    outcomes = [meeting.OUTCOME.pack(record.VERSION, number) for number in (0, errno.EMSGSIZE)]
    for port, there in (7608, True), (0, False):
        records = [record.Record(rank, 2, port=port) for rank in range(2)]
        error = refused(collsock.CollectiveError, "rank 1 cannot join: too large",
                        meeting.tell_outcome, lambda mine: outcomes, 0, records, None)
        equal("wmem_max" in str(error), there, error)
    refused(collsock.CollectiveError, "rank 1 cannot join: as it says", meeting.tell_outcome,
            lambda mine: [outcomes[0], mine], 1, records, OSError(errno.EINVAL, "as it says"))


def test_nonce_of_a_group_is_new_if_any_record_is():
    former = [told(0, key=bytes(range(16))), told(1)]

    def tell(change):
        return meeting.tell(lambda mine: [former[0], change(mine)], 1, 2)

    equal(len({tell(bytes).nonce for _ in range(3)}), 3)
    equal(tell(bytes).failed, None)
    equal(tell(lambda mine: former[1]).failed.errno, errno.EBADMSG, "its own record is another")


def test_rank_believes_its_own_failure_whatever_the_exchange_says():
    fine = meeting.OUTCOME.pack(record.VERSION, 0)
    error = refused(collsock.CollectiveError, "rank 1 did not get back what it gave",
                    meeting.tell_outcome, lambda mine: [fine, fine], 1, [None, None],
                    OSError(errno.ENOMEM, "no memory"))
    equal((error.errno, error.failed_rank), (errno.EBADMSG, 1))


# ---- errors and installation ----

def test_timeout_is_both_errors():
    error = collsock.CollectiveTimeout("barrier timed out", None, {2: "why"})
    equal((isinstance(error, TimeoutError), isinstance(error, collsock.CollectiveError)),
          (True, True))
    equal((error.errno, error.failed_rank, error.missing), (errno.ETIMEDOUT, None, {2: "why"}))
    silent = collsock.CollectiveError(errno.ETIMEDOUT, "rank 1 does not answer", 1)
    equal(isinstance(silent, TimeoutError), False, "a host that is silent")


def test_rank_that_does_not_answer_may_be_stopped():
    said = str(collsock.error.failure(errno.ETIMEDOUT, 2))
    assert "rank 2 does not answer: check that it runs and is not stopped, that UDP" in said, said


def run(*command, **options):
    done = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)
    assert not done.returncode, f"{' '.join(map(str, command))}: {done.stdout}"
    return done.stdout


def test_pip_installs_it_into_a_virtual_environment():
    with tempfile.TemporaryDirectory() as folder:
        source, place = pathlib.Path(folder, "source"), pathlib.Path(folder, "venv")
        run("cp", "-r", PACKAGE, source)  # setuptools writes next to it
        run("/usr/bin/python3", "-m", "venv", "--system-site-packages", place)
        run(place / "bin/pip", "install", "-q", "--no-index", "--no-build-isolation",
            "--disable-pip-version-check", source)
        said = run(place / "bin/python", "-c", "import collsock, importlib.resources as r; "
                   "print(collsock.__file__, collsock.__version__, "
                   "(r.files(collsock) / 'py.typed').is_file())", cwd="/")
        path, *rest = said.split()
        assert path.startswith(str(place)), f"{path} is not in {place}"
        equal(rest, [collsock.__version__, "True"])


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
