#!/usr/bin/env python3
"""How exact the waits of an emulated memory are, and what the emulation costs by itself.

usage: emulation.py --cc NVMOVE_CC [--rounds N] [--json FILE]

A known number of loads (emulation/loads.c) runs with each latency and without one, in turns. "waits" is what
the program itself measured of its waits, compared with the number of loads times the latency. Goal: within
3 %, at the median. "outside" is how much longer the loads took than without latency, compared in the same
way: by the median of slices of 1,000 loads, which nothing interrupts. What loads did beside others that were
under way counts there.
The last row of each kind has the time of a load with nothing charged, and of the plain program.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS, THREADS, LATENCIES = ("sequential", "random", "chasing"), (1, 2), (40, 100, 300, 500)
COUNT, WITHIN = 400000, 0.03


def build(cc, folder, name, *options):
    program = os.path.join(folder, name)
    source = os.path.join(HERE, "emulation", "loads.c")
    subprocess.run([cc, "-O2", "-pthread", *options, source, "-o", program], check=True)
    return program


def run(program, kind, threads, latency):
    """Nanoseconds of a load; by how much the waits were too long, if there were some."""
    environment = dict(os.environ, NVMOVE_EMULATE=f"read={latency}", NVMOVE_STATS="1" if latency else "")
    done = subprocess.run([program, kind, str(COUNT), str(threads)], env=environment, check=True,
                          capture_output=True, text=True)
    waits = re.search(r"the waits took ([-+0-9.]+) %", done.stderr)
    return float(done.stdout), float(waits.group(1)) / 100 if waits else 0.0


def measure(plain, charged, kind, threads, rounds):
    """A row for each latency; the first has none."""
    times = {latency: [] for latency in ("plain", 0, *LATENCIES)}
    errors = {latency: [] for latency in times}
    for _ in range(rounds):
        for latency in times:
            program = plain if latency == "plain" else charged
            taken, error = run(program, kind, threads, 0 if latency == "plain" else latency)
            times[latency].append(taken)
            errors[latency].append(error)
    base = statistics.median(times[0])
    yield {"kind": kind, "threads": threads, "latency": 0, "plain": statistics.median(times["plain"]),
           "charged": base}
    for latency in LATENCIES:
        outside = statistics.median(times[latency]) - base
        yield {"kind": kind, "threads": threads, "latency": latency, "outside": outside / latency - 1,
               "waits": statistics.median(errors[latency])}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--json")
    a = p.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        types = os.path.join(folder, "types")
        with open(types, "w") as f:
            f.write("item\n")
        plain = build("clang-19", folder, "plain")
        charged = build(a.cc, folder, "charged", "--emulate=dram", f"--emulate-types={types}")
        for kind in KINDS:
            for threads in THREADS:
                rows += measure(plain, charged, kind, threads, a.rounds)
    print("loads       threads  asked, ns     waits   outside")
    for r in rows:
        where = f"{r['kind']:11} {r['threads']:7} {r['latency']:10}"
        if r["latency"]:
            print(f"{where} {r['waits']:9.2%} {r['outside']:9.1%}")
        else:
            print(f"{where}  a load takes {r['charged']:.2f} ns, plain {r['plain']:.2f} ns")
    missed = [r for r in rows if r["latency"] and abs(r["waits"]) > WITHIN]
    print(f"{len(missed)} of {len([r for r in rows if r['latency']])} waits outside of {WITHIN:.0%}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump(rows, f, indent=1)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
