#!/usr/bin/env python3
"""A hash table and a tree in plain C, beside the same on libpmemobj and beside their volatile twins.

usage: maps.py --cc NVMOVE_CC [--rounds N] [--keys N] [--threads 1,2] [--folder DIR] [--pmdk DIR]
               [--out FILE]

Compiles maps/ with clang (the volatile twin), with nvmove-cc and against libpmemobj, then inserts N
keys, updates N random ones and reads N random ones, each write a durable transaction. The systems take
turns within a round. Printed: median nanoseconds of processor time for one operation (of wall clock with
several threads, summed over them), and what libpmemobj takes over ours; for reads what ours takes over
the volatile twin. --pmdk: a source tree of PMDK; then its example maps are measured as well, and ours are
held against the best of them instead of against our ports. Exit status 1 when a goal is missed.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAPS = os.path.join(ROOT, "bench", "maps")
OPERATIONS = ("insert", "update", "read")
CPU, WALL = 0, 1
# (structure, bytes of a value, share of --keys)
WORKLOADS = (("table", 8, 1.0), ("table", 1024, 0.25), ("tree", 8, 1.0), ("tree", 1024, 0.25))
# libpmemobj over ours, with one thread: PEERS' bars. A read is held against the volatile twin.
GOALS = {("undo", "insert", 8): 1.5, ("undo", "update", 8): 1.5, ("undo", "update", 1024): 1.1,
         ("shadow", "insert", 8): 2.0, ("shadow", "update", 8): 2.0}
READ_GOAL = 1.1
PORT = "libpmemobj"  # the same structure, ported by hand
# structure -> map of PMDK, its source files below src/examples/libpmemobj
PMDK_MAPS = {"table": {"hashmap_rp": "hashmap/hashmap_rp.c", "hashmap_tx": "hashmap/hashmap_tx.c"},
             "tree": {"btree": "tree_map/btree_map.c"}}
PMDK_BYTES_EXTRA = 600  # a key's share of tables, objects and their headers


def build(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"maps.py: {' '.join(command)} failed:\n{result.stderr}")


def sources(*names):
    return [os.path.join(MAPS, n) for n in names]


def build_pmdk(name, source, size, pmdk, out, clang):
    examples = os.path.join(pmdk, "src", "examples", "libpmemobj")
    header = os.path.join(examples, "map", f"map_{name}.h")
    if not os.path.exists(header):
        sys.exit(f"maps.py: {header} is not there: --pmdk takes the root of a PMDK source tree")
    folders = [f"-I{os.path.join(examples, d)}" for d in ("map", "hashmap", "tree_map")]
    build([clang, "-O2", "-march=native", "-w", f"-DVALUE_BYTES={size}", f'-DMAP_HEADER="{header}"',
           f"-DMAP_OPS=MAP_{name.upper()}", *folders, *sources("driver.c", "pmdk.c"),
           os.path.join(examples, "map", "map.c"), os.path.join(examples, "map", f"map_{name}.c"),
           os.path.join(examples, source), "-lpmemobj", "-pthread", "-o", out])


def build_all(structure, size, a, folder):
    """system -> (executable, environment)"""
    common = ["-O2", "-march=native", "-pthread", f"-DVALUE_BYTES={size}"]
    path = {kind: os.path.join(folder, f"{structure}-{size}-{kind}")
            for kind in ("volatile", "nvmove", "pmemobj")}
    own = sources("driver.c", structure + ".c")
    build([a.clang, *common, *own, "-o", path["volatile"]])
    build([a.cc, *common, "-DPERSISTENT", *own, "-o", path["nvmove"]])
    port = sources("driver.c", f"pmemobj_{structure}.c")
    build([a.clang, *common, *port, "-lpmemobj", "-o", path["pmemobj"]])
    systems = {"volatile": (path["volatile"], {}), PORT: (path["pmemobj"], {})}
    for name, source in PMDK_MAPS[structure].items() if a.pmdk else ():
        out = os.path.join(folder, f"{structure}-{size}-{name}")
        build_pmdk(name, source, size, a.pmdk, out, a.clang)
        systems[name] = (out, {})
    for method in ("undo", "shadow"):
        systems[method] = (path["nvmove"], {"NVMOVE_METHOD": method, "NVMOVE_DOMAIN": "power"})
    return systems


def run(system, size, keys, threads, folder):
    executable, extra = system
    pool = os.path.join(folder, f"nvmove-maps.{os.getpid()}")
    bytes_max = keys * (size + PMDK_BYTES_EXTRA) + (256 << 20)
    try:
        result = subprocess.run([executable, pool, str(keys), str(bytes_max), str(threads)],
                                capture_output=True, text=True,
                                env=dict(os.environ, PMEM_IS_PMEM_FORCE="1", **extra))
    finally:
        if os.path.exists(pool):
            os.unlink(pool)
    if result.returncode:
        sys.exit(f"maps.py: {executable} ended with {result.returncode}: {result.stderr[-400:].strip()}")
    lines = [line.split() for line in result.stdout.splitlines()]
    return {words[0]: [float(word) for word in words[1:]] for words in lines}


def judge(system, operation, size, threads, rounds, peers):
    """(what is printed behind the nanoseconds, whether a goal was missed)"""
    which = CPU if threads == 1 else WALL
    reads = operation == "read"
    base = "volatile" if reads else min(
        peers, key=lambda s: statistics.median(r[s][operation][which] for r in rounds))
    ratio = statistics.median(r[base][operation][which] / r[system][operation][which] for r in rounds)
    value = 1 / ratio if reads else ratio
    goal = READ_GOAL if reads else GOALS.get((system, operation, size))
    if not goal or threads > 1:
        return f" x{value:.2f}", False
    missed = value > goal if reads else value < goal
    return f" x{value:.2f} (goal {goal}{', missed' if missed else ''})", missed


def show(structure, size, threads, rounds):
    """Prints a table, gives whether a goal was missed."""
    which = CPU if threads == 1 else WALL
    maps = list(PMDK_MAPS[structure])
    peers = maps if maps[0] in rounds[0] else [PORT]
    any_missed = False
    print(f"{structure}, values of {size} bytes, {threads} thread{'s' * (threads > 1)}, "
          f"ns of {'processor time' if which == CPU else 'wall clock'}")
    for system in rounds[0]:
        cells = []
        for o in OPERATIONS:
            cell = f"{o} {statistics.median(r[system][o][which] for r in rounds):7.0f}"
            if system in ("undo", "shadow"):
                text, missed = judge(system, o, size, threads, rounds, peers)
                cell, any_missed = cell + text, any_missed or missed
            cells.append(cell)
        print(f"  {system:<11}", "   ".join(cells))
    sys.stdout.flush()
    return any_missed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True, help="nvmove-cc")
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--keys", type=int, default=1000000)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--folder", default="/dev/shm", help="where pools go")
    p.add_argument("--pmdk", help="source tree of PMDK, for its own maps")
    p.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "maps.json"))
    a = p.parse_args()
    a.cc = os.path.abspath(a.cc)
    missed, raw = False, []
    with tempfile.TemporaryDirectory() as scratch:
        for structure, size, share in WORKLOADS:
            systems = build_all(structure, size, a, scratch)
            keys = max(1, int(a.keys * share))
            for threads in map(int, a.threads.split(",")):
                rounds = [{name: run(s, size, keys, threads, a.folder) for name, s in systems.items()}
                          for _ in range(a.rounds)]
                raw.append({"structure": structure, "value_bytes": size, "keys": keys,
                            "threads": threads, "rounds": rounds})
                missed |= show(structure, size, threads, rounds)
    os.makedirs(os.path.dirname(a.out), exist_ok=True)
    with open(a.out, "w") as f:
        json.dump({"schema_version": 1, "processor": platform.processor() or platform.machine(),
                   "processors": os.cpu_count(), "load": os.getloadavg(), "workloads": raw}, f, indent=1)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
