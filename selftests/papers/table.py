# SPDX-License-Identifier: GPL-2.0
"""A table of figures: read, written as CSV, compared with another."""

import csv
import math


class Table:
    """Rows of figures; the first columns, the keys, say what a row is about."""

    def __init__(self, columns, keys, rows):
        self.columns, self.keys = tuple(columns), keys
        self.rows = {tuple(map(str, row[:keys])): [number(value) for value in row[keys:]]
                     for row in rows}

    def write(self, path):
        with open(path, "w", encoding="ascii", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            for key, values in self.rows.items():
                writer.writerow([*key, *("" if math.isnan(value) else f"{value:.10g}"
                                         for value in values)])

    def points(self, column, **where):
        """(key, value) of the rows whose other keys are as given; else the last key."""
        at = self.columns.index(column) - self.keys
        wanted = {self.columns.index(name): str(value) for name, value in where.items()}
        axis = max(set(range(self.keys)) - wanted.keys())
        return [(key[axis], values[at]) for key, values in self.rows.items()
                if all(key[place] == value for place, value in wanted.items())
                and not math.isnan(values[at])]

    def differences(self, other, tolerance):
        """What is different in the other one, in words; the tolerance is a share."""
        for key in {**self.rows, **other.rows}:
            name = ", ".join(f"{column} {value}" for column, value in zip(self.columns, key))
            if key not in other.rows or key not in self.rows:
                yield f"{name}: {'not there' if key in self.rows else 'new'}"
                continue
            for column, was, now in zip(self.columns[self.keys:], self.rows[key],
                                        other.rows[key]):
                if not alike(was, now, tolerance):
                    share = f" ({now / was - 1:+.1%})" if now / (was or math.nan) > 0 else ""
                    yield f"{name}: {column} was {was:g}, is {now:g}{share}"


def read(path, keys):
    with open(path, encoding="ascii", newline="") as file:
        columns, *rows = csv.reader(file)
    return Table(columns, keys, rows)


def number(text):
    return float(text) if text != "" else math.nan


def alike(was, now, tolerance):
    if math.isnan(was) or math.isnan(now):
        return math.isnan(was) and math.isnan(now)
    return abs(now - was) <= tolerance * max(abs(was), abs(now))
