#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Pages list the errors, commands and variables that there are; TAP."""
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402

ERRNO = r"E[A-Z0-9]{3,}"


def read(path):
    return (TREE / path).read_text(encoding="utf-8")


def between(text, begin, end):
    found = text.partition(begin)[2].partition(end)[0]
    assert found, f"nothing between {begin!r} and {end!r}"
    return found


def in_manual(section):
    """The errors of a section of collsock_errors(7): the names of its paragraphs."""
    text = between(read("libcollsock/man/collsock_errors.7"), f".SS {section}\n", "\n.S")
    return set(re.findall(rf"\b{ERRNO}\b", " ".join(re.findall(r"^\.TP\n(.*)", text, re.M))))


def in_interface(*parts):
    """Those of the bullets, and of the first column of the tables, between such texts."""
    text = "".join(between(read("Documentation/uapi.md"), *part) for part in parts)
    heads = re.findall(rf"^(?:- |\| )((?:`{ERRNO}`(?:, )?)+)", text, re.M)
    return set(re.findall(ERRNO, " ".join(heads)))


def same(manual, interface):
    assert len(manual) > 5 and manual == interface, \
        f"only in the manual page: {sorted(manual - interface)}, " \
        f"only in uapi.md: {sorted(interface - manual)}"


def test_errors_of_join():
    same(in_manual("setsockopt(COLLSOCK_JOIN)"),
         in_interface(("\nErrors:\n", "\nAfter an error the socket may try again.")))


def test_errors_of_posting():
    same(in_manual("send() and ioctl(COLLSOCK_RUN)"),
         in_interface(("\nAfter these errors nothing was posted:\n", "\n### "),
                      ("\nWhat RUN's errno says", "\nAfter `EINPROGRESS`")))


def test_errors_of_completing():
    same(in_manual("recv() and ioctl(COLLSOCK_WAIT)"),
         in_interface(("\n| errno | nothing was received", "\nThe call also succeeds"),
                      ("\nWAIT's errno:\n", "\n## ")))


def test_commands_of_collsock():
    usage = between(read("tools/collsock/usage.c"), '"Show, ', '"  -j, ')
    told = set(re.findall(r'"  ([a-z]+)\b', usage))
    synopsis = between(read("tools/collsock/collsock.8"), ".SH SYNOPSIS\n", "\n.PP\n")
    # Without the program, options, and what is to be given
    words = set(re.findall(r"\b[a-z]+\b", re.sub(r"\\f[IB].*?\\fR|\\-\\-[a-z]+", "", synopsis)))
    assert len(told) > 10, sorted(told)
    assert told <= words, f"not in the synopsis of collsock(8): {sorted(told - words)}"


def test_variables_of_the_environment():
    read_by_library = {name for source in (TREE / "libcollsock/src").glob("*.[ch]")
                       for name in re.findall(r'"(COLLSOCK_[A-Z_]+)"', read(source))}
    assert len(read_by_library) > 10, sorted(read_by_library)
    for page in "libcollsock/man/libcollsock.3", "tools/collsock/collsock.8":
        told = re.findall(r"\bCOLLSOCK_[A-Z_]+\b",
                          between(read(page), "\n.SH ENVIRONMENT\n", "\n.SH ").replace("\\fB", " "))
        assert set(told) == read_by_library, \
            f"{page} has not: {sorted(read_by_library - set(told))}, " \
            f"but: {sorted(set(told) - read_by_library)}"


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
