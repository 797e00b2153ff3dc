#!/usr/bin/env python3
"""Runs a test program of the recorder in a pool, killed at each append of its log.

usage: crashes.py NVMOVE_CC INPUTS OUTPUT FILE [--level=LEVEL]... [--outside | --committed]
                  [COMPILER OPTION...]

The program is compiled with pool_recorder.c and libnvmove. A first run writes down the state after each
commit; then it is killed at its n-th append, n = 1, 2, ... until it gets through, and what is left must
be the state of its last commit or of the next. Both methods, at each level: with the runtime comparing its
copies after each commit, and without, which is how programs run; shadow, whose commits are others then,
both at each level, undo in turn. With NVMOVE_TEST_FEW set, not each append is tried (few.py).
With --outside nothing is stored in a transaction: commit points and the
next beginning commit it. With --committed the program commits by itself what it tells the recorder. Prints
the number of crashes; exit status 1 when a state was wrong, or when the program stored nothing.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import few

LEVELS = ["-O0", "-O2", "-O3 -march=native"]
METHODS = ["undo", "shadow"]
DEBUG = ["compare", ""]
MODES = {"--outside": "RECORDER_OUTSIDE", "--committed": "RECORDER_COMMITTED"}
SECONDS_MAX = 60
COUNT_BYTES = 8
ADDR_NO_RANDOMIZE = 0x40000


def debug_of(method, turn):
    return DEBUG if method == "shadow" else [DEBUG[turn % 2]]


def run(command, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NVMOVE_")}
    environment.update(settings)
    return subprocess.run(command, env=environment, timeout=SECONDS_MAX, stdout=subprocess.DEVNULL).returncode


def fresh(folder, base):
    shutil.copyfile(base, os.path.join(folder, "pool"))
    with open(os.path.join(folder, "acknowledged"), "wb") as f:
        f.write(bytes(COUNT_BYTES))


def crashes(program, judge, folder, **settings):
    """How many it survived, in the empty folder."""
    settings = {**settings, "RECORDER_DIR": folder,
                "NVMOVE_POINTERS": "0"}  # what a program stores of its own addresses is not judged here
    if run([judge, "create", folder], **settings):
        sys.exit("no pool")
    base = os.path.join(folder, "base")
    os.rename(os.path.join(folder, "pool"), base)
    fresh(folder, base)
    if run([program], **settings, RECORDER_FIRST_RUN="1"):
        sys.exit("the program fails in a pool")
    n = survived = 0
    while True:
        fresh(folder, base)
        status = run([program], **settings, NVMOVE_KILL_AT=f"append:{n + 1}")
        if status not in (0, -signal.SIGKILL):
            sys.exit(f"to be killed at append {n + 1}, ended with {status}")
        if run([judge, "judge", folder], NVMOVE_METHOD=settings["NVMOVE_METHOD"]):
            sys.exit(f"killed at append {n + 1}")
        if status == 0:
            return survived or sys.exit("nothing was logged")
        survived += 1
        n += few.step(n)


def crashes_in_memory(program, judge, kept, **settings):
    """The same on a file system in DRAM; the folder of a failure is kept."""
    shutil.rmtree(kept, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix="nvmove-crashes.", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        n = crashes(program, judge, folder, **settings)
        shutil.rmtree(folder)
        return n
    except BaseException:
        shutil.move(folder, kept)
        print("failed with", *(f"{k}={v}" for k, v in settings.items()), flush=True)
        raise


def main():
    compiler, inputs, output, source = sys.argv[1:5]
    if source.endswith(".cpp"):
        compiler = compiler.removesuffix("cc") + "c++"
    chosen = [a[len("--level="):] for a in sys.argv[5:] if a.startswith("--level=")]
    mode = {MODES[a]: "1" for a in sys.argv[5:] if a in MODES}
    options = [a for a in sys.argv[5:] if not a.startswith("--level=") and a not in MODES]
    program, judge = output + ".crashes", output + ".judge"
    recorder = [compiler, "-x", "c", os.path.join(inputs, "pool_recorder.c"), "-o"]
    subprocess.run([*recorder, output + ".recorder.o", "-c"], check=True)
    subprocess.run([*recorder, judge, "-DJUDGE"], check=True)
    # What a program stores of its own addresses has to repeat. Some containers forbid to ask for that.
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
    for turn, level in enumerate(chosen or LEVELS):
        subprocess.run([compiler, *level.split(), "-I", inputs, source, output + ".recorder.o", "-o",
                        program, *options], check=True)
        for method in METHODS:
            survived = [crashes_in_memory(program, judge, output + ".folder", **mode, NVMOVE_METHOD=method,
                                          NVMOVE_DEBUG=debug) for debug in debug_of(method, turn)]
            print(f"{level} {method}: {sum(survived)} crashes survived", flush=True)


if __name__ == "__main__":
    main()
