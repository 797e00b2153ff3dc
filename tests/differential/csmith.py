#!/usr/bin/env python3
"""Random C programs behave the same under nvmove-cc and clang, at -O0, -O2 and -O3.

usage: csmith.py --cc NVMOVE_CC [--programs N] [--first SEED] [--jobs N]

Programs come from Debian's csmith. Every second one is compiled so that its globals lie in the reserved
range, and commits at several of its functions. Half of these are linked with the recording runtime of
tests/plugin: then not only must its output be the same, every byte it writes must have been noted. The
other half are compiled with --nvmove-redirect and linked with a runtime that keeps every store elsewhere
(keeper.c): a load that does not ask for it gives another output. The others are compiled as a user would,
with libnvmove and no pool. A program that runs longer than a few seconds under clang is replaced by the
next seed's. A failure prints the seed and the command.

Exit status: 0 all the same, 1 a difference.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLUGIN_INPUTS = os.path.join(ROOT, "tests", "plugin", "Inputs")
LEVELS = ["-O0", "-O2", "-O3"]
SECONDS_MAX = 3         # csmith's programs end at once or never
SLOWER_MAX = 40         # the recorder compares all globals at each commit
NOTING_MIN = 0.2        # of the programs that are watched: many of csmith's leave their globals alone
COMMITS = "--nvmove-commit=" + ",".join(f"func_{n}" for n in (2, 3, 4, 5, 7, 9, 12, 15))
# One of eight programs is as large as csmith makes them; the others are small, so that there are many.
SMALL = ["--max-funcs", "4", "--max-block-size", "3"]
PROGRESS_EVERY = 250
RANGE = ["-mcmodel=large", "-fno-pic", "-no-pie", "--nvmove-globals=persistent",
         "-Wl,--section-start=nvmdata=0x7e8000100000", "-Wl,--section-start=nvmbss=0x7e8000200000"]


class TooLong(Exception):
    """clang's own program does not end."""


def run(command, seconds=300, folder=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=seconds, cwd=folder)


def build(command, folder=None):
    made = run(command, folder=folder)
    if made.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{made.stdout}")


def prepare(folder):
    """The recorder and its watcher, compiled for globals far from the code. The first csmith leaves a
    platform.info where it runs; a second one must not read half of it."""
    build(["csmith", *SMALL, "--seed", "1", "-o", os.path.join(folder, "first.c")], folder)
    for source in (os.path.join(PLUGIN_INPUTS, "recorder.c"), os.path.join(HERE, "keeper.c"),
                   os.path.join(HERE, "watch.c")):
        name = os.path.basename(source)[:-2] + ".o"
        build(["clang-19", "-O1", "-mcmodel=large", "-fno-pic", "-I", os.path.join(ROOT, "include"),
               "-I", PLUGIN_INPUTS, "-c", source, "-o", os.path.join(folder, name)])


def reference(source, level, program):
    build(["clang-19", level, "-w", "-I/usr/include/csmith", source, "-o", program])
    try:
        return run([program], SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise TooLong


def one(cc, seed, folder):
    """Gives (seed, None, notes), or what differs; TooLong for a program that does not end."""
    base = os.path.join(folder, str(seed))
    source, program = base + ".c", base + ".exe"
    build(["csmith", *(SMALL if seed % 8 else []), "--seed", str(seed), "-o", source], folder)
    options, watched, notes = ["-w", "-I/usr/include/csmith"], seed % 2 == 0, 0
    if watched:
        redirected = ["--nvmove-redirect"] if seed % 4 else []
        options += [*RANGE, COMMITS, *redirected, "-include", os.path.join(HERE, "sections.h"),
                    os.path.join(folder, "watch.o"), "--nvmove-runtime=" +
                    os.path.join(folder, "keeper.o" if redirected else "recorder.o")]
    try:
        for level in LEVELS:
            wanted = reference(source, level, program)
            command = [cc, level, source, *options, "-o", program]
            build(command)
            got = run([program], SECONDS_MAX * SLOWER_MAX)
            told = re.findall(r"^recorder: (\d+) notes, .* 0 faults\n", got.stdout, re.M)
            output = re.sub(r"^recorder: .* 0 faults\n", "", got.stdout, flags=re.M)
            notes += sum(map(int, told))
            if (output, got.returncode, len(told)) != (wanted.stdout, wanted.returncode, watched):
                return seed, f"{' '.join(command)}\n{wanted.stdout}status {wanted.returncode}, " \
                             f"but\n{got.stdout}status {got.returncode}", 0
        return seed, None, notes
    except TooLong:
        return seed, TooLong, 0
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        return seed, str(e), 0
    finally:
        for name in (source, program):
            if os.path.exists(name):
                os.unlink(name)


def check(cc, programs, first=1, jobs=2):
    """Gives (passed, failed)."""
    passed = failed = watched = noting = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        prepare(folder)
        seed = first
        while passed + failed < programs:
            seeds = range(seed, seed + programs - passed - failed)
            seed = seeds.stop
            for number, found, notes in pool.map(lambda s: one(cc, s, folder), seeds):
                if found is TooLong:
                    continue
                passed += found is None
                failed += found is not None
                watched += number % 2 == 0
                noting += notes > 0
                if (passed + failed) % PROGRESS_EVERY == 0:
                    print(f"csmith: {passed} passed, {failed} failed so far", flush=True)
                if found:
                    print(f"csmith: seed {number}: {found}", flush=True)
    if noting < NOTING_MIN * watched:
        print(f"csmith: of {watched} programs that were watched {noting} noted a write")
        failed += 1
    return passed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True)
    p.add_argument("--programs", type=int, default=30)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    a = p.parse_args()
    passed, failed = check(os.path.abspath(a.cc), a.programs, a.first, a.jobs)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
