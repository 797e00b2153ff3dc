#!/usr/bin/env python3
"""Redis 3.2.6 with its keyspace in a pool beside Redis as it is: throughput, processor time, restart.

usage: redis.py --cc NVMOVE_CC [--rounds N] [--requests N] [--keys N] [--json FILE] [PART...]

Builds the ported server (ports/redis) and the plain one (clang, jemalloc, -O2). Parts:

  throughput  each load on each configuration in turn, so that what disturbs the machine disturbs all;
              share of the server without persistence, median of the rounds, and the server's processor time
              for a request. redis-benchmark has the other core, a million random keys.
  restart     seconds from the start of a server that was killed with --keys keys until it answered a GET.

Configurations: none; RDB each second; AOF everysec; AOF always; and with a pool (a turn of the event loop is
a transaction, as in the port file) methods shadow and undo, domains power (cache lines flushed) and process.
Raw results with the machine and the commit: build/bench/redis.json.

Exit status: 0 measured, 1 not, 3 the sources cannot be had.
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "ports", "redis"))
import build  # noqa: E402
import server  # noqa: E402

FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
SERVER_CORE, CLIENT_CORE = "0", "1"
RANDOM_KEYS = 1000000
MANY = 1000  # requests sent at once to fill a server


def nvmove(method, domain):
    return {"NVMOVE_POOL": "redis.pool", "NVMOVE_POOL_SIZE": "512M", "NVMOVE_METHOD": method,
            "NVMOVE_DOMAIN": domain}


CONFIGURATIONS = {
    "none": (("--save", ""), None),
    "RDB each second": (("--save", "1 1"), None),
    "AOF everysec": (("--save", "", "--appendonly", "yes"), None),
    "AOF always": (("--save", "", "--appendonly", "yes", "--appendfsync", "always"), None),
    "shadow, power": (("--save", ""), nvmove("shadow", "power")),
    "undo, power": (("--save", ""), nvmove("undo", "power")),
    "shadow, process": (("--save", ""), nvmove("shadow", "process")),
    "undo, process": (("--save", ""), nvmove("undo", "process")),
}
VALUE = "v" * 1000
LOADS = {  # arguments of redis-benchmark
    "SET 3 B": ("-t", "set"), "GET 3 B": ("-t", "get"), "INCR": ("-t", "incr"),
    "SET 1 KB": ("-t", "set", "-d", "1000"),
    "LPUSH": ("lpush", "list:__rand_int__", "xxx"), "SADD": ("sadd", "set:__rand_int__", "xxx"),
    "HSET": ("hset", "hash:__rand_int__", "field", "xxx"),
}


class Running:
    """A server of one configuration in a folder of its own, on its core."""

    def __init__(self, binaries, name, folder=None):
        options, environment = CONFIGURATIONS[name]
        self.folder = folder or tempfile.mkdtemp(prefix="nvmove-bench-", dir=FOLDER)
        self.begun = time.monotonic()
        self.server = server.Server(binaries["port" if environment else "plain"], self.folder, options,
                                    environment, before=("taskset", "-c", SERVER_CORE))
        self.client = self.server.wait()

    def cpu_seconds(self):
        with open(f"/proc/{self.server.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.server.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def benchmark(binaries, port, arguments, pipeline, requests):
    """Requests a second."""
    command = ["taskset", "-c", CLIENT_CORE, os.path.join(binaries["plain"], "redis-benchmark"),
               "-p", str(port), "-n", str(requests), "-r", str(RANDOM_KEYS), "-P", str(pipeline), "--csv",
               *arguments]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(out.strip().rsplit(",", 1)[1].strip('"'))


def microseconds(seen):
    """Processor time of the server for a request."""
    return 1e6 * statistics.median(r["cpu"] for r in seen)


def throughput(binaries, a, results):
    for pipeline in (1, 16):
        requests = a.requests * (4 if pipeline > 1 else 1)
        for load, arguments in LOADS.items():
            seen = {name: [] for name in CONFIGURATIONS}
            for _ in range(a.rounds):
                for name in CONFIGURATIONS:
                    running = Running(binaries, name)
                    before = running.cpu_seconds()
                    rate = benchmark(binaries, running.server.port, arguments, pipeline, requests)
                    seen[name].append({"rate": rate, "cpu": (running.cpu_seconds() - before) / requests})
                    running.stop()
            results.append({"part": "throughput", "load": load, "pipeline": pipeline, "seen": seen})
            base = seen["none"]
            rate = statistics.median(r["rate"] for r in base)
            print(f"{load}, pipeline {pipeline}: none {rate:.0f} requests/s, {microseconds(base):.2f} us")
            for name in list(CONFIGURATIONS)[1:]:
                shares = [r["rate"] / b["rate"] for r, b in zip(seen[name], base)]
                print(f"  {name:18} {statistics.median(shares):.2f}  (lowest {min(shares):.2f})  "
                      f"{microseconds(seen[name]):.2f} us", flush=True)


def restart(binaries, a, results):
    for name in ("RDB each second", "AOF everysec", "shadow, power", "undo, process"):
        first = Running(binaries, name)
        for start in range(0, a.keys, MANY):
            first.client.send(*(("SET", f"key:{n}", f"value:{n}") for n in range(start, start + MANY)))
            for _ in range(MANY):
                first.client.reply()
        if CONFIGURATIONS[name][1] is None:
            first.client.do("SAVE" if "RDB" in name else "BGREWRITEAOF")
            while b"aof_rewrite_in_progress:1" in first.client.do("INFO", "persistence"):
                time.sleep(0.1)
        first.server.kill()
        times = []
        for _ in range(a.rounds):
            again = Running(binaries, name, first.folder)
            while True:
                answer = again.client.do_or_error("GET", "key:17")
                if answer == b"value:17":
                    break
            times.append(time.monotonic() - again.begun)
            again.server.kill()
        shutil.rmtree(first.folder, ignore_errors=True)
        results.append({"part": "restart", "configuration": name, "keys": a.keys, "seconds": times})
        print(f"restart with {a.keys} keys, {name}: {1000 * statistics.median(times):.1f} ms", flush=True)


def commit():
    made = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return made.stdout.strip()


PARTS = {"restart": restart, "throughput": throughput}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("part", nargs="*", choices=[[], *PARTS])
    p.add_argument("--cc", required=True)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--requests", type=int, default=100000)
    p.add_argument("--keys", type=int, default=1000000)
    p.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "redis.json"))
    a = p.parse_args()
    try:
        trees = os.path.join(build.THIRD_PARTY, "redis-3.2.6-")
        binaries = {"port": build.build(os.path.abspath(a.cc), trees + "port"),
                    "plain": build.build("clang-19", trees + "plain", plain=True)}
    except build.fetch.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3
    results = []
    try:
        for part in a.part or PARTS:
            PARTS[part](binaries, a, results)
    finally:
        server.kill_all()
        os.makedirs(os.path.dirname(a.json), exist_ok=True)
        with open(a.json, "w") as f:
            json.dump({"machine": platform.platform(), "processors": os.cpu_count(), "commit": commit(),
                       "results": results}, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
