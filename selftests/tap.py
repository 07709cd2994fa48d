# SPDX-License-Identifier: GPL-2.0
"""TAP for tests in Python, which are functions."""


def named(functions):
    """Those of a module's globals() whose name begins with test_, as run() takes them."""
    return [(name.removeprefix("test_"), function) for name, function in functions.items()
            if name.startswith("test_")]


def listed(functions, *arguments):
    """A list of functions, as run() takes them: each is called with the arguments."""
    return [(function.__name__.replace("_", " "), function, *arguments) for function in functions]


def report(count, results):
    """Prints the plan, and each (name, what is wrong: lines). Returns the status of the program."""
    failed = 0
    print(f"TAP version 13\n1..{count}")
    for number, (name, lines) in enumerate(results, 1):
        print(f"{'not ok' if lines else 'ok'} {number} {name}")
        if lines:
            failed += 1
            print("\n".join(f"# {line}" for line in lines))
    return 1 if failed else 0


def run(tests):
    """Runs each (name, function, *arguments). Returns the status of the program."""
    failed = 0
    print(f"TAP version 13\n1..{len(tests)}")
    for number, (name, function, *arguments) in enumerate(tests, 1):
        try:
            function(*arguments)
            print(f"ok {number} {name}")
        except Exception as error:  # whatever it is, the test has failed
            failed += 1
            print("# " + f"{type(error).__name__}: {error}".replace("\n", "\n# "))
            print(f"not ok {number} {name}")
    return 1 if failed else 0
