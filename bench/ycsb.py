#!/usr/bin/env python3
"""YCSB over Redis with its keyspace in a pool beside Redis as it is.

usage: ycsb.py --cc NVMOVE_CC [--rounds N] [--records N] [--operations N] [--folder DIR] [--json FILE]
               [--configuration NAME]... [MIX...]

YCSB's own core (Maven Central, site.ycsb:core 0.17.0) with an adapter of ours over Jedis (bench/ycsb);
records of ten fields of 100 bytes, hashes of Redis. Mixes: A, B, D and F of YCSB, keys drawn as it says; and
reads to updates 90/10, 50/50, 10/90 as in the NVMOVE paper. Configurations as in redis.py, which also says
what is printed. One server for each configuration, loaded by YCSB, measured in turn, round by round; the
server has a core, YCSB with its 16 threads the other. Raw results: build/bench/ycsb.json.

Needs java and mvn. Exit status: 0 measured, 1 not, 3 the sources cannot be had.
"""
import argparse
import glob
import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import redis as harness  # noqa: E402

YCSB = os.path.join(harness.ROOT, "bench", "ycsb")
BUILD = os.path.join(harness.ROOT, "build", "ycsb")
THREADS = 16
MIXES = {  # shares of operations, and how keys are drawn
    "A": ({"read": 0.5, "update": 0.5}, "zipfian"),
    "B": ({"read": 0.95, "update": 0.05}, "zipfian"),
    "D": ({"read": 0.95, "insert": 0.05}, "latest"),
    "F": ({"read": 0.5, "readmodifywrite": 0.5}, "zipfian"),
    "90/10": ({"read": 0.9, "update": 0.1}, "zipfian"),
    "50/50": ({"read": 0.5, "update": 0.5}, "uniform"),
    "10/90": ({"read": 0.1, "update": 0.9}, "zipfian"),
}
KINDS = ("read", "update", "insert", "scan", "readmodifywrite")


class NotMeasured(Exception):
    """YCSB failed."""


def build():
    made = subprocess.run(["mvn", "-q", "-B", "-C", f"-Dnvmove.build={BUILD}", "package"], cwd=YCSB,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if made.returncode:
        raise NotMeasured(f"mvn package failed in {YCSB}:\n{made.stdout[-2000:]}{made.stderr[-500:]}")
    return ":".join(glob.glob(os.path.join(BUILD, "*.jar")) + glob.glob(os.path.join(BUILD, "jars", "*.jar")))


def run(classes, running, a, mix=None):
    """Loads (no mix) or measures: operations a second, and latencies."""
    properties = {"workload": "site.ycsb.workloads.CoreWorkload", "redis.port": running.server.port,
                  "recordcount": a.records, "operationcount": a.operations}
    if mix:
        shares, drawn = MIXES[mix]
        properties["requestdistribution"] = drawn
        properties.update({f"{kind}proportion": shares.get(kind, 0) for kind in KINDS})
    command = ["taskset", "-c", harness.CLIENT_CORE, "java", "-cp", classes, "site.ycsb.Client",
               "-t" if mix else "-load", "-db", "nvmove.bench.RedisAdapter", "-threads", str(THREADS),
               *(word for name, value in properties.items() for word in ("-p", f"{name}={value}"))]
    made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said = dict(re.findall(r"^\[([^]]*\], [^,]*), ([0-9.]+)$", made.stdout, re.M))
    failed = [name for name in said if "Return=" in name and not name.endswith("Return=OK")]
    if made.returncode or failed or "OVERALL], Throughput(ops/sec)" not in said:
        raise NotMeasured(f"YCSB: {failed} {made.stdout[-500:]} {made.stderr[-1500:]}")
    late = [float(value) for name, value in said.items() if name.endswith("99thPercentileLatency(us)")
            and not name.startswith("CLEANUP")]
    return {"rate": float(said["OVERALL], Throughput(ops/sec)"]), "latency": max(late)}


def compare(binaries, classes, a, results):
    names = a.configuration or [n for n in harness.CONFIGURATIONS if n != "none"]
    with harness.filled(binaries, names, a.folder, lambda running: run(classes, running, a)) as servers:
        for mix in a.mix or MIXES:
            seen = harness.in_turn(servers, a.rounds, a.operations,
                                   lambda running: run(classes, running, a, mix))
            results.append({"part": "ycsb", "mix": mix, "seen": seen})
            harness.tell(f"YCSB {mix}", 1, seen)
            late = {name: statistics.median(r["latency"] for r in rounds) for name, rounds in seen.items()}
            print("  99 % within us: " + ", ".join(f"{name} {value:.0f}" for name, value in late.items()))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("mix", nargs="*", choices=[[], *MIXES])
    p.add_argument("--cc", required=True)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--records", type=int, default=100000)
    p.add_argument("--operations", type=int, default=100000)
    p.add_argument("--folder", type=os.path.abspath, default=os.path.join(harness.ROOT, "build"))
    p.add_argument("--configuration", action="append", choices=harness.CONFIGURATIONS)
    p.add_argument("--json", default=os.path.join(harness.ROOT, "build", "bench", "ycsb.json"))
    a = p.parse_args()
    results = []
    try:
        classes, binaries = build(), harness.servers(a.cc)
        compare(binaries, classes, a, results)
    except harness.build.fetch.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3
    except (NotMeasured, FileNotFoundError) as e:
        print(e, file=sys.stderr)
        return 1
    finally:
        harness.server.kill_all()
        harness.write(a.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
