# SPDX-License-Identifier: GPL-2.0
"""Common code of the scenarios of the command collsock."""

import json
import os
import shutil
import subprocess

from collsock_test import Child, Descriptor, Failed, Rank, equal, eventually, libc, on

HOSTS = 1, 2, 3, 4
TOOL = "/run/collsock-command"  # where user nobody can start it, too
DONE, ERROR, PROBLEMS, WAITS = range(4)
NOBODY = 65534
NETLINK_GENERIC = 16
PR_SET_NAME = 15
LIVENESS_MS = 2000  # hosts are probed after a quarter of it
LONG_LIVENESS_MS = 60000


class Said:
    """The status and output of a run of the command, which runs in the background until asked."""

    def __init__(self, words, user=None, **environment):
        switch = {"user": user, "group": user, "extra_groups": []} if user else {}
        self.words = " ".join(words)
        self.process = subprocess.Popen([TOOL, *words], stdin=subprocess.DEVNULL, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, **environment}, **switch)

    def end(self):
        self.out, self.error = self.process.communicate()
        self.status = self.process.returncode
        return self

    def json(self):
        return json.loads(self.out)

    def ended(self, status):
        self.end()
        if self.status != status:
            raise Failed(f"collsock {self.words}: status {self.status}, expected {status}: "
                         f"{self.out}{self.error}")
        return self


def run(host, *words, status=DONE, user=None):
    with on(host):
        return Said(words, user).ended(status)


def run_all(host, every, status=DONE, user=None):
    """The same for many, in parallel; returns them in order."""
    with on(host):
        running = [Said(words, user) for words in every]
    return [said.ended(status) for said in running]


def show(host, *words, status=DONE):
    return run(host, "-j", *words, status=status).json()


def contains(what, text, *parts):
    for part in parts:
        if part not in text:
            raise Failed(f"{what}: is {text!r}, expected {part!r} in it")


def refuses(host, *words, says, user=None):
    all_refused(host, {words: says}, user)


def all_refused(host, mistakes, user=None):
    """Check that each of these is refused with its message."""
    for said, says in zip(run_all(host, mistakes, ERROR, user), mistakes.values()):
        contains(f"collsock {said.words}", said.error, "collsock: ", *says)
        equal("what it printed", said.out, "")


def only(items):
    equal(f"number of {items}", len(items), 1)
    return items[0]


def findings(host, *words, status):
    return show(host, "doctor", *words, status=status)


def problems(found):
    return [finding for finding in found if finding["result"] == "problem"]


def handle_of(host, group):
    return str(only([g["handle"] for g in show(host, "group")
                     if g["id"] == group.descriptor.fields["id"]]))


# ---- processes with a rank ----

def meet(line, descriptor, number, name):
    """Runs the given number of barriers."""
    if name:
        libc.prctl(PR_SET_NAME, name)
    rank = Rank()
    rank.join(descriptor, number)
    line.put("joined")
    while line.get():
        rank.run()
        line.put("met")


class Processes(list):
    """A group whose ranks are processes, one on each host."""

    def __init__(self, hosts=HOSTS, name=None, **fields):
        super().__init__()
        self.descriptor = Descriptor(hosts, **{"liveness_ms": LIVENESS_MS, **fields})
        for number, host in enumerate(hosts):
            self.append(Child(host, meet, self.descriptor, number, name))
        for child in self:
            equal("the child has", child.get(), "joined")

    def begin(self, *others):
        for child in others or self:
            child.put(True)

    def end(self):
        for child in self:
            equal("the child has", child.get(), "met")

    def finish(self):
        for child in self:
            child.put(False)
        for child in self:
            child.finish()


def eventually_waits(host, check):
    """Wait until the one report on that host passes the check."""
    seen = []

    def look():
        said = Said(("-j", "wait")).end()
        seen[:] = [said.out + said.error]
        waits = said.json()
        return said.status == WAITS and len(waits) == 1 and bool(check(waits[0]))

    with on(host):
        try:
            eventually(f"wait on host {host}", look, True)
        except Failed as failure:
            raise Failed(f"{failure}; it says {seen[0]}") from failure
        return json.loads(seen[0])[0]


def prepare():
    shutil.copy("build/tools/collsock", TOOL)
    os.chmod(TOOL, 0o755)
