#!/usr/bin/env python3
"""Runs a test program of the recorder in a pool, killed at each append of its log.

usage: crashes.py NVMOVE_CC INPUTS OUTPUT FILE [--level=LEVEL]... [--outside] [COMPILER OPTION...]

The program is compiled with pool_recorder.c and libnvmove. A first run writes down the state after each
commit; then it is killed at its n-th append, n = 1, 2, ... until it gets through, and what is left must
be the state of its last commit or of the next. Both methods, at each level; after each commit the
runtime compares its copies. With --outside nothing is stored in a transaction: commit points and the next
beginning commit it. Prints the number of crashes; exit status 1 when a state was wrong.
"""
import os
import shutil
import signal
import subprocess
import sys

LEVELS = ["-O0", "-O2", "-O3 -march=native"]
METHODS = ["undo", "shadow"]
SECONDS_MAX = 60
COUNT_BYTES = 8
# What a program stores of its own addresses has to repeat. Some containers forbid to ask for that.
FIXED_ADDRESSES = ["setarch", "-R"]
if subprocess.run([*FIXED_ADDRESSES, "true"], stderr=subprocess.DEVNULL).returncode:
    FIXED_ADDRESSES = []


def run(command, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NVMOVE_")}
    environment.update(settings)
    return subprocess.run([*FIXED_ADDRESSES, *command], env=environment, timeout=SECONDS_MAX,
                          stdout=subprocess.DEVNULL).returncode


def fresh(folder, base):
    shutil.copyfile(base, os.path.join(folder, "pool"))
    with open(os.path.join(folder, "acknowledged"), "wb") as f:
        f.write(bytes(COUNT_BYTES))


def crashes(program, judge, folder, method, outside):
    """How many it survived."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    settings = {"RECORDER_DIR": folder, "NVMOVE_METHOD": method, "NVMOVE_DEBUG": "compare",
                "NVMOVE_POINTERS": "0"}  # what a program stores of its own addresses is not judged here
    if outside:
        settings["RECORDER_OUTSIDE"] = "1"
    if run([judge, "create", folder], **settings):
        sys.exit("no pool")
    base = os.path.join(folder, "base")
    os.rename(os.path.join(folder, "pool"), base)
    fresh(folder, base)
    if run([program], **settings, RECORDER_FIRST_RUN="1"):
        sys.exit(f"{method}: the program fails in a pool")
    n = 0
    while True:
        fresh(folder, base)
        status = run([program], **settings, NVMOVE_KILL_AT=f"append:{n + 1}")
        if status not in (0, -signal.SIGKILL):
            sys.exit(f"{method}: to be killed at append {n + 1}, ended with {status}")
        if run([judge, "judge", folder], NVMOVE_METHOD=method):
            sys.exit(f"{method}: killed at append {n + 1}")
        if status == 0:
            return n
        n += 1


def main():
    compiler, inputs, output, source = sys.argv[1:5]
    chosen = [a[len("--level="):] for a in sys.argv[5:] if a.startswith("--level=")]
    options = [a for a in sys.argv[5:] if not a.startswith("--level=") and a != "--outside"]
    program, judge = output + ".crashes", output + ".judge"
    recorder = os.path.join(inputs, "pool_recorder.c")
    subprocess.run([compiler, "-c", recorder, "-o", output + ".recorder.o"], check=True)
    subprocess.run([compiler, "-DJUDGE", recorder, "-o", judge], check=True)
    for level in chosen or LEVELS:
        subprocess.run([compiler, *level.split(), "-I", inputs, source, output + ".recorder.o", "-o",
                        program, *options], check=True)
        for method in METHODS:
            n = crashes(program, judge, output + ".folder", method, "--outside" in sys.argv[5:])
            print(f"{level} {method}: {n} crashes survived", flush=True)


if __name__ == "__main__":
    main()
