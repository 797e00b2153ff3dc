#!/usr/bin/env python3
"""Removes each flush, fence, checksum test, append and ordering of the runtime in turn; runs its tests.

usage: mutate.py [--only EXPRESSION] [--list] [--seconds N]

A mutation is one line of the runtime's sources that matches a rule below, changed as the rule says. A
mutation that no test notices is a survivor: either the tests miss something, or the line is needless. Those
that are known, with the reason, are in SURVIVORS (docs/reliability.md explains them); any other, and any in
that list that is noticed after all, is a failure. The sources are copied: the tree is not touched.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-std=gnu11", "-O1", "-g0", "-w", "-Iinclude", "-Iruntime"]
SECONDS_MAX = 240  # a mutated test may hang: that is noticed, too
# The tests that have to do with it, by parts of their names.
TESTS = ["power_failure", "crash", "threads", "torn", "floor", "freed", "slow", "fences", "several",
         "bound_", "void_", "handler", "old_entries", "damaged", "forged", "check_", "order_commits",
         "order_two", "large", "recovered", "spoiled_tables", "thread_end"]

# What is removed: a regular expression for a statement on one line, and what stands there instead.
RULES = [
    ("fence", r"(?:pool|log->pool|record->log->pool)->persist->fence\(\);", ";"),
    ("fence", r"nvmi_fence\((?:log|record->log)\);", ";"),
    ("flush", r"pool->persist->flush\(.*\);", ";"),
    ("flush", r"^\s*flush\(\(void \*\).*\);", ";"),
    ("flush", r"^\s*flush_lines\(.*\);", ";"),
    ("append", r"pool->persist->append\(place, frame, size\);", ";"),
    ("append", r"^\s*retire\(log, ending\);", ";"),
    ("checksum", r"segment->check == segment_check\(pool, segment\) &&", ""),
    ("checksum", r"frame->check == nvmi_check\(", "0 == 0 * nvmi_check("),
    ("checksum", r"entry\(pool, index\)->check != entry_check\(pool, entry\(pool, index\)\)", "0"),
    ("checksum", r"return data_arrived\(pool, found, commit\) \? commit : NULL;", "return commit;"),
    ("order", r"^\s*nvmi_log_await\(.*\);", ";"),
    ("order", r"^\s*nvmi_log_raise_bound\(.*\);", ";"),
    ("order", r"^\s*become_several\(pool, count\);", ";"),
    ("order", r"^\s*nvmi_barrier_in_all_threads\(\);", ";"),
    ("order", r"^\s*sort\(&work->(?:redo|undo)\);", ";"),
    ("order", r"items\(&work->redo\)\[i\]->order < work->bound", "0"),
    ("order", r"atomic_store_explicit\(&log->pending, 0, memory_order_release\);", ";"),
    ("order", r"span->freed_order >= floor", "0"),
    ("order", r"if \(commit && commit->place > work->bound\)", "if (0)"),
]
FILES = ["runtime/" + name for name in
         ("check.c", "heap_chunks.c", "heap_spans.c", "heap.c", "header.c", "log.c", "log.h", "record.c",
          "record.h", "recover.c", "pool.c", "types.c", "methods/undo.c", "methods/shadow.c", "shrink.c",
          "note.c")]

# Where a mutation is not noticed, and why that is sound: "file: text of the line" -> reason.
SURVIVORS = {}


class Mutation:
    def __init__(self, kind, name, number, old, new):
        self.kind, self.name, self.number, self.old, self.new = kind, name, number, old, new

    def __str__(self):
        return f"{self.kind}: {self.name}:{self.number}: {self.old.strip()}"

    def key(self):
        return f"{self.name}: {self.old.strip()}"


def mutations():
    found = []
    for name in FILES:
        with open(os.path.join(ROOT, name)) as f:
            lines = f.read().split("\n")
        for number, line in enumerate(lines, 1):
            for kind, pattern, instead in RULES:
                new = re.sub(pattern, instead, line)
                if new != line:
                    found.append(Mutation(kind, name, number, line, new))
                    break
    return found


class Workshop:
    """A copy of the sources, with the object file of each."""

    def __init__(self, folder):
        self.folder = folder
        for part in ("runtime", "include", "tests/runtime"):
            shutil.copytree(os.path.join(ROOT, part), os.path.join(folder, part))
        os.makedirs(os.path.join(folder, "objects"))
        self.sources = sorted(os.path.relpath(os.path.join(where, name), folder)
                              for part in ("runtime", "tests/runtime")
                              for where, _, names in os.walk(os.path.join(folder, part))
                              for name in names if name.endswith(".c") and name != "interpose_strong.c")
        for source in self.sources:
            self.compile(source)

    def object_of(self, source):
        return os.path.join("objects", source.replace("/", "_") + ".o")

    def compile(self, source):
        command = ["clang-19", *FLAGS, "-c", source, "-o", self.object_of(source)]
        subprocess.run(command, cwd=self.folder, check=True)

    def users(self, name):
        return [name] if name.endswith(".c") else [s for s in self.sources if s.startswith("runtime/")]

    def link(self):
        objects = [self.object_of(s) for s in self.sources]
        command = ["clang-19", *objects, "-lpthread", "-ldl", "-o", "tests.exe"]
        subprocess.run(command, cwd=self.folder, check=True)

    def passes(self, seconds):
        """The tests' own exit status; a hang is a failure."""
        run = subprocess.Popen(["./tests.exe", "--stop", *TESTS], cwd=self.folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            return run.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, 9)
            run.wait()
            return False

    def survives(self, mutation, seconds):
        path = os.path.join(self.folder, mutation.name)
        with open(path) as f:
            lines = f.read().split("\n")
        lines[mutation.number - 1] = mutation.new
        with open(path, "w") as f:
            f.write("\n".join(lines))
        try:
            for source in self.users(mutation.name):
                self.compile(source)
            self.link()
            return self.passes(seconds)
        finally:
            lines[mutation.number - 1] = mutation.old
            with open(path, "w") as f:
                f.write("\n".join(lines))
            for source in self.users(mutation.name):
                self.compile(source)


def run(only="", seconds=SECONDS_MAX):
    """(noticed or known, wrong): prints each mutation's fate."""
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(folder)
        shop.link()
        if not shop.passes(seconds):
            print("mutate: the tests fail without a mutation")
            return 0, 1
        for mutation in mutations():
            if not re.search(only, str(mutation)):
                continue
            survives, known = shop.survives(mutation, seconds), SURVIVORS.get(mutation.key())
            wrong = survives != bool(known)
            passed, failed = passed + (not wrong), failed + wrong
            fate = "survives: " + (known or "NOT KNOWN") if survives else "noticed"
            print(f"{mutation}: {fate}{', KNOWN TO SURVIVE' if known and not survives else ''}", flush=True)
    return passed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", help="mutations whose printed name matches this expression")
    p.add_argument("--list", action="store_true", help="print them and stop")
    p.add_argument("--seconds", type=int, default=SECONDS_MAX, help="how long the tests may take")
    a = p.parse_args()
    if a.list:
        for mutation in mutations():
            if re.search(a.only, str(mutation)):
                print(mutation)
        return 0
    passed, failed = run(a.only, a.seconds)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
