#!/usr/bin/env python3
"""What a power failure may leave of the ported Redis: `nvmove crash` opens every state and Redis looks at it.

usage: power.py --cc NVMOVE_CC --nvmove NVMOVE [--rounds N] [--states-max N]

Builds the port with --nvmove-trace. A server fills a fresh pool and does N rounds of commands, each one
MULTI/EXEC: a counter, a list, a set, a hash, a sorted set and strings that agree with each other after it.
`nvmove crash` explores the states of its trace by the power model, also that no reply leaves before what it
acknowledges is durable; in each, recovered, a server that attaches the pool has to find them in agreement.

Two kinds of findings are no fault of this port, and are only counted: stores outside transactions that the
beginning of EXEC commits by themselves, as what it is made of was read before; and lines of the server's log,
which acknowledge nothing.

Exit status: 0 nothing else found, 1 findings, 3 the sources cannot be had.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import build  # noqa: E402
import server  # noqa: E402

FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
TREE = os.path.join(build.THIRD_PARTY, "redis-3.2.6-port-trace")
POOL = {"NVMOVE_POOL_SIZE": "1M", "NVMOVE_METHOD": "shadow", "NVMOVE_DOMAIN": "power"}


def one_round(n):
    return (("MULTI",), ("INCR", "counter"), ("RPUSH", "list", n), ("SADD", "set", f"member {n}"),
            ("HSET", "hash", n, f"value {n}"), ("ZADD", "sorted", n, f"member {n}"),
            ("SET", f"key {n}", n), ("SET", "last", n), ("EXEC",))


def started(pool, folder):
    running = server.Server(os.path.join(TREE, "src"), folder, ("--save", ""), {**POOL, "NVMOVE_POOL": pool})
    return running, running.wait()


def fill(pool, rounds):
    """The program that is explored."""
    running, client = started(pool, os.path.dirname(pool))
    for n in range(1, rounds + 1):
        client.do("SET", "brief", "x" * 100)
        client.send(*one_round(n))
        for _ in one_round(n):
            client.reply()
        client.do("DEL", "brief")
    client.send(("SHUTDOWN", "NOSAVE"))
    return running.process.wait(timeout=server.SECONDS_MAX)


def look(pool):
    """The checker."""
    folder = tempfile.mkdtemp(prefix="nvmove-redis-", dir=FOLDER)
    try:
        running, client = started(pool, folder)
        n = int(client.do("GET", "counter") or 0)
        keys = client.do("DBSIZE") - client.do("EXISTS", "brief") - 6 * (n > 0)
        found = [client.do("LLEN", "list"), client.do("SCARD", "set"), client.do("HLEN", "hash"),
                 client.do("ZCARD", "sorted"), int(client.do("GET", "last") or 0), keys]
        if any(value != n for value in found) or (n and client.do("GET", f"key {n}") != b"%d" % n):
            print(f"the counter is {n}; list, set, hash, sorted set, last, keys: {found}")
            return 1
        return 0
    except server.NotStarted as e:
        print(e)
        return 1
    finally:
        server.kill_all()
        shutil.rmtree(folder)


def function_at(place):
    """The name of the function of the source that a finding is in."""
    with open(place["file"], errors="replace") as f:
        lines = f.read().split("\n")[:place["line"]]
    heads = [re.match(r"[A-Za-z].*?(\w+)\(.*\{$", line) for line in lines]
    return next((head.group(1) for head in reversed(heads) if head), "")


def is_meant(finding):
    return (finding["kind"] == "write outside a transaction" or
            (finding["kind"] == "output before commit" and
             function_at(finding["place"]).startswith("serverLog")))


def explore(cc, nvmove, rounds, states_max):
    """(passed, failed): all states as passed, or the findings as failed."""
    build.build(cc, TREE, "--nvmove-trace")
    with tempfile.TemporaryDirectory(prefix="nvmove-redis-", dir=FOLDER) as folder:
        me = [sys.executable, os.path.abspath(__file__)]
        found = os.path.join(folder, "found.json")
        command = [nvmove, "crash", "-q", "--format=json", "-o", found, "--seconds=0",
                   "--states-max", str(states_max), "--check", " ".join([*me, "--look", "{}"]),
                   "--", *me, "--fill", os.path.join(folder, "redis.pool"), "--rounds", str(rounds)]
        made = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if made.returncode > 1:
            print(f"{' '.join(command)}: {made.stdout[-2000:]}{made.stderr[-2000:]}")
            return 0, 1
        with open(found) as f:
            result = json.load(f)
    wrong = [f for f in result["findings"] if not is_meant(f)]
    meant = len(result["findings"]) - len(wrong)
    for f in wrong:
        print(f"FAILED: power: {f['kind']}: {f['message']} {f['place']}, {f['count']} times, "
              f"state {f['state']}")
    explored = result["explored"]
    print(f"{explored['states']} states ({explored['distinct_images']} images), {explored['commits']} "
          f"commits, {explored['interrupted_recoveries']} recoveries interrupted, {len(wrong)} findings, "
          f"{meant} places as meant, {explored['unexplored']} states left out, {explored['seconds']:.0f} s")
    if wrong or not explored["states"]:
        return 0, sum(f["count"] for f in wrong) or 1
    return explored["states"], 0


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc")
    p.add_argument("--nvmove")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--states-max", type=int, default=2000)
    p.add_argument("--fill", help=argparse.SUPPRESS)
    p.add_argument("--look", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.look:
        return look(a.look)
    if a.fill:
        return fill(a.fill, a.rounds)
    if not a.cc or not a.nvmove:
        p.error("--cc and --nvmove are needed")
    try:
        _, failed = explore(os.path.abspath(a.cc), os.path.abspath(a.nvmove), a.rounds, a.states_max)
        return 1 if failed else 0
    except build.fetch.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
