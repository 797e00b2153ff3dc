#!/usr/bin/env python3
"""Removes each flush, fence, checksum test, append and ordering of the runtime in turn; runs its tests.

usage: mutate.py --bin DIR [--only EXPRESSION] [--list] [--sample N] [--seed N] [--seconds N] [--jobs N]
                 [--tried FILE] [--screen] [--tests EXPRESSION]

A mutation is one line of the runtime's sources, changed by one rule (mutations.py). What may notice it is
in workshop.py. The first look at each mutation is short: the runtime's tests that reach the line
(reached.py) run for SCREEN_SECONDS, as short as in `make check`, and FEW random programs where threads are
concerned. Each mutation that it leaves is tried by all: tests for FAST_SECONDS and FURTHER_SECONDS;
compiled programs of the suites that are known to reach its file (COMPILED); `nvmove crash` (from DIR) on
right programs that are linked with the mutated runtime; random programs and a storm. What noticed a
mutation in an earlier run (noticed.tsv, which each run writes) is tried before all that: a go over all
places is then short.

A mutation that nothing notices is a survivor: either the tests miss something, or the line is needless.
Those that are known, with the reason, are in SURVIVORS (docs/internals/reliability.md explains them); any
other, and any in that list that is noticed after all, is a failure.

--sample: so many of them, chosen by --seed. --tried: a run that was interrupted goes on behind the mutations
in this file, which it writes, and finds beside it which tests reach which lines. --screen: only the first
look. --tests: only tests of these names are measured and run: for one file whose tests are known. The sources
are copied: the tree is not touched.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pickle
import queue
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import children  # noqa: E402
from mutations import ROOT, SURVIVORS, Mutation, mutations  # noqa: E402
from workshop import Earlier, Noticed, Workshop  # noqa: E402

SECONDS_MAX = 1800  # of all tests on a busy machine
SAID_SHOWN = 4000  # characters of what a command prints
NOTICED = os.path.join(ROOT, "tests", "mutation", "noticed.tsv")
NONE = Mutation("", "", "", 0, "", "")


class Workshops:
    """So many copies of the runtime, in which mutations are tried at the same time."""

    def __init__(self, folder, tools, jobs, seconds, earlier):
        self.jobs, self.seconds, self.free, noticed = jobs, seconds, queue.Queue(), Noticed()
        self.all = [Workshop(os.path.join(folder, str(job)), os.path.abspath(tools), noticed, earlier)
                    for job in range(jobs)]
        for shop in self.all:
            self.free.put(shop)

    def know(self, tried, names):
        """Which tests reach what: measured, or as found beside the file `tried` for the same sources."""
        digest = hashlib.sha256(names.encode())
        for source in sorted(self.all[0].sources):
            with open(os.path.join(self.all[0].folder, source), "rb") as f:
                digest.update(f.read())
        path = f"{tried}.{digest.hexdigest()[:16]}" if tried else None
        if path and os.path.exists(path):
            with open(path, "rb") as f:
                known = pickle.load(f)
        else:
            known = self.all[0].measure(self.jobs, names)
            if path:
                with open(path, "wb") as f:
                    pickle.dump(known, f)
        for shop in self.all:
            shop.reached = known

    def fault(self, screens):
        """What is said where something fails without a mutation; otherwise ""."""
        self.all[0].link()
        return self.all[0].said()[-SAID_SHOWN:] if self.all[0].notices(NONE, self.seconds, screens) else ""

    def fates(self, wanted, screens):
        """(mutation, what noticed it) of each."""
        def fate(mutation):
            shop = self.free.get()
            try:
                return shop.fate(mutation, self.seconds, screens)
            finally:
                self.free.put(shop)

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as workers:
            started = {workers.submit(fate, mutation): mutation for mutation in wanted}
            for done in concurrent.futures.as_completed(started):
                yield started[done], done.result()


class Fates:
    """What became of each mutation: printed, counted, and added to the file `tried`."""

    def __init__(self, tried):
        self.tried, self.passed, self.failed, self.noticed = tried, 0, 0, 0
        self.before = {}  # what noticed it; "": it survives; None: the first look left it
        if tried and os.path.exists(tried):
            with open(tried) as f:
                for line in f:
                    fate, mutation, by = line.rstrip("\n").split("\t")
                    self.before[mutation] = None if fate == "left" else by

    def write(self, fate, mutation, by):
        if self.tried:
            with open(self.tried, "a") as f:
                f.write(f"{fate}\t{mutation}\t{by}\n")

    def count(self, mutation, by):
        known, survives = SURVIVORS.get(mutation.key()), not by
        wrong = survives != bool(known)
        self.passed, self.failed = self.passed + (not wrong), self.failed + wrong
        self.noticed += not survives
        said = "survives: " + (known or "NOT KNOWN") if survives else f"noticed by {by}"
        print(f"{mutation}: {said}{', KNOWN TO SURVIVE' if known and not survives else ''}", flush=True)

    def add(self, mutation, by):
        self.count(mutation, by)
        self.write("noticed" if by else "survives", mutation, by)

    def leave(self, mutation):
        print(f"{mutation}: not noticed by the first look", flush=True)
        self.write("left", mutation, "")


def run(tools, only="", seconds=SECONDS_MAX, jobs=1, sample=0, seed=1, tried=None, screens=False, names=""):
    """(noticed or known, wrong): prints each mutation's fate."""
    everything, found, earlier = mutations(), Fates(tried), Earlier(NOTICED)
    wanted, keys = [m for m in everything if re.search(only, str(m))], [m.key() for m in everything]
    if sample and sample < len(wanted):
        wanted = random.Random(seed).sample(wanted, sample)
    for mutation in wanted:
        if found.before.get(str(mutation)) is not None:
            found.count(mutation, found.before[str(mutation)])
    new = [m for m in wanted if str(m) not in found.before]
    left = [m for m in wanted if found.before.get(str(m), "") is None]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        children.FOLDERS.add(folder)
        shops = Workshops(folder, tools, jobs, seconds, earlier)
        shops.know(tried, names)
        fault = shops.fault(screens)
        if fault:
            print(f"{fault}\nmutate: the tests fail without a mutation")
            return 0, 1
        for mutation, by in shops.fates(new, True):
            if by:
                found.add(mutation, by)
                earlier.write(keys)
            else:
                found.leave(mutation)
                left.append(mutation)
        if screens:
            for mutation in left:
                found.count(mutation, "")
        else:
            for mutation, by in shops.fates(left, False):
                found.add(mutation, by)
                earlier.write(keys)
    print(f"mutate: {found.noticed} of {len(wanted)} noticed, "
          f"{100 * found.noticed / max(len(wanted), 1):.1f} %")
    return found.passed, found.failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"),
                   help="folder of nvmove and nvmove-cc")
    p.add_argument("--only", default="", help="mutations whose printed name matches this expression")
    p.add_argument("--list", action="store_true", help="print them and stop")
    p.add_argument("--sample", type=int, default=0, help="so many of them, chosen at random; 0: all")
    p.add_argument("--seed", type=int, default=1, help="of that choice")
    p.add_argument("--seconds", type=int, default=SECONDS_MAX, help="how long the tests may take")
    p.add_argument("--jobs", type=int, default=1, help="mutations that are tried at the same time")
    p.add_argument("--tried", help="file of the mutations that were tried before; the others are added")
    p.add_argument("--screen", action="store_true", help="only the first look")
    p.add_argument("--tests", default="", help="run only tests whose names match this expression")
    a = p.parse_args()
    children.end_with_signals()
    if a.list:
        for mutation in mutations():
            if re.search(a.only, str(mutation)):
                print(mutation)
        return 0
    passed, failed = run(a.bin, a.only, a.seconds, a.jobs, a.sample, a.seed, a.tried, a.screen,
                         a.tests)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
