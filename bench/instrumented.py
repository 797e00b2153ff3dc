#!/usr/bin/env python3
"""What instrumented code costs while no pool is open: run time over clang's, as ratios.

usage: instrumented.py --cc NVMOVE_CC [--rounds N] [--out FILE] [NAME...]

The programs of tests/differential that name such work ("bench"), each built by clang and by nvmove-cc with
the same options, run it in interleaved rounds; a ratio is the median of its rounds' ratios of processor
time. Goals: 1.20 for each program, 1.10 for the geometric mean. Exit status 1 when a goal is missed.
"""
import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIFFERENTIAL = os.path.join(ROOT, "tests", "differential")
sys.path.insert(0, DIFFERENTIAL)
import programs  # noqa: E402

GOAL_EACH, GOAL_MEAN = 1.20, 1.10


def seconds(program, tree):
    command = [a.format(here=DIFFERENTIAL) for a in program["bench"]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=tree, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name, cc, rounds):
    program = programs.load(name)
    trees = programs.build_both(program, cc)
    return [{kind: seconds(program, trees[kind]) for kind in ("clang", "nvmove")}
            for _ in range(rounds)]


def ratio(measured):
    return statistics.median(r["nvmove"] / r["clang"] for r in measured)


def benched():
    return [name for name in programs.names() if "bench" in programs.load(name)]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("name", nargs="*")
    p.add_argument("--cc", required=True)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "instrumented.json"))
    a = p.parse_args()
    without = sorted(set(a.name) - set(benched()))
    if without:
        p.error(f"{' '.join(without)}: nothing to measure; there are {' '.join(benched())}")
    measured = {name: measure(name, os.path.abspath(a.cc), a.rounds) for name in a.name or benched()}
    os.makedirs(os.path.dirname(a.out), exist_ok=True)
    with open(a.out, "w") as f:
        json.dump({"schema_version": 1, "processor": platform.processor() or platform.machine(),
                   "processors": os.cpu_count(), "load": os.getloadavg(), "rounds": measured}, f, indent=1)
    missed = False
    for name, rounds in measured.items():
        missed |= ratio(rounds) > GOAL_EACH
        print(f"{name}: {ratio(rounds):.3f} of clang's processor time (goal {GOAL_EACH})")
    mean = math.exp(statistics.fmean(math.log(ratio(r)) for r in measured.values()))
    print(f"geometric mean: {mean:.3f} (goal {GOAL_MEAN})")
    return 1 if missed or mean > GOAL_MEAN else 0


if __name__ == "__main__":
    sys.exit(main())
