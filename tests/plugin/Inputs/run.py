#!/usr/bin/env python3
"""Compiles a test program with the recording runtime at several levels and runs each result.

usage: run.py NVMOVE_CC RECORDER INPUTS OUTPUT FILE [--level=LEVEL]... [COMPILER OPTION...]

Prints what each program prints, every line behind its level; exit status 1 when one fails.
"""
import subprocess
import sys

LEVELS = ["-O0", "-O1", "-O2", "-O3", "-O3 -march=native"]
SECONDS_MAX = 60  # a program that loops, on a machine that does other work, too


def main():
    compiler, recorder, inputs, output, source = sys.argv[1:6]
    chosen = [a[len("--level="):] for a in sys.argv[6:] if a.startswith("--level=")]
    options = [a for a in sys.argv[6:] if not a.startswith("--level=")]
    failed = False
    for level in chosen or LEVELS:
        program = output + ".exe"
        subprocess.run([compiler, *level.split(), f"--nvmove-runtime={recorder}", "-I", inputs, source,
                        "-o", program, *options], check=True)
        run = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=SECONDS_MAX)
        for line in run.stdout.splitlines():
            print(f"{level}: {line}")
        if run.returncode:
            print(f"{level}: status {run.returncode}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
