#!/usr/bin/env python3
"""Opens and checks damaged pools (pool.c): known ones, and with --runs also new ones by libFuzzer.

usage: fuzz.py --build build/dev [--runs N] [--keep FILE]

Known are those of seeds.py and of corpus.txt, which has one input a line, in hexadecimal. --keep writes all
that reached something new to FILE, in the same form: to extend the corpus with what a long run found.

Exit status: 0 all right; 1 a crash, a failed assertion, an input of more than five seconds or an allocation
larger than a pool. The input is printed then.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import seeds

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SECONDS_MAX = 5     # for one input
ALLOCATION_MAX = 4  # MiB: what a pool here has at most
INPUT_MAX = 160     # bytes


def build(folder, jobs, name):
    made = subprocess.run(["cmake", "--build", folder, "--target", name, "-j", str(jobs)], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        sys.exit(made.stdout)
    return os.path.join(folder, "bin", name)


def read_inputs():
    with open(os.path.join(HERE, "corpus.txt")) as f:
        return seeds.all_seeds() + [bytes.fromhex(line) for line in f.read().split()]


def write_inputs(folder, inputs):
    for number, data in enumerate(inputs):
        with open(os.path.join(folder, f"{number:04}"), "wb") as f:
            f.write(data)


def run(program, folder, crashes, *options):
    """(whether all was right, what the fuzzer said)"""
    done = subprocess.run([program, f"-timeout={SECONDS_MAX}", f"-malloc_limit_mb={ALLOCATION_MAX}",
                           f"-max_len={INPUT_MAX}", "-len_control=0", f"-artifact_prefix={crashes}/",
                           "-print_final_stats=1", *options, folder],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode == 0, done.stdout


def report(said, crashes):
    print("\n".join(line for line in said.split("\n") if "forced" not in line)[-4000:])
    for name in sorted(os.listdir(crashes)):
        with open(os.path.join(crashes, name), "rb") as f:
            print(f"input of {name}: {f.read().hex()}")


def fuzz(folder, runs, keep=None, jobs=os.cpu_count()):
    """(known inputs, inputs run, whether all was right)"""
    name = "nvmove-fuzz-pool" if runs or keep else "nvmove-known-pools"  # without coverage: soon built
    program, corpus = build(folder, jobs, name), read_inputs()
    with tempfile.TemporaryDirectory() as inputs, tempfile.TemporaryDirectory() as crashes:
        write_inputs(inputs, corpus)
        right, said = run(program, inputs, crashes, f"-runs={runs}")
        if not right:
            report(said, crashes)
        executed = re.search(r"number_of_executed_units: (\d+)", said)
        if keep:
            merge(program, inputs, keep)
    return len(corpus), int(executed.group(1)) if executed else 0, right


def merge(program, inputs, keep):
    """The fewest inputs that reach all that was reached."""
    with tempfile.TemporaryDirectory() as fewest:
        subprocess.run([program, "-merge=1", fewest, inputs], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
        lines = []
        for name in sorted(os.listdir(fewest)):
            with open(os.path.join(fewest, name), "rb") as f:
                lines.append(f.read().hex())
    with open(keep, "w") as f:
        f.write("".join(line + "\n" for line in sorted(lines) if line))


def check(folder, runs, jobs):
    """(passed, failed) for tests/run.py: each known input counts."""
    inputs, executed, right = fuzz(folder, runs, jobs=jobs)
    print(f"fuzz: {inputs} known inputs, {executed} runs")
    return (inputs, 0) if right and executed >= inputs else (0, 1)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", required=True, help="folder of the dev preset")
    p.add_argument("--runs", type=int, default=0, help="default: only what is known")
    p.add_argument("--keep", help="file for all inputs that reached something new")
    a = p.parse_args()
    inputs, executed, right = fuzz(os.path.abspath(a.build), a.runs, a.keep)
    print(f"{inputs} known inputs, {executed} runs, {'all right' if right else 'one failed'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
