# SPDX-License-Identifier: GPL-2.0
"""A program that is stopped at a chosen system call, to force the order of a race."""

import ctypes
import errno
import os

from collsock_test import Skipped, libc

PTRACE_TRACEME, PTRACE_DETACH, PTRACE_SYSCALL, PTRACE_SETOPTIONS = 0, 17, 24, 0x4200
PTRACE_GET_SYSCALL_INFO, PTRACE_SYSCALL_INFO_ENTRY = 0x420e, 1
PTRACE_O_TRACESYSGOOD, PTRACE_O_EXITKILL = 1, 1 << 20


class SyscallInfo(ctypes.Structure):
    """struct ptrace_syscall_info, as far as it is the same at the entry of all calls."""
    _fields_ = [("op", ctypes.c_uint8), ("pad", ctypes.c_uint8 * 3), ("arch", ctypes.c_uint32),
                ("ip", ctypes.c_uint64), ("sp", ctypes.c_uint64), ("number", ctypes.c_uint64),
                ("arguments", ctypes.c_uint64 * 6), ("seccomp", ctypes.c_uint64)]


def ptrace(request, pid=0, address=0, data=0):
    libc.ptrace.restype = ctypes.c_long
    done = libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(address),
                       ctypes.c_void_p(data))
    if done < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request}")


def holdable():
    """For preexec_fn of Popen: the program stops at its start."""
    ptrace(PTRACE_TRACEME)


class Held:
    """Such a program. Its tracer is the thread that started it."""

    def __init__(self, pid):
        self.pid = pid
        os.waitpid(pid, 0)
        ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)

    def run_to(self, wanted):
        """Run until it enters a system call with the wanted arguments."""
        info = SyscallInfo()
        while info.op != PTRACE_SYSCALL_INFO_ENTRY or not wanted(info.arguments):
            ptrace(PTRACE_SYSCALL, self.pid)
            os.waitpid(self.pid, 0)
            try:
                ptrace(PTRACE_GET_SYSCALL_INFO, self.pid, ctypes.sizeof(info),
                       ctypes.addressof(info))
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                raise Skipped("this kernel does not tell a tracer of system calls") from None

    def release(self):
        ptrace(PTRACE_DETACH, self.pid)
