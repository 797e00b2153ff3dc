#!/usr/bin/env python3
"""The bytes of code in one object file are at most so many times those of another.

usage: text.py TIMES OBJECT OTHER
"""
import subprocess
import sys


def code_bytes(path):
    listed = subprocess.run(["llvm-size", "-A", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.split("\n")]
    return sum(int(row[1]) for row in rows if row and row[0].startswith(".text"))


def main():
    most, own, other = float(sys.argv[1]), code_bytes(sys.argv[2]), code_bytes(sys.argv[3])
    print(f"{own} bytes of code over {other}: {own / other:.3f}, at most {most}")
    return 0 if 0 < own <= most * other else 1


if __name__ == "__main__":
    sys.exit(main())
