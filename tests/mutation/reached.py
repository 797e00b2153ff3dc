"""Which tests enter which functions of the runtime, and how long each test takes.

The runtime is compiled once more, with a mark at the entry of each function (reached.c), nothing inlined;
each test then runs alone. A function of the sources is known by its name; of static ones in several files
that share a name all are meant.
"""
import bisect
import concurrent.futures
import os
import re
import subprocess
import tempfile
import time

import children

GRAIN = 4  # of reached.c
SECONDS_MAX = 600  # of a test without a mutation, on a busy machine
MARKS = ["-fsanitize-coverage=func,trace-pc-guard", "-fno-inline"]
SLOWER, SLOWEST_START = 8, 6  # a test on a busy machine, with a mutation that makes it wait


class Reached:
    def __init__(self):
        self.seconds, self.tests_of = {}, {}

    def add(self, test, seconds, functions):
        self.seconds[test] = seconds
        for function in functions:
            self.tests_of.setdefault(function, set()).add(test)

    def known(self, function):
        return function in self.tests_of

    def limit(self, test):
        """Seconds after which a test hangs."""
        return int(SLOWEST_START + SLOWER * self.seconds[test])

    def within(self, tests, seconds):
        """How many of them run in so many seconds; at least one."""
        count, used = 0, 0
        while count < len(tests) and used < seconds:
            used += self.seconds[tests[count]]
            count += 1
        return count

    def plan(self, function, first):
        """The tests that enter a function (of an unknown one all): `first`, then the fastest first."""
        tests = self.tests_of.get(function, self.seconds)
        found = sorted(tests, key=lambda t: self.seconds[t])
        return [t for t in first if t in tests] + [t for t in found if t not in first]


def functions_of(program):
    """Addresses, sorted, and the name at each."""
    said = subprocess.run(["nm", "-n", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = [(int(m.group(1), 16), m.group(2).split(".")[0])
             for m in re.finditer(r"^([0-9a-f]+) [tTwW] (\S+)$", said, re.M)]
    start = re.search(r"^([0-9a-f]+) \w __executable_start$", said, re.M)
    return int(start.group(1), 16), [a for a, _ in found], [n for _, n in found]


def measure(program, folder, jobs):
    """Runs every test of a program that is linked with reached.c, so many at a time."""
    start, addresses, names = functions_of(program)
    tests = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout

    def run(test):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            marks, plan = os.path.join(place, "marks"), os.path.join(place, "plan")
            with open(plan, "w") as f:
                f.write(f"{SECONDS_MAX} {test}\n")
            begun = time.monotonic()
            status = children.ended([program, "--plan", plan], SECONDS_MAX, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL,
                                    env=dict(os.environ, NVMOVE_TEST_REACHED=marks, TMPDIR=place))
            if status != 0:
                raise RuntimeError(f"{test} fails without a mutation")
            with open(marks, "rb") as f:
                held = f.read()
        entered = {names[bisect.bisect_right(addresses, start + m.start() * GRAIN) - 1]
                   for m in re.finditer(b"\1", held)}
        return test, time.monotonic() - begun, entered

    found = Reached()
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        for result in workers.map(run, tests.splitlines()):
            found.add(*result)
    return found
