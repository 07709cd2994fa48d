# SPDX-License-Identifier: GPL-2.0
"""A mutant: a bug that is planted on purpose, and the tests that must find it.

A file NAME.mutant has a head and edits:

    promise: the promise that the bug breaks
    test: unit test_group
    says: regular expression that the output of the failing test must match

    in group_receive_message:
     	if (ahead >= (s32)g->window) {
    +		coll_peer_accept(peer, body, now);
     		coll_peer_refuse(peer, body, now);

Each test is followed by its line "says", and each must fail:
    unit [TARGET ...] TEST   a program or script of selftests/unit; TARGETs are built before it
    lib [TARGET ...] TEST    the same of selftests/lib
    sim ARGUMENT ...         the simulator
    fuzz TARGET              a target of selftests/fuzz with its corpus
    vm SCENARIO SUITE [TEST ...]
                             a scenario of selftests/vm, on the kernel and with the tag of
                             SUITE, as selftests/run explains (6.1:check); of its tests those
                             whose names contain a TEST. Its output has what the kernel
                             complained of, too, in lines that begin with "vm: | ".

An edit is anchored at a definition in kernel, uapi, libcollsock or tools/collsock, in whatever
file of C or Python. Its name must be unique, or followed by its file: NAME of kernel/env.c
    in NAME:                     lines as in a diff: "-" old, "+" new, " " both
    before NAME:, after NAME:    lines to insert there, all with "+"
NAME is a function, a table (NAME[] = {...}), or a type (struct NAME, enum NAME, union
NAME); in Python a function or a method. The old lines must occur exactly once in it. They are compared word by word:
indentation and line breaks do not matter. Edits are made in their order. Lines that begin
with "#" are comments.
"""

import re

FOLDERS = ("kernel", "uapi", "libcollsock", "tools/collsock")
# The words of a test, by suite
SUITES = {"unit": r"\S+( \S+)*", "lib": r"\S+( \S+)*", "sim": r"\S+( \S+)*",
          "fuzz": r"\w+", "vm": r"\w+ [\w.-]+:\w+( \w+)*"}

# What a required output does not match: it names a test, or what is wrong
ANY_FAILURE = "not ok 1 "


class DoesNotApply(Exception):
    """The mutant is malformed or does not fit the tree."""


class Test:
    """A test that must fail, and the output that it must have when it does."""

    def __init__(self, command):
        self.suite, *self.words = command.split()
        self.says = None

    def __str__(self):
        return " ".join([self.suite, *self.words])

    def is_sound(self):
        try:
            re.compile(self.says or "")
        except re.error:
            return False
        words = SUITES.get(self.suite)
        return bool(self.says and words and re.fullmatch(words, " ".join(self.words)))


def find_definitions(tree, name):
    """Yields file, text and match of each definition."""
    for suffix, pattern in ("[ch]", pattern_in_c(name)), ("py", pattern_in_python(name)):
        for folder in FOLDERS:
            for path in sorted((tree / folder).rglob(f"*.{suffix}")):
                text = path.read_text(encoding="utf-8")
                if name.rpartition(" ")[2] in text:
                    yield from ((path, text, match) for match in pattern.finditer(text))


def pattern_in_python(name):
    """A function: its lines are indented more than the first."""
    return re.compile(rf"^( *)(?:async )?def {re.escape(name)}\(.*\n(?:(?:\1 .*)?\n)*(?<!\n\n)",
                      re.MULTILINE)


def pattern_in_c(name):
    """By the kernel's coding style: the last line begins with a brace, or it is the only one."""
    kind, _, tag = name.rpartition(" ")
    if kind:
        head = rf"^(?:\w[^;{{}}()\n]*\s)?{kind} {re.escape(tag)}\s*"
    else:
        head = (rf"^(?:\w[^;{{}}\n]*\W)?{re.escape(tag)}"
                r"(?:\([^;{}]*|(?:\[[^\n]*\])?[^;{}()\n]*=\s*)")
    return re.compile(head + r"(?:\{[^\n]*\}|\{.*?^\})[^\n]*\n", re.MULTILINE | re.DOTALL)


def replace_once(body, old, new, where):
    """@body with the lines @new instead of @old."""
    words = " ".join(old).split()
    pattern = r"^[ \t]*" + r"\s+".join(map(re.escape, words)) + r"[ \t]*\n"
    matches = list(re.finditer(pattern, body, re.MULTILINE))
    if len(matches) != 1:
        raise DoesNotApply(f"{where}: the text occurs {len(matches)} times: {' '.join(words)}")
    begin, end = matches[0].span()
    return body[:begin] + "".join(line + "\n" for line in new) + body[end:]


class Edit:
    """A change of one definition, or next to it."""

    def __init__(self, place, name, file=None):
        self.place, self.name, self.file = place, name, file
        self.old, self.new = [], []

    def add_line(self, line):
        if line[0] in "- ":
            self.old.append(line[1:])
        if line[0] in "+ ":
            self.new.append(line[1:])

    def is_sound(self):
        return self.old != self.new and bool(self.old) == (self.place == "in")

    def apply(self, tree):
        """Returns the file."""
        found = [it for it in find_definitions(tree, self.name)
                 if self.file in (None, str(it[0].relative_to(tree)))]
        if not found:
            raise DoesNotApply(f"{self.name} is not defined in "
                               f"{self.file or ' or '.join(FOLDERS)}")
        if len(found) > 1:
            files = ", ".join(str(path.relative_to(tree)) for path, _, _ in found)
            raise DoesNotApply(f"{self.name} is defined {len(found)} times: {files}")
        path, text, match = found[0]
        begin, end = match.span()
        if self.place == "in":
            text = text[:begin] + replace_once(
                match[0], self.old, self.new,
                f"{self.name} ({path.relative_to(tree)})") + text[end:]
        else:
            at = begin if self.place == "before" else end
            text = text[:at] + "\n".join(["", *self.new, "", text[at:]])
        path.write_text(text, encoding="utf-8")
        return path


class Mutant:
    """The contents of a file NAME.mutant."""

    def __init__(self, path):
        self.name, self.promise = path.stem, None
        self.tests, self.edits = [], []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() and not line.startswith("#") and not self.read_line(line):
                raise DoesNotApply(f"{path.name}:{number}: not understood: {line}")
        if not self.promise or not self.tests or not self.edits:
            raise DoesNotApply(f"{path.name}: promise, test or edit is missing")
        for test in self.tests:
            if not test.is_sound():
                raise DoesNotApply(f"{path.name}: test {test}, says {test.says}: not understood")
            if re.search(test.says, ANY_FAILURE):
                raise DoesNotApply(f"{path.name}: test {test}, says {test.says}: "
                                   "whichever test fails")
        for edit in self.edits:
            if not edit.is_sound():
                raise DoesNotApply(f"{path.name}: {edit.place} {edit.name}: nothing to change")

    def read_line(self, line):
        """Returns whether the line has a meaning where it is."""
        field = re.fullmatch(r"(promise|test|says): *(\S.*)", line)
        anchor = re.fullmatch(r"(in|before|after) ((?:(?:struct|enum|union) )?\w+)(?: of (\S+))?:",
                              line)
        if anchor:
            self.edits.append(Edit(*anchor.groups()))
        elif self.edits:
            if line[0] not in "+- ":
                return False
            self.edits[-1].add_line(line)
        elif not field:
            return False
        elif field[1] == "promise":
            self.promise = field[2]
        elif field[1] == "test":
            self.tests.append(Test(field[2]))
        elif not self.tests or self.tests[-1].says:
            return False
        else:
            self.tests[-1].says = field[2]
        return True

    def apply(self, tree):
        """Returns the files that it changes."""
        return {edit.apply(tree) for edit in self.edits}
