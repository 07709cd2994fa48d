#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The papers' experiments: figures, plots and page agree, and differences are found; TAP."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
PAPERS = TREE / "selftests/papers"
PAGE = TREE / "Documentation/papers.md"
COMMITTED = TREE / "Documentation/papers"
WORK = COMMITTED / "choices-work.csv"  # by bench algorithms --csv
USER_SPACE = {name: value for name, value in os.environ.items()
              if not name.startswith("COLLSOCK_")} | {
    "COLLSOCK_BACKEND": "user", "COLLSOCK_USER_PORTS": "18500-18599"}
SECONDS = 60
# What collperf --team --csv prints, which a test compares
NAMES = "team,kind,members,algorithm,rank,hosts,iterations,spin_us,mean_ns,min_ns,p50_ns,p99_ns"
TEAM_PLOTS = ["combined-dissemination.svg", "combined-mcs.svg", "hosts.svg", "threads.svg"]
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(PAPERS)]
import experiments  # noqa: E402
import model  # noqa: E402
import table  # noqa: E402
import tap  # noqa: E402
import teams  # noqa: E402
from built import program  # noqa: E402

TOOLS = pathlib.Path(program("tools"))


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
            "barrier  16  8  mcs  0  6  30  290.6  61.18  1.67\n"
            "reduce   16  8  kary  4  4  30  285.6  51.95  1.42 auto\n")
    rows = model.rows_of(text)
    assert [row[0] for row in rows] == ["2", "16", "barrier", "reduce"], rows


def papers(*words):
    return subprocess.run([PAPERS / "papers", *words], text=True, check=False,
                          capture_output=True, timeout=SECONDS)


def times_of(hosts, team, threads, algorithm="mcs"):
    """What collperf prints, of all ranks."""
    done = subprocess.run(
        [TOOLS / "collsock", "run", "--local", str(hosts), "--", TOOLS / "collperf", "--csv",
         "--team", team, "--members", str(threads), "--algorithm", algorithm, "--iterations", "2",
         "--warm-up", "0"], text=True, check=False, capture_output=True, env=USER_SPACE,
        timeout=SECONDS)
    assert done.returncode == 0, done
    return done.stdout


def microseconds(said):
    rows = [line.split(",") for line in said.splitlines() if line != NAMES]
    return statistics.fmean(float(row[NAMES.split(",").index("mean_ns")]) for row in rows) / 1000


def line_of(team="central", threads=2, algorithm="mcs", hosts=2, spin=0, mean=1500.5,
            kind="threads"):
    return f"{team},{kind},{threads},{algorithm},0,{hosts},10,{spin},{mean},1,2,3"


def plot_teams(folder, *texts):
    """Draws plots of files that have these texts."""
    files = [folder / f"{number}.csv" for number, _ in enumerate(texts)]
    for file, text in zip(files, texts):
        file.write_text(text, encoding="ascii")
    return papers("--plot-teams", *files, "--into", folder / "plots")


def labels(path):
    return re.findall("<text>(.*)</text>", path.read_text(encoding="utf-8"))


def test_times_that_collperf_prints_are_drawn_as_the_plots_of_the_page():
    threads = {(team, "-", number, 1): times_of(1, team, number)
               for team in ("central", "mcs") for number in (2, 3)}
    both = {("-" if number == 1 else "central", algorithm, number, hosts):
            times_of(hosts, "central", number, algorithm)
            for algorithm in ("mcs", "dissemination") for number in (1, 2, 3) for hosts in (3, 2)}
    bare = times_of(1, "futex", 2)
    assert bare.splitlines()[0] == NAMES, f"collperf prints {bare!r}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = plot_teams(folder, "".join(threads.values()) + bare, *both.values())
        assert done.returncode == 0, done
        assert done.stderr == "papers: in no plot: futex:threads with mcs\n", done.stderr
        drawn = sorted((folder / "plots").iterdir())
        assert [path.name for path in drawn] == TEAM_PLOTS, drawn
        assert sorted(done.stdout.split("papers: ")[1:]) == [f"{path}\n" for path in drawn], done
        found, _ = teams.read(sorted(folder.glob("*.csv")))
        expected = {tuple(map(str, key)): microseconds(said)
                    for key, said in {**threads, **both}.items()}
        was = {key: values[0] for key, values in found.rows.items()}
        assert was.keys() == expected.keys(), was.keys() ^ expected.keys()
        wrong = [key for key, value in expected.items() if abs(was[key] / value - 1) > 1e-9]
        assert not wrong, [(key, was[key], expected[key]) for key in wrong]
        for algorithm in "mcs", "dissemination":
            shown = labels(folder / f"plots/combined-{algorithm}.svg")
            # A row of cells after the other, after the numbers on both axes and their names
            at = shown.index("hosts") + 1
            # gnuplot rounds what it has been given with six digits
            cells = [f"{float(format(was['central', algorithm, number, hosts], 'g')):.1f}"
                     for number in "23" for hosts in "23"]
            assert shown[at:at + 4] == cells, f"{algorithm}: {shown}, not {cells}"
            assert f"Microseconds, central and {algorithm} (collperf)" in shown, shown


def test_lines_of_a_plot_go_from_few_hosts_to_many():
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
        print(NAMES, *(line_of(threads=1, hosts=hosts) for hosts in (16, 2, 128)), sep="\n",
              file=file, flush=True)
        found, _ = teams.read([file.name])
    points = found.points("us", team="-", algorithm="mcs")
    assert [at for at, _ in points] == ["2", "16", "128"], points


def test_a_plot_of_times_has_what_was_measured():
    """Not all algorithms, nor each number of threads with each of hosts."""
    lines = [line_of(threads=2, hosts=hosts, mean=1000 * hosts) for hosts in (2, 3, 4)]
    lines += [line_of(threads=4, hosts=hosts, mean=2001 * hosts + 0.5) for hosts in (4, 2)]
    lines += [line_of(threads=1, algorithm="mcs", hosts=hosts) for hosts in (2, 3)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = plot_teams(folder, "\n".join([NAMES, NAMES, *lines, ""]))
        assert done.returncode == 0, done
        drawn = sorted(path.name for path in (folder / "plots").iterdir())
        assert drawn == ["combined-mcs.svg", "hosts.svg"], drawn
        for plot, axis in ("threads", "threads"), ("combined-dissemination", "hosts"):
            assert f'{plot}.svg: not drawn, as it needs two different values of "{axis}"' in \
                done.stderr, done.stderr
        shown = labels(folder / "plots/combined-mcs.svg")
        at = shown.index("hosts") + 1
        assert sorted(shown[at:at + 5]) == ["2.0", "3.0", "4.0", "4.0", "8.0"], shown
        assert "nan" not in shown, shown
        assert "dissemination" not in labels(folder / "plots/hosts.svg")


def test_what_is_not_of_collperf_is_refused():
    good, without = line_of(), NAMES.replace("hosts,", "").replace(",mean_ns", "")
    for lines, words in (
            ((), "1: the file ends without a line of figures"),
            ((NAMES, NAMES), "2: the file ends without a line of figures"),
            ((good,), "1: no column team, kind, members"),
            ((NAMES, good, without, good), "3: no column hosts, mean_ns: not what collperf"),
            ((NAMES, good, good + ",7"), "3: 13 values for 12 names"),
            ((NAMES, good, good[:20]), "3: 4 values for 12 names"),
            ((NAMES, line_of(threads="two")), "2: members is 'two', which is no number above 0"),
            ((NAMES, line_of(hosts=1.5)), "2: hosts is '1.5', which is no number above 0"),
            ((NAMES, "", line_of(mean="nan")), "3: mean_ns is 'nan', which is no number above 0"),
            ((NAMES, line_of(mean="inf")), "2: mean_ns is 'inf', which is no number above 0"),
            ((NAMES, line_of(mean=-1)), "2: mean_ns is '-1', which is no number above 0"),
            ((NAMES, good, line_of(spin=50)), "3: spin_us is 50, but 0 in earlier lines")):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first = "\n".join([NAMES, good, ""])
            done = plot_teams(folder, first, "".join(f"{line}\n" for line in lines))
            assert done.returncode == 1 and not (folder / "plots").exists(), (lines, done)
            assert f"papers: {folder}/1.csv:{words}" in done.stderr, (words, done.stderr)


def test_times_that_no_plot_shows_are_named():
    rows = [line_of(kind="processes"), line_of(algorithm="exchange"), line_of(team="mcs")]
    with tempfile.TemporaryDirectory() as name:
        done = plot_teams(pathlib.Path(name), "\n".join([NAMES, *rows, ""]))
    assert done.returncode == 1 and "too few figures for any plot" in done.stderr, done
    named = "central:processes with mcs; central:threads with exchange; mcs:threads with mcs"
    assert f"in no plot: {named}\n" in done.stderr, done.stderr


def test_files_of_times_that_cannot_be_used_are_named():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = papers("--plot-teams", folder / "none", "--into", folder / "plots")
        assert done.returncode == 1 and done.stderr == \
            f"papers: {folder}/none: No such file or directory\n", done
        (folder / "plots").write_text("")
        done = plot_teams(folder, "\n".join([NAMES, line_of(), ""]))
        assert done.returncode == 1 and done.stderr == \
            f"papers: {folder}/plots: File exists\n", done
    done = papers("--into", "/nowhere")
    assert done.returncode == 1 and "--into: only with --plot-teams" in done.stderr, done


def test_an_experiment_that_does_not_exist_is_refused():
    done = papers("--only", "nothing")
    assert done.returncode == 1 and "--only nothing: not one of 000" in done.stderr, done


def test_all_are_listed():
    done = papers("--list")
    assert done.returncode == 0, done
    listed = [line.split()[1] for line in done.stdout.splitlines()]
    assert listed == [experiment.name for experiment in experiments.ALL], listed


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
