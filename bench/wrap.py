#!/usr/bin/env python3
"""The SCM paper's B-tree in wrapped C: what an insert costs by method, rate and speed of the memory.

usage: wrap.py [--archive libnvmove.a] [--cc COMPILER] [--rounds N] [--prefill N] [--inserts N]
               [--folder DIR] [--rates N,N,...] [--profiles NAME,...] [--out FILE]

Compiles wrap/btree.c with a plain compiler, and once more with stores in place that each insert flushes
and fences once (write-through): the lower bound, which is not failure-atomic. Each insert is a wrap. The
methods take turns within a round. Printed are the median of the rounds' ratios to write-through of the
same round, and for each method what an insert does. Rates are inserts a second, 0 is one behind the
other; profiles are those of docs/reference/emulation.md, "none" waits for nothing but the processor's
own fence.
"""
import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
METHODS = ("write-through", "undo", "lat", "latb", "shadow")
NAMES = {"undo": "undo (CoW)"}


def build(cc, archive, out, *options):
    command = [cc, "-std=gnu11", "-O2", "-w", *options, f"-I{ROOT}/include", f"-I{ROOT}/runtime",
               f"{ROOT}/bench/wrap/btree.c", "-Wl,-u,__nvmi_locks", archive, "-pthread", "-ldl", "-o", out]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"wrap.py: {' '.join(command)} failed:\n{result.stderr}")


def run(program, a, method, rate, profile, kind):
    environment = dict(os.environ, NVMOVE_DOMAIN="power",
                       NVMOVE_METHOD="undo" if method == "write-through" else method)
    environment.pop("NVMOVE_EMULATE", None)
    if profile != "none":
        environment["NVMOVE_EMULATE"] = profile
    pool = os.path.join(a.folder, f"nvmove-wrap-{os.getpid()}")
    try:
        done = subprocess.run([program, pool, str(a.prefill), str(a.inserts), str(rate), kind],
                              env=environment, capture_output=True, text=True)
    finally:
        if os.path.exists(pool):
            os.unlink(pool)
    if done.returncode:
        sys.exit(f"wrap.py: {method}: {done.stderr}")
    return {key: float(value) for key, value in re.findall(r"(\w+)=([0-9.]+)", done.stdout)}


def measure(programs, a, rate, profile, kind):
    """Of each method the results of all rounds."""
    results = {m: [] for m in METHODS}
    for _ in range(a.rounds):
        for m in METHODS:
            program = programs["direct" if m == "write-through" else "wrapped"]
            results[m].append(run(program, a, m, rate, profile, kind))
    return results


def ratio(results, method):
    return statistics.median(mine["ns"] / bound["ns"]
                             for mine, bound in zip(results[method], results["write-through"]))


def print_times(rows):
    print(f"{'profile':8} {'rate':>8} {'kind':9} {'bound, ns':>9}  " +
          " ".join(f"{NAMES.get(m, m):>11}" for m in METHODS[1:]))
    for r in rows:
        bound = statistics.median(x["ns"] for x in r["results"]["write-through"])
        print(f"{r['profile']:8} {r['rate'] or 'no wait':>8} {r['kind']:9} {bound:9.0f}  " +
              " ".join(f"{ratio(r['results'], m):11.2f}" for m in METHODS[1:]))


def print_counts(rows, kind):
    columns = ("loads", "stores", "fences", "entries", "log_bytes", "lines")
    print(f"\nan insert, {kind:9}   " + " ".join(f"{c:>9}" for c in columns))
    results = next(r["results"] for r in rows if r["kind"] == kind)
    for m in METHODS[1:]:
        print(f"{NAMES.get(m, m):23}" + " ".join(f"{results[m][0][c]:9.2f}" for c in columns))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--archive", default=f"{ROOT}/build/release/lib/nvmove/libnvmove.a")
    p.add_argument("--cc", default="gcc")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--prefill", type=int, default=200000)
    p.add_argument("--inserts", type=int, default=100000)
    p.add_argument("--folder", default="/dev/shm")
    p.add_argument("--rates", default="100000,200000,400000,0")
    p.add_argument("--profiles", default="none,scm-1x,scm-2x,scm-4x,scm-8x")
    p.add_argument("--out", default=f"{ROOT}/build/bench/wrap.json")
    a = p.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        programs = {"wrapped": f"{folder}/wrapped", "direct": f"{folder}/direct"}
        build(a.cc, a.archive, programs["wrapped"])
        build(a.cc, a.archive, programs["direct"], "-DDIRECT")
        for kind in ("elements", "blocks"):
            for profile in a.profiles.split(","):
                # The rate makes a difference where something is left for the time between two inserts.
                for rate in a.rates.split(",") if profile in ("none", "scm-1x") else ["0"]:
                    rows.append({"profile": profile, "rate": int(rate), "kind": kind,
                                 "results": measure(programs, a, int(rate), profile, kind)})
    print_times(rows)
    for kind in ("elements", "blocks"):
        print_counts(rows, kind)
    os.makedirs(os.path.dirname(a.out), exist_ok=True)
    with open(a.out, "w") as f:
        json.dump({"machine": platform.platform(), "options": vars(a), "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
