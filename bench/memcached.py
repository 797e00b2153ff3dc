#!/usr/bin/env python3
"""memcached 1.6.18 with its items in a pool beside memcached as it is: throughput, processor time, restart.

usage: memcached.py --cc NVMOVE_CC [--rounds N] [--requests N] [--keys N] [--threads N]... [--json FILE]
                    [--load NAME]... [--configuration NAME]... [PART...]

Builds the ported server (ports/memcached) and the plain one (clang, -O2). Parts:

  throughput  one server for each configuration, filled with a million items of 100 bytes; then round by round
              each is measured in turn, so that what disturbs the machine disturbs all. Share of the plain
              server in the same round: median, and the lower end of its mean's 95 % interval; the server's
              processor time for a request. The clients (memcached/load.c: 50 connections, one request at a
              time) share both cores with the server's worker threads (--threads, 1 and 2).
  restart     seconds from the start of a server with --keys items until it answered a get; of one with a pool
              after kill -9, of the plain one with -e (its own restart) after a graceful stop.

Configurations: plain; plain again (how far apart two of the same come out); methods undo and shadow, domains
process and power (cache lines flushed). Pools lie in /dev/shm. Raw results with the machine and the commit:
build/bench/memcached.json.

Exit status: 0 measured, 1 not, 3 the sources cannot be had.
"""
import argparse
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "ports", "memcached"))
import build  # noqa: E402
import server  # noqa: E402

FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
ITEMS, BYTES, CLIENTS = 1000000, 100, 50
MEMORY = 1024            # MB of items; enough for the million
POOL_SIZE = "1G"
BYTES_AN_ITEM = 100      # of a restart's items with their keys and heads, at most


def nvmove(method, domain):
    return {"NVMOVE_METHOD": method, "NVMOVE_DOMAIN": domain, "NVMOVE_POOL": "memcached.pool"}


CONFIGURATIONS = {"plain": None, "plain again": None, "undo": nvmove("undo", "process"),
                  "shadow": nvmove("shadow", "process"), "undo, power": nvmove("undo", "power"),
                  "shadow, power": nvmove("shadow", "power")}
LOADS = {"GET 95 %": 95, "SET 50 %": 50, "SET 100 %": 0}
MEASURED = ("plain again", "undo", "shadow")  # configurations, when none is named
T95 = (12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)  # Student's, by degrees of freedom


class Running:
    """A server of one configuration in a folder of its own."""

    def __init__(self, trees, name, threads, options=(), folder=None, size=POOL_SIZE, memory=MEMORY):
        environment = CONFIGURATIONS.get(name)
        self.folder = folder or tempfile.mkdtemp(prefix="nvmove-bench-", dir=FOLDER)
        self.begun = time.monotonic()
        self.server = server.Server(trees["plain" if environment is None else "port"], self.folder,
                                    ("-t", str(threads), "-m", str(memory), *options),
                                    {**environment, "NVMOVE_POOL_SIZE": size} if environment else None)
        self.client = self.server.wait()

    def cpu_seconds(self):
        with open(f"/proc/{self.server.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.server.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def load(trees, running, clients, depth, requests, keys, size, gets, seed):
    """Requests a second."""
    numbers = running.server.port, clients, depth, requests, keys, size, gets, seed
    command = [trees["load"], *map(str, numbers)]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"{' '.join(command)} failed: {made.stderr}; its server said: {running.server.said()}")
    return float(made.stdout)


def fill(trees, running, items, size):
    load(trees, running, 1, 1000, items, items, size, -1, 1)


def lower_bound(shares):
    """Of the mean's 95 % interval."""
    t = T95[min(len(shares) - 2, len(T95) - 1)]
    return statistics.mean(shares) - t * statistics.stdev(shares) / len(shares) ** 0.5


def tell(what, threads, seen):
    base = seen["plain"]
    print(f"{what}, {threads} threads: plain {statistics.median(r['rate'] for r in base):.0f} requests/s, "
          f"{1e6 * statistics.median(r['cpu'] for r in base):.2f} us")
    for name in list(seen)[1:]:
        shares = [r["rate"] / b["rate"] for r, b in zip(seen[name], base)]
        costs = [r["cpu"] / b["cpu"] for r, b in zip(seen[name], base)]
        bound = f"(mean at least {lower_bound(shares):.2f})" if len(shares) > 1 else "(one round)"
        print(f"  {name:15} {statistics.median(shares):.2f}  {bound}  "
              f"{1e6 * statistics.median(r['cpu'] for r in seen[name]):.2f} us, "
              f"{statistics.median(costs):.2f} of plain", flush=True)


def in_turn(trees, servers, rounds, requests, gets):
    """Round by round each server once, beginning with another."""
    seen, names = {name: [] for name in servers}, list(servers)
    for turn in range(rounds):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            cpu = servers[name].cpu_seconds()
            rate = load(trees, servers[name], CLIENTS, 1, requests, ITEMS, BYTES, gets, turn + 1)
            seen[name].append({"rate": rate, "cpu": (servers[name].cpu_seconds() - cpu) / requests})
    return seen


def throughput(trees, a, results):
    for threads in a.threads or (1, 2):
        servers = {}
        try:
            for name in dict.fromkeys(("plain", *(a.configuration or MEASURED))):
                servers[name] = Running(trees, name, threads)
                fill(trees, servers[name], ITEMS, BYTES)
            time.sleep(3)  # the table grows, lists are sorted out
            for what in a.load or LOADS:
                seen = in_turn(trees, servers, a.rounds, a.requests, LOADS[what])
                results.append({"part": "throughput", "load": what, "threads": threads, "seen": seen})
                tell(what, threads, seen)
        finally:
            for running in servers.values():
                running.stop()


def stop_gracefully(running):
    running.server.process.send_signal(signal.SIGUSR1)
    running.server.process.wait()


def restart(trees, a, results):
    memory = max(MEMORY, a.keys * BYTES_AN_ITEM * 12 // 10 >> 20)
    for name in a.configuration or ("plain", *MEASURED[1:]):
        own = CONFIGURATIONS[name] is None
        kept = {"size": f"{memory + 512}M", "memory": memory}
        options = ("-e", os.path.join(FOLDER or "/tmp", "nvmove-bench-memcached.items")) if own else ()
        first = Running(trees, name, 2, options, **kept)
        fill(trees, first, a.keys, 8)
        time.sleep(3)
        count, times, stops = int(first.client.stats()["curr_items"]), [], []
        for turn in range(a.rounds):
            begun = time.monotonic()
            stop_gracefully(first) if own else first.server.kill()
            stops.append(time.monotonic() - begun)
            time.sleep(1.1 if own else 0)  # -e begins anew within the second of its stop
            first = Running(trees, name, 2, options, folder=first.folder, **kept)
            key = turn * 7919 % a.keys
            if first.client.get(f"key:{key:010}") != bytes([97 + key % 26]) * 8:
                sys.exit(f"{name}: the server lost key {key}")
            times.append(time.monotonic() - first.begun)
            if int(first.client.stats()["curr_items"]) != count:
                sys.exit(f"{name}: {count} items were {first.client.stats()['curr_items']} after a restart")
        first.stop()
        for path in (options[1], options[1] + ".meta") if own else ():
            os.path.exists(path) and os.remove(path)
        what = "its own -e, stopped gracefully" if own else f"{name}, killed"
        results.append({"part": "restart", "configuration": name, "keys": count, "seconds": times,
                        "stops": stops})
        print(f"restart with {count} items, {what}: {1000 * statistics.median(times):.0f} ms until the first "
              f"answer; {1000 * statistics.median(stops):.0f} ms to stop", flush=True)


def trees_of(cc):
    """Folders of binaries, and the clients. Raises build.fetch.CannotFetch."""
    trees = {"port": build.build(os.path.abspath(cc), programs=("memcached",)),
             "plain": build.build("clang-19", os.path.join(build.THIRD_PARTY, "memcached-1.6.18-plain"),
                                  plain=True, programs=("memcached",))}
    trees["load"] = os.path.join(trees["plain"], "load")
    source = os.path.join(ROOT, "bench", "memcached", "load.c")
    subprocess.run(["clang-19", "-O2", "-Wall", "-Wextra", "-o", trees["load"], source], check=True)
    return trees


PARTS = {"restart": restart, "throughput": throughput}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("part", nargs="*", choices=[[], *PARTS])
    p.add_argument("--cc", required=True)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--requests", type=int, default=200000)
    p.add_argument("--keys", type=int, default=1000000)
    p.add_argument("--threads", type=int, action="append")
    p.add_argument("--load", action="append", choices=LOADS)
    p.add_argument("--configuration", action="append", choices=CONFIGURATIONS)
    p.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "memcached.json"))
    a = p.parse_args()
    try:
        trees = trees_of(a.cc)
    except build.fetch.CannotFetch as e:
        print(f"memcached cannot be fetched here: {e}", file=sys.stderr)
        return 3
    results = []
    try:
        for part in a.part or PARTS:
            PARTS[part](trees, a, results)
    finally:
        server.kill_all()
        made = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
        os.makedirs(os.path.dirname(a.json), exist_ok=True)
        with open(a.json, "w") as f:
            json.dump({"machine": platform.platform(), "processors": os.cpu_count(),
                       "commit": made.stdout.strip(), "results": results}, f, indent=1)
            f.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
