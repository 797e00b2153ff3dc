#!/usr/bin/env python3
"""Removes each flush, fence, checksum test, append and ordering of the runtime in turn; runs its tests.

usage: mutate.py --bin DIR [--only EXPRESSION] [--list] [--seconds N] [--jobs N]

A mutation is one line of the runtime's sources that matches a rule below, changed as the rule says; of what
decides between threads (WHOLE) each statement and each condition. Then `nvmove crash` (from DIR) explores
right programs that are linked with the mutated runtime, and the runtime's tests run; random programs and a
storm, too, where threads are concerned. A mutation that nothing notices is a survivor: either the tests miss
something, or the line is needless. Those that are known, with the reason, are in SURVIVORS
(docs/reliability.md explains them); any other, and any in that list that is noticed after all, is a failure.
The sources are copied: the tree is not touched.
"""
import argparse
import collections
import concurrent.futures
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-std=gnu11", "-O1", "-g0", "-w", "-Iinclude", "-Iruntime", f'-DNVMOVE_TEST_SOURCE="{ROOT}"']
# Right programs of tests/crash: (source, further options).
EXPLORED = (("right.c", ()), ("threads.c", ()), ("threads.c", ("-DEARLY",)),
            ("straight.c", ()), ("straight.c", ("-DSIZE=1000",)),
            ("handed.c", ()), ("joined.c", ()), ("counted.c", ()), ("recycled.c", ()))
EXPLORE = ["crash", "-q", "--epoch-states", "16", "--samples", "8", "--interrupt-every", "0",
           "--allow-sampling"]
METHODS = ("undo", "shadow")
EXPLORE_SECONDS_MAX = 200  # a mutated program may hang: that is noticed, too
SECONDS_MAX = 900  # of all tests on a busy machine
RUN_TESTS = ["./tests.exe", "--stop", "--seconds", "60"]  # of one test, which takes 25 at most
SAID, SAID_SHOWN = "said", 4000  # what a command prints; of it, characters
NOTICED_MAX = 12  # tests that are tried first
CHECK = "check: "
# The tests that have to do with it, by parts of their names.
TESTS = ["power_failure", "crash", "threads", "torn", "floor", "freed", "slow", "fences", "several",
         "bound_", "void_", "handler", "old_entries", "damage", "forged", "check_", "order_commits",
         "order_two", "large", "repair", "recovered", "spoiled_tables", "second_log", "moved_in", "resized",
         "thread_end", "moved_nothing", "counted_", "counts_in", "soaked_", "new_use", "statics_",
         "after_a"]

# Those of them that take less than a few seconds and find much, before all others.
FIRST = ["floor_", "second_log", "order_two", "handler_in", "moved_in_one", "over_garbage", "in_a_close"]

# How a line may come to a pool.
TO_A_POOL = r"(?:[\w()\[\]]+->)*pool->persist->"

# What is removed: a regular expression for a statement on one line, and what stands there instead.
RULES = [
    ("fence", TO_A_POOL + r"fence\(\);", ";"),
    ("fence", r"nvmi_fence\((?:log|record->log)\);", ";"),
    ("flush", TO_A_POOL + r"flush\(.*\);", ";"),
    ("flush", r"^\s*flush\(\(void \*\).*\);", ";"),
    ("flush", r"^\s*flush_lines\(.*\);", ";"),
    ("flush", TO_A_POOL + r"(stream|store_line|append)\(", r"nvmi_persist_process()->\1("),
    ("append", r"pool->persist->append\(place, frame, size\);", ";"),
    ("append", r"^\s*retire\(log, ending\);", ";"),
    ("checksum", r"segment->check == nvmi_segment_check\(pool, segment\) &&", ""),
    ("checksum", r"frame->check == nvmi_check_by\(", "0 == 0 * nvmi_check_by("),
    ("checksum", r"return record->check == nvmi_check_by\(", "return 0 == 0 * nvmi_check_by("),
    ("checksum", r"batch->check != nvmi_batch_check\(pool, batch\)", "0"),
    ("checksum", r"head->check != check_of\(pool, head\) \|\|", ""),
    ("order", r"^\s*nvmi_counts_(?:spoil|drain)\(pool\);", ";"),
    ("order", r"^\s*make_void\(log, position\);", ";"),
    ("checksum", r"j.header.check == nvmi_header_check\(&j.header\) &&", ""),
    ("checksum", r"return entry->check == nvmi_type_entry_check\(pool, entry, record\) \? record : NULL;",
     "return record;"),
    ("checksum", r"return data_arrived\(pool, found, commit\) \? commit : NULL;", "return commit;"),
    ("order", r"^\s*nvmi_log_await\(.*\);", ";"),
    ("order", r"^\s*nvmi_log_raise_bound\(.*\);", ";"),
    ("order", r"^\s*become_several\(pool, count\);", ";"),
    ("order", r"^\s*nvmi_barrier_in_all_threads\(\);", ";"),
    ("order", r"^\s*sort\(&work->(?:redo|undo)\);", ";"),
    ("order", r"items\(&work->redo\)\[i\]->order < work->bound", "0"),
    ("order", r"atomic_store_explicit\(&log->pending, 0, memory_order_release\);", ";"),
    ("order", r"span->freed_order >= floor", "0"),
    ("order", r"atomic_load_explicit\(&span->freed_order, memory_order_acquire\) < bound", "1"),
    ("order", r"^\s*some \|= flush_last\(.*\);", ";"),
    ("order", r"while \(nvmi_settle\(pool\) < all\)", "while (0)"),
    ("order", r"if \(!log->last && !log->bank_tells\)", "if (0)"),
    ("order", r"^\s*nvmi_log_publish\(log, frame, size\);", ";"),
    ("order", r"if \(commit && commit->place > work->bound\)", "if (0)"),
    ("order", r"known > bound \? known : bound;", "bound;"),
    ("order", r"if \(pending && pending < bound\)", "if (0)"),
    ("order", r"^\s*raise_freed_order\(.*\);", ";"),
    ("order", r"^\s*commit_behind\(log, \w+\);", ";"),
    ("order", r"^\s*nvmi_order_(?:release|acquire)\(lock\);", ";"),
    ("order", r"^\s*nvmi_header_write\(pool\);", ";"),
    ("order", r"!is_undo \|\| ended", "!is_undo"),
]
FILES = ["runtime/" + name for name in
         ("check.c", "heap_chunks.c", "heap_intents.c", "heap_spans.c", "heap.c", "header.c", "locks.c",
          "log.c", "log.h", "record.c", "record.h", "recover.c", "pool.c", "types.c", "methods/undo.c",
          "methods/shadow.c", "settle.c", "settle.h", "redo.c", "shrink.c", "note.c", "relocate.c",
          "crew.c", "resize.c", "statics.c", "statics_table.c", "counts.c", "counts_log.c",
          "counts_batch.c", "release.c", "straight.c", "tx.c")]

# Locks, order, abort, ends of logs: the place of a mistake is not known by its name, so all is tried.
WHOLE = ["runtime/" + name for name in
         ("order.c", "order_join.c", "order_turn.c", "waits.c", "ticket.c", "undoing.c", "tx_order.c",
          "called.c", "kept_blocks.c", "log_end.c", "freeze.c", "locks.c", "signal_frame.c",
          "methods/shadow_abort.c")]
WHOLE_RULES = [
    ("statement", r"^(\s+)[a-z_]\w*\(.*\);$", r"\1;"),
    ("statement", r"^(\s+)[\w>\-.\[\]*]+ [-+|&]?= .*;$", r"\1;"),
    ("statement", r"^(\s+)[\w>\-.\[\]]+(?:\+\+|--);$", r"\1;"),
    ("condition", r"^(\s+(?:\} else )?)if \((.*)\)( \{)?$", r"\1if (0)\3"),
]
WHOLE_TESTS = ["order_", "waits_", "returns_", "review_", "circle_", "log_", "undone_", "joined",
               "thread_end", "fork", "handler", "handed_", "backup_"]
FEW, PROGRAMS, KILLS = 25, 200, 100

# Where no test notices, and why: "file: function: text of the line". docs/reliability.md says more.
SURVIVORS = {
}


with open(os.path.join(ROOT, "tests", "runtime", "CMakeLists.txt")) as cmake:
    WRAPPED = re.search(r"foreach\(call ([\w\s]+)\)", cmake.read()).group(1).split()  # by faults.c


class Mutation:
    def __init__(self, kind, name, function, number, old, new):
        self.kind, self.name, self.function, self.number = kind, name, function, number
        self.old, self.new = old, new

    def __str__(self):
        return f"{self.kind}: {self.name}:{self.number}: {self.old.strip()}"

    def is_at(self, name, number):
        return (self.name, self.number) == (name, number)

    def key(self):
        return f"{self.name}: {self.function}: {self.old.split('/*')[0].strip()}"


def mutations():
    found = []
    for name in FILES + [n for n in WHOLE if n not in FILES]:
        rules = RULES + (WHOLE_RULES if name in WHOLE else [])
        with open(os.path.join(ROOT, name)) as f:
            lines = f.read().split("\n")
        function = ""
        for number, line in enumerate(lines, 1):
            begins = re.match(r"\w.*?\b(\w+)\(", line)
            function = begins.group(1) if begins and not line.startswith("#") else function
            for kind, pattern, instead in rules:
                new = re.sub(pattern, instead, line)
                if new != line and not (found and found[-1].is_at(name, number)):
                    found.append(Mutation(kind, name, function, number, line, new))
    return found


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

    def __init__(self, folder, tools, noticed=None):
        self.folder, self.tools, self.nvmove = folder, tools, os.path.join(tools, "nvmove")
        self.noticed, self.cc = noticed or Noticed(), os.path.join(folder, "nvmove-cc")
        for part in ("runtime", "include", "tests/runtime"):
            shutil.copytree(os.path.join(ROOT, part), os.path.join(folder, part))
        os.makedirs(os.path.join(folder, "objects"))
        self.sources = sorted(os.path.relpath(os.path.join(where, name), folder)
                              for part in ("runtime", "tests/runtime")
                              for where, _, names in os.walk(os.path.join(folder, part))
                              for name in names if name.endswith(".c") and name != "interpose_strong.c")
        for source in self.sources:
            self.compile(source)
        for number, (name, options) in enumerate(EXPLORED):
            subprocess.run([os.path.join(tools, "nvmove-cc"), "-g", "-O1", "-w", "--nvmove-trace", *options,
                            "-c", os.path.join(ROOT, "tests", "crash", name), "-o", f"explored{number}.o"],
                           cwd=folder, check=True)

    def object_of(self, source):
        return os.path.join("objects", source.replace("/", "_") + ".o")

    def compile(self, source):
        command = ["clang-19", *FLAGS, "-c", source, "-o", self.object_of(source)]
        subprocess.run(command, cwd=self.folder, check=True)

    def users(self, name):
        return [name] if name.endswith(".c") else [s for s in self.sources if s.startswith("runtime/")]

    def link(self):
        objects = [self.object_of(s) for s in self.sources]
        wraps = [f"-Wl,--wrap={call}" for call in WRAPPED]
        libraries = ["-lpthread", "-ldl"]
        subprocess.run(["clang-19", *objects, *wraps, *libraries, "-o", "tests.exe"], cwd=self.folder,
                       check=True)

    def link_explored(self, number):
        runtime = [self.object_of(s) for s in self.sources if s.startswith("runtime/")]
        subprocess.run(["clang-19", f"explored{number}.o", *runtime, "-lpthread", "-ldl", "-o",
                        f"explored{number}"], cwd=self.folder, check=True)

    def checks(self, name, seconds):
        """What may notice a mutation of a file, by its name; each gives whether it found nothing."""
        def tests(*parts):
            return lambda: self.ends_well([*RUN_TESTS, *parts], seconds)

        def explored(number, methods=METHODS):
            return lambda: self.explores(number, methods, seconds)

        threads = {"threads": tests(*WHOLE_TESTS), "few programs": lambda: self.programs_pass(FEW, seconds),
                   "programs": lambda: self.programs_pass(PROGRAMS, seconds),
                   "storm": lambda: self.storm_passes(seconds)} if name in WHOLE else {}
        return {"recent tests": tests(*(self.noticed.tests(name) or FIRST)), **threads,
                "explored": explored(0, METHODS[:1]), "first tests": tests(*FIRST),
                **{f"explored {n}": explored(n) for n in range(len(EXPLORED))}, "tests": tests(*TESTS)}

    def passes(self, name, seconds):
        """No check finds anything; a hang is a failure."""
        self.make_compiler()
        checks = self.checks(name, seconds)
        for check in ["recent tests", *self.noticed.order(name, list(checks)[1:])]:
            if not checks[check]():
                self.learn(name, check)
                return False
        return True

    def make_compiler(self):
        """nvmove-cc that links with the mutated runtime."""
        objects = [self.object_of(s) for s in self.sources if s.startswith("runtime/")]
        subprocess.run(["ld", "-r", *objects, "-o", "mutated.o"], cwd=self.folder, check=True)
        with open(self.cc, "w") as f:
            f.write(f'#!/bin/sh\nexec {self.tools}/nvmove-cc --nvmove-runtime={self.folder}/mutated.o "$@"\n')
        os.chmod(self.cc, 0o755)

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
            run = subprocess.Popen(command, cwd=self.folder, start_new_session=True, stdout=said,
                                   stderr=subprocess.STDOUT,
                                   env=dict(os.environ, TMPDIR=self.folder, **environment))
            try:
                return run.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, 9)
                run.wait()
                said.write(f"{' '.join(command)}: not done after {seconds} s\n")
                return False

    def learn(self, name, check):
        self.noticed.add(name, CHECK + check)
        with open(os.path.join(self.folder, SAID), errors="replace") as said:
            for test in re.findall(r"^FAILED: (.*)$", said.read(), re.M):
                self.noticed.add(name, test)

    def survives(self, mutation, seconds):
        path = os.path.join(self.folder, mutation.name)
        with open(path) as f:
            lines = f.read().split("\n")
        lines[mutation.number - 1] = mutation.new
        right = os.path.join(self.folder, "right")
        shutil.copytree(os.path.join(self.folder, "objects"), right)
        with open(path, "w") as f:
            f.write("\n".join(lines))
        try:
            for source in self.users(mutation.name):
                self.compile(source)
            self.link()
            return self.passes(mutation.name, seconds)
        finally:
            lines[mutation.number - 1] = mutation.old
            with open(path, "w") as f:
                f.write("\n".join(lines))
            shutil.rmtree(os.path.join(self.folder, "objects"))
            os.rename(right, os.path.join(self.folder, "objects"))


def fates(wanted, folder, tools, seconds, jobs):
    """(mutation, whether it survives) of each; None and what is said: the tests fail without."""
    free, noticed = queue.Queue(), Noticed()
    for job in range(jobs):
        os.mkdir(os.path.join(folder, str(job)))
        free.put(Workshop(os.path.join(folder, str(job)), os.path.abspath(tools), noticed))

    def fate(mutation):
        shop = free.get()
        try:
            return shop.survives(mutation, seconds)
        finally:
            free.put(shop)

    first = free.get()
    first.link()
    right = first.passes(WHOLE[0], seconds)
    free.put(first)
    if not right:
        with open(os.path.join(first.folder, SAID), errors="replace") as said:
            yield None, said.read()[-SAID_SHOWN:]
        return
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        yield from zip(wanted, workers.map(fate, wanted))


def run(tools, only="", seconds=SECONDS_MAX, jobs=1):
    """(noticed or known, wrong): prints each mutation's fate."""
    passed = failed = 0
    wanted = [m for m in mutations() if re.search(only, str(m))]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for mutation, survives in fates(wanted, folder, tools, seconds, jobs):
            if not mutation:
                print(f"{survives}\nmutate: the tests fail without a mutation")
                return 0, 1
            known = SURVIVORS.get(mutation.key())
            wrong = survives != bool(known)
            passed, failed = passed + (not wrong), failed + wrong
            said = "survives: " + (known or "NOT KNOWN") if survives else "noticed"
            print(f"{mutation}: {said}{', KNOWN TO SURVIVE' if known and not survives else ''}", flush=True)
    return passed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"),
                   help="folder of nvmove and nvmove-cc")
    p.add_argument("--only", default="", help="mutations whose printed name matches this expression")
    p.add_argument("--list", action="store_true", help="print them and stop")
    p.add_argument("--seconds", type=int, default=SECONDS_MAX, help="how long the tests may take")
    p.add_argument("--jobs", type=int, default=1, help="mutations that are tried at the same time")
    a = p.parse_args()
    if a.list:
        for mutation in mutations():
            if re.search(a.only, str(mutation)):
                print(mutation)
        return 0
    passed, failed = run(a.bin, a.only, a.seconds, a.jobs)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
