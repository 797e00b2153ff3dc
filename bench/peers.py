#!/usr/bin/env python3
"""`nvmove crash` beside pmemcheck and pmreorder, on the seeded bugs of tests/crash/raw and their twins.

usage: peers.py --bin DIR --valgrind FOLDER --pmreorder FOLDER [--seconds N] [PROGRAM ...]

FOLDER of valgrind: where a valgrind with pmemcheck is installed (github.com/pmem/valgrind). FOLDER of
pmreorder: src/tools/pmreorder of PMDK. Both are built by hand: Debian 12 has neither. Programs: those that
map their file by map_file of raw.h and say nothing of libpmem or msync. Each is compiled for the peers by
clang, and tells pmemcheck of its file. pmreorder asks the same checker, but has no word for what the program
had printed; it runs with the engine that takes all orders. A run is ended after N seconds (60).

Printed: of each program, whether the bug was found and after how many seconds, whether its line was named
(pmemcheck), and whether the twin without the bug was silent.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RAW = os.path.join(ROOT, "tests", "crash", "raw")
HEADER = os.path.join(ROOT, "tests", "crash", "Inputs")
NOT_OF_PEERS = re.compile(r"libpmem|msync|fsync|mremap|pthread|ELSEWHERE|mmap\(")
REGISTERED = ("  VALGRIND_PMC_REGISTER_PMEM_MAPPING(got, size);\n"
              "  VALGRIND_PMC_REGISTER_PMEM_FILE(fd, got, size, 0);\n  close(fd);\n")


class Run:
    def __init__(self, found, seconds, note=""):
        self.found, self.seconds, self.note = found, seconds, note

    def __str__(self):
        return f"{self.note or ('found' if self.found else 'silent')} {self.seconds:.1f} s"


def timed(command, seconds, **options):
    """(status or None: ended, what it printed, seconds)"""
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds, check=False, **options)
    except subprocess.TimeoutExpired:
        return None, "", time.monotonic() - start
    return done.returncode, done.stdout, time.monotonic() - start


def wanted_lines(source):
    with open(source) as f:
        return {number for number, line in enumerate(f, 1) if "// FOUND:" in line}


class Program:
    def __init__(self, a, folder, name, bug):
        self.a, self.folder, self.bug = a, folder, bug
        self.source = os.path.join(RAW, name + ".c")
        self.file = os.path.join(folder, "file")
        self.options = ["-g", "-O1", "-w", *(["-DBUG"] if bug else []), self.source]

    def built(self, compiler, *options):
        program = os.path.join(self.folder, "program")
        subprocess.run([*compiler, *options, *self.options, "-o", program], check=True)
        return program

    def ours(self):
        program = self.built([os.path.join(self.a.bin, "nvmove-cc"), "--nvmove-trace=raw"], "-I", HEADER)
        command = [os.path.join(self.a.bin, "nvmove"), "crash", "-q", "--fail-fast", "--check",
                   f"{program} {{}} {{acked}}", "--", program, self.file]
        status, said, seconds = timed(command, self.a.seconds, cwd=self.folder)
        errors = [int(line) for line in re.findall(r"\.c:(\d+):\d+: error:", said)]
        named = " at its line" if wanted_lines(self.source) & set(errors) else ""
        note = f"found{named}" if errors else "" if status is not None else "ended"
        return Run(bool(errors), seconds, note)

    def pmemcheck(self):
        """And the log for pmreorder, of a second run."""
        self.program = self.built(["clang-19"], "-I", self.folder, "-I",
                                  os.path.join(self.a.valgrind, "include"))
        log = os.path.join(self.folder, "log")
        valgrind = os.path.join(self.a.valgrind, "bin", "valgrind")
        command = [valgrind, "--tool=pmemcheck", f"--log-file={log}"]
        status, _, seconds = timed([*command, self.program, self.file], self.a.seconds)
        with open(log, errors="replace") as f:
            text = f.read()
        os.unlink(self.file)
        timed([*command, "-q", "--log-stores=yes", "--print-summary=no", self.program, self.file],
              self.a.seconds)
        errors = int((re.findall(r"ERROR SUMMARY: (\d+) errors", text) or ["0"])[-1])
        name = re.escape(os.path.basename(self.source))
        lines = {int(n) for n in re.findall(rf"\({name}:(\d+)\)", text)}
        named = " at its line" if wanted_lines(self.source) & lines else ""
        note = f"found{named}" if errors else "" if status is not None else "ended"
        return Run(errors > 0, seconds, note), log

    def pmreorder(self, log):
        size = os.path.getsize(self.file)
        with open(self.file, "wb") as f:  # as it was before the run
            f.truncate(size)
        checker = os.path.join(self.folder, "check.sh")
        with open(checker, "w") as f:
            f.write(f'#!/bin/sh\nexec {shlex.quote(self.program)} "$1" /dev/null >/dev/null\n')
        os.chmod(checker, 0o755)
        out = os.path.join(self.folder, "out")
        command = [sys.executable, os.path.join(self.a.pmreorder, "pmreorder.py"), "-l", log, "-o", out, "-c",
                   "prog", "-p", checker, "-r", "ReorderFull"]
        status, said, seconds = timed(command, self.a.seconds, cwd=self.folder)
        if "Traceback" in said:
            return Run(False, seconds, "failed")
        return Run(status not in (0, None), seconds, "not done in" if status is None else "")


def measured(a, name, bug):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        with open(os.path.join(HEADER, "raw.h")) as f:
            text = f.read().replace("#pragma once", "#pragma once\n#include <valgrind/pmemcheck.h>", 1)
        with open(os.path.join(folder, "raw.h"), "w") as f:
            f.write(text.replace("  close(fd);\n", REGISTERED, 1)
                    .replace("ftruncate(fd, (off_t)size)", "ftruncate(fd, (off_t)(size + 4095) & -4096)"))
        program = Program(a, folder, name, bug)
        ours = program.ours()
        os.unlink(program.file)
        check, log = program.pmemcheck()
        return ours, check, program.pmreorder(log)


def names(a):
    if a.programs:
        return a.programs
    found = []
    for name in sorted(os.listdir(RAW)):
        with open(os.path.join(RAW, name)) as f:
            text = f.read()
        if "map_file(" in text and not NOT_OF_PEERS.search(text):
            found.append(name.removesuffix(".c"))
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--bin", required=True)
    p.add_argument("--valgrind", required=True)
    p.add_argument("--pmreorder", required=True)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("programs", nargs="*")
    a = p.parse_args()
    a.bin, tools = os.path.abspath(a.bin), ("nvmove crash", "pmemcheck", "pmreorder")
    found, false, seconds, count = [0] * 3, [0] * 3, [0.0] * 3, 0
    print(f"{'program':<20}{'':<6}" + "".join(f"{tool:<26}" for tool in tools))
    for name in names(a):
        count += 1
        for bug in (True, False):
            runs = measured(a, name, bug)
            print(f"{name if bug else '':<20}{'bug' if bug else 'twin':<6}"
                  + "".join(f"{str(run):<26}" for run in runs), flush=True)
            for i, run in enumerate(runs):
                found[i] += run.found and bug
                false[i] += run.found and not bug
                seconds[i] += run.seconds
    for i, tool in enumerate(tools):
        print(f"{tool}: {found[i]} of {count} found, {false[i]} false alarms, {seconds[i]:.0f} s together")


if __name__ == "__main__":
    main()
