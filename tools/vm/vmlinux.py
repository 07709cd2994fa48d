# SPDX-License-Identifier: GPL-2.0
"""Unpacks a Linux kernel, which would take seconds at each boot on an emulated processor."""

import lzma
import os
import struct
import zlib

# Of the bzImage, see Documentation/x86/boot.rst in the kernel's source
SETUP_SECTORS = 0x1f1
PAYLOAD_OFFSET = 0x248
SECTOR_BYTES = 512


def unpack(image):
    """The ELF file in a bzImage, None when it is packed in an unknown way."""
    offset, length = struct.unpack_from("<II", image, PAYLOAD_OFFSET)
    offset += ((image[SETUP_SECTORS] or 4) + 1) * SECTOR_BYTES
    payload = image[offset:offset + length]
    if payload.startswith(b"\xfd7zXZ\0"):
        elf = lzma.LZMADecompressor().decompress(payload)
    elif payload.startswith(b"\x1f\x8b"):
        elf = zlib.decompressobj(wbits=31).decompress(payload)
    else:
        return None
    return elf if elf.startswith(b"\x7fELF") else None


def unpacked(packed, folder):
    """Path of the kernel to boot: unpacked in the folder, made once, if it can be."""
    stamp = packed.stat()
    file = folder / f"{packed.name}-{stamp.st_size}-{stamp.st_mtime_ns}"
    if file.exists():
        return file
    elf = unpack(packed.read_bytes())
    if not elf:
        return packed
    folder.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    temporary.write_bytes(elf)
    temporary.rename(file)
    return file
