#!/usr/bin/env python3
"""Redis 3.2.6 with its keyspace in a pool beside Redis as it is: throughput, processor time, restart.

usage: redis.py --cc NVMOVE_CC [--rounds N] [--requests N] [--keys N] [--folder DIR] [--pools DIR]
                [--json FILE] [--load NAME]... [--configuration NAME]... [PART...]

Builds the ported server (ports/redis) and the plain one (clang, jemalloc, -O2). Parts:

  throughput  one server for each configuration, filled by each load's own commands; then round by round each
              is measured in turn, so that what disturbs the machine disturbs all. Share of the server without
              persistence in the same round: median, and the lower end of its mean's 95 % interval; the
              server's processor time, log entries, log bytes and fences for a request. redis-benchmark has
              the other core, a million random keys.
  restart     seconds from the start of a server that was killed with --keys keys until it answered a GET.

Configurations: none; none again (how far apart two of the same come out); RDB each second; AOF everysec;
AOF always (their files in --folder, which should be a disk); with a pool in --folder (domain disk; 1 s:
commits do not wait, and are synced each second); with one in --pools (persistent memory; /dev/shm): methods
shadow and undo, domains power (cache lines flushed) and process, a turn of the event loop a transaction, or
(command) each command. Raw results with the machine and the commit: build/bench/redis.json.

Exit status: 0 measured, 1 not, 3 the sources cannot be had.
"""
import argparse
import contextlib
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
REST_SECONDS_MAX = 120
MANY = 1000  # requests sent at once to fill a server


def nvmove(method, domain, **more):
    return {"NVMOVE_POOL": "redis.pool", "NVMOVE_POOL_SIZE": "512M", "NVMOVE_METHOD": method,
            "NVMOVE_DOMAIN": domain, **more}


# Options at the start, settings once it is filled, environment of a ported server, which one.
CONFIGURATIONS = {
    "none": ({}, None, "plain"),
    "none again": ({}, None, "plain"),
    "RDB each second": ({"save": "1 1"}, None, "plain"),
    "AOF everysec": ({"appendonly": "yes", "appendfsync": "everysec"}, None, "plain"),
    "AOF always": ({"appendonly": "yes", "appendfsync": "always"}, None, "plain"),
    "shadow, power": ({}, nvmove("shadow", "power"), "port"),
    "undo, power": ({}, nvmove("undo", "power"), "port"),
    "shadow, process": ({}, nvmove("shadow", "process"), "port"),
    "undo, process": ({}, nvmove("undo", "process"), "port"),
    "shadow, disk": ({}, nvmove("shadow", "disk"), "port"),
    "shadow, disk, 1 s": ({}, nvmove("shadow", "disk", NVMOVE_DURABLE="1000"), "port"),
    "shadow, power, command": ({}, nvmove("shadow", "power"), "command"),
    "undo, process, command": ({}, nvmove("undo", "process"), "command"),
}
SET = ("set", "key:__rand_int__")
LOADS = {  # what fills, what is measured
    "SET 3 B": (None, (*SET, "xxx")),
    "GET 3 B": ((*SET, "xxx"), ("get", SET[1])),
    "INCR": (None, ("incr", "counter:__rand_int__")),
    "SET 1 KB": (None, (*SET, "x" * 1000)),
    "GET 1 KB": ((*SET, "x" * 1000), ("get", SET[1])),
    "LPUSH": (None, ("lpush", "list:__rand_int__", "xxx")),
    "RPUSH": (None, ("rpush", "list:__rand_int__", "xxx")),
    "LPOP": (("rpush", "list:__rand_int__", "xxx", "yyy", "zzz"), ("lpop", "list:__rand_int__")),
    "SADD": (None, ("sadd", "set:__rand_int__", "xxx")),
    "SPOP": (("sadd", "set:__rand_int__", "xxx", "yyy", "zzz"), ("spop", "set:__rand_int__")),
    "HSET": (None, ("hset", "hash:__rand_int__", "field", "xxx")),
    "ZADD": (None, ("zadd", "sorted:__rand_int__", "1", "xxx")),
    "LRANGE": (("rpush", "list:__rand_int__", *"abcdefgh"), ("lrange", "list:__rand_int__", "0", "-1")),
    "MSET 10": (None, ("mset", *(word for n in range(10) for word in (f"key{n}:__rand_int__", "xxx")))),
}
GOALS = ("SET 3 B", "GET 3 B", "INCR", "SET 1 KB", "LPUSH", "SADD", "HSET")  # measured when none is named
FILLED = 2 * RANDOM_KEYS  # requests
LARGE_AT_ONCE = 3
COUNTED = {"entries": "nvmove_log_entries", "bytes": "nvmove_log_bytes", "fences": "nvmove_fences"}


class Running:
    """A server of one configuration in a folder of its own, on its core."""

    def __init__(self, binaries, name, folder=None, parent=None, settings=()):
        self.settings, environment, which = CONFIGURATIONS[name]
        self.folder = folder or tempfile.mkdtemp(prefix="nvmove-bench-", dir=parent or FOLDER)
        self.ported = environment is not None
        self.begun = time.monotonic()
        self.server = server.Server(binaries[which], self.folder, ("--save", "", *settings),
                                    environment, before=("taskset", "-c", SERVER_CORE))
        self.client = self.server.wait()

    def persist(self):
        """From now on it does what its configuration says."""
        for name, value in self.settings.items():
            self.client.do("CONFIG", "SET", name, value)
        while b"aof_rewrite_in_progress:1" in self.client.do("INFO", "persistence"):
            time.sleep(0.1)

    def come_to_rest(self):
        """What it still writes in the background must not disturb who is next."""
        busy = [b"rdb_bgsave_in_progress:1", b"aof_pending_bio_fsync:1"]
        end = time.monotonic() + REST_SECONDS_MAX
        while any(sign in self.client.do("INFO", "persistence") for sign in busy) or (
                "save" in self.settings and b"rdb_changes_since_last_save:0\r" not in self.client.do("INFO")):
            if time.monotonic() > end:
                sys.exit(f"{self.folder}: its server still saves after {REST_SECONDS_MAX} s; a full disk?")
            time.sleep(0.1)

    def cpu_seconds(self):
        with open(f"/proc/{self.server.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def counts(self):
        section = self.client.do("INFO", "nvmove").decode() if self.ported else ""
        said = dict(line.split(":", 1) for line in section.split("\r\n") if ":" in line)
        return {name: int(said.get(key, 0)) for name, key in COUNTED.items()}

    def stop(self):
        self.server.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def benchmark(binaries, running, arguments, pipeline, requests):
    """Requests a second."""
    command = ["taskset", "-c", CLIENT_CORE, os.path.join(binaries["plain"], "redis-benchmark"),
               "-p", str(running.server.port), "-n", str(requests), "-r", str(RANDOM_KEYS),
               "-P", str(pipeline), "--csv", *arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        status = running.server.process.poll()
        sys.exit(f"{running.folder}: redis-benchmark failed: {run.stderr.strip()[-200:]}; its server "
                 f"{'runs' if status is None else f'ended with {status}'} and said: {running.server.said()}")
    return float(run.stdout.strip().rsplit(",", 1)[1].strip('"'))


def measure(running, requests, load):
    """What `load(running)` gives of so many requests, and the server's part in each."""
    cpu, counts = running.cpu_seconds(), running.counts()
    seen = load(running)
    seen["cpu"] = (running.cpu_seconds() - cpu) / requests
    return {**seen, **{name: (now - counts[name]) / requests for name, now in running.counts().items()}}


def in_turn(servers, rounds, requests, load):
    """Round by round each server once, beginning with another, so that what disturbs the machine disturbs
    all."""
    seen, names = {name: [] for name in servers}, list(servers)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            seen[name].append(measure(servers[name], requests, load))
            servers[name].come_to_rest()
    return seen


@contextlib.contextmanager
def filled(binaries, names, folder, fill):
    """A server without persistence and one of each configuration, which `fill(running)` filled."""
    servers = {}
    try:
        for name in ("none", *names):
            on_disk = (CONFIGURATIONS[name][1] or {}).get("NVMOVE_DOMAIN", "disk") == "disk"
            servers[name] = Running(binaries, name, parent=folder if on_disk else FOLDER)
            fill(servers[name])
            servers[name].persist()
        yield servers
    finally:
        for running in servers.values():
            running.stop()


T95 = (12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)  # Student's, by degrees of freedom


def lower_bound(shares):
    """Of the mean's 95 % interval."""
    t = T95[min(len(shares) - 2, len(T95) - 1)]
    return statistics.mean(shares) - t * statistics.stdev(shares) / len(shares) ** 0.5


def tell(load, pipeline, seen):
    median = {name: {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
              for name, rounds in seen.items()}
    print(f"{load}, pipeline {pipeline}: none {median['none']['rate']:.0f} requests/s, "
          f"{1e6 * median['none']['cpu']:.2f} us")
    for name in list(seen)[1:]:
        shares = [r["rate"] / b["rate"] for r, b in zip(seen[name], seen["none"])]
        m = median[name]
        counts = f"  {m['entries']:.2f} entries {m['bytes']:.0f} B {m['fences']:.3f} fences"
        bound = f"(mean at least {lower_bound(shares):.2f})" if len(shares) > 1 else "(one round)"
        print(f"  {name:22} {statistics.median(shares):.2f}  {bound}  "
              f"{1e6 * m['cpu']:.2f} us{counts if m['fences'] else ''}", flush=True)


def beside_none(binaries, names, load, a, results):
    fill, measured = LOADS[load]

    def rate(running, pipeline, requests):
        return {"rate": benchmark(binaries, running, measured, pipeline, requests)}

    with filled(binaries, names, a.folder,
                lambda running: benchmark(binaries, running, fill or measured, 16, FILLED)) as servers:
        for pipeline in (1, 16):
            requests = a.requests * (4 if pipeline > 1 else 1)
            seen = in_turn(servers, a.rounds, requests, lambda running: rate(running, pipeline, requests))
            results.append({"part": "throughput", "load": load, "pipeline": pipeline, "seen": seen})
            tell(load, pipeline, seen)


def throughput(binaries, a, results):
    names = a.configuration or [name for name in CONFIGURATIONS if name != "none"]
    for load in a.load or GOALS:
        few = LARGE_AT_ONCE if "1 KB" in load else len(names)  # a million of them take 2 GB
        for first in range(0, len(names), few):
            beside_none(binaries, names[first:first + few], load, a, results)


def restart(binaries, a, results):
    for name in ("RDB each second", "AOF everysec", "shadow, power", "undo, process"):
        first = Running(binaries, name)
        for start in range(0, a.keys, MANY):
            first.client.send(*(("SET", f"key:{n}", f"value:{n}") for n in range(start, start + MANY)))
            for _ in range(MANY):
                first.client.reply()
        if "RDB" in name:
            first.client.do("SAVE")
        first.persist()
        first.server.kill()
        times = []
        for _ in range(a.rounds):
            again = Running(binaries, name, first.folder, settings=[w for k, v in first.settings.items()
                                                                    for w in ("--" + k, v)])
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


def servers(cc):
    """Folders of binaries. Raises build.fetch.CannotFetch."""
    trees, cc = os.path.join(build.THIRD_PARTY, "redis-3.2.6-"), os.path.abspath(cc)
    return {"port": build.build(cc, trees + "port"),
            "command": build.build(cc, trees + "port-command", per_command=True),
            "plain": build.build("clang-19", trees + "plain", plain=True)}


def write(path, results):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump({"machine": platform.platform(), "processors": os.cpu_count(), "commit": commit(),
                   "results": results}, f, indent=1)
        f.write("\n")


PARTS = {"restart": restart, "throughput": throughput}


def main():
    global FOLDER, RANDOM_KEYS, FILLED
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("part", nargs="*", choices=[[], *PARTS])
    p.add_argument("--cc", required=True)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--requests", type=int, default=100000)
    p.add_argument("--keys", type=int, default=1000000)
    p.add_argument("--random-keys", type=int, default=RANDOM_KEYS, help="that a load chooses from")
    p.add_argument("--folder", type=os.path.abspath, default=os.path.join(ROOT, "build"))
    p.add_argument("--pools", type=os.path.abspath, default=FOLDER)
    p.add_argument("--load", action="append", choices=LOADS)
    p.add_argument("--configuration", action="append", choices=CONFIGURATIONS)
    p.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "redis.json"))
    a = p.parse_args()
    FOLDER, RANDOM_KEYS, FILLED = a.pools, a.random_keys, 2 * a.random_keys
    try:
        binaries = servers(a.cc)
    except build.fetch.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3
    results = []
    try:
        for part in a.part or PARTS:
            PARTS[part](binaries, a, results)
    finally:
        server.kill_all()
        write(a.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
