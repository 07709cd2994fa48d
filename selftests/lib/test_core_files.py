#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Kernel, simulator, fuzzers and the library compile the same files of the core; TAP."""
import pathlib
import re
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
CORE = TREE / "kernel/core"

# What make would compile, by platform: its folder and arguments
PLATFORMS = {
    "the simulator": ("selftests/sim", "-f", "world.mk"),
    "the fuzzers": ("selftests/fuzz", "fuzzers"),
    "the library": ("libcollsock",),
}


def core_files(command, folder):
    """The sources of kernel/core that a compiler is started for."""
    done = subprocess.run(command, cwd=folder, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return {pathlib.Path(name).stem for name in re.findall(r" -c -o \S*core/(\S+)\.o ",
                                                           done.stdout)}


def of_kernel():
    """The objects that Kbuild lists."""
    rule = f"src := {TREE}\ninclude {TREE}/Kbuild\nall:\n\t@echo $(collsock-y)\n"
    done = subprocess.run(["make", "-s", "-f", "-"], input=rule, check=True, text=True,
                          stdout=subprocess.PIPE)
    return {pathlib.Path(name).stem for name in done.stdout.split()
            if name.startswith("kernel/core/")}


def of_make(folder, *arguments):
    with tempfile.TemporaryDirectory(prefix="core-files.") as output:
        return core_files(["make", "-n", "-B", *arguments, f"OUTPUT={output}"], TREE / folder)


def compare(name, compiled, expected):
    missing, more = sorted(expected - compiled), sorted(compiled - expected)
    print(f"# {name}: {len(compiled)} files of the core, of {len(expected)}")
    for what, names in ("not compiled", missing), ("compiled", more):
        if names:
            print(f"# {what}: {' '.join(names)}")
    return not missing and not more


def main():
    everything = {source.stem for source in CORE.glob("*.c")}
    protocol = {name for name in everything if not name.startswith("user_")}
    results = [("the kernel", compare("the kernel", of_kernel(), protocol))]
    results += [(name, compare(name, of_make(*how), everything))
                for name, how in PLATFORMS.items()]
    print(f"TAP version 13\n1..{len(results)}")
    for number, (name, well) in enumerate(results, 1):
        print(f"{'' if well else 'not '}ok {number} {name} compiles all files of the core")
    return 0 if all(well for _, well in results) else 1


if __name__ == "__main__":
    sys.exit(main())
