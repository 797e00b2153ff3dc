#!/usr/bin/env python3
"""Runs memcached's own tests (t/*.t) against the ported server: each file by itself, each server with a pool.

usage: suite.py --cc NVMOVE_CC [--plain] [--method undo|shadow] [FILE...]

Builds the port in a tree of its own, where a script stands in front of memcached-debug, the server that the
tests start: it gives each server a fresh pool. --plain: the same with memcached as it is, by clang. Needs
prove (Debian package perl). Ten minutes.

Exit status: 0 all passed, 1 not, 3 the sources cannot be had.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import build  # noqa: E402

FILE_SECONDS_MAX = 900
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
PROGRAMS = ("memcached", "memcached-debug", "timedrun", "sizes")
FRONT = """#!/bin/sh
case "$*" in *-h*|*-V*|*--version*|*--help*) exec "$0-real" "$@";; esac
NVMOVE_POOL=$(mktemp -u "$POOLS/XXXXXX.pool") exec "$0-real" "$@"
"""
# Why a file is not run with a pool.
SKIPPED = {"restart.t": "is about -e, which has the items in another file"}


def put_in_front(tree):
    path = os.path.join(tree, "memcached-debug")
    os.rename(path, path + "-real")
    with open(path, "w") as f:
        f.write(FRONT)
    os.chmod(path, 0o755)


def outcome(tree, name, method):
    """(whether it passes, why it skips itself or None, the end of what it said)."""
    pools = tempfile.mkdtemp(prefix="nvmove-memcached-", dir=FOLDER)
    environment = {**os.environ, "POOLS": pools, "NVMOVE_METHOD": method}
    try:
        made = subprocess.run(["prove", os.path.join("t", name)], cwd=tree, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=FILE_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return False, None, f"not done after {FILE_SECONDS_MAX} s"
    finally:
        shutil.rmtree(pools, ignore_errors=True)
    skips = re.search(r"skipped: (.*)", made.stdout)
    return made.returncode == 0, skips and skips.group(1), made.stdout[-1500:]


def run(cc, plain=False, method="undo", names=()):
    """(passed, failed, skipped)"""
    if not shutil.which("prove"):
        print("skipped: memcached's tests: there is no prove")
        return 0, 0, 1
    tree = build.build(cc, os.path.join(build.THIRD_PARTY, "memcached-1.6.18-suite" + "-plain" * plain),
                       plain=plain, programs=PROGRAMS)
    if not plain:
        put_in_front(tree)
    passed = failed = skipped = 0
    for name in names or sorted(n for n in os.listdir(os.path.join(tree, "t")) if n.endswith(".t")):
        if not plain and name in SKIPPED:
            good, skips, said = True, SKIPPED[name], ""
        else:
            good, skips, said = outcome(tree, name, method)
        passed, failed = passed + (good and not skips), failed + (not good)
        skipped += bool(good and skips)
        print(f"{name}: " + (f"skipped: {skips}" if good and skips else "passed" if good else
                             f"failed\n{said}"), flush=True)
    return passed, failed, skipped


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file", nargs="*")
    p.add_argument("--cc", required=True)
    p.add_argument("--plain", action="store_true")
    p.add_argument("--method", default="undo", choices=("undo", "shadow"))
    a = p.parse_args()
    try:
        cc = os.path.abspath(a.cc) if os.sep in a.cc else a.cc
        passed, failed, skipped = run(cc, a.plain, a.method, a.file)
    except build.fetch.CannotFetch as e:
        print(f"memcached cannot be fetched here: {e}", file=sys.stderr)
        return 3
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
