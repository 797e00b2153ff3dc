#!/usr/bin/env python3
"""Where the right function stands among those that `nvmove scan --suggest-load` lists.

usage: suggest.py --nvmove NVMOVE [--save] [--small | PROGRAM...]

--small: the small programs (tests/accuracy/small). Else real ones of the corpus: all, or those that are
named; one whose source cannot be fetched here is skipped, and the reason printed. --save: the functions
that save. Prints a row for each program, then how many were right within the first one, three and five.
A program counts as right if one of the functions of its sheet is.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(HERE, "small"), os.path.join(ROOT, "tests", "e2e")]

import accuracy  # noqa: E402
import score  # noqa: E402

FIRST = (1, 3, 5)
GOAL, GOAL_FIRST = 0.9, 3  # of the programs, within so many: small ones, and in make check-long all
SHOWN = 5


def suggested(nvmove, way, *inputs):
    command = [nvmove, "scan", f"--suggest-{way}", "--format=json", "-q", "--keep-going", *inputs]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)}: status {run.returncode}: {run.stderr.strip()[-300:]}")
    return [s["name"].split(":")[-1] for s in json.loads(run.stdout)[way]] if run.stdout else []


class Ranks:
    def __init__(self, verbose):
        self.verbose, self.ranks = verbose, []

    def add(self, name, wanted, found):
        wanted = [w.split(":")[-1] for w in wanted]
        rank = min((found.index(w) + 1 for w in wanted if w in found), default=0)
        self.ranks.append(rank)
        if self.verbose or not 0 < rank <= GOAL_FIRST:
            print(f"{name}: {rank or 'not listed'}: {', '.join(wanted)}; "
                  f"listed: {', '.join(found[:SHOWN])}", flush=True)

    def within(self, first):
        return sum(0 < rank <= first for rank in self.ranks)

    def good(self):
        return self.within(GOAL_FIRST) >= GOAL * len(self.ranks)

    def table(self):
        parts = (f"{self.within(n)} within the first {n}" for n in FIRST)
        print(f"{len(self.ranks)} programs: {', '.join(parts)}")


def small(nvmove, verbose=False):
    ranks = Ranks(verbose)
    for file in sorted(os.listdir(score.PROGRAMS)):
        path = os.path.join(score.PROGRAMS, file)
        plan = score.sheet(path)
        ranks.add(file, plan["load"], suggested(nvmove, "load", path, "--", "-std=gnu17", *plan["flags"]))
    return ranks


def real(nvmove, names, way="load", verbose=False):
    """(Ranks, how many were skipped)."""
    ranks, skipped = Ranks(verbose), 0
    for name in names or sorted(os.listdir(accuracy.PROGRAMS)):
        plan = accuracy.recipe(name)
        if not plan.get(way):
            continue
        try:
            ranks.add(name, plan[way], suggested(nvmove, way, "-p", accuracy.fetch(name)))
        except accuracy.CannotFetch as e:
            print(f"skipped: {name}: {e}")
            skipped += 1
    return ranks, skipped


def run(nvmove, everything):
    """For tests/run.py: (passed, failed, skipped)."""
    found, skipped = [small(nvmove)], 0
    if everything:
        ranks, skipped = real(nvmove, ())
        found.append(ranks)
    for ranks in found:
        ranks.table()
    good = sum(ranks.good() for ranks in found)
    return good, len(found) - good, skipped


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    p.add_argument("--nvmove", required=True)
    p.add_argument("--save", action="store_true")
    p.add_argument("--small", action="store_true")
    p.add_argument("program", nargs="*")
    a = p.parse_args()
    nvmove = os.path.abspath(a.nvmove)
    ranks = small(nvmove, True) if a.small else real(nvmove, a.program, "save" if a.save else "load", True)[0]
    ranks.table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
