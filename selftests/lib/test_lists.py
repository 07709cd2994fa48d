#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Files in other languages have the numbers and names of the headers' lists; TAP."""
import pathlib
import re
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(TREE / "selftests"), str(TREE / "selftests/vm")]
import collsock_netlink  # noqa: E402
import collsock_test  # noqa: E402
import tap  # noqa: E402


def read(path):
    return (TREE / path).read_text(encoding="utf-8")


def lines_of(name, path="uapi/linux/collsock_lists.h"):
    """The arguments of each LINE of a list."""
    body = re.search(rf"^#define {name}\(LINE\)(.*?[^\\])$", read(path), re.DOTALL | re.MULTILINE)
    return [[word.strip().strip('"') for word in line.split(",", 2)]
            for line in re.findall(r'LINE\(((?:"[^"]*"|[^()"])*)\)', body[1])]


def numbers_of(name, path="uapi/linux/collsock_lists.h"):
    """{number: (identifier, name)}; what follows the name is ignored."""
    return {int(number): (identifier, rest.split('"')[0])
            for identifier, number, rest in lines_of(name, path)}


WIRE, ENV = "kernel/core/wire.h", "kernel/core/env.h"
OPERATIONS = numbers_of("COLLSOCK_OPERATION_LIST")
TYPES = numbers_of("COLLSOCK_TYPE_LIST")
OPERATORS = numbers_of("COLLSOCK_OPERATOR_LIST")
ALGORITHMS = numbers_of("COLLSOCK_ALGORITHM_LIST")
PACKETS = numbers_of("COLL_PACKET_LIST", WIRE)
REASONS = numbers_of("COLL_REASON_LIST", WIRE)
GROUP_COUNTERS = lines_of("COLLSOCK_GROUP_COUNTER_LIST")
NET_COUNTERS = lines_of("COLLSOCK_NET_COUNTER_LIST")
DROPS = [name for _, name in
         lines_of("COLL_NET_DROP_LIST", ENV) + lines_of("COLL_GROUP_DROP_LIST", ENV)]


def equal(got, expected, what=""):
    where = what and f"{what}: "
    assert got == expected, f"{where}{got!r} where {expected!r} is expected"


def has_words(where, told, wanted):
    """A page has each word of a list, in its order, and no other."""
    lacks = ", ".join(str(word) for word in wanted if word not in told)
    assert not lacks, f"{where} lacks {lacks}"
    more = ", ".join(str(word) for word in told if word not in wanted)
    assert not more, f"{where} has {more}, which should not be there"
    equal(list(told), list(wanted), where)


def names(numbers):
    return {number: name for number, (_, name) in numbers.items()}


def dissector():
    """The script that Wireshark loads."""
    with tempfile.NamedTemporaryFile("r", suffix=".lua", encoding="utf-8") as script:
        subprocess.run([TREE / "tools/lists", "lua", TREE / "tools/wireshark/collsock.lua.in",
                        script.name], check=True)
        return script.read()


def lua_table(text, name):
    """[(key, value)] of a table."""
    return re.findall(r'^\t\[?(\w+)\]? = "?([\w-]+)"?,$',
                      re.search(rf"local {name} = {{(.*?)}}", text, re.DOTALL)[1], re.MULTILINE)


def lua_names(text, name):
    """{number: name} of a table."""
    return {int(number): value for number, value in lua_table(text, name)}


def test_lists_are_read():
    equal((len(OPERATIONS) >= 4, len(TYPES) >= 16, len(OPERATORS) >= 13), (True, True, True))
    equal((len(PACKETS) >= 5, len(REASONS) >= 5, len(DROPS) >= 11), (True, True, True))
    equal((len(GROUP_COUNTERS) >= 20, len(NET_COUNTERS) >= 8), (True, True))


def test_dissector_names_what_packets_carry():
    none, text = {0: "none"}, dissector()
    equal(lua_names(text, "kinds"), none | names(OPERATIONS))
    equal(lua_names(text, "data_types"), names(TYPES))
    equal(lua_names(text, "operators"), names(OPERATORS))
    equal(lua_names(text, "algorithms"), none | names(ALGORITHMS))
    equal(lua_names(text, "types"), names(PACKETS))
    equal(lua_names(text, "reasons"), names(REASONS))
    numbers = lua_table(text, "PACKET")
    equal(numbers, [(identifier, str(number)) for number, (identifier, _) in PACKETS.items()])
    equal(set(re.findall(r"\bPACKET\.(\w+)", text)), {identifier for identifier, _ in numbers})


def test_algorithms_that_only_some_groups_have_are_documented():
    rows = [row for file in sorted((TREE / "kernel/core").glob("algo_*.c"))
            for row in re.findall(r"^const struct coll_algorithm \w+ = \{(.*?)^\};",
                                  file.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)]
    assert len(rows) > 20, len(rows)
    number_of = {identifier: number for number, (identifier, _) in ALGORITHMS.items()}
    by_name = {number_of[re.search(r"\.algorithm\s*= COLLSOCK_(\w+)", row)[1]]
               for row in rows if re.search(r"\.by_name\s*= true", row)}
    told = re.search(r"`algorithms` \|.*; 0: all but ([\d, and]+) \|", read("Documentation/uapi.md"))
    has_words("Documentation/uapi.md, algorithms, after '0: all but',",
              sorted(int(number) for number in re.findall(r"\d+", told[1])), sorted(by_name))
    page, identifiers = read("libcollsock/man/collsock.7"), [ALGORITHMS[one][0] for one in by_name]
    for begin, end in ("\n0 is all but\n", "\n.I features\n"), \
            ("\nOtherwise a group has\n", "\nonly if its\n"):
        told = re.findall(r"COLLSOCK_(\w+)", page.partition(begin)[2].partition(end)[0])
        has_words(f"libcollsock/man/collsock.7, after {begin.strip()!r},", sorted(told),
                  sorted(identifiers))


# These name each algorithm, so a new one needs them
ALGORITHM_SOURCES = ("uapi/linux/collsock_lists.h", "kernel/core/algorithm_list.h",
                     "libcollsock/python/collsock/lists.py")
ALGORITHM_PAGES = ("Documentation/tracing.md", "Documentation/uapi.md",
                   "Documentation/reductions.md", "libcollsock/man/collsock.7",
                   "tools/collperf/collperf.1")
# A baseline to compare with, which need not have it
ALGORITHM_OPTIONAL = "tools/collperf/plan.c",


def unnamed(path):
    """The algorithms that a file does not name."""
    text = re.sub(r"\\?-", "_", (TREE / path).read_text(encoding="utf-8", errors="replace"))
    text = text.upper().replace("K_ARY", "KARY")
    return [name for identifier, name in ALGORITHMS.values()
            if not re.search(rf"(?<![A-Z]){identifier}(?![A-Z])", text)]


def test_sources_and_pages_name_each_algorithm():
    lacks = {path: unnamed(path) for path in ALGORITHM_SOURCES + ALGORITHM_PAGES}
    wrong = [f"{path} does not name {', '.join(names)}" for path, names in lacks.items() if names]
    assert not wrong, "; ".join(wrong) + \
        "; tools/lists python writes lists.py, Documentation/changing.md says what the others need"


def test_files_that_name_each_algorithm_are_those_to_be_changed_for_a_new_one():
    pages = read("Documentation/changing.md")
    section = pages[pages.index("## Algorithm for"):pages.index("## Operation")]
    known = ALGORITHM_SOURCES + ALGORITHM_PAGES + ALGORITHM_OPTIONAL
    equal([path for path in known if pathlib.Path(path).name not in section], [],
          "not in Documentation/changing.md")
    found = []
    for path in sorted(TREE.glob("[klut]*/**/*")):
        place = path.relative_to(TREE)
        if path.is_file() and "build" not in place.parts and \
                path.suffix not in (".pyc", ".png") and not unnamed(place):
            found.append(str(place))
    equal([path for path in found if path not in known], [],
          "name each algorithm, and are not in this test and Documentation/changing.md")


def test_numbers_of_netlink_do_not_change():
    pinned = {name: int(number) for name, number in
              map(str.split, read("selftests/lib/netlink_numbers.txt").splitlines())}
    found = collsock_netlink.NUMBERS
    equal({name: found.get(name) for name in pinned}, pinned)
    equal([name for name in found if name not in pinned], [])


def test_tests_in_python_use_these_numbers():
    for numbers in OPERATIONS, TYPES, OPERATORS, ALGORITHMS:
        for number, (identifier, _) in numbers.items():
            equal((identifier, getattr(collsock_test, identifier)), (identifier, number))


def test_netlink_has_every_counter():
    known = collsock_netlink.NUMBERS
    told = {name.removeprefix("A_STATS_") for name in known if name.startswith("A_STATS_")}
    equal(told - {"PAD", "MAX"}, {identifier for _, identifier, _ in GROUP_COUNTERS})
    equal([f"A_NET_{identifier}" for _, identifier, _ in NET_COUNTERS
           if f"A_NET_{identifier}" not in known], [])


def netlink_sets(text):
    """{attribute set: its attributes} of the specification."""
    sets = re.split(r"^  - name: ", text.split("\nattribute-sets:\n")[1], flags=re.MULTILINE)[1:]
    return {part.split("\n")[0]: re.findall(r"^      - name: (.*)$", part, re.MULTILINE)
            for part in sets}


def netlink_lists(text):
    """(operation, attribute set, attributes) of each list in an operation."""
    for part in re.split(r"^    - name: ", text, flags=re.MULTILINE)[1:]:
        name, attribute_set = part.split("\n")[0], re.search(r"attribute-set: (.*)", part)[1]
        for inline, block in re.findall(r"attributes: *(?:\[(.*)\]|((?:\n +- .*)+))", part):
            yield name, attribute_set, re.findall(r"[\w-]+\w", inline or block)


def test_netlink_operations_name_attributes_that_exist():
    attributes, operations = read("Documentation/netlink/specs/collsock.yaml").split(
        "\noperations:\n")
    sets = netlink_sets(attributes)
    lists = list(netlink_lists(operations.split("\nmcast-groups:\n")[0]))
    equal((len(sets) >= 10, len(lists) >= 15), (True, True))
    for name, attribute_set, named in lists:
        equal((name, [word for word in named if word not in sets[attribute_set]]), (name, []))


def documented(heading):
    """[(offset, counter)] of a table of uapi.md."""
    table = read("Documentation/uapi.md").split(f"\n{heading} (")[1].split("|---|---|\n")[1]
    found = []
    for offsets, text in re.findall(r"^\| ([\d, ]+) \| (.*) \|$", table.split("\n\n")[0],
                                    re.MULTILINE):
        found += zip(map(int, offsets.split(", ")), re.findall(r"`(\w+)`", text), strict=True)
    return found


def test_every_counter_is_documented_with_its_offset():
    names_of_net = ["memory", "over_memory", "over_user"] + [name for name, *_ in NET_COUNTERS]
    equal(documented("COLLSOCK_STATS"),
          [(16 + 8 * i, name) for i, (name, *_) in enumerate(GROUP_COUNTERS)])
    equal(documented("COLLSOCK_NET_STATS"),
          [(16 + 8 * i, name) for i, name in enumerate(names_of_net)])


def test_tools_advise_on_counters_that_tuning_explains():
    rows = first_cells("Documentation/tuning.md", "| counter | normal | otherwise |")
    explained = set(re.findall(r"`(\w+)`", " ".join(row for row in rows if "event" not in row)))
    source = read("tools/collsock/counters.c")
    advised = set(re.findall(r'^#define ADVICE_(\w+)[\s\\]+"', source, re.MULTILINE))
    advised |= set(re.findall(r'{ "(\w+)", [^}]*",\s*"[^}]*" },', source))
    equal((len(advised) >= 15, {"over_user", "forged"} <= advised), (True, True))
    equal(advised - explained, set())
    known = {name for name, *_ in GROUP_COUNTERS + NET_COUNTERS} | {"over_memory", "over_user"}
    equal(explained - known, set())


def traced(field):
    """The values that tracing.md lists for a field of a tracepoint."""
    row = re.search(rf"^\| {re.escape(field)} \| (.*) \|$", read("Documentation/tracing.md"),
                    re.MULTILINE)
    return re.findall(r"`([a-z_-]+)`", row[1])


def test_words_of_tracepoints_are_documented():
    for field, words in (("`kind`", names(OPERATIONS).values()),
                         ("`algorithm`", [*names(ALGORITHMS).values(), "auto"]),
                         ("`type`", [*names(PACKETS).values(), "unknown"]),
                         ("`reason` of a drop", DROPS),
                         ("`reason` of a failure", names(REASONS).values())):
        has_words(f"Documentation/tracing.md, {field},", traced(field), words)


def traced_fields():
    """{tracepoint: its fields} of tracing.md."""
    fields, before = {}, []
    for event, row in re.findall(r"^\| `(coll_\w+)` \| .* \| (.*) \|$",
                                 read("Documentation/tracing.md"), re.MULTILINE):
        words = re.findall(r"`(\w+)`", row)
        if row.startswith("the same"):
            words = before + words
        elif row.startswith("as for"):
            words = fields[words[0]]
        fields[event] = before = words
    return fields


def test_fields_of_tracepoints_are_documented():
    text = read("kernel/trace.h")
    printed = {name: re.findall(r"(\w+)=%", line) for name, line in
               re.findall(r"^(?:TRACE_EVENT|DECLARE_EVENT_CLASS)\((\w+),.*?TP_printk\((\".*?\")",
                          text, re.DOTALL | re.MULTILINE)}
    events = [(name, name) for name in re.findall(r"^TRACE_EVENT\((\w+)", text, re.MULTILINE)]
    events += re.findall(r"^DEFINE_EVENT\((\w+), (\w+)", text, re.MULTILINE)
    equal(len(events) >= 12, True)
    equal(traced_fields(), {event: printed[layout] for layout, event in events})


def first_cells(path, heading):
    """The first cell of each row of the table with this heading."""
    table = read(path).split(f"\n{heading}\n")[1].split("\n\n")[0]
    return [row.split(" | ")[0].removeprefix("| ") for row in table.splitlines()[1:]]


def test_attributes_of_groups_peers_and_operations_are_documented():
    specification = read("Documentation/netlink/specs/collsock.yaml")
    sets = netlink_sets(specification.split("\noperations:\n")[0])
    for name in "group", "peer", "operation":
        cells = first_cells("Documentation/netlink.md", f"| `{name}` | type | |")
        told = re.findall(r"`([\w-]+)`", " ".join(cells))
        equal((name, sorted(told)), (name, sorted(set(sets[name]) - {"pad"})))


def test_classes_of_the_simulator_are_documented():
    table = re.search(r"^const struct sim_class sim_classes\[\] = {(.*?)^};",
                      read("selftests/sim/scenario.c"), re.DOTALL | re.MULTILINE)[1]
    classes = re.findall(r'^\t{ "(\w+)", ', table, re.MULTILINE)
    equal(len(classes) >= 20, True)
    told = [name for cell in first_cells("Documentation/simulator.md", "| class | faults |")
            for name in cell.split(", ")]
    equal(sorted(told), sorted(classes))


def test_commands_of_benchmarks_are_documented():
    commands = re.findall(r'commands\.add_parser\("(\w+)"', read("selftests/bench/bench"))
    equal(len(commands) >= 10, True)
    cells = first_cells("Documentation/performance.md", "| command | measures |")
    equal([command for command in commands
           if f"`selftests/bench/bench {command}`" not in cells
           and f"`make bench-{command}`" not in cells], [])


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
