#!/usr/bin/env python3
"""Records of random shape: every pointer in them is found, and nothing else is taken for one.

usage: records.py --cc NVMOVE_CC [--programs N] [--first SEED] [--keep DIR]

A program has TYPES record types (shapes.py): nested records, arrays, unions, packed and aligned ones, marks
of all kinds, flexible arrays. Of each it allocates an object, an array of them or less than a whole one, and
fills what each member says it is: pointers, tagged ones, functions, constants, numbers that look like
addresses of the pool or of the process. The generator is the model: it knows what each member is. Checked
(records.c): the commit, `nvmove pool check`, the pool at another address and back, the collector; an address
of the process is refused in each pointer, and where a deciding member makes a number one. Both methods, -O0
and -O2.

Some programs have words that nobody decides, pointers and numbers: these are found and never changed; that
the pool cannot move may be said of them.

Not generated: NVM_XOR_PTR, a condition inside another one, which is an error.

Exit status: 0 all right, 1 not. The last line is "N passed, N failed".
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import shapes  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = 12
SECONDS_MAX = 120
ELSEWHERE = "0x7e9000000000"
UNDECIDED = "may be a pointer or a number"
LEVELS, METHODS = ("-O0", "-O2"), ("undo", "shadow")
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
# What the program is asked for one after the other, and where the pool lies meanwhile.
STEPS = (("fill", None), ("look", None), ("unsafe", None), ("look", ELSEWHERE), ("unsafe", ELSEWHERE),
         ("collect", None), ("look", None))


def packs(seed):
    """A pool with pointers that are not aligned stays where it is, so every other program has none."""
    return seed % 2 == 0


def undecides(seed):
    """Of those that move half have words that nobody decides."""
    return packs(seed) or seed % 4 == 3


def source_of(seed):
    made = [shapes.Record(random.Random(f"{seed} {n}"), f"t{n}", packs(seed), undecides(seed))
            for n in range(TYPES)]
    lines = ['#include "records.h"', ""]
    for record in made:
        lines += [record.text(), ""]
    for record in made:
        lines += [record.tables(), ""]
    lines.append("const struct object objects[] = {")
    lines += [f"    {record.row()}," for record in made]
    return "\n".join([*lines, "};", f"const unsigned object_count = {TYPES};", ""])


def said(command, **environment):
    """None: it ended well; else what it printed."""
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", timeout=SECONDS_MAX, env=dict(os.environ, **environment))
    except subprocess.TimeoutExpired:
        return f"{' '.join(command)}: not done after {SECONDS_MAX} s"
    return None if run.returncode == 0 else f"{' '.join(command)}: status {run.returncode}\n{run.stdout}"


def runs(program, nvmove, pool, method, seed):
    if os.path.exists(pool):
        os.unlink(pool)
    for step, base in STEPS:
        if base and packs(seed):
            continue
        wrong = said([program, step, pool], NVMOVE_METHOD=method, **({"NVMOVE_BASE": base} if base else {}))
        if base and undecides(seed) and wrong and UNDECIDED in wrong:
            wrong = None
        wrong = wrong or said([nvmove, "pool", "check", pool])
        if wrong:
            return f"{method}, {step}{' elsewhere' if base else ''}: {wrong}"
    return None


def fails(cc, seed, folder):
    """What is wrong with the program of that seed; None: nothing."""
    source, program = os.path.join(folder, f"records-{seed}.c"), os.path.join(folder, "program")
    with open(source, "w") as f:
        f.write(source_of(seed))
    for level in LEVELS:
        wrong = said([cc, level, "-g", "-w", "-I", HERE, source, os.path.join(HERE, "records.c"),
                      "-o", program])
        if wrong:
            return f"seed {seed}, {level}: {wrong}"
        for method in METHODS:
            wrong = runs(program, os.path.join(os.path.dirname(cc), "nvmove"), os.path.join(folder, "pool"),
                         method, seed)
            if wrong:
                return f"seed {seed}, {level}, {wrong}"
    os.unlink(source)
    return None


def check(cc, programs, first=1, keep=None):
    """(passed, failed)"""
    failed = 0
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        for seed in range(first, first + programs):
            wrong = fails(os.path.abspath(cc), seed, folder)
            if not wrong:
                continue
            failed += 1
            print(f"records: {wrong}", flush=True)
            if keep:
                os.makedirs(keep, exist_ok=True)
                shutil.copy(os.path.join(folder, f"records-{seed}.c"), keep)
    return programs - failed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cc", required=True, help="nvmove-cc; nvmove lies beside it")
    p.add_argument("--programs", type=int, default=10)
    p.add_argument("--first", type=int, default=1, help="the first seed")
    p.add_argument("--keep", help="folder for the sources of programs that failed")
    a = p.parse_args()
    passed, failed = check(a.cc, a.programs, a.first, a.keep)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
