#!/usr/bin/env python3
"""The ported Redis while writes to persistent memory get slower (SCM paper, Figures 6 and 10).

usage: slow_memory.py --cc NVMOVE_CC [--rounds N] [--requests N] [--random-keys N] [--json FILE] [PART...]

Pools lie in /dev/shm; a server waits at its flushes and fences as in memory whose writes take 1, 2, 4 and 8
times as long as those of DRAM (profiles scm-1x to scm-8x), with the methods undo and shadow; beside them
stands Redis that keeps nothing. One request at a time of 50 clients; measured in turn, round by round. Parts:

  set   SET of 3 bytes, a transaction for each command (as the paper has it)
  ycsb  mix A of YCSB's core, 16 threads, a transaction for each turn of the event loop

Raw results: build/bench/slow_memory.json. Exit status: 0 measured, 1 not, 3 the sources cannot be had.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import redis as harness  # noqa: E402
import ycsb  # noqa: E402

METHODS, SLOWER = ("undo", "shadow"), (1, 2, 4, 8)
LOAD = "SET 3 B"


def configure(which):
    """Configurations of the methods in memory of each speed; their names."""
    names = []
    for method in METHODS:
        for times in SLOWER:
            names.append(f"{method}, {times}x")
            environment = {**harness.nvmove(method, "power"), "NVMOVE_EMULATE": f"scm-{times}x"}
            harness.CONFIGURATIONS[names[-1]] = ({}, environment, which)
    return names


def measured(a, results, which, fill, load, title):
    with harness.filled(a.binaries, configure(which), a.folder, fill) as servers:
        seen = harness.in_turn(servers, a.rounds, a.requests, load)
    results.append({"part": "slow memory", "load": title, "seen": seen})
    harness.tell(title, 1, seen)


def of_set(a, results):
    command = harness.LOADS[LOAD][1]
    measured(a, results, "command",
             lambda running: harness.benchmark(a.binaries, running, command, 16, 2 * a.random_keys),
             lambda running: {"rate": harness.benchmark(a.binaries, running, command, 1, a.requests)}, LOAD)


def of_ycsb(a, results):
    classes = ycsb.build()
    size = argparse.Namespace(records=a.random_keys, operations=a.requests)
    measured(a, results, "port", lambda running: ycsb.run(classes, running, size),
             lambda running: ycsb.run(classes, running, size, "A"), "YCSB A")


PARTS = {"set": of_set, "ycsb": of_ycsb}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("part", nargs="*", choices=[[], *PARTS])
    p.add_argument("--cc", required=True)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--requests", type=int, default=100000, help="of each run")
    p.add_argument("--random-keys", type=int, default=100000, help="that a load chooses from")
    p.add_argument("--folder", type=os.path.abspath, default=os.path.join(harness.ROOT, "build"))
    p.add_argument("--json", default=os.path.join(harness.ROOT, "build", "bench", "slow_memory.json"))
    a = p.parse_args()
    harness.RANDOM_KEYS, results = a.random_keys, []
    try:
        a.binaries = harness.servers(a.cc)
        for part in a.part or PARTS:
            PARTS[part](a, results)
    except harness.build.fetch.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3
    except (ycsb.NotMeasured, FileNotFoundError) as e:
        print(e, file=sys.stderr)
        return 1
    finally:
        harness.server.kill_all()
        harness.write(a.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
