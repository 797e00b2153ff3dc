#!/usr/bin/env python3
"""Speed of nvmove scan, as ratios; see bench/README.md.

usage: scan.py --nvmove NVMOVE [--rounds N] [-j N] [--out FILE]
"""
import argparse
import concurrent.futures
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import accuracy  # noqa: E402

GOALS = {"cold_over_syntax_only": 1.2, "large_cold_over_syntax_only": 1.2, "warm_over_cold": 0.1,
         "large_over_small_per_line": 1.3,
         "large_over_small_per_source_line": None}  # None: printed, no goal
SMALL, LARGE = "redis", "wiredtiger"
LARGE_ROUNDS_MAX = 2
# What recording adds to a command, and clang-19 needs to take gcc's: the same for both sides.
TOLERATE = ["-w", "-fsyntax-only", "-Wno-error", "-Qunused-arguments",
            "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
            "-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types"]
WRITES = {"-c": 0, "-o": 1, "-MD": 0, "-MMD": 0, "-MP": 0, "-MF": 1, "-MT": 1, "-MQ": 1}


def cpu_seconds():
    """Of all processes that ran to their end below this one."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def scan(nvmove, jobs, name, folder, cache):
    """One run of nvmove: (wall seconds, processor seconds, its report)."""
    plan = accuracy.recipe(name)
    report = os.path.join(cache, "..", "report.json")
    command = [nvmove, "scan", "-q", "--keep-going", "-p", folder, "--load", ",".join(plan["load"]),
               "-j", str(jobs), "--format=json", "-o", report]
    start, cpu_start = time.monotonic(), cpu_seconds()
    run = subprocess.run(command, env=dict(os.environ, NVMOVE_CACHE_DIR=cache),
                         capture_output=True, text=True)
    seconds, cpu = time.monotonic() - start, cpu_seconds() - cpu_start
    if run.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\nended with {run.returncode}: {run.stderr.strip()[-500:]}")
    with open(report) as f:
        return seconds, cpu, json.load(f)


def syntax_only_commands(folder, scanned):
    """clang's own check of the sources that the scan recorded, from the same database."""
    with open(os.path.join(folder, "compile_commands.json")) as f:
        entries = json.load(f)
    commands, seen = [], set()
    for e in entries:
        arguments = e.get("arguments") or e["command"].split()
        kept, skip = [], 0
        for a in arguments[1:]:
            if skip:
                skip -= 1
            elif a in WRITES:
                skip = WRITES[a]
            else:
                kept.append(a)
        path = os.path.normpath(os.path.join(e["directory"], e["file"]))
        key = (path, tuple(a for a in kept if a not in ("-fPIC", "-DPIC", "-fpic")))
        if not path.endswith(".c") or key in seen:
            continue
        seen.add(key)
        commands.append((["clang-19", *TOLERATE, *kept], e["directory"]))
    if abs(len(commands) - scanned) > scanned // 50 + 1:
        sys.exit(f"the scan took {scanned} sources, this benchmark would check {len(commands)}")
    return commands


def syntax_only(commands, jobs):
    def one(command):
        subprocess.run(command[0], cwd=command[1], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    start, cpu_start = time.monotonic(), cpu_seconds()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, commands))
    return {"syntax_only_seconds": time.monotonic() - start,
            "syntax_only_cpu_seconds": cpu_seconds() - cpu_start}


def lines_read(name, folder, scanned, jobs):
    """Lines that the compiler reads for the whole tree, headers included, blank ones not. Counted
    once: for a large tree it takes longer than the benchmark."""
    database = os.path.join(folder, "compile_commands.json")
    stamp = os.stat(database).st_mtime_ns
    kept = os.path.join(ROOT, "build", "bench", f"lines-{name}.json")
    if os.path.exists(kept):
        with open(kept) as f:
            known = json.load(f)
        if known["stamp"] == stamp:
            return known["lines"]
    print(f"counting the lines of {name}, headers included ...", flush=True)

    def count(command):
        arguments = [c for c in command[0] if c != "-fsyntax-only"]
        run = subprocess.run([arguments[0], "-E", "-P", *arguments[1:]], cwd=command[1],
                             stdin=subprocess.DEVNULL, capture_output=True)
        return run.stdout.count(b"\n")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        lines = sum(pool.map(count, syntax_only_commands(folder, scanned)))
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    with open(kept, "w") as f:
        json.dump({"stamp": stamp, "lines": lines}, f)
    return lines


def ratios(result):
    small = result[SMALL]
    found = {"cold_over_syntax_only": small["cold_seconds"] / small["syntax_only_seconds"],
             "warm_over_cold": small["warm_seconds"] / small["cold_seconds"]}
    if LARGE in result:
        large = result[LARGE]
        cpu = large["cold_cpu_seconds"] / small["cold_cpu_seconds"]
        found["large_cold_over_syntax_only"] = large["cold_seconds"] / large["syntax_only_seconds"]
        found["large_over_small_per_line"] = cpu * small["lines_read"] / large["lines_read"]
        found["large_over_small_per_source_line"] = (
            cpu * small["source_lines"] / large["source_lines"])
    return found


def one_round(a, folders, work):
    result = {}
    for name in folders:
        cache = os.path.join(work, "cache")
        shutil.rmtree(cache, ignore_errors=True)
        os.makedirs(cache)
        cold, cpu, report = scan(a.nvmove, a.jobs, name, folders[name], cache)
        warm, _, again = scan(a.nvmove, a.jobs, name, folders[name], cache)
        stats = report["stats"]
        if again["stats"]["from_cache"] != stats["translation_units"]:
            sys.exit(f"{name}: only {again['stats']['from_cache']} of "
                     f"{stats['translation_units']} came from the cache")
        result[name] = {"cold_seconds": cold, "warm_seconds": warm,
                        "cold_cpu_seconds": cpu, "source_lines": stats["lines"],
                        "lines_read": lines_read(name, folders[name], stats["translation_units"],
                                                 a.jobs),
                        "solve_seconds": stats["solve_seconds"],
                        "translation_units": stats["translation_units"],
                        "peak_memory_bytes": stats["peak_memory_bytes"]}
        commands = syntax_only_commands(folders[name], stats["translation_units"])
        result[name].update(syntax_only(commands, a.jobs))
    result["ratios"] = ratios(result)
    return result


def fetch_trees():
    folders = {}
    for name in (SMALL, LARGE):
        try:
            folders[name] = accuracy.fetch(name)
        except accuracy.CannotFetch as e:
            print(f"skipped: {name}: {e}")
    return folders


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--nvmove", required=True)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "scan.json"))
    a = p.parse_args()
    a.nvmove = os.path.abspath(a.nvmove)
    folders = fetch_trees()
    if SMALL not in folders:
        print("nothing to measure")
        return 0
    rounds = []
    with tempfile.TemporaryDirectory() as work:
        for number in range(a.rounds + 1):
            # The first round fills the page cache; the large tree takes minutes.
            large = 0 < number <= LARGE_ROUNDS_MAX
            measured = one_round(a, {n: f for n, f in folders.items() if large or n == SMALL}, work)
            if number:
                rounds.append(measured)
                print(f"round {number}: " + ", ".join(f"{k} {v:.3f}"
                                                      for k, v in measured["ratios"].items()))
    os.makedirs(os.path.dirname(a.out), exist_ok=True)
    with open(a.out, "w") as f:
        json.dump({"schema_version": 1, "jobs": a.jobs, "processors": os.cpu_count(),
                   "machine": platform.machine(), "rounds": rounds}, f, indent=1)
    missed = 0
    print()
    for key, goal in GOALS.items():
        values = [r["ratios"][key] for r in rounds if key in r["ratios"]]
        if values:
            median = statistics.median(values)
            late = goal is not None and median > goal
            missed += late
            print(f"{key.replace('_', ' '):33} {median:6.3f}  ({min(values):.3f} to "
                  f"{max(values):.3f})  {f'goal {goal}' if goal else 'no goal'}"
                  f"{'  MISSED' if late else ''}")
    for name in folders:
        last = rounds[0][name]
        print(f"{name}: {last['translation_units']} files, {last['source_lines']} lines "
              f"({last['lines_read']} with headers), "
              f"cold {last['cold_seconds']:.2f} s, of which solving {last['solve_seconds']:.2f} s, "
              f"peak memory {last['peak_memory_bytes'] / 2**20:.0f} MiB")
    print(f"raw numbers: {os.path.relpath(a.out, ROOT)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
