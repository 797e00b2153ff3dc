"""Which appends are tried: each, or with NVMOVE_TEST_FEW fewer."""
import os

FIRST = 8
FEW = 3
runs = [0]


def step(n):
    """From the n-th to the next one. Where a run begins among three differs from run to run."""
    if n == 0:
        runs[0] += 1
    if "NVMOVE_TEST_FEW" not in os.environ or n < FIRST:
        return 1
    return FEW + runs[0] % FEW if n == FIRST else FEW
