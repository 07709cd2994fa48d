#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/layers finds cycles and declarations in other files' headers, and nothing else; TAP."""
import pathlib
import subprocess
import sys
import tempfile

LAYERS = pathlib.Path(__file__).resolve().parents[2] / "tools/layers"

LAYERED = {
    "high.c": '#include "high.h"\n#include "low.h"\nvoid high(void) { low(); }\n',
    "high.h": "void high(void);\n",
    "low.c": '#include "low.h"\nvoid low(void) { }\n',
    "low.h": "void low(void);\n",
}


def link(files, real, folder):
    """As a build in another folder than the sources' has them"""
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to(real / path)


def run(files, linked=False):
    """Compiles sources and returns the status and what layers prints about their objects."""
    with tempfile.TemporaryDirectory(prefix="layers.") as name:
        folder = pathlib.Path(name)
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        if linked:
            link(files, folder, folder / "links")
            folder /= "links"
        sources = [folder / path for path in files if path.endswith(".c")]
        for source in sources:
            subprocess.run(["gcc", "-I", folder, "-c", "-o", source.with_suffix(".o"), source],
                           check=True)
        done = subprocess.run([LAYERS, *(source.with_suffix(".o") for source in sources)],
                              check=False, text=True, stdout=subprocess.PIPE)
    return done.returncode, done.stdout.replace(name + "/", "")


def finds_nothing(files):
    done = run(files)
    return done == (0, ""), done


def finds(files, *lines, linked=False):
    done = run(files, linked)
    return done[0] == 1 and all(line in done[1].splitlines() for line in lines), done


def finds_linked(files, *lines):
    return finds(files, *lines, linked=True)


def tests():
    yield "files in layers", finds_nothing, LAYERED
    yield "a cycle of calls that no include shows", finds, {
        **LAYERED, "low.c": "void high(void);\nvoid low(void) { high(); }\n",
    }, "    high -> low: high.c:3 uses low", "    low -> high: low.c:1 uses high"
    yield "a cycle of includes without a call", finds, {
        **LAYERED, "low.h": '#include "types.h"\nvoid low(void);\n',
        "types.h": '#pragma once\n#include "low.h"\n',
    }, "    low -> types: low.h:1 includes types.h", "    types -> low: types.h:2 includes low.h"
    yield "a cycle of includes in a folder of links", finds_linked, {
        **LAYERED, "low.h": '#include "types.h"\nvoid low(void);\n',
        "types.h": '#pragma once\n#include "low.h"\n',
    }, "    low -> types: low.h:1 includes types.h", "    types -> low: types.h:2 includes low.h"
    yield "a cycle of variables", finds, {
        **LAYERED, "high.h": "void high(void);\nextern int height;\n",
        "high.c": '#include "high.h"\n#include "low.h"\nint height;\nvoid high(void) { low(); }\n',
        "low.c": "extern int height;\nint low(void) { return height; }\n",
    }, "    low -> high: low.c:1 uses height"
    yield "a function that another file's header declares", finds, {
        **LAYERED, "high.h": "void high(void);\nvoid low(void);\n", "low.h": "",
    }, "warning: low.c defines low, which high.h declares"
    yield "a variable that another file's header declares", finds, {
        **LAYERED, "high.h": "void high(void);\nextern int depth;\n",
        "low.c": '#include "low.h"\nint depth;\nvoid low(void) { }\n',
    }, "warning: low.c defines depth, which high.h declares"
    yield "a name in a comment, an argument or a body is no declaration", finds_nothing, {
        **LAYERED, "high.h": "/* low() */\nvoid high(void);\n"
                             "static inline void f(void) { extern void low(void); low(); }\n",
    }
    yield "static functions of the same name", finds_nothing, {
        **LAYERED, "low.c": '#include "low.h"\nstatic void high(void) { }\n'
                            "void low(void) { high(); }\n",
    }
    yield "symbols from elsewhere, defined or weak", finds_nothing, {
        **LAYERED, "low.c": '#include "low.h"\nvoid abort(void);\n'
                            "__attribute__((weak)) void option(void);\n"
                            "void low(void) { if (option) option(); abort(); }\n",
    }
    yield "a weak function counts if no other file defines it", finds, {
        **LAYERED,
        "high.c": '#include "high.h"\n#include "low.h"\n'
                  "__attribute__((weak)) void high(void) { low(); }\n",
        "low.c": "void high(void);\nvoid low(void) { high(); }\n",
    }, "    low -> high: low.c:1 uses high"
    yield "the header of its whole may declare a part's functions", finds_nothing, {
        "algorithm.h": "void algorithm(void);\nvoid tree(void);\n",
        "algorithm.c": '#include "algorithm.h"\nvoid algorithm(void) { }\n',
        "algo_tree.c": '#include "algorithm.h"\nvoid tree(void) { algorithm(); }\n',
        "user.c": '#include "algorithm.h"\n#include "user.h"\nvoid user(void) { tree(); }\n',
        "user.h": "void user(void);\n",
    }
    yield ("a cycle of a part and its whole", finds, {
        "algorithm.h": "void algorithm(void);\nvoid tree(void);\n",
        "algorithm.c": '#include "algorithm.h"\nvoid algorithm(void) { tree(); }\n',
        "algo_tree.c": '#include "algorithm.h"\nvoid tree(void) { algorithm(); }\n',
    }, "    algo_tree -> algorithm: algo_tree.c:2 uses algorithm",
           "    algorithm -> algo_tree: algorithm.c:2 uses tree")
    yield ("a cycle of two parts", finds, {
        "algorithm.h": "void tree(void);\nvoid ring(void);\n",
        "algo_ring.c": '#include "algorithm.h"\nvoid ring(void) { tree(); }\n',
        "algo_tree.c": '#include "algorithm.h"\nvoid tree(void) { ring(); }\n',
    }, "    algo_ring -> algo_tree: algo_ring.c:2 uses tree",
           "    algo_tree -> algo_ring: algo_tree.c:2 uses ring")
    yield "a header of another name may not", finds, {
        "user.h": "void tree(void);\n",
        "algo_tree.c": '#include "user.h"\nvoid tree(void) { }\n',
    }, "warning: algo_tree.c defines tree, which user.h declares"
    yield "what another folder's header declares is an interface", finds_nothing, {
        "core/env.h": "void env(void);\n",
        "core/core.h": "void core(void);\n",
        "core/core.c": '#include "core.h"\n#include "env.h"\nvoid core(void) { env(); }\n',
        "platform.h": "void platform(void);\n",
        "platform.c": '#include "platform.h"\n#include "core/core.h"\n#include "core/env.h"\n'
                      "void env(void) { }\nvoid platform(void) { core(); }\n",
    }


def main():
    results = [(name, *test(*rest)) for name, test, *rest in tests()]
    print(f"TAP version 13\n1..{len(results)}")
    for number, (name, well, done) in enumerate(results, 1):
        if not well:
            print(f"# status {done[0]}", *done[1].splitlines(), sep="\n# ")
        print(f"{'' if well else 'not '}ok {number} {name}")
    return 0 if all(well for _, well, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
