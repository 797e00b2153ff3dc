#!/usr/bin/env python3
"""Removes each flush, fence, checksum test, append and ordering of the runtime in turn; runs its tests.

usage: mutate.py --bin DIR [--only EXPRESSION] [--list] [--sample N] [--seed N] [--seconds N] [--jobs N]
                 [--tried FILE] [--screen] [--tests EXPRESSION]

A mutation is one line of the runtime's sources, changed by one rule (mutations.py). The runtime's tests that
reach the line run (reached.py), the fastest first, until FAST_SECONDS and FURTHER_SECONDS are used up; so do
compiled programs of the suites that are known to reach its file (COMPILED). `nvmove crash` (from DIR)
explores right programs that are linked with the mutated runtime. Random programs and a storm run where
threads are concerned. A mutation that nothing notices is a survivor: either the tests
miss something, or the line is needless. Those that are known, with the reason, are in SURVIVORS
(docs/internals/reliability.md explains them); any other, and any in that list that is noticed after all, is
a failure. --sample: so many of them, chosen by --seed. --tried: a run that was interrupted goes on behind the
mutations in this file, which it writes, and finds beside it which tests reach which lines. --screen: only
SCREEN_SECONDS of the tests run, and FEW programs, which finds most in a tenth of the time. --tests: only
tests of these names are measured and run: for one file whose tests are known. The sources
are copied: the tree is not touched.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pickle
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import children  # noqa: E402
import reached  # noqa: E402
from mutations import ROOT, SURVIVORS, WHOLE, Mutation, mutations  # noqa: E402

FLAGS = ["-std=gnu11", "-O1", "-g0", "-w", "-fPIC", "-Iinclude", "-Iruntime",
         f'-DNVMOVE_TEST_SOURCE="{ROOT}"']
# Right programs of tests/crash: (source, further options).
EXPLORED = (("right.c", ()), ("threads.c", ()), ("threads.c", ("-DEARLY",)),
            ("straight.c", ()), ("straight.c", ("-DSIZE=1000",)),
            ("handed.c", ()), ("joined.c", ()), ("counted.c", ()), ("recycled.c", ()))
EXPLORE = ["crash", "-q", "--epoch-states", "16", "--samples", "8", "--interrupt-every", "0",
           "--seconds=0"]
# Tests of lit whose programs are linked with the mutated runtime: what they reach is not measured.
COMPILED = {"runtime/base/signal_frame.c": ("plugin/handler-without-tables.c", "driver/handlers.test"),
            "runtime/core/called.c": ("plugin/left-call.c", "plugin/running-call.c"),
            "runtime/tx/judge.c": ("plugin/hidden-pointers.c", "plugin/decided-together.c",
                                    "plugin/closed-library.c"),
            "runtime/tx/own_image.c": ("plugin/decided-together.c",),
            "runtime/order/order_join.c": ("plugin/decided-together.c", "plugin/review-a2-released.c"),
            "runtime/order/locks.c": ("driver/locks-seen.test", "plugin/locked.c"),
            "runtime/symbols/statics.c": ("plugin/closed-library.c", "plugin/tagged-statics.c"),
            "runtime/symbols/statics_table.c": ("plugin/closed-library.c", "plugin/text.test")}
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"
METHODS = ("undo", "shadow")
APART = ("/raw", "/outputs")  # archives of their own, which no test program of the runtime has
EXPLORE_SECONDS_MAX = 200  # a mutated program may hang: that is noticed, too
SECONDS_MAX = 1800  # of all tests on a busy machine
FAST_SECONDS = 30   # of tests that run before anything else
SCREEN_SECONDS = 15  # of all tests, where only a first look is wanted
SCREEN_POWER_SECONDS = 90  # the same, of a flush or a fence
FURTHER_SECONDS = 150  # of those that run behind everything else
SAID, SAID_SHOWN = "said", 4000  # what a command prints; of it, characters
LAST_SHOWN = 200  # of its last line
RUNNER_SECONDS = 30
NOTICED_MAX = 24  # tests that are tried first
CHECK = "check: "
FEW, PROGRAMS, KILLS = 25, 200, 100

with open(os.path.join(ROOT, "tests", "runtime", "CMakeLists.txt")) as cmake:
    WRAPPED = re.search(r"foreach\(call ([\w\s]+)\)", cmake.read()).group(1).split()  # by faults.c


class Noticed:
    """Checks and tests that noticed a mutation, the last first: what found one mistake finds the next."""

    def __init__(self):
        self.by_file = collections.defaultdict(list)

    def add(self, name, what):
        for known in (self.by_file[name], self.by_file[""]):
            if what in known:
                known.remove(what)
            known.insert(0, what)

    def tests(self, name):
        known = dict.fromkeys(self.by_file[name][:NOTICED_MAX * 2 // 3] + self.by_file[""])
        return [what for what in known if not what.startswith(CHECK)][:NOTICED_MAX]

    def order(self, name, checks):
        known = self.by_file[name]
        return sorted(checks, key=lambda c: known.index(CHECK + c) if CHECK + c in known else len(known))


class Workshop:
    """A copy of the sources, with the object file of each."""

    def __init__(self, folder, tools, noticed, screens):
        self.folder, self.tools, self.nvmove = folder, tools, os.path.join(tools, "nvmove")
        self.screens, self.noticed, self.reached = screens, noticed, None
        self.cc = os.path.join(folder, "build", "bin", "nvmove-cc")
        for part in ("runtime", "include", "tests/runtime"):
            shutil.copytree(os.path.join(ROOT, part), os.path.join(folder, part))
        os.makedirs(os.path.join(folder, "objects"))
        found = sorted(os.path.relpath(os.path.join(where, name), folder)
                       for part in ("runtime", "tests/runtime")
                       for where, _, names in os.walk(os.path.join(folder, part))
                       for name in names if name.endswith(".c") and not where.endswith(APART))
        self.twins = [s for s in found if s.endswith(("_strong.c", "_wrapped.c"))]  # of the archive alone
        self.sources = [s for s in found if s not in self.twins]
        self.make_tools()
        for source in found:
            self.compile(source)
        for number, (name, options) in enumerate(EXPLORED):
            subprocess.run([os.path.join(tools, "nvmove-cc"), "-g", "-O1", "-w", "--nvmove-trace", *options,
                            "-c", os.path.join(ROOT, "tests", "crash", name), "-o", f"explored{number}.o"],
                           cwd=folder, check=True)

    def object_of(self, source):
        return os.path.join("objects", source.replace("/", "_") + ".o")

    def compile(self, source, options=(), made=None):
        command = ["clang-19", *FLAGS, *options, "-c", source, "-o", made or self.object_of(source)]
        subprocess.run(command, cwd=self.folder, check=True)

    def measure(self, jobs, names):
        """Which tests reach which lines; as the runtime is without a mutation."""
        os.makedirs(os.path.join(self.folder, "marked"))
        objects = []
        for source in self.sources:
            if source.startswith("runtime/"):
                objects.append(os.path.join("marked", source.replace("/", "_") + ".o"))
                self.compile(source, reached.MARKS, objects[-1])
            else:
                objects.append(self.object_of(source))
        self.compile(os.path.join(ROOT, "tests", "mutation", "reached.c"), (), "marked/reached.o")
        self.link([*objects, "marked/reached.o", "-no-pie"], "marked.exe")
        return reached.measure(os.path.join(self.folder, "marked.exe"), self.folder, jobs, names)

    def users(self, name):
        if not name.endswith(".c"):
            return [s for s in self.sources + self.twins if s.startswith("runtime/")]
        return [name, *(t for t in self.twins if t.rpartition("_")[0] + ".c" == name)]

    def link(self, objects=None, name="tests.exe"):
        objects = objects or [self.object_of(s) for s in self.sources]
        wraps = [f"-Wl,--wrap={call}" for call in WRAPPED]
        subprocess.run(["clang-19", *objects, *wraps, "-lpthread", "-ldl", "-o", name],
                       cwd=self.folder, check=True)

    def link_explored(self, number):
        runtime = [self.object_of(s) for s in self.sources if s.startswith("runtime/")]
        subprocess.run(["clang-19", f"explored{number}.o", *runtime, "-lpthread", "-ldl", "-o",
                        f"explored{number}"], cwd=self.folder, check=True)

    def plans(self, mutation):
        """Tests that reach the mutated line: those that take FAST_SECONDS, and others."""
        tests = self.reached.plan(mutation.name, mutation.number, self.noticed.tests(mutation.name))
        seconds = SCREEN_SECONDS if self.screens else FAST_SECONDS
        if mutation.kind in ("fence", "flush"):
            tests.sort(key=lambda test: not loses_power(test))  # only these can notice
            losing = sum(self.reached.seconds[t] for t in tests if loses_power(t))
            seconds = max(seconds, min(losing, SCREEN_POWER_SECONDS) if self.screens else losing)
        fast = self.reached.within(tests, seconds)
        return tests[:fast], tests[fast:fast + self.reached.within(tests[fast:], FURTHER_SECONDS)]

    def tests_pass(self, tests, seconds):
        with open(os.path.join(self.folder, "plan"), "w") as f:
            f.writelines(f"{self.reached.limit(t)} {t}\n" for t in tests)
        longest = RUNNER_SECONDS + sum(self.reached.limit(t) for t in tests)  # the runner may hang by itself
        return not tests or self.ends_well(["./tests.exe", "--stop", "--plan", "plan"], min(seconds, longest))

    def checks(self, mutation, seconds):
        """What may notice a mutation, by its name; each gives whether it found nothing. Of no mutation: all
        but the tests, which were measured."""
        fast, further = self.plans(mutation) if mutation.name else ((), ())
        threads = {"few programs": lambda: self.programs_pass(FEW, seconds),
                   "programs": lambda: self.programs_pass(PROGRAMS, seconds),
                   "storm": lambda: self.storm_passes(seconds)} if mutation.name in ("", *WHOLE) else {}
        compiled = {"compiled": lambda: self.compiled_pass(COMPILED[mutation.name], seconds)
                    } if mutation.name in COMPILED else {}
        if self.screens:
            threads = {"few programs": threads["few programs"]} if threads else {}
            return {"tests": lambda: self.tests_pass(fast, seconds), **threads, **compiled}
        explored = {f"explored {n}": lambda n=n: self.explores(n, METHODS, seconds)
                    for n in range(len(EXPLORED))}
        return {"tests": lambda: self.tests_pass(fast, seconds), **threads, **compiled, **explored,
                "further tests": lambda: self.tests_pass(further, seconds)}

    def notices(self, mutation, seconds):
        """The check that finds something, and the test that failed; none: "". A hang is a failure."""
        self.make_compiler()
        checks = self.checks(mutation, seconds)
        for check in ["tests", *self.noticed.order(mutation.name, list(checks)[1:])]:
            if not checks[check]():
                return f"{check}: {self.learn(mutation.name, check)}"
        return ""

    def make_tools(self):
        """A build folder whose nvmove-cc links with the mutated runtime."""
        build, theirs = os.path.dirname(os.path.dirname(self.cc)), os.path.dirname(self.tools)
        for part in ("bin", os.path.join("lib", "nvmove")):
            shutil.copytree(os.path.join(theirs, part), os.path.join(build, part))
        for part in ("include", "share"):
            os.symlink(os.path.join(theirs, part), os.path.join(build, part))

    def make_compiler(self):
        """Puts the runtime, as it is now, where nvmove-cc looks for it."""
        archive = os.path.join("build", "lib", "nvmove", "libnvmove.a")
        os.unlink(os.path.join(self.folder, archive))
        objects = [self.object_of(s) for s in self.sources + self.twins if s.startswith("runtime/")]
        subprocess.run(["ar", "rcs", archive, *objects], cwd=self.folder, check=True)

    def compiled_pass(self, tests, seconds):
        build = os.path.join(self.folder, "build")
        return self.ends_well([sys.executable, LIT, "-v", "-j1", "--max-failures", "1", "--param", "long=1",
                               "--param", f"build={build}",
                               *(os.path.join(ROOT, "tests", test) for test in tests)], seconds)

    def programs_pass(self, count, seconds):
        return self.ends_well([sys.executable, os.path.join(ROOT, "tests/generated/generated.py"), "--cc",
                               self.cc, "--programs", str(count), "--jobs", "1", "--shrink", "0"], seconds)

    def storm_passes(self, seconds):
        return self.ends_well([sys.executable, os.path.join(ROOT, "tests/storm/storm.py"), "--cc", self.cc,
                               "--kills", str(KILLS)], seconds)

    def explores(self, number, methods, seconds):
        self.link_explored(number)
        pool = os.path.join(self.folder, "pool")
        for method in methods:
            if os.path.exists(pool):
                os.unlink(pool)
            if not self.ends_well([self.nvmove, *EXPLORE, "--", f"./explored{number}", pool],
                                  min(seconds, EXPLORE_SECONDS_MAX), NVMOVE_METHOD=method):
                return False
        return True

    def ends_well(self, command, seconds, **environment):
        with open(os.path.join(self.folder, SAID), "w") as said:
            status = children.ended(command, seconds, cwd=self.folder, stdout=said, stderr=subprocess.STDOUT,
                                    env=dict(os.environ, TMPDIR=self.folder, NVMOVE_TEST_LONG="1",
                                             **environment))
            if status is None:
                said.write(f"{' '.join(command)}: not done after {seconds} s\n")
            return status == 0

    def learn(self, name, check):
        self.noticed.add(name, CHECK + check)
        with open(os.path.join(self.folder, SAID), errors="replace") as f:
            said = f.read()
        for test in re.findall(r"^FAILED: (.*)$", said, re.M):
            self.noticed.add(name, test)
        return ((said.splitlines() or ["it died"])[-1])[:LAST_SHOWN]

    def fate(self, mutation, seconds):
        path = os.path.join(self.folder, mutation.name)
        with open(path) as f:
            lines = f.read().split("\n")
        lines[mutation.number - 1] = mutation.new
        right = os.path.join(self.folder, "right")
        shutil.copytree(os.path.join(self.folder, "objects"), right)
        with open(path, "w") as f:
            f.write("\n".join(lines))
        try:
            try:
                for source in self.users(mutation.name):
                    self.compile(source)
                self.link()
            except subprocess.CalledProcessError:
                return "the compiler"
            return self.notices(mutation, seconds)
        finally:
            lines[mutation.number - 1] = mutation.old
            with open(path, "w") as f:
                f.write("\n".join(lines))
            shutil.rmtree(os.path.join(self.folder, "objects"))
            os.rename(right, os.path.join(self.folder, "objects"))


NONE = Mutation("", "", "", 0, "", "")


def loses_power(test):
    """By its name; "undo power" behind it is the domain."""
    return "power" in test.split()[0]


def measured(shop, jobs, tried, names):
    """What `shop` measures, or what is known of the same sources beside the file `tried`."""
    digest = hashlib.sha256(names.encode())
    for source in sorted(shop.sources):
        with open(os.path.join(shop.folder, source), "rb") as f:
            digest.update(f.read())
    path = f"{tried}.{digest.hexdigest()[:16]}" if tried else None
    if path and os.path.exists(path):
        with open(path, "rb") as f:
            return pickle.load(f)
    found = shop.measure(jobs, names)
    if path:
        with open(path, "wb") as f:
            pickle.dump(found, f)
    return found


def fates(wanted, folder, tools, seconds, jobs, screens, tried, names):
    """(mutation, what noticed it) of each; None and what is said: the tests fail without."""
    free, noticed = queue.Queue(), Noticed()
    for job in range(jobs):
        os.mkdir(os.path.join(folder, str(job)))
        free.put(Workshop(os.path.join(folder, str(job)), os.path.abspath(tools), noticed, screens))

    def fate(mutation):
        shop = free.get()
        try:
            return shop.fate(mutation, seconds)
        finally:
            free.put(shop)

    shops = [free.get() for _ in range(jobs)]
    found = measured(shops[0], jobs, tried, names)
    for shop in shops:
        shop.reached = found
    shops[0].link()
    right = not shops[0].notices(NONE, seconds)
    for shop in shops:
        free.put(shop)
    if not right:
        with open(os.path.join(shops[0].folder, SAID), errors="replace") as said:
            yield None, said.read()[-SAID_SHOWN:]
        return
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        started = {workers.submit(fate, mutation): mutation for mutation in wanted}
        for done in concurrent.futures.as_completed(started):
            yield started[done], done.result()


class Fates:
    """What became of each mutation: printed, counted, and added to the file `tried`."""

    def __init__(self, tried):
        self.tried, self.passed, self.failed, self.noticed, self.before = tried, 0, 0, 0, {}
        if tried and os.path.exists(tried):
            with open(tried) as f:
                for line in f:
                    fate, mutation, *by = line.rstrip("\n").split("\t")
                    self.before[mutation] = "" if fate == "survives" else (by or ["?"])[0]

    def add(self, mutation, by):
        known, survives = SURVIVORS.get(mutation.key()), not by
        wrong = survives != bool(known)
        self.passed, self.failed = self.passed + (not wrong), self.failed + wrong
        self.noticed += not survives
        said = "survives: " + (known or "NOT KNOWN") if survives else f"noticed by {by}"
        print(f"{mutation}: {said}{', KNOWN TO SURVIVE' if known and not survives else ''}", flush=True)
        if self.tried and str(mutation) not in self.before:
            with open(self.tried, "a") as f:
                f.write(f"{'survives' if survives else 'noticed'}\t{mutation}\t{by}\n")


def run(tools, only="", seconds=SECONDS_MAX, jobs=1, sample=0, seed=1, tried=None, screens=False, names=""):
    """(noticed or known, wrong): prints each mutation's fate."""
    wanted, found = [m for m in mutations() if re.search(only, str(m))], Fates(tried)
    if sample and sample < len(wanted):
        wanted = random.Random(seed).sample(wanted, sample)
    for mutation in wanted:
        if str(mutation) in found.before:
            found.add(mutation, found.before[str(mutation)])
    left = [m for m in wanted if str(m) not in found.before]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        children.FOLDERS.add(folder)
        for mutation, by in fates(left, folder, tools, seconds, jobs, screens, tried, names):
            if not mutation:
                print(f"{by}\nmutate: the tests fail without a mutation")
                return 0, 1
            found.add(mutation, by)
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
    p.add_argument("--screen", action="store_true", help="only the tests that reach it, and few programs")
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
