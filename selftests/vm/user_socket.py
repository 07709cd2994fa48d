# SPDX-License-Identifier: GPL-2.0
"""Ranks in user space, with the calls of a collective socket: libcollsock does in this process
what the module does in the kernel. Their descriptors carry the bytes of a socket; a post goes
through the library, as only that refuses one as a socket does.
"""

import contextlib
import ctypes
import errno
import os
import socket
import struct

LIBRARY = "build/lib/libcollsock.so"
BACKEND_USER = 2
SOL_COLLSOCK, JOIN = 425, 1
QUERIES = {2: "collsock_stats", 3: "collsock_net_stats", 4: "collsock_self",
           5: "collsock_features"}
SELF, SELF_BYTES, SELF_ERROR = 4, 40, 36
RUN, WAIT = ord("K") << 8 | 0x70, ord("K") << 8 | 0x71
RUN_HEAD, WAIT_HEAD = struct.Struct("=IHHIIQQII"), struct.Struct("=IHHIIQQ")
POST_BYTES, COMPLETION_BYTES = 32, 40
CLONE_NEWNET = 0x40000000

_library = []


def library():
    if not _library:
        _library.append(ctypes.CDLL(LIBRARY, use_errno=True))
        _library[0].collsock_close.restype = None
    return _library[0]


def check(result):
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


@contextlib.contextmanager
def inside(namespace):
    """This thread is in that network namespace."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    setns = ctypes.CDLL(None, use_errno=True).setns
    try:
        check(-ctypes.get_errno() if setns(namespace, CLONE_NEWNET) else 0)
        yield
    finally:
        setns(home, CLONE_NEWNET)
        os.close(home)


class Socket(socket.socket):
    """It stays in the network namespace in which it was opened, also if it joins elsewhere."""

    def __init__(self, *_):
        handle = ctypes.c_void_p()
        check(library().collsock_open_backend(ctypes.byref(handle), 0, BACKEND_USER))
        super().__init__(fileno=library().collsock_fd(handle))
        self.handle = handle
        self.namespace = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def setsockopt(self, level, option, *value):
        if (level, option) != (SOL_COLLSOCK, JOIN):
            super().setsockopt(level, option, *value)
            return
        with inside(self.namespace):
            check(library().collsock_join_bytes(self.handle, value[0],
                                                ctypes.c_size_t(len(value[0])), -1))

    def getsockopt(self, level, option, *length):
        if (level, option) == (socket.SOL_SOCKET, socket.SO_ERROR):
            own = self.getsockopt(SOL_COLLSOCK, SELF, SELF_BYTES)
            return struct.unpack_from("=I", own, SELF_ERROR)[0]
        if level != SOL_COLLSOCK:
            return super().getsockopt(level, option, *length)
        answer = ctypes.create_string_buffer(length[0])
        check(getattr(library(), QUERIES[option])(self.handle, answer,
                                                  ctypes.c_size_t(length[0])))
        return answer.raw

    def send(self, data, flags=0):
        size = struct.unpack_from("=I", data)[0]
        self.setblocking(not flags & socket.MSG_DONTWAIT)
        try:
            check(library().collsock_post(self.handle, bytes(data[:size]), bytes(data[size:]),
                                          ctypes.c_size_t(len(data) - size)))
        finally:
            self.setblocking(True)
        return len(data)

    def ioctl(self, number, data):
        """RUN and WAIT: the completion is written behind the structures that are in data."""
        address = ctypes.addressof((ctypes.c_char * len(data)).from_buffer(data))
        if number == RUN:
            _, _, _, spin_us, _, payload, result, bytes_in, bytes_out = RUN_HEAD.unpack_from(data)
            at = address + RUN_HEAD.size
            check(library().collsock_set_spin(self.handle, spin_us))
            check(library().collsock_run(
                self.handle, ctypes.c_void_p(at), ctypes.c_void_p(payload),
                ctypes.c_size_t(bytes_in), ctypes.c_void_p(at + POST_BYTES),
                ctypes.c_void_p(result), ctypes.c_size_t(bytes_out)))
        elif number == WAIT:
            _, _, _, _, room, result, cookie = WAIT_HEAD.unpack_from(data)
            check(library().collsock_wait(
                self.handle, ctypes.c_uint64(cookie), ctypes.c_void_p(address + WAIT_HEAD.size),
                ctypes.c_void_p(result), ctypes.c_size_t(room)))
        else:
            raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))

    def close(self):
        """The library closes the descriptor; in a forked child it has done so."""
        handle, self.handle = self.handle, None
        if handle:
            os.close(self.namespace)
            self.detach()
            library().collsock_close(handle)

    def __del__(self):
        if getattr(self, "handle", None):
            self.close()
