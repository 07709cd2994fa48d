#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Collective sockets in plain Python: no library, only bytes.

As a module:

    import collsock_plain as collsock
    sock = collsock.join([("10.0.0.1", 0), ("10.0.0.2", 0)], rank, nonce=never_used, key=key)
    collsock.barrier(sock)
    total, = collsock.allreduce(sock, [1.5])

where never_used is the same number on all ranks, and no group with this key has had it before.

As a program it runs these and others over the hosts of a file; try --help.
"""
import argparse
import errno
import os
import re
import select
import socket
import stat
import struct
import sys

AF_COLLSOCK = 25
SOL_COLLSOCK = 425
COLLSOCK_JOIN = 1
PORT = 7607
ETHERTYPE = 0x88b5

BARRIER, ALLREDUCE, REDUCE, BROADCAST = 1, 2, 3, 4
ALLGATHER, GATHER, SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN = 5, 6, 7, 8, 9, 10
NONE, INT64, UINT64, DOUBLE = 0, 1, 2, 3
INT8, INT16, INT32, UINT8, UINT16, UINT32, FLOAT = 4, 5, 6, 7, 8, 9, 10
NOP, SUM, MIN, MAX, PRODUCT = 0, 1, 2, 3, 4
LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR = 5, 6, 7
BITWISE_AND, BITWISE_OR, BITWISE_XOR = 8, 9, 10
QUIET = 1
COOKIE_GROUP = 0xffffffffffffffff
NO_RANK = 0xffffffff
MAX_PAYLOAD = 65536
PATIENCE_MS = 2000

# The structures of <linux/collsock.h>: native byte order, no padding. A newer kernel accepts
# them as they are.
JOIN_FORMAT = "=IIQQ16sIIIIHHIQQQ16sBB2sI16s"
MEMBER_FORMAT = "=HHI16s"
POST_FORMAT = "=IBBBBIIIIQ"
COMPLETION_FORMAT = "=IIIIQQQ"

ELEMENT = {INT8: "b", INT16: "h", INT32: "i", INT64: "q", FLOAT: "f",
           UINT8: "B", UINT16: "H", UINT32: "I", UINT64: "Q", DOUBLE: "d"}


class CollectiveError(OSError):
    """An operation failed. failed_rank is the rank to blame, or None."""

    def __init__(self, error, failed_rank):
        self.failed_rank = None if failed_rank == NO_RANK else failed_rank
        super().__init__(error, f"{os.strerror(error)} (rank {self.failed_rank})")


def family():
    """The number of the socket family on this host."""
    try:
        with open("/sys/module/collsock/parameters/family", encoding="ascii") as parameter:
            return int(parameter.read())
    except OSError:
        return AF_COLLSOCK


def parse_address(name):
    """The family of an address and its bytes."""
    if re.fullmatch("[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", name):
        return socket.AF_PACKET, bytes.fromhex(name.replace(":", ""))
    kind = socket.AF_INET6 if ":" in name else socket.AF_INET
    try:
        return kind, socket.inet_pton(kind, name)
    except OSError:
        raise ValueError(f"{name!r} is not an IPv4, IPv6 or MAC address") from None


def member(address, port):
    """One host of the group as bytes; port 0 is the default."""
    name, _, interface = address.partition("%")
    if not 0 <= port <= 0xffff:
        raise ValueError(f"{port} is not a UDP port")
    kind, packed = parse_address(name)
    ethernet = kind == socket.AF_PACKET
    try:
        scope = socket.if_nametoindex(interface) if interface else 0
    except OSError:
        if not ethernet:  # of a MAC address it may be another host's
            raise ValueError(f"{interface!r} is not a network interface of this host") from None
        scope = 0
    return struct.pack(MEMBER_FORMAT, kind, port or (ETHERTYPE if ethernet else PORT), scope,
                       packed)


def members(hosts):
    """The hosts of all ranks as bytes; an error names the rank."""
    for rank, (address, port) in enumerate(hosts):
        try:
            yield member(address, port)
        except ValueError as error:
            raise ValueError(f"host of rank {rank}: {error}") from None


def join_request(hosts, rank, group_id, nonce, key=bytes(16), window=0, max_bytes=0, degree=0,
                 multicast=None):
    """The argument of JOIN: the request, the hosts, and the host of each rank."""
    index = {}
    host_of_rank = [index.setdefault(host, len(index)) for host in members(hosts)]
    head = struct.pack(JOIN_FORMAT, struct.calcsize(JOIN_FORMAT), 0, group_id, nonce, key,
                       len(index), len(hosts), rank, max_bytes, window, 0, 0, 0, 0, 0,
                       bytes(16), degree, 0, bytes(2), 0,
                       parse_address(multicast)[1] if multicast else bytes(16))
    return head + b"".join(index) + struct.pack(f"={len(hosts)}I", *host_of_rank)


def join(hosts, rank, group_id=1, *, nonce, key=bytes(16), window=0, max_bytes=0, degree=0,
         multicast=None):
    """Join a group as one rank; hosts is a list of (address, port), one for each rank.

    Ranks with the same address and port are on the same host. id, nonce, key, hosts, window,
    max_bytes (the largest payload, up to 65536; 0: what one packet holds), degree (with how many
    hosts, itself included, a host exchanges in a round; 0: 2) and multicast (an address of the
    hosts' family, to which what all are to have is sent once; None: none) must be equal on all
    ranks, and the nonce new for each instance of the group. Returns the socket; close it to
    leave.
    """
    sock = socket.socket(family(), socket.SOCK_SEQPACKET, 0)
    try:
        request = join_request(hosts, rank, group_id, nonce, key, window, max_bytes, degree,
                               multicast)
        sock.setsockopt(SOL_COLLSOCK, COLLSOCK_JOIN, request)
    except BaseException:
        sock.close()
        raise
    return sock


def post(sock, operation, cookie=0, values=(), element_type=NONE, operator=NOP,
         root=0, count=None, flags=0):
    """Start an operation and return at once; its completion has the cookie.

    Ranks that contribute no values but receive some must give count: all but the root of a
    broadcast. With QUIET, for ranks that receive no result, success has no completion.
    """
    count = len(values) if count is None else count
    head = struct.pack(POST_FORMAT, struct.calcsize(POST_FORMAT), operation, element_type,
                       operator, 0, flags, root, count, 0, cookie)
    payload = b""
    if values:
        payload = struct.pack(f"={len(values)}{ELEMENT[element_type]}", *values)
    sock.send(head + payload)


def complete(sock):
    """Receive the next completion: (cookie, bytes of the result). May wait.

    If the group fails while no operation is under way, that is reported once.
    """
    data = sock.recv(struct.calcsize(COMPLETION_FORMAT) + MAX_PAYLOAD)
    if not data:
        raise BrokenPipeError(errno.EPIPE, "the group has failed, or this rank has left it")
    size, error, failed_rank, count, cookie, _, _ = struct.unpack_from(COMPLETION_FORMAT, data)
    if error:
        raise CollectiveError(error, failed_rank)
    return cookie, data[size:size + count]


def unpack(result, element_type):
    """The values of a result."""
    return [value for value, in struct.iter_unpack(f"={ELEMENT[element_type]}", result)]


def barrier(sock):
    """Return when all ranks have entered the barrier."""
    post(sock, BARRIER)
    complete(sock)


def allreduce(sock, values, operator=SUM, element_type=DOUBLE):
    """Combine the lists of all ranks, element by element; all get the result."""
    post(sock, ALLREDUCE, 0, values, element_type, operator)
    _, result = complete(sock)
    return unpack(result, element_type)


def reduce(sock, root, values, operator=SUM, element_type=DOUBLE):
    """Combine the lists of all ranks; the root gets the result, the others an empty list."""
    post(sock, REDUCE, 0, values, element_type, operator, root)
    _, result = complete(sock)
    return unpack(result, element_type)


def broadcast(sock, root, count, values=(), element_type=DOUBLE):
    """All ranks receive the values of the root; the others contribute none."""
    post(sock, BROADCAST, 0, values, element_type, NOP, root, count)
    _, result = complete(sock)
    return list(values) or unpack(result, element_type)


def allgather(sock, values, element_type=DOUBLE):
    """All ranks get the lists of all, of one length, one after the other in the order of ranks."""
    post(sock, ALLGATHER, 0, values, element_type)
    _, result = complete(sock)
    return unpack(result, element_type)


def gather(sock, root, values, element_type=DOUBLE):
    """The root gets the lists of all ranks, one after the other, the others an empty list."""
    post(sock, GATHER, 0, values, element_type, NOP, root)
    _, result = complete(sock)
    return unpack(result, element_type)


def scatter(sock, root, count, values=(), element_type=DOUBLE):
    """Each rank gets its part, of this length, of the root's list; the others give none."""
    post(sock, SCATTER, 0, values, element_type, NOP, root, count)
    _, result = complete(sock)
    return unpack(result, element_type)


def reduce_scatter_block(sock, count, values, operator=SUM, element_type=DOUBLE):
    """Combine the lists of all ranks; each rank gets its part, of this length, of the result."""
    post(sock, REDUCE_SCATTER_BLOCK, 0, values, element_type, operator, 0, count)
    _, result = complete(sock)
    return unpack(result, element_type)


def exscan(sock, values, operator=SUM, element_type=DOUBLE):
    """As scan(), but without this rank: on rank 0 an empty list."""
    post(sock, EXSCAN, 0, values, element_type, operator)
    _, result = complete(sock)
    return unpack(result, element_type)


def scan(sock, values, operator=SUM, element_type=DOUBLE):
    """Combine the lists of ranks 0 up to this one. Ranks must be on hosts in their order."""
    post(sock, SCAN, 0, values, element_type, operator)
    _, result = complete(sock)
    return unpack(result, element_type)


def poll_for_completion(sock, timeout_ms=None):
    """Is there a completion? With a time-out, for a loop that has other work."""
    poller = select.poll()
    poller.register(sock, select.POLLIN)
    return bool(poller.poll(timeout_ms))


def read_hosts(path):
    """[(address, port)] from a file with one line for each rank, its host: ADDRESS [PORT]."""
    hosts = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            words = line.partition("#")[0].split()
            if words:
                try:
                    hosts.append(read_host(*words))
                except ValueError as error:
                    raise ValueError(f"{path}, line {number}: {error}") from None
    return hosts


def read_host(address, port="0", *others):
    """(address, port) from the words of a line."""
    if others:
        raise ValueError(f"{others[0]!r} is one word too many; a line is ADDRESS [PORT]")
    if not port.isdecimal():
        raise ValueError(f"{port!r} is not a UDP port")
    member(address, int(port))
    return address, int(port)


def read_key(path):
    """A key from a file of 32 hexadecimal digits that only its owner may access."""
    with open(path, encoding="ascii") as lines:
        if stat.S_IMODE(os.fstat(lines.fileno()).st_mode) & 0o077:
            raise PermissionError(errno.EPERM, "others can read the key: chmod 600", path)
        key = bytes.fromhex(lines.read())
    if len(key) != 16:
        raise ValueError(f"{path}: a key has 32 hexadecimal digits")
    return key


WHAT_TO_DO = {
    errno.EAFNOSUPPORT: "the module is not loaded: modprobe collsock",
    errno.EACCES: "give a key (--key-file), or allow keyless groups: "
                  "collsock set require_keys 0; or start all ranks of this host alike",
    errno.EPERM: "this user may not join: see collsock get join_gid_low join_gid_high, "
                 "and for MAC addresses collsock device",
    errno.EADDRNOTAVAIL: "the address of this rank is not one of this host: "
                         "compare RANK and the hosts file",
    errno.EADDRINUSE: "this rank has joined already: end the other process, "
                      "or use another --nonce; or the port is in use: see collsock doctor",
    errno.EXDEV: "the address of this rank is in a VRF: use one outside of it; or that of a port: "
                 "use that of the bridge or the bond",
    errno.ENOTUNIQ: "several devices have the address of this rank: name one (ADDRESS%eth0)",
    errno.EINVAL: "the hosts file mixes IPv4, IPv6 and MAC addresses",
    errno.E2BIG: "too many ranks on this host",
    errno.EOPNOTSUPP: "ranks are not placed on hosts in their order: sort the hosts file",
    errno.ENFILE: "too many groups here: see collsock group, collsock get max_groups",
    errno.ENOMEM: "no memory, or the groups here have all they may (collsock get max_memory_kib): "
                  "lower window, which multiplies it, first",
    errno.EDQUOT: "this user's groups have all the memory they may (collsock user): "
                  "lower window, which multiplies it, first",
    errno.EMFILE: "this user has all the groups it may: see collsock user",
    errno.ECANCELED: "the group was ended there with collsock end",
    errno.ECONNRESET: "that rank has closed its socket: its output may say why",
    errno.ETIMEDOUT: "that rank does not answer: check that it runs, that UDP port 7607 is open, "
                     "and that id, nonce, key and hosts are equal",
    errno.EPIPE: "the failure was reported before",
    errno.EPROTO: "that rank, or another one of this host when joining, disagrees: "
                  "run the same program with the same hosts file everywhere; "
                  "or its host has another version of the module: install the same on all",
}
FILTERED = "filters of that rank's host refuse its packets: nft list ruleset there may show them"


def what_to_do(error):
    if isinstance(error, CollectiveError) and error.errno == errno.EPERM:
        return FILTERED
    return WHAT_TO_DO.get(error.errno, "see collsock(7)")


def overlapped(sock, rank):
    """Two operations under way at once, other work, and poll()."""
    post(sock, ALLREDUCE, 1, [rank], INT64, MIN)
    post(sock, ALLREDUCE, 2, [rank], INT64, MAX)
    pieces = 0
    for _ in range(2):
        while not poll_for_completion(sock, 1):
            pieces += 1
        cookie, result = complete(sock)
        name = {1: "least", 2: "greatest"}[cookie]
        print(f"rank {rank}: the {name} rank is {struct.unpack('=q', result)[0]}")
    return pieces


def mean_of_ranks(sock, rank, ranks):
    """Rank 0 gets the sum and broadcasts the mean."""
    total = reduce(sock, 0, [rank])
    mean, = broadcast(sock, 0, 1, [sum(total) / ranks] if rank == 0 else ())
    print(f"rank {rank}: the mean rank is {mean:g}")


def shares(sock, rank):
    """Each rank has some items of a common list: how many have all, and where do its own end?"""
    items = [rank + 1]
    print(f"rank {rank}: the shares are", *allgather(sock, items, INT64))
    try:
        before = exscan(sock, items, SUM, INT64) or [0]
        end, = scan(sock, items, SUM, INT64)
        print(f"rank {rank}: this one's begin after {before[0]} and end at {end}")
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        print(f"rank {rank}: no scan, as {what_to_do(error)}")


def columns(sock, rank, ranks):
    """Each rank has a row of a matrix, and gets the sum of a column; rank 0 gets all of them."""
    mine = reduce_scatter_block(sock, 1, [rank + column for column in range(ranks)], SUM, INT64)
    tenfold, = scatter(sock, 0, 1, [10 * total for total in gather(sock, 0, mine, INT64)], INT64)
    print(f"rank {rank}: the sum of its column is {mine[0]}, which rank 0 makes {tenfold}")


def meet(sock, rank):
    """A first barrier, as joining does not show that the other ranks are there."""
    post(sock, BARRIER)
    if not poll_for_completion(sock, PATIENCE_MS):
        print(f"rank {rank}: waiting for other ranks; collsock wait says for which",
              file=sys.stderr)
    complete(sock)
    print(f"rank {rank}: all are here")


def main():
    """The program: exit code 0 done, 1 joining or an operation failed, 2 wrong usage."""
    parser = argparse.ArgumentParser(
        description="A barrier, reductions and other operations over the hosts of a file.",
        epilog="HOSTS-FILE has one line for each rank, its host: ADDRESS [PORT]. "
               "Start this once for each line, on that host. "
               "Exit code: 0 done, 1 joining or an operation failed, 2 wrong usage.")
    parser.add_argument("hosts_file", metavar="HOSTS-FILE")
    parser.add_argument("rank", metavar="RANK", type=int)
    parser.add_argument("--id", type=int, default=1, help="number of the group (default 1)")
    parser.add_argument("--nonce", type=int, required=True,
                        help="of this instance of the group, equal on all ranks; use a new "
                             "one for every run with this key")
    parser.add_argument("--key-file", help="32 hexadecimal digits, mode 600")
    parser.add_argument("--degree", type=int, default=0, choices=range(2, 65), metavar="N",
                        help="with how many hosts, itself included, a host exchanges in a "
                             "round, equal on all ranks (default 2, with 3 hosts 3)")
    options = parser.parse_args()
    try:
        hosts = read_hosts(options.hosts_file)
        key = read_key(options.key_file) if options.key_file else bytes(16)
        if not 0 <= options.rank < len(hosts):
            parser.error(f"RANK is 0 to {len(hosts) - 1} with this hosts file")
        join_request(hosts, options.rank, options.id, options.nonce, key,
                     degree=options.degree)
    except (OSError, ValueError, struct.error) as error:
        parser.error(str(error))
    try:
        with join(hosts, options.rank, options.id, nonce=options.nonce, key=key,
                  degree=options.degree) as sock:
            meet(sock, options.rank)
            total, half = allreduce(sock, [options.rank, 0.5])
            print(f"rank {options.rank}: the sums are {total:g} and {half:g}")
            mean_of_ranks(sock, options.rank, len(hosts))
            shares(sock, options.rank)
            columns(sock, options.rank, len(hosts))
            overlapped(sock, options.rank)
    except OSError as error:
        print(f"{sys.argv[0]}: {error}: {what_to_do(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
