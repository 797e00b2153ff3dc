"""A copy of the runtime in which one line at a time is changed, and what may notice that."""
import collections
import os
import re
import shutil
import subprocess
import sys

import children
import reached
from mutations import ROOT, WHOLE

FLAGS = ["-std=gnu11", "-O1", "-g0", "-w", "-fPIC", "-Iinclude", "-Iruntime", "-Itests/runtime/harness",
         f'-DNVMOVE_TEST_SOURCE="{ROOT}"']
# Right programs of tests/crash: (source, further options).
EXPLORED = (("right.c", ()), ("threads.c", ()), ("threads.c", ("-DEARLY",)),
            ("direct.c", ()), ("direct.c", ("-DSIZE=1000",)),
            ("handed.c", ()), ("joined.c", ()), ("counted.c", ()), ("recycled.c", ()))
EXPLORE = ["crash", "-q", "--epoch-states", "16", "--samples", "8", "--interrupt-every", "0",
           "--seconds=0"]
# Tests of lit whose programs are linked with the mutated runtime: what they reach is not measured. Tests, or
# folders of them.
LEFT = ("plugin/exits", "driver/calls-elsewhere.test", "driver/ends-elsewhere.test",
        "driver/exceptions-elsewhere.test", "driver/jumps-elsewhere.test")
JUMPED = ("plugin/porting/load-longjmp.test", "plugin/porting/scope-longjmp.test")
ENDED = ("driver/last-thread.test", "driver/last-destructor.test", "plugin/porting")
COMPILED = {"runtime/base/signal_frame.c": ("plugin/exits/handler-without-tables.c", "driver/handlers.test"),
            "runtime/core/exits.c": ("plugin/exits", *ENDED),
            "runtime/tx/called.c": ("plugin/unsafe/left-call.c", "plugin/unsafe/running-call.c", *LEFT),
            "runtime/tx/landed.c": (*LEFT, *JUMPED),
            "runtime/tx/thread_end.c": (*LEFT, *ENDED),
            "runtime/judge/judge.c": ("plugin/ir/hidden-pointers.c", "plugin/ir/decided-together.c",
                                    "plugin/emit/closed-library.c"),
            "runtime/judge/own_image.c": ("plugin/ir/decided-together.c",),
            "runtime/judge/pointers.c": ("plugin/ir/handler-in-long-check.c",),
            "runtime/order/order_join.c": ("plugin/ir/decided-together.c", "plugin/ir/review-a2-released.c"),
            "runtime/interpose/jumps.c": (*LEFT, *JUMPED),
            "runtime/interpose/locks.c": ("driver/locks-seen.test", "plugin/ir/locked.c", *ENDED),
            "runtime/pool/close_logs.c": ("plugin/porting",),
            "runtime/symbols/statics.c": ("plugin/emit/closed-library.c", "plugin/emit/tagged-statics.c"),
            "runtime/symbols/statics_table.c": ("plugin/emit/closed-library.c", "plugin/emit/text.test")}
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"
METHODS = ("undo", "shadow")
APART = ("/raw", "/outputs", "/observe")  # archives of their own, which no test program of the runtime has
EXPLORE_SECONDS_MAX = 200  # a mutated program may hang: that is noticed, too
FAST_SECONDS = 30   # of tests that run before anything else
SCREEN_SECONDS = 15  # of all tests, where only a first look is wanted
SCREEN_POWER_SECONDS = 90  # the same, of a flush or a fence
FURTHER_SECONDS = 150  # of those that run behind everything else
LONGER = 10  # times that a test takes in `make check-long`, at most
SAID = "said"  # the file of what a command prints
LAST_SHOWN = 200  # of its last line
RUNNER_SECONDS = 30
NOTICED_MAX = 24  # tests that are tried first
CHECK = "check: "
FEW, PROGRAMS, KILLS = 25, 200, 100
SCREEN = ("tests", "few programs", "compiled")  # checks of the first look

with open(os.path.join(ROOT, "tests", "runtime", "CMakeLists.txt")) as cmake:
    WRAPPED = re.search(r"foreach\(call ([\w\s]+)\)", cmake.read()).group(1).split()  # by faults.c


def loses_power(test):
    """By its name; "undo power" behind it is the domain."""
    return "power" in test.split()[0]


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


class Earlier:
    """What noticed each mutation in an earlier run, from a file: that is tried first. Lines of the mutation's
    key, the check, and the test that failed in it ("": a check without names)."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if os.path.exists(path):
            with open(path) as f:
                for line in f:
                    key, check, test = line.rstrip("\n").split("\t")
                    self.known[key] = check, test

    def of(self, mutation):
        return self.known.get(mutation.key(), (None, ""))

    def learn(self, mutation, check, test):
        self.known[mutation.key()] = check, test

    def write(self, keys):
        """Of mutations that are there today."""
        with open(self.path, "w") as f:
            for key in sorted(keys):
                if key in self.known:
                    f.write("\t".join((key, *self.known[key])) + "\n")


class Workshop:
    """A copy of the sources, with the object file of each."""

    def __init__(self, folder, tools, noticed, earlier):
        self.folder, self.tools, self.nvmove = folder, tools, os.path.join(tools, "nvmove")
        self.noticed, self.earlier, self.reached = noticed, earlier, None
        self.sizes = {}  # of the tests: as in `make check`, or as in `make check-long`
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

    def plans(self, mutation, screens):
        """Tests that reach the mutated line: those that take FAST_SECONDS, and others."""
        tests = self.reached.plan(mutation.name, mutation.number, set(self.noticed.tests(mutation.name)))
        seconds = SCREEN_SECONDS if screens else FAST_SECONDS
        if mutation.kind in ("fence", "flush"):
            tests.sort(key=lambda test: not loses_power(test))  # only these can notice
            losing = sum(self.reached.seconds[t] for t in tests if loses_power(t))
            seconds = max(seconds, min(losing, SCREEN_POWER_SECONDS) if screens else losing)
        _, first = self.earlier.of(mutation)
        if first in tests:
            tests.remove(first)
            tests.insert(0, first)
        fast = self.reached.within(tests, seconds)
        return tests[:fast], tests[fast:fast + self.reached.within(tests[fast:], FURTHER_SECONDS)]

    def tests_pass(self, tests, seconds):
        with open(os.path.join(self.folder, "plan"), "w") as f:
            limits = [self.reached.limit(t) * (LONGER if self.sizes else 1) for t in tests]
            f.writelines(f"{limit} {test}\n" for limit, test in zip(limits, tests))
        longest = RUNNER_SECONDS + sum(limits)  # the runner may hang by itself
        return not tests or self.ends_well(["./tests.exe", "--stop", "--plan", "plan"], min(seconds, longest))

    def checks(self, mutation, seconds, screens):
        """What may notice a mutation, by its name; each gives whether it found nothing. Of no mutation: all
        but the tests, which were measured."""
        fast, further = self.plans(mutation, screens) if mutation.name else ((), ())
        threads = {"few programs": lambda: self.programs_pass(FEW, seconds),
                   "programs": lambda: self.programs_pass(PROGRAMS, seconds),
                   "storm": lambda: self.storm_passes(seconds)} if mutation.name in ("", *WHOLE) else {}
        compiled = {"compiled": lambda: self.compiled_pass(COMPILED[mutation.name], seconds)
                    } if mutation.name in COMPILED else {}
        explored = {f"explored {n}": lambda n=n: self.explores(n, METHODS, seconds)
                    for n in range(len(EXPLORED))}
        return {"tests": lambda: self.tests_pass(fast, seconds), **threads, **compiled, **explored,
                "further tests": lambda: self.tests_pass(further, seconds)}

    def notices(self, mutation, seconds, screens):
        """The check that finds something, and the test that failed; none: "". A hang is a failure."""
        self.make_compiler()
        checks = self.checks(mutation, seconds, screens)
        self.sizes = {} if screens or not mutation.name else {"NVMOVE_TEST_LONG": "1"}
        earlier, _ = self.earlier.of(mutation)
        names = ["tests", *self.noticed.order(mutation.name, list(checks)[1:])]
        if screens:
            names = [n for n in names if n in (*SCREEN, earlier)]
        for check in sorted(names, key=lambda name: name != earlier):
            if not checks[check]():
                return f"{check}: {self.learn(mutation, check)}"
        return ""

    def make_tools(self):
        """A build folder whose nvmove-cc links with the mutated runtime."""
        build, theirs = os.path.dirname(os.path.dirname(self.cc)), os.path.dirname(self.tools)
        for part in ("bin", os.path.join("lib", "nvmove")):
            shutil.copytree(os.path.join(theirs, part), os.path.join(build, part))
        # The mutated archive has all that is in this one.
        os.unlink(os.path.join(build, "lib", "nvmove", "libnvmove_admin.a"))
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
                                    env=dict(os.environ, TMPDIR=self.folder, **self.sizes, **environment))
            if status is None:
                said.write(f"{' '.join(command)}: not done after {seconds} s\n")
            return status == 0

    def said(self):
        """What the last command printed."""
        with open(os.path.join(self.folder, SAID), errors="replace") as f:
            return f.read()

    def learn(self, mutation, check):
        failed = re.findall(r"^FAILED: (.*)$", self.said(), re.M)
        self.noticed.add(mutation.name, CHECK + check)
        for test in failed:
            self.noticed.add(mutation.name, test)
        if mutation.name:
            self.earlier.learn(mutation, "tests" if failed else check, failed[0] if failed else "")
        return failed[0] if failed else (self.said().splitlines() or ["it died"])[-1][:LAST_SHOWN]

    def fate(self, mutation, seconds, screens):
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
            return self.notices(mutation, seconds, screens)
        finally:
            lines[mutation.number - 1] = mutation.old
            with open(path, "w") as f:
                f.write("\n".join(lines))
            shutil.rmtree(os.path.join(self.folder, "objects"))
            os.rename(right, os.path.join(self.folder, "objects"))
