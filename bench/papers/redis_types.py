#!/usr/bin/env python3
"""How many of Redis's persistent types `nvmove scan` finds, by its answer sheet (tests/accuracy).

usage: redis_types.py --nvmove NVMOVE --json FILE

Exit status: 0 measured, 1 not, 3 the source cannot be had.
"""
import argparse
import json
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))

import accuracy  # noqa: E402


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--nvmove", required=True)
    p.add_argument("--json", required=True)
    a = p.parse_args()
    try:
        accuracy.fetch("redis")
        begun = time.monotonic()
        report = accuracy.scan(a.nvmove, "redis", extra=("--no-cache",))
        seconds = time.monotonic() - begun
    except accuracy.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3
    score = accuracy.Score(report, accuracy.sheet("redis"))
    print(accuracy.describe("Redis 3.2.6", score))
    with open(a.json, "w") as f:
        json.dump({"needed": score.needed, "found": score.found, "reported": score.reported,
                   "wrong": len(score.wrong), "seconds": seconds}, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
