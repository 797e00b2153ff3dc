#!/usr/bin/env python3
"""Runs Redis's own test suite against the ported server: each unit by itself, each server with a pool.

usage: suite.py --cc NVMOVE_CC [--plain] [UNIT...]

Builds the port in a tree of its own, where a script stands in front of redis-server: it names a pool in the
folder that the test gave the server, and removes it before each start in units about starts from a file.
--plain: the same with Redis as it is (clang). Needs tclsh. 15 minutes.

Exit status: 0 all passed, 1 not, 3 the sources cannot be had.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import build  # noqa: E402

UNIT_SECONDS_MAX = 1200
# About what a server loads from a file when it starts: one whose pool has data does not read it.
FROM_FILES = ("integration/aof", "integration/rdb", "integration/convert-zipmap-hash-on-load")
FRONT = """#!/bin/bash
folder=$(sed -n 's/^dir //p' "$1" | tail -1)
[ -z "$FRESH_POOLS" ] || rm -f "$folder/nvmove.pool"
NVMOVE_POOL="$folder/nvmove.pool" NVMOVE_METHOD=shadow NVMOVE_DOMAIN=process exec "$0-real" "$@"
"""


def put_in_front(src):
    server = os.path.join(src, "redis-server")
    os.rename(server, server + "-real")
    with open(server, "w") as f:
        f.write(FRONT)
    os.chmod(server, 0o755)


def units(tree):
    with open(os.path.join(tree, "tests", "test_helper.tcl")) as f:
        listed = re.search(r"set ::all_tests \{(.*?)\}", f.read(), re.S).group(1)
    return listed.split()


def passes(tree, unit):
    """Whether it does, and the end of what it said."""
    fresh = {"FRESH_POOLS": "1"} if unit in FROM_FILES else {}
    try:
        made = subprocess.run(["tclsh", "tests/test_helper.tcl", "--single", unit, "--clients", "1"],
                              cwd=tree, env={**os.environ, **fresh}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=UNIT_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return False, f"not done after {UNIT_SECONDS_MAX} s"
    return made.returncode == 0 and "All tests passed" in made.stdout, made.stdout[-600:]


def run(cc, plain=False, names=()):
    """(passed, failed, skipped)"""
    if not shutil.which("tclsh"):
        print("skipped: Redis's test suite: there is no tclsh")
        return 0, 0, 1
    tree = os.path.join(build.THIRD_PARTY, "redis-3.2.6-suite")
    src = build.build(cc, tree, plain=plain)
    if not plain:
        put_in_front(src)
    passed = failed = 0
    for unit in names or units(tree):
        good, said = passes(tree, unit)
        if good:
            passed += 1
            print(f"{unit}: passed", flush=True)
        else:
            failed += 1
            print(f"FAILED: {unit}\n{said}", flush=True)
    return passed, failed, 0


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("unit", nargs="*")
    p.add_argument("--cc", required=True)
    p.add_argument("--plain", action="store_true")
    a = p.parse_args()
    try:
        cc = os.path.abspath(a.cc) if os.sep in a.cc else a.cc
        passed, failed, skipped = run(cc, a.plain, a.unit)
    except build.fetch.CannotFetch as e:
        print(f"skipped: Redis cannot be fetched here: {e}")
        passed, failed, skipped = 0, 0, 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not (passed or skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
