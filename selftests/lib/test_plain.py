#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The plain Python example speaks the bytes of the C header; TAP."""
import errno
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../../libcollsock/examples")]
import collsock_plain as plain  # noqa: E402
import tap  # noqa: E402
from collsock_layout import FIELDS, NUMBERS, SIZES, format_items  # noqa: E402

FORMATS = {
    "collsock_join": plain.JOIN_FORMAT,
    "collsock_member": plain.MEMBER_FORMAT,
    "collsock_post": plain.POST_FORMAT,
    "collsock_completion": plain.COMPLETION_FORMAT,
}


class FakeSocket:
    """Records what is sent and returns what was prepared."""

    def __init__(self, answer=b""):
        self.sent = None
        self.answer = answer

    def send(self, data):
        self.sent = data
        return len(data)

    def recv(self, room):
        assert room >= len(self.answer), f"{room} >= {len(self.answer)}"
        return self.answer


def equal(seen, wanted, what=""):
    """Both values are printed when they differ."""
    assert seen == wanted, f"{what}: {seen!r}, not {wanted!r}"


def test_formats_have_the_sizes_of_c():
    for name, fmt in FORMATS.items():
        equal(struct.calcsize(fmt), SIZES[name], name)


def test_formats_have_the_fields_of_c():
    for name, fmt in FORMATS.items():
        at = 0
        for item, (field, offset) in zip(format_items(fmt), FIELDS[name], strict=True):
            equal(at, offset, f"{name}.{field}")
            at += struct.calcsize("=" + item)


def test_numbers_are_those_of_c():
    for name, value in NUMBERS.items():
        for mine in (name, name.removeprefix("COLLSOCK_")):
            if hasattr(plain, mine):
                equal(getattr(plain, mine), value, mine)
    equal(plain.COLLSOCK_JOIN, NUMBERS["COLLSOCK_JOIN"])
    for name in ("ALLREDUCE", "REDUCE", "BROADCAST", "ALLGATHER", "GATHER", "SCATTER",
                 "REDUCE_SCATTER_BLOCK", "SCAN", "EXSCAN", "QUIET"):
        equal(getattr(plain, name), NUMBERS[name], name)


def test_join_request_holds_hosts_then_ranks():
    request = plain.join_request([("10.0.0.1", 0), ("10.0.0.2", 9000)], 1, 5, 6, bytes(range(16)))
    head = struct.unpack_from(plain.JOIN_FORMAT, request)
    fixed = SIZES["collsock_join"]
    equal(head[:5], (fixed, 0, 5, 6, bytes(range(16))))
    equal(head[5:8], (2, 2, 1))
    equal(request[fixed + 24 + 8:fixed + 24 + 12], bytes([10, 0, 0, 2]))
    equal(struct.unpack_from("=H", request, fixed + 24 + 2), (9000,))
    equal(request[fixed + 48:], struct.pack("=2I", 0, 1))


def test_hosts_that_repeat_have_several_ranks():
    hosts = [("10.0.0.2", 0), ("10.0.0.1", 0), ("10.0.0.2", 7607), ("10.0.0.2", 9000),
             ("10.0.0.1", 0)]
    request, fixed = plain.join_request(hosts, 4, 5, 6, max_bytes=65536), SIZES["collsock_join"]
    equal(struct.unpack_from("=4I", request, 40), (3, 5, 4, 65536))
    members = [struct.unpack_from("=2xH4x4s12x", request, fixed + 24 * i) for i in range(3)]
    equal(members, [(7607, bytes([10, 0, 0, 2])), (7607, bytes([10, 0, 0, 1])),
                    (9000, bytes([10, 0, 0, 2]))])
    equal(request[fixed + 3 * 24:], struct.pack("=5I", 0, 1, 0, 2, 1))


def test_join_passes_all_arguments():
    class Socket(FakeSocket):
        def setsockopt(self, level, option, value):
            equal((level, option), (plain.SOL_COLLSOCK, plain.COLLSOCK_JOIN))
            self.sent = value

    hosts, key = [("10.0.0.1", 0)] * 2, bytes(range(16))
    real, plain.socket.socket = plain.socket.socket, lambda *_: Socket()
    try:
        sock = plain.join(hosts, 1, 5, nonce=6, key=key, window=7, max_bytes=4096, degree=3)
    finally:
        plain.socket.socket = real
    equal(sock.sent, plain.join_request(hosts, 1, 5, 6, key, 7, 4096, 3))
    equal(struct.unpack_from("=IH", sock.sent, 52), (4096, 7))
    equal(sock.sent[104], 3)


def test_ipv6_member_is_16_bytes():
    packed = plain.member("fd00::1", 0)
    equal(packed[8:], bytes([0xfd]) + bytes(14) + bytes([1]))


def test_barrier_posts_a_header_alone():
    answer = struct.pack(plain.COMPLETION_FORMAT, 40, 0, plain.NO_RANK, 0, 0, 1, 2)
    sock = FakeSocket(answer)
    plain.barrier(sock)
    equal(len(sock.sent), SIZES["collsock_post"])
    equal(sock.sent[4], plain.BARRIER)


def test_allreduce_gives_the_result():
    result = struct.pack("=2d", 3.5, 4.5)
    answer = struct.pack(plain.COMPLETION_FORMAT, 40, 0, plain.NO_RANK, 16, 0, 1, 2) + result
    sock = FakeSocket(answer)
    equal(plain.allreduce(sock, [1.5, 2.5]), [3.5, 4.5])
    equal(sock.sent[32:], struct.pack("=2d", 1.5, 2.5))
    equal(struct.unpack_from("=I", sock.sent, 16), (2,))


def completion(result=b""):
    """The completion of a successful operation."""
    return struct.pack(plain.COMPLETION_FORMAT, 40, 0, plain.NO_RANK, len(result), 0, 1, 2) + \
        result


def sent_fields(sock):
    """operation, type, op, algorithm, flags, root, count; and the payload."""
    return struct.unpack_from(plain.POST_FORMAT, sock.sent)[1:8], sock.sent[32:]


def test_reduce_gives_the_root_the_result():
    mine = struct.pack("=2d", 1.5, 2.5)
    sock = FakeSocket(completion(struct.pack("=2d", 3.5, 4.5)))
    equal(plain.reduce(sock, 3, [1.5, 2.5], plain.MAX), [3.5, 4.5])
    equal(sent_fields(sock), ((plain.REDUCE, plain.DOUBLE, plain.MAX, 0, 0, 3, 2), mine))


def test_reduce_gives_the_others_nothing():
    sock = FakeSocket(completion())
    equal(plain.reduce(sock, 3, [1.5, 2.5]), [])


def test_root_of_a_broadcast_posts_the_payload():
    sock = FakeSocket(completion())
    equal(plain.broadcast(sock, 3, 2, [7, 8], plain.INT64), [7, 8])
    equal(sent_fields(sock), ((plain.BROADCAST, plain.INT64, plain.NOP, 0, 0, 3, 2),
                              struct.pack("=2q", 7, 8)))


def test_others_of_a_broadcast_post_a_header_with_the_count():
    sock = FakeSocket(completion(struct.pack("=2q", 7, 8)))
    equal(plain.broadcast(sock, 3, 2, element_type=plain.INT64), [7, 8])
    equal(sent_fields(sock), ((plain.BROADCAST, plain.INT64, plain.NOP, 0, 0, 3, 2), b""))


def test_allgather_gives_the_lists_of_all_ranks():
    sock = FakeSocket(completion(struct.pack("=4q", 1, 2, 3, 4)))
    equal(plain.allgather(sock, [3, 4], plain.INT64), [1, 2, 3, 4])
    equal(sent_fields(sock), ((plain.ALLGATHER, plain.INT64, plain.NOP, 0, 0, 0, 2),
                              struct.pack("=2q", 3, 4)))


def test_scan_gives_what_ranks_up_to_this_one_have():
    sock = FakeSocket(completion(struct.pack("=2d", 3.5, 4.5)))
    equal(plain.scan(sock, [1.5, 2.5], plain.MAX), [3.5, 4.5])
    equal(sent_fields(sock), ((plain.SCAN, plain.DOUBLE, plain.MAX, 0, 0, 0, 2),
                              struct.pack("=2d", 1.5, 2.5)))


def test_gather_gives_the_root_the_lists_of_all_ranks():
    sock = FakeSocket(completion(struct.pack("=4q", 1, 2, 3, 4)))
    equal(plain.gather(sock, 1, [3, 4], plain.INT64), [1, 2, 3, 4])
    equal(sent_fields(sock), ((plain.GATHER, plain.INT64, plain.NOP, 0, 0, 1, 2),
                              struct.pack("=2q", 3, 4)))


def test_scatter_gives_each_rank_a_part_of_what_the_root_posts():
    for values, payload in ([5, 6, 7, 8], struct.pack("=4q", 5, 6, 7, 8)), ((), b""):
        sock = FakeSocket(completion(struct.pack("=2q", 7, 8)))
        equal(plain.scatter(sock, 1, 2, values, plain.INT64), [7, 8])
        equal(sent_fields(sock), ((plain.SCATTER, plain.INT64, plain.NOP, 0, 0, 1, 2), payload))


def test_reduce_scatter_block_gives_each_rank_a_part_of_the_result():
    sock = FakeSocket(completion(struct.pack("=2q", 7, 8)))
    equal(plain.reduce_scatter_block(sock, 2, [1, 2, 3, 4], plain.MAX, plain.INT64), [7, 8])
    equal(sent_fields(sock), ((plain.REDUCE_SCATTER_BLOCK, plain.INT64, plain.MAX, 0, 0, 0, 2),
                              struct.pack("=4q", 1, 2, 3, 4)))


def test_exscan_gives_rank_0_nothing():
    sock = FakeSocket(completion())
    equal(plain.exscan(sock, [1.5, 2.5], plain.MAX), [])
    equal(sent_fields(sock), ((plain.EXSCAN, plain.DOUBLE, plain.MAX, 0, 0, 0, 2),
                              struct.pack("=2d", 1.5, 2.5)))


def test_flags_of_a_post_are_passed_on():
    sock = FakeSocket()
    plain.post(sock, plain.REDUCE, 9, [1], plain.INT64, plain.SUM, 1, flags=plain.QUIET)
    equal(sent_fields(sock)[0], (plain.REDUCE, plain.INT64, plain.SUM, 0, plain.QUIET, 1, 1))


def test_failed_operation_names_the_rank():
    sock = FakeSocket(struct.pack(plain.COMPLETION_FORMAT, 40, 104, 3, 0, 0, 1, 2))
    try:
        plain.barrier(sock)
    except plain.CollectiveError as error:
        equal((error.errno, error.failed_rank), (104, 3))
    else:
        raise AssertionError("no error")


def test_failure_and_end_of_the_group_are_different_errors():
    sock = FakeSocket(struct.pack(plain.COMPLETION_FORMAT, 40, 110, 2, 0, plain.COOKIE_GROUP, 1, 1))
    refused_with(plain.CollectiveError, "rank 2", plain.complete, sock)
    refused_with(BrokenPipeError, "the group has failed", plain.complete, FakeSocket())


def test_advice_on_a_rank_that_disagrees_names_another_version():
    advice = plain.what_to_do(plain.CollectiveError(errno.EPROTO, 2))
    assert "another version of the module: install the same on all" in advice, advice


def refused_with(kind, words, function, *args):
    """It raises this error with these words."""
    try:
        function(*args)
    except kind as error:
        assert words in str(error), f"{error}, not {words}"
    else:
        raise AssertionError(f"no {kind.__name__}")


def hosts_file(text):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(text)
        file.flush()
        return file.name, plain.read_hosts(file.name)


def test_bad_line_of_a_hosts_file_is_named():
    equal(hosts_file("# all\n10.0.0.1\nfd00::1 9000 # second\n")[1],
          [("10.0.0.1", 0), ("fd00::1", 9000)])
    equal(hosts_file("52:54:00:12:34:Ff\n")[1], [("52:54:00:12:34:Ff", 0)])
    for line, words in (("10.0.0.256", "'10.0.0.256' is not an IPv4, IPv6 or MAC address"),
                        ("node7", "'node7' is not"), ("52:54:00:12:34:5", "'52:54:00:12:34:5' is not"), ("fd00::g", "'fd00::g' is not"),
                        ("fe80::1%nowhere", "'nowhere' is not a network interface"),
                        ("10.0.0.2 http", "'http' is not a UDP port"),
                        ("10.0.0.2 70000", "70000 is not a UDP port"),
                        ("10.0.0.2 1 2", "'2' is one word too many")):
        refused_with(ValueError, f"line 3: {words}", hosts_file, f"10.0.0.1\n\n{line}\n")


def test_bad_host_in_a_list_is_named():
    refused_with(ValueError, "host of rank 1: 'localhost' is not", plain.join_request,
                 [("10.0.0.1", 0), ("localhost", 0)], 0, 1, 1)


def test_key_file_open_to_others_is_refused():
    with tempfile.NamedTemporaryFile("w") as key:
        key.write("000102030405060708090a0b0c0d0eff\n")
        key.flush()
        equal(plain.read_key(key.name)[-1], 0xff)
        os.chmod(key.name, 0o640)
        try:
            plain.read_key(key.name)
        except PermissionError:
            return
        raise AssertionError("a key of mode 640 was read")


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
