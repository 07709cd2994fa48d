# SPDX-License-Identifier: GPL-2.0
"""Writes the "newc" archives that Linux takes as initramfs."""


class Archive:
    """An archive on an open binary file; end() completes it."""

    def __init__(self, stream):
        self.stream = stream
        self.inode = 0

    def _entry(self, name, mode, data=b""):
        self.inode += 1
        fields = [self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        for part in (header + name.encode() + b"\0", data):
            self.stream.write(part + bytes(-len(part) % 4))

    def folder(self, name):
        self._entry(name, 0o040755)

    def file(self, name, data, mode=0o644):
        self._entry(name, 0o100000 | mode, data)

    def end(self):
        self.inode = -1
        self._entry("TRAILER!!!", 0)
