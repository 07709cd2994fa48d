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
MANUAL = "libcollsock/man/collsock_errors.7"


def read(path):
    return (TREE / path).read_text(encoding="utf-8")


def between(text, begin, end):
    found = text.partition(begin)[2].partition(end)[0]
    assert found, f"nothing between {begin!r} and {end!r}"
    return found


# ---- errors ----

def functions():
    """{name: body} of the module's functions that may return an error: a number, or a pointer"""
    found = {}
    for path in [*(TREE / "kernel").glob("*.[ch]"), *(TREE / "kernel/core").glob("[!u]*.[ch]")]:
        text = re.sub(r"/\*.*?\*/", "", read(path), flags=re.S)
        for kind, name, body in re.findall(
                r"^((?:\w+[ *]+)+)(\w+)\([^;{}]*\)[^;{}]*\n\{\n(.*?)^\}", text, re.S | re.M):
            if re.search(r"\bint\b|\*", kind):
                found[name] = found.get(name, "") + body
    return found


FUNCTIONS = functions()


def in_sources(*calls):
    """The errors that these functions, or functions that they call, have in their code."""
    errors, seen, left = set(), set(), list(calls)
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        # Not those with which the code compares
        errors |= set(re.findall(rf"(?<![=!]= )-({ERRNO})\b", FUNCTIONS[name]))
        left += [used for used in re.findall(r"\b(\w+)\(", FUNCTIONS[name]) if used in FUNCTIONS]
    return errors


def in_manual(section, call=None):
    """The errors of a section of collsock_errors(7): of paragraphs that are not of another call."""
    found = set()
    text = between(read(MANUAL), f".SS {section}\n", "\n.S")
    for names, first in re.findall(r"^\.TP\n(.*)\n(.*)", text, re.M):
        only = re.match(r"\.RB \( (\w+)", first)
        if not (call and only) or only[1] == call:
            found |= set(re.findall(rf"\b{ERRNO}\b", names))
    return found


def same(told, known, inside=(), elsewhere=()):
    """@inside: errors in the code that no caller gets; @elsewhere: those that others return"""
    assert set(inside) <= known, f"not in the sources: {sorted(set(inside) - known)}"
    assert not set(elsewhere) & known, f"in the sources: {sorted(set(elsewhere) & known)}"
    known = known - set(inside) | set(elsewhere)
    assert known == told, f"only in the sources: {sorted(known - told)}, " \
                          f"only in the page: {sorted(told - known)}"


def test_errors_of_socket():
    # What has no module, and what every socket() may return
    same(in_manual("socket()"), in_sources("family_create"),
         elsewhere={"EAFNOSUPPORT", "EPERM", "EACCES", "EMFILE", "ENFILE"})


def test_errors_of_join():
    # Of ranks that cannot join, EADDRINUSE is reported; EINTR is that of a process that is killed
    same(in_manual("setsockopt(COLLSOCK_JOIN)"), in_sources("sockopt_join", "coll_net_charge"),
         inside={"EEXIST", "ENOENT", "EINTR"}, elsewhere={"ENOBUFS"})


def test_errors_of_send():
    same(in_manual("send() and ioctl(COLLSOCK_RUN)", "send"), in_sources("coll_io_send"),
         inside={"ENODATA", "ENOENT"})


def errors_of_run():
    return in_sources("coll_io_run") - {"ENODATA", "ENOENT"}


def test_errors_of_run():
    same(in_manual("send() and ioctl(COLLSOCK_RUN)", "COLLSOCK_RUN"), errors_of_run())


def test_errors_of_run_that_say_whether_it_was_posted():
    rows = re.findall(r"^\| (`E.*`) \|", between(read("Documentation/uapi.md"),
                                               "\nWhat RUN's errno says", "\n## "), re.M)
    told = [error for row in rows for error in re.findall(ERRNO, row)]
    assert len(rows) == 3 and len(told) == len(set(told)), told
    same(set(told), errors_of_run())


def test_errors_of_recv():
    same(in_manual("recv() and ioctl(COLLSOCK_WAIT)", "recv"), in_sources("coll_io_recv"))


def test_errors_of_wait():
    same(in_manual("recv() and ioctl(COLLSOCK_WAIT)", "COLLSOCK_WAIT"),
         in_sources("coll_io_wait"))


def test_errors_of_operations():
    reasons = between(read("kernel/core/wire.h"), "#define COLL_REASON_LIST(LINE)", "\n\n")
    lines = re.findall(rf"\bLINE\(.*\b({ERRNO})\)", reasons)
    assert len(lines) > 5, lines
    same(in_manual("Operations"), set(lines))


def test_errors_of_other_calls():
    same(in_manual("mmap()"), in_sources("coll_page_map"))
    same(in_manual("getsockopt() and setsockopt(COLLSOCK_COMPLETION_BYTES)"),
         in_sources("coll_sockopt_get", "sockopt_set_completion_bytes"))
    # The network core has functions for calls that a family does not have.
    same(in_manual("Other calls"), in_sources("family_shutdown", "family_getname"))


def test_each_function_of_the_library_refers_to_the_list():
    for name in "join", "post", "barrier", "complete", "wait", "map_page", "open":
        errors = between(read(f"libcollsock/man/collsock_{name}.3"), "\n.SH ERRORS\n", "\n.SH ")
        assert ".BR collsock_errors (7)" in errors, f"collsock_{name}(3)"


# ---- limits ----

def test_limits():
    lines = re.findall(r"^.*\t([\d MiB]+)\t(COLLSOCK_\w+)$",
                       between(read(MANUAL), "\n.TS\n", "\n.TE\n"), re.M)
    told = {name: int(value) if value.isdigit() else int(value.removesuffix(" MiB")) << 20
            for value, name in lines}
    defined = {name: int(value) for name, value in
               re.findall(r"^#define\t? ?(COLLSOCK_M(?:AX|IN)_\w+)\s+(\d+)\b",
                          read("uapi/linux/collsock.h"), re.M)}
    # Of the interface, not of groups
    others = {f"COLLSOCK_MAX_{name}" for name in ("DEVICES", "OPERATIONS", "COMPLETION_BYTES")}
    assert others < set(defined), sorted(defined)
    wanted = {name: value for name, value in defined.items() if name not in others}
    assert len(wanted) > 15 and told == wanted, \
        f"only defined: {wanted.items() - told.items()}, only in the page: " \
        f"{told.items() - wanted.items()}"


# ---- commands and variables ----

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
