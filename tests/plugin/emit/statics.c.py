"""Kills programs at each step of binding static pointers; whatever is left, another one goes on with it.

usage: statics.c.py POOL PROGRAM...
"""
import itertools
import os
import shutil
import subprocess
import sys


def check(program, pool, kill=None):
    environment = dict(os.environ, **({"NVMOVE_KILL_AT": f"move:{kill}"} if kill else {}))
    return subprocess.run([program, "check", pool], env=environment, timeout=60).returncode


def main():
    pool, *programs = sys.argv[1:]
    kills = 0
    left = pool + ".left"
    for first, second, third in itertools.permutations(programs):
        assert check(first, pool) == 0
        for step in itertools.count(1):
            shutil.copy(pool, left)
            ends = [check(second, left, step), check(third, left, (step + 2) % 6 + 1)]
            kills += ends.count(-9)
            assert set(ends) <= {0, -9}, f"{second}, then {third} at step {step}: {ends}"
            for last in programs:
                assert check(last, left) == 0, f"{second}, {third} at step {step}, then {last}"
            if ends[0] == 0:
                break
    assert kills > 20, kills


main()
