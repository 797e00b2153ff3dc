#!/usr/bin/env python3
"""Instructions that Redis executes for a request, with its keyspace in a pool and as it is.

usage: instructions.py --cc NVMOVE_CC [--load NAME]... [--pipeline N] [--functions N] [--method NAME]
                       [--flags OPTIONS]

The servers of redis.py under valgrind's callgrind, filled first: counts that do not depend on what else the
machine does, and that say nothing about its caches. --functions: the N functions that execute most of them.
Loads as in redis.py; keys are drawn from 20,000. --flags: more options of nvmove-cc for the ported server, as
--nvmove-redirect, which the methods lat and latb need.

Exit status: 0 counted, 1 not, 3 the sources cannot be had.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import redis as harness  # noqa: E402

KEYS, REQUESTS = 20000, 20000
SECONDS_MAX = 60  # until a server answers


class NotCounted(Exception):
    """What did not work."""


def connected(port):
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        try:
            client = harness.server.resp.Connection(port)
            client.do("PING")
            return client
        except OSError:
            time.sleep(0.1)
    raise NotCounted("the server does not answer under valgrind")


def by_function(path):
    """Instructions of each function of callgrind's output, without what it calls."""
    names, costs, function, is_call = {}, collections.Counter(), None, False
    with open(path) as f:
        for line in f:
            found = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line)
            if found:
                names.setdefault(found.group(1), found.group(2))
                function = function if line.startswith("c") else found.group(1)
            elif line.startswith("calls="):
                is_call = True
            elif re.match(r"[\d+*-]", line):
                if not is_call:
                    costs[function] += int(line.split()[-1])
                is_call = False
    return collections.Counter({names[function]: cost for function, cost in costs.items()})


def count(binaries, which, load, a):
    """Instructions for a request, by function."""
    folder = tempfile.mkdtemp(prefix="nvmove-bench-", dir=harness.FOLDER)
    # Valgrind of Debian 12 cannot read the debug information of clang 19.
    server = os.path.join(folder, "redis-server")
    subprocess.run(["objcopy", "--strip-debug", os.path.join(binaries[which], "redis-server"), server],
                   check=True)
    out, port = os.path.join(folder, "counts"), harness.server.free_port()
    process = subprocess.Popen(
        ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}", server,
         "--port", str(port), "--save", "", "--dir", folder], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **harness.nvmove(a.method, "power")})
    fill, measured = harness.LOADS[load]

    def run(arguments, requests):
        subprocess.run([os.path.join(binaries["plain"], "redis-benchmark"), "-p", str(port), "-n",
                        str(requests), "-r", str(KEYS), "-P", str(a.pipeline), "--csv", *arguments],
                       stdout=subprocess.DEVNULL, check=True)

    def switch(state):
        subprocess.run(["callgrind_control", "-i", state, str(process.pid)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
    try:
        client = connected(port)
        run(fill or measured, 3 * KEYS)
        switch("on")
        run(measured, REQUESTS)
        switch("off")
        client.send(("SHUTDOWN", "NOSAVE"))
        process.wait(timeout=SECONDS_MAX)
        return by_function(out)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True)
    p.add_argument("--load", action="append", choices=harness.LOADS)
    p.add_argument("--pipeline", type=int, default=16)
    p.add_argument("--functions", type=int, default=0)
    p.add_argument("--method", default="shadow", choices=("shadow", "undo", "lat", "latb"))
    p.add_argument("--flags", default="")
    a = p.parse_args()
    if not shutil.which("valgrind"):
        print("valgrind is not there: scripts/setup --bench installs it", file=sys.stderr)
        return 1
    try:
        binaries = harness.servers(a.cc)
        if a.flags:
            tree = os.path.join(harness.build.THIRD_PARTY, "redis-3.2.6-port" + a.flags.replace(" ", ""))
            binaries["port"] = harness.build.build(os.path.abspath(a.cc), tree, a.flags)
        for load in a.load or harness.GOALS:
            counts = {which: count(binaries, which, load, a) for which in ("plain", "port")}
            plain, port = (sum(counts[which].values()) / REQUESTS for which in ("plain", "port"))
            print(f"{load}, pipeline {a.pipeline}: {plain:.0f} instructions a request as it is, {port:.0f} "
                  f"in a pool, {port / plain:.2f} times as many", flush=True)
            for which in counts if a.functions else ():
                print(f"  {which}:")
                for name, cost in counts[which].most_common(a.functions):
                    print(f"  {cost / REQUESTS:8.1f}  {name}")
    except harness.build.fetch.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3
    except (NotCounted, subprocess.SubprocessError) as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
