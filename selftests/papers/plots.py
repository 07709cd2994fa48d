# SPDX-License-Identifier: GPL-2.0
"""Plots as SVG, by gnuplot."""

import math
import shutil
import subprocess
import sys

SIZE = "640,400"
HEAD = f"""set terminal svg size {SIZE} noenhanced font "sans-serif,12" background "#ffffff"
set key outside right top Left reverse
set grid
set style data linespoints
set style fill solid 0.8 border -1
"""


def check_installed():
    if not shutil.which("gnuplot"):
        sys.exit("papers: gnuplot is not installed: tools/setup papers")


def quoted(text):
    return '"' + text.replace('"', "'") + '"'


def draw(path, commands, data):
    script = "".join(f"${name} << END\n{text}END\n" for name, text in data.items())
    script += HEAD + f"set output {quoted(str(path))}\n" + commands
    done = subprocess.run(["gnuplot"], input=script, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode or done.stdout:
        sys.exit(f"papers: gnuplot: {path.name}: {done.stdout}")


def axes(title, x, y, *settings):
    return "".join(f"{line}\n" for line in (
        f"set title {quoted(title)}", f"set xlabel {quoted(x)}", f"set ylabel {quoted(y)}",
        *settings))


def is_axis(path, name, values):
    """Whether gnuplot can draw an axis for them."""
    if len(set(values)) > 1:
        return True
    print(f"papers: {path.name}: not drawn, as it needs two different values of {quoted(name)}",
          file=sys.stderr)
    return False


def lines(path, title, x, y, series, *settings):
    """@series: name and points of each line; powers of two are set on the axis as they are.

    Returns the path, or None if there are too few points.
    """
    series = [(name, points) for name, points in series if points]
    if not is_axis(path, x, (at for _, points in series for at, _ in points)):
        return None
    data = {f"d{i}": "".join(f"{at} {value:g}\n" for at, value in points)
            for i, (_, points) in enumerate(series)}
    curves = ", ".join(f"$d{i} using 1:2 title {quoted(name)}"
                       for i, (name, _) in enumerate(series))
    draw(path, axes(title, x, y, "set yrange [0:*]", *settings) + f"plot {curves}\n", data)
    return path


def bars(path, title, x, y, names, series, *settings):
    """A group of bars for each of the names."""
    rows = "".join(" ".join([quoted(name), *(f"{values[i]:g}" for _, values in series)]) + "\n"
                   for i, name in enumerate(names))
    curves = ", ".join(f"$rows using {i + 2}:xtic(1) title {quoted(name)}"
                       for i, (name, _) in enumerate(series))
    draw(path, axes(title, x, y, "set style data histogram", "set yrange [0:*]", *settings) +
         f"plot {curves}\n", {"rows": rows})


def heat(path, title, x, y, points, decimals=0):
    """@points: (x, y) and value of each cell, equally large whatever the numbers.

    Cells of the grid that are not there stay empty. Returns the path, or None if there are too
    few cells.
    """
    across = sorted({at[0] for at in points})
    up = sorted({at[1] for at in points})
    if not (is_axis(path, x, across) and is_axis(path, y, up)):
        return None
    grid = "".join(f"{i} {j} {points.get((at_x, at_y), math.nan):g}\n"
                   for j, at_y in enumerate(up) for i, at_x in enumerate(across))
    cells = "".join(f"{across.index(at[0])} {up.index(at[1])} {value:g}\n"
                    for at, value in points.items())
    tics = [f"set {name}tics ({', '.join(f'{quoted(str(at))} {i}' for i, at in enumerate(steps))})"
            for name, steps in (("x", across), ("y", up))]
    draw(path, axes(title, x, y, *tics, "unset key", "unset grid",
                    f"set xrange [-0.5:{len(across) - 0.5}]", f"set yrange [-0.5:{len(up) - 0.5}]",
                    'set palette defined (0 "#ffffe0", 1 "#e34a33")', "set logscale cb") +
         "plot $grid using 1:2:3 with image, "
         f'$cells using 1:2:(sprintf("%.{decimals}f", $3)) with labels\n',
         {"grid": grid, "cells": cells})
    return path
