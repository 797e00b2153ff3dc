#!/usr/bin/env python3
"""Random programs with threads, locks, transactions and kills do what docs/reference/semantics.md promises.

usage: generated.py --cc NVMOVE_CC [--programs N] [--first SEED] [--jobs N] [--cell NAME] [--keep DIR]
                    [--shrink N] [--without KIND,KIND] [--option OPTION]

Each program has a few threads whose steps follow one order (program.py, ops.py, events.py, blocks.py,
owned.py, conditions.py, sides.py), a model of what must be in memory after each step and in the pool after a
crash at any (model.py, judge.py, halves.py), and a few runs: one to its end, others killed at a step or
inside the runtime, with recovery killed as well, some in a pool that counts references or with a second one
(harness.c).
Programs are made in batches, each compiled in one way (workshop.py); a seed stands for the same program, in
the same way, always. The first programs that fail are made smaller (shrink.py) and left in DIR as one C file
each.

Not generated: data races, more than two pools, atomic functions, ports, what a power failure leaves of lines
that were not flushed, a child that looks at its memory after its parent went on.

Exit status: 0 all right, 1 not. The last line is "N passed, N failed".
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import ops  # noqa: E402
import script  # noqa: E402
import shrink  # noqa: E402
from layout import Layout  # noqa: E402
from program import generate  # noqa: E402
from workshop import Failure, Workshop, cell_of  # noqa: E402

BATCH = 50
TRIES = 3           # of a program that failed, before it counts
PROGRESS_EVERY = 1000
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None


class Campaign:
    def __init__(self, folder, keep, shrinks, cell, shop):
        self.folder, self.keep, self.shrinks, self.cell, self.make = folder, keep, shrinks, cell, shop
        self.local, self.lock = threading.local(), threading.Lock()
        self.passed = self.failed = self.runs = self.shops = 0
        self.start = time.monotonic()

    def shop(self):
        """One for each worker."""
        if not hasattr(self.local, "shop"):
            with self.lock:
                self.shops += 1
                number = self.shops
            self.local.shop = self.make(os.path.join(self.folder, str(number)))
        return self.local.shop

    def batch(self, seeds):
        number = seeds[0] // BATCH
        layout, cell, shop = Layout(random.Random(number)), self.cell or cell_of(number), self.shop()
        programs = [generate(layout, seed) for seed in seeds]
        lists = [script.runs(p, cell.split("-")[2], random.Random(p.seed)) for p in programs]
        try:
            runs, failures = shop.run(cell, layout, programs, lists)
        except Exception as e:  # One batch that does not build must not end the campaign.
            self.count(0, len(seeds), 0, f"seeds {seeds[0]} to {seeds[-1]}, {cell}: {e}")
            return
        wrong = 0
        for failure in failures:
            wrong += self.report(shop, cell, programs[failure.number], failure)
        self.count(len(seeds) - wrong, wrong, runs)

    def count(self, passed, failed, runs, said=None):
        with self.lock:
            before = self.passed + self.failed
            self.passed, self.failed, self.runs = self.passed + passed, self.failed + failed, self.runs + runs
            done = self.passed + self.failed
            if said:
                print(f"generated: {said}", flush=True)
            if before // PROGRESS_EVERY != done // PROGRESS_EVERY:
                rate = done * 60 / (time.monotonic() - self.start)
                print(f"generated: {self.passed} passed, {self.failed} failed so far, {rate:.0f} a minute",
                      flush=True)

    def report(self, shop, cell, program, failure):
        """A failure that comes again; gives whether it does."""
        repeated = [r for _ in range(TRIES) for r in [failure.run]]
        _, again = shop.run(cell, program.layout, [program], [repeated], "again")
        if not again:
            self.count(0, 0, 0, f"seed {program.seed}, {cell}: once, and not again: {failure.said}")
            return 0
        with self.lock:
            shrinks = self.shrinks > 0
            self.shrinks -= shrinks
        path = ""
        if shrinks:
            program, failure = shrink.shrink(shop, cell, program, Failure(0, failure.run, failure.said))
            path = os.path.join(self.keep, f"seed{program.seed}-{cell}.c")
            shrink.write_down(path, shop, cell, program, failure)
            path = f"\n  {len(program.kept)} operations are left: {path}"
        self.count(0, 0, 0, f"seed {program.seed}, {cell}: {failure.run}: {failure.said}{path}")
        return 1


def check(cc, programs, first=1, jobs=2, keep=None, shrinks=3, cell=None, options=()):
    """Gives (passed, failed): for tests/run.py."""
    keep = keep or os.path.join(tempfile.gettempdir(), "nvmove-generated")
    os.makedirs(keep, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="nvmove-generated.", dir=FOLDER)
    campaign = Campaign(folder, keep, shrinks, cell, lambda place: Workshop(cc, place, options))
    seeds = range(first, first + programs)
    batches = {}
    for seed in seeds:
        batches.setdefault(seed // BATCH, []).append(seed)
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        for done in workers.map(campaign.batch, batches.values()):
            pass
    shutil.rmtree(folder, ignore_errors=True)
    rate = programs * 60 / (time.monotonic() - campaign.start)
    print(f"generated: {campaign.runs} runs, {rate:.0f} programs a minute")
    return campaign.passed, campaign.failed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True)
    p.add_argument("--programs", type=int, default=500)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--cell", help="build all of them so: O2-lazy-shadow")
    p.add_argument("--keep", help="folder for what is left of programs that fail")
    p.add_argument("--shrink", type=int, default=3, help="how many of those that fail are made smaller")
    p.add_argument("--without", default="", help="kinds of operations to leave out (ops.py, events.py)")
    p.add_argument("--option", action="append", default=[], help="a further option for NVMOVE_CC")
    a = p.parse_args()
    ops.LEFT_OUT.update(k for k in a.without.split(",") if k)
    passed, failed = check(os.path.abspath(a.cc), a.programs, a.first, a.jobs, a.keep, a.shrink, a.cell,
                           a.option)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
