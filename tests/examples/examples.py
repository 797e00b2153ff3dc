#!/usr/bin/env python3
"""The examples, built twice: what persistence costs in lines, and that it survives every crash.

usage: examples.py --cc NVMOVE_CC [NAME...]

volatile.c, by clang, and persistent.c, by nvmove-cc, must print the same result. The persistent one is
then killed at its n-th log append, for n = 1, 2, ... until it gets through, with each method: started
again it must find every operation that it had acknowledged, at most the one that was under way besides,
and end with the same result. `nvmove crash` must find nothing in a run of it. Between the two files at
most so many lines differ as the table says; Breeze needed 18 for its B+tree and 20 for its hash table.
Comments and empty lines do not count.
record_store.py does the same for the record store, whose state outlives each command.

Exit status: 0 all passed, 1 not.
"""
import argparse
import difflib
import os
import re
import signal
import subprocess
import sys
import tempfile

import record_store

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINES_MAX = {"btree": 10, "cuckoo": 10, "linked-list": 20}
OPERATIONS = {"btree": 24, "cuckoo": 24, "linked-list": 8}
METHODS = ("undo", "shadow")
EXPLORED = 8  # operations of a run that nvmove crash explores
SECONDS_MAX = 60


class Wrong(Exception):
    """What the example did that it must not."""
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None  # no commit waits for a disk


def build(compiler, name, kind, folder, purpose=""):
    program = os.path.join(folder, f"{name}-{kind}{purpose}")
    subprocess.run([*compiler, "-O2", "-Wall", "-Wextra", "-Werror",
                    os.path.join(ROOT, "examples", name, kind + ".c"), "-o", program], check=True)
    return program


def run(command, method="", kill=""):
    """Status, operations acknowledged in the order they were, last line."""
    environment = dict(os.environ, NVMOVE_METHOD=method, NVMOVE_KILL_AT=kill)
    environment = {k: v for k, v in environment.items() if v or not k.startswith("NVMOVE_")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=SECONDS_MAX)
    lines = done.stdout.splitlines()
    return done.returncode, [int(line) for line in lines if line.isdigit()], lines[-1] if lines else ""


def crash(program, pool, count, method, n, wanted):
    """One run that dies at its n-th append, and the one after it; False when it did not die."""
    command = [program, str(count), pool]
    if os.path.exists(pool):
        os.unlink(pool)
    status, acknowledged, result = run(command, method, f"append:{n}")
    if status != -signal.SIGKILL:
        if status or result != wanted:
            raise Wrong(f"ended with {status}: {result}")
        return False
    done = acknowledged[-1] if acknowledged else 0
    status, resumed, result = run(command, method)
    first = resumed[0] if resumed else count + 1
    if status or first not in (done + 1, done + 2):
        raise Wrong(f"had acknowledged {done}, went on at {first}, status {status}")
    if result != wanted:
        raise Wrong(f"result {result}, wanted {wanted}")
    return True


def changed_lines(name):
    texts = []
    for kind in ("volatile", "persistent"):
        with open(os.path.join(ROOT, "examples", name, kind + ".c")) as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        texts.append([line for line in text.splitlines() if line.strip()])
    return sum(line.startswith("+ ") for line in difflib.ndiff(*texts))


def check_one(name, cc, folder):
    """Yields what is wrong with an example."""
    count, pool = OPERATIONS[name], os.path.join(folder, "pool")
    _, _, wanted = run([build(["clang-19"], name, "volatile", folder), str(count)])
    program = build([cc], name, "persistent", folder)
    changed = changed_lines(name)
    print(f"examples: {name}: {changed} lines differ (at most {LINES_MAX[name]})")
    if changed > LINES_MAX[name]:
        yield f"{changed} lines differ"
    for method in METHODS:
        n = 0
        try:
            while crash(program, pool, count, method, n + 1, wanted):
                n += 1
            if n < count:
                raise Wrong(f"only {n} crashes")
            print(f"examples: {name}: {method}: {n} crashes survived")
        except Wrong as e:
            yield f"{method}: killed at append {n + 1}: {e}"
        found = explore(cc, name, folder, method)
        if found:
            yield f"{method}: nvmove crash: {found}"


def explore(cc, name, folder, method):
    """What `nvmove crash` finds; empty: nothing."""
    traced = build([cc, "-g", "--nvmove-trace"], name, "persistent", folder, "-traced")
    pool = os.path.join(folder, "explored")
    if os.path.exists(pool):
        os.unlink(pool)
    nvmove = os.path.join(os.path.dirname(cc), "nvmove")
    command = [nvmove, "crash", "-q", "--seconds=0", "--", traced, str(EXPLORED), pool]
    done = subprocess.run(command, env=dict(os.environ, NVMOVE_METHOD=method), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return f"status {done.returncode}: {done.stdout}" if done.returncode else ""


def check(cc, names=()):
    """Gives (passed, failed)."""
    passed = failed = 0
    for name in names or sorted(LINES_MAX):
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            found = list(check_one(name, cc, folder))
        for text in found:
            print(f"examples: {name}: {text}")
        failed += len(found)
        passed += 1 + 2 * len(METHODS) - len(found)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        for text, wrong in record_store.check(cc, folder, METHODS) if not names else ():
            print(f"examples: record-store: {text}")
            failed, passed = failed + wrong, passed + (not wrong)
    return passed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("name", nargs="*")
    p.add_argument("--cc", required=True)
    a = p.parse_args()
    passed, failed = check(os.path.abspath(a.cc), a.name)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
