#!/usr/bin/env python3
"""A pool's footprint after a long life of random sizes, over jemalloc's on the same trace.

usage: fragmentation.py --cc NVMOVE_CC [--folder DIR] [--out FILE]

Compiles fragmentation/trace.c for libnvmove and for malloc, and runs the latter with jemalloc preloaded
(Debian's libjemalloc2; scripts/setup --bench): 200,000 live blocks replaced at random, 100 turnovers,
sizes around another power of two in each of 20 phases. Printed: bytes that the program asks for at the
end and at its highest, what each allocator holds for them then and at its highest, and the ratio at the
end. A pool counts every byte of its file that was ever touched, jemalloc what is resident. Exit status 1
when the goal is missed.
"""
import argparse
import glob
import json
import os
import platform
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TRACE = os.path.join(ROOT, "bench", "fragmentation", "trace.c")
GOAL = 1.10


def run(command, **environment):
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if result.returncode:
        sys.exit(f"fragmentation.py: {' '.join(command)} failed:\n{result.stderr}")
    return result.stdout


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cc", required=True)
    p.add_argument("--folder", default="/dev/shm")
    p.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "fragmentation.json"))
    a = p.parse_args()
    jemalloc = glob.glob("/usr/lib/*/libjemalloc.so.2")
    if not jemalloc:
        sys.exit("fragmentation.py: libjemalloc2 is not installed: scripts/setup --bench")
    rows = {}
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        pooled, plain = os.path.join(folder, "pooled"), os.path.join(folder, "plain")
        run([a.cc, "-O2", "-DPOOL", TRACE, "-o", pooled])
        run(["clang-19", "-O2", TRACE, "-ldl", "-o", plain])
        for method in ("undo", "shadow"):
            pool = os.path.join(folder, "pool")
            rows[method] = run([pooled, pool], NVMOVE_METHOD=method, NVMOVE_DOMAIN="process").split()
            os.unlink(pool)
        rows["jemalloc"] = run([plain], LD_PRELOAD=jemalloc[0]).split()
    rows = {name: [int(n) for n in row] for name, row in rows.items()}
    os.makedirs(os.path.dirname(a.out), exist_ok=True)
    with open(a.out, "w") as out:
        json.dump({"machine": platform.processor() or platform.machine(), "rows": rows}, out, indent=1)
    missed = False
    for name, (live, most_live, held, most) in rows.items():
        ratio = held / rows["jemalloc"][2]
        print(f"{name:9} live {live / 1e6:.1f} MB, at most {most_live / 1e6:.1f}; held {held / 1e6:.1f} MB, "
              f"at most {most / 1e6:.1f} ({most / most_live:.3f} of live); over jemalloc {ratio:.3f}"
              + ("" if name == "jemalloc" else f" (goal {GOAL})"))
        missed |= ratio > GOAL
    return missed


if __name__ == "__main__":
    sys.exit(main())
