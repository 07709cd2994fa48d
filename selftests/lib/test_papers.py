#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The papers' experiments: figures, plots and page agree, and differences are found; TAP."""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
PAPERS = TREE / "selftests/papers"
PAGE = TREE / "Documentation/papers.md"
COMMITTED = TREE / "Documentation/papers"
WORK = COMMITTED / "choices-work.csv"  # by bench algorithms --csv
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(PAPERS)]
import experiments  # noqa: E402
import model  # noqa: E402
import table  # noqa: E402
import tap  # noqa: E402


def committed(experiment):
    return table.read(COMMITTED / f"{experiment.name}.csv", experiment.keys)


def test_every_experiment_has_committed_figures():
    for experiment in experiments.ALL:
        found = committed(experiment)
        assert found.columns == experiment.columns, f"{experiment.name}: {found.columns}"
        assert found.rows, experiment.name
    known = {f"{experiment.name}.csv" for experiment in experiments.ALL}
    there = {path.name for path in COMMITTED.glob("*.csv")}
    assert there - {WORK.name} == known, there ^ known


def test_the_work_of_algorithms_is_that_of_rows_of_the_model():
    if not WORK.exists():
        return
    choices = next(one for one in experiments.ALL if one.name == "choices")
    found = table.read(WORK, choices.keys)
    assert found.columns[:choices.keys] == choices.columns[:choices.keys], found.columns
    others = found.rows.keys() - committed(choices).rows.keys()
    # Of a degree above the number of hosts the model has one only
    others = {key for key in others if int(key[3]) < 2 * int(key[4])}
    assert not others, others


def test_every_plot_is_that_of_the_committed_figures():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for experiment in experiments.ALL:
            experiment.plot(committed(experiment), folder)
        drawn = {path.name: path.read_bytes() for path in folder.iterdir()}
    there = {path.name: path.read_bytes() for path in COMMITTED.glob("*.svg")}
    assert drawn.keys() == there.keys(), drawn.keys() ^ there.keys()
    stale = [plot for plot, text in drawn.items() if there[plot] != text]
    assert not stale, f"make bench-papers ARGS=--plot draws others: {stale}"


def test_the_page_shows_every_plot():
    shown = set(re.findall(r"!\[[^]]+\]\(papers/([\w.-]+)\)", PAGE.read_text(encoding="utf-8")))
    there = {path.name for path in COMMITTED.glob("*.svg")}
    assert shown == there, shown ^ there


def test_differences_are_found():
    was = table.Table(("hosts", "us"), 1, [("2", "10"), ("4", "20"), ("8", "")])
    for rows, tolerance, words in (
            ([("2", "10"), ("4", "20"), ("8", "")], 0, []),
            ([("2", "10"), ("4", "20.9"), ("8", "")], 0.05, []),
            ([("2", "10"), ("4", "22"), ("8", "")], 0.05, ["hosts 4: us was 20, is 22 (+10.0%)"]),
            ([("2", "10"), ("4", "20")], 0, ["hosts 8: not there"]),
            ([("2", "10"), ("4", "20"), ("8", "1")], 0, ["hosts 8: us was nan, is 1"]),
            ([("2", "10"), ("4", "20"), ("8", ""), ("16", "3")], 0, ["hosts 16: new"])):
        found = list(was.differences(table.Table(was.columns, 1, rows), tolerance))
        assert found == words, f"{rows}: {found}, not {words}"


def test_figures_survive_being_written():
    for experiment in experiments.ALL:
        found = committed(experiment)
        with tempfile.NamedTemporaryFile() as file:
            found.write(file.name)
            again = table.read(file.name, experiment.keys)
        assert not list(found.differences(again, 0)), experiment.name


def test_tables_of_the_simulator_are_read_whatever_they_print():
    text = ("A model, not hardware.\n  wire 2000  network: transit\n\nhosts  us  factor\n"
            "    2  11.89  1.22  1.0  3.00\n   16  -7.47  - -  9.31\n"
            "barrier  16  8  MCS tree  0  6  30  290.6  61.18  1.67\n"
            "reduce   16  8  k-ary tree  4  4  30  285.6  51.95  1.42 auto\n")
    rows = model.rows_of(text)
    assert [row[0] for row in rows] == ["2", "16", "barrier", "reduce"], rows


def test_an_experiment_that_does_not_exist_is_refused():
    done = subprocess.run([PAPERS / "papers", "--only", "nothing"], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 1 and "--only nothing: not one of 000" in done.stderr, done


def test_all_are_listed():
    done = subprocess.run([PAPERS / "papers", "--list"], text=True, check=True,
                          stdout=subprocess.PIPE)
    listed = [line.split()[1] for line in done.stdout.splitlines()]
    assert listed == [experiment.name for experiment in experiments.ALL], listed


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
