# SPDX-License-Identifier: GPL-2.0
"""Structures and numbers of the C header, for tests of what repeats them in Python."""
import subprocess

from built import program


def read_layout():
    """Sizes, fields and numbers as the C compiler sees them."""
    text = subprocess.run([program("layout")], check=True, capture_output=True, text=True).stdout
    sizes, fields, numbers = {}, {}, {}
    for words in map(str.split, text.splitlines()):
        if words[0] == "number":
            numbers[words[1]] = int(words[2])
        elif words[2] == "-":
            sizes[words[1]] = int(words[3])
        else:
            fields.setdefault(words[1], []).append((words[2], int(words[3])))
    return sizes, fields, numbers


SIZES, FIELDS, NUMBERS = read_layout()


def format_items(fmt):
    """The items of a struct format: I I 16s."""
    items, digits = [], ""
    for letter in fmt.lstrip("="):
        if letter.isdigit():
            digits += letter
        else:
            items.append(digits + letter)
            digits = ""
    return items
