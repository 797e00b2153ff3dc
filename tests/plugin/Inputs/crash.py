#!/usr/bin/env python3
"""Kills a program at its n-th log append, for all n, and lets it check what is left.

usage: crash.py NVMOVE_CC INPUTS OUTPUT FILE [COMPILER OPTION...]

"PROGRAM work POOL" is killed, "PROGRAM check POOL" must then end with status 0; both methods, at the
lowest and the highest level. While it works the runtime compares its copies after each commit, so that a
store nobody noted ends the program, or it does not, which is how programs run: shadow, whose commits are
others then, both at each level, undo in turn. With NVMOVE_TEST_FEW set, not each append is tried (few.py).
Prints the number of crashes; exit status 1, and the pool is left in DRAM, when a check failed or nothing was
appended.
"""
import os
import signal
import subprocess
import sys

import few

LEVELS = ["-O0", "-O3 -march=native"]
METHODS = ["undo", "shadow"]
DEBUG = ["compare", ""]
SECONDS_MAX = 60


def run(program, verb, pool, **settings):
    environment = {**os.environ, **{"NVMOVE_" + k.upper(): v for k, v in settings.items()}}
    return subprocess.run([program, verb, pool], env=environment, timeout=SECONDS_MAX).returncode


def crashes(program, pool, method, debug):
    """How many it survived."""
    n = survived = 0
    while True:
        if os.path.exists(pool):
            os.unlink(pool)
        status = run(program, "work", pool, method=method, debug=debug, kill_at=f"append:{n + 1}")
        if status == 0:
            return survived or sys.exit(f"{method}: the program logs nothing")
        if status != -signal.SIGKILL:
            sys.exit(f"{method}: to be killed at append {n + 1}, ended with {status}")
        if run(program, "check", pool, method=method):
            sys.exit(f"{method}: killed at append {n + 1}, what is left is neither before nor after")
        survived += 1
        n += few.step(n)


def main():
    compiler, inputs, output, source = sys.argv[1:5]
    program = output + ".crash"
    pool = os.path.join("/dev/shm" if os.path.isdir("/dev/shm") else "/tmp", f"nvmove-crash.{os.getpid()}")
    for turn, level in enumerate(LEVELS):
        subprocess.run([compiler, *level.split(), "-I", inputs, source, "-o", program, *sys.argv[5:]],
                       check=True)
        for method in METHODS:
            ways = DEBUG if method == "shadow" else [DEBUG[turn % 2]]
            survived = sum(crashes(program, pool, method, debug) for debug in ways)
            print(f"{level} {method}: {survived} crashes survived", flush=True)
    os.unlink(pool)


if __name__ == "__main__":
    main()
