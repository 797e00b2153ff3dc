#!/usr/bin/env python3
"""usage: gone.py FILE: status 0 when none of the processes whose numbers are in it runs, soon."""
import sys
import time


def runs(number):
    try:
        with open(f"/proc/{number}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


with open(sys.argv[1]) as file:
    numbers = file.read().split()
end = time.monotonic() + 3
while any(map(runs, numbers)) and time.monotonic() < end:
    time.sleep(0.05)
sys.exit(not numbers or any(map(runs, numbers)))
