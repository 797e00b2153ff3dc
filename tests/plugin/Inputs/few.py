"""Which appends are tried: each; or, with NVMOVE_TEST_FEW, one of three behind the eighth."""
import os

FIRST = 8
FEW = 3
runs = [0]


def step(n):
    """From the n-th, counted from 0, to the next one."""
    if n == 0:
        runs[0] += 1
    if "NVMOVE_TEST_FEW" not in os.environ or n < FIRST:
        return 1
    return FEW + runs[0] % FEW if n == FIRST else FEW
