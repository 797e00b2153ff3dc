#!/usr/bin/env python3
"""Commits a second on an ordinary disk, by NVMOVE_DURABLE, and how often each waits for the disk.

usage: durable.py --cc NVMOVE_CC [--folder DIR-ON-THE-DISK] [--rounds N] [--seconds S] [--threads N,...]
                  [--out FILE]

Compiles durable/commits.c and runs it in turns: NVMOVE_DURABLE=always, 1000, 100, never; the domain
process; and, with one thread, SQLite (Python's sqlite3: WAL, synchronous FULL and NORMAL) with one row of
100 bytes a transaction. Printed: the median of the rounds of commits a second, as a share of what
`process` reaches in the same round; calls that wait for the disk (msync, fsync, fdatasync) for a
thousand commits; the median and 99.9th percentile of what a commit takes.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(ROOT, "bench", "durable")
SETTINGS = {"always": {"NVMOVE_DOMAIN": "disk", "NVMOVE_DURABLE": "always"},
            "1000": {"NVMOVE_DOMAIN": "disk", "NVMOVE_DURABLE": "1000"},
            "100": {"NVMOVE_DOMAIN": "disk", "NVMOVE_DURABLE": "100"},
            "never": {"NVMOVE_DOMAIN": "disk", "NVMOVE_DURABLE": "never"},
            "process": {"NVMOVE_DOMAIN": "process", "NVMOVE_METHOD": "shadow"}}
SQLITE = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("pragma journal_mode=wal"); db.execute("pragma synchronous=" + sys.argv[2])
db.execute("create table items (id integer primary key, bytes blob)")
took, end, before, start = [], time.monotonic() + float(sys.argv[3]), time.monotonic(), time.monotonic()
while before < end:
    db.execute("insert into items (bytes) values (?)", (b"x" * 100,))
    after = time.monotonic()
    took.append(1e6 * (after - before)); before = after
seconds = time.monotonic() - start
took.sort()
print(len(took), seconds, took[len(took) // 2], took[len(took) * 999 // 1000])
"""


def run(command, counter, **environment):
    """(commits a second, calls that wait for a thousand commits, microseconds: median, 99.9 %)"""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("NVMOVE_")}
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**clean, **environment, "LD_PRELOAD": counter})
    if done.returncode:
        sys.exit(f"durable.py: {' '.join(command[:3])} failed:\n{done.stderr}")
    commits, seconds, median, late = map(float, done.stdout.split())
    syncs = int(re.search(r"syncs (\d+)", done.stderr).group(1))
    return commits / seconds, 1000 * syncs / commits, median, late


def one_round(a, folder, program, counter, threads, load):
    rows = {}
    for name, environment in SETTINGS.items():
        pool = os.path.join(folder, "pool")
        rows[name] = run([program, pool, str(threads), str(a.seconds), load], counter, **environment)
        os.unlink(pool)
    for level in ("full", "normal") if threads == 1 and load == "insert" else ():
        base = os.path.join(folder, "db")
        rows[f"SQLite {level}"] = run([sys.executable, "-c", SQLITE, base, level, str(a.seconds)], counter)
        for end in ("", "-wal", "-shm"):
            if os.path.exists(base + end):
                os.unlink(base + end)
    return rows


COLUMNS = ("load", "threads", "setting", "commits a second", "share of process", "syncs for 1000",
           "median us", "99.9 % us")
LINE = ("{:6} {} {:14} {:10.0f} commits/s {:7.4f} of process, {:8.2f} syncs for 1000, {:8.2f} us median, "
        "{:9.1f} us 99.9 %")


def row_of(rounds, name, load, threads):
    rate, syncs, median, late = (statistics.median(r[name][i] for r in rounds) for i in range(4))
    share = statistics.median(r[name][0] / r["process"][0] for r in rounds)
    return dict(zip(COLUMNS, (load, threads, name, rate, share, syncs, median, late)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cc", required=True)
    p.add_argument("--folder", default=os.path.join(ROOT, "build"))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--threads", default="1,4")
    p.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "durable.json"))
    a = p.parse_args()
    results = []
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        program, counter = os.path.join(folder, "commits"), os.path.join(folder, "syncs.so")
        subprocess.run([a.cc, "-O2", os.path.join(HERE, "commits.c"), "-pthread", "-o", program],
                       check=True)
        subprocess.run(["clang-19", "-O2", "-shared", "-fPIC", os.path.join(HERE, "syncs.c"), "-ldl", "-o",
                        counter], check=True)
        for load in ("write", "insert"):
            for threads in map(int, a.threads.split(",")):
                rounds = [one_round(a, folder, program, counter, threads, load) for _ in range(a.rounds)]
                results += [row_of(rounds, name, load, threads) for name in rounds[0]]
                for row in results[-len(rounds[0]):]:
                    print(LINE.format(*row.values()), flush=True)
    os.makedirs(os.path.dirname(a.out), exist_ok=True)
    with open(a.out, "w") as out:
        json.dump(results, out, indent=1)


if __name__ == "__main__":
    sys.exit(main())
