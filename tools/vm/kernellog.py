# SPDX-License-Identifier: GPL-2.0
"""Reads what a test machine's kernel wrote on its console."""

import re

# What the kernel prints about its own faults. "Call Trace" catches what has no line of its
# own here.
COMPLAINTS = re.compile("|".join((
    r"Kernel panic",
    r"\bOops\b",
    r"\bBUG\b[: ]",
    r"\bWARNING:",
    r"\bUBSAN:",
    r"\bODEBUG:",
    r"Call Trace:",
    r"general protection fault",
    r"unable to handle",
    r"rcu.*\bstalls?\b",
    r"(soft|hard) lockup",
    r"hard LOCKUP",
    r"INFO: (task|trying|possible|rcu)",
    r"possible (circular|recursive|irq|deadlock)",
    r"suspicious RCU usage",
    r"inconsistent lock state",
    r"bad unlock balance",
    r"refcount_t:",
    r"list_(add|del) corruption",
    r"unregister_netdevice: waiting",
    r"ref_tracker:",
    r"Objects remaining in",
    r"page allocation failure",
    r"unreferenced object",
)))
FIRST_PROGRAM = "collsock-vm: first program"
CONTEXT_BEFORE, CONTEXT_AFTER = 3, 70


class KernelLog:
    """The console's lines and what they say about the run.

    booted   whether there was a kernel
    began    whether it got as far as our first program
    status   the command's exit status, None when the machine never told it
    failure  why the machine gave up before the command, None when it did not
    """

    def __init__(self, data, from_the_start=False):
        self.from_the_start = from_the_start
        self.lines = data.decode(errors="replace").replace("\r", "").splitlines()
        self.booted = self._last(r"(Linux version)") is not None
        self.began = self._last(f"({FIRST_PROGRAM})") is not None
        self.status = self._last(r"collsock-vm: status (\d+)$")
        if self.status is not None:
            self.status = int(self.status)
        self.failure = self._last(r"collsock-vm: failed: (.*)")

    def _last(self, pattern):
        for line in reversed(self.lines):
            found = re.search(pattern, line)
            if found:
                return found[1]
        return None

    def complaint(self):
        """The lines around the first complaint; empty if there is none.

        Complaints of a kernel before any of our programs runs do not count, as long as it
        boots; but a debug kernel's checks stop at the first finding.
        """
        ours = self.from_the_start or not self.began
        for number, line in enumerate(self.lines):
            ours = ours or FIRST_PROGRAM in line
            if ours and COMPLAINTS.search(line):
                return self.lines[max(0, number - CONTEXT_BEFORE):number + CONTEXT_AFTER]
        return []
