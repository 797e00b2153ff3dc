#!/usr/bin/env python3
"""Fetches memcached 1.6.18, patches it and builds it with nvmove-cc and the port file beside this script.

usage: build.py --cc NVMOVE_CC [--tree DIR] [--flags FLAGS] [--plain]

The sources are Debian 12's source package, as in the accuracy corpus, checked against its checksums. They go
to third_party/memcached-1.6.18-port (--tree), which git ignores; what was there before is replaced.
--flags: more compiler flags, such as "-O3". --plain: neither patch nor port, with the compiler given: the
server to compare with. Prints the folder of memcached and memcached-debug (the same with assertions, for its
own tests).

Exit status: 0 built, 1 not built, 3 the sources cannot be had.
"""
import argparse
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
THIRD_PARTY = os.path.join(ROOT, "third_party")
TREE = os.path.join(THIRD_PARTY, "memcached-1.6.18-port")
PROGRAMS = ("memcached", "memcached-debug")

sys.path.insert(0, os.path.join(ROOT, "tests", "accuracy"))
import fetch  # noqa: E402


def sources(tree):
    """A fresh tree. Raises fetch.CannotFetch."""
    program = fetch.load("memcached")
    archives = os.path.join(THIRD_PARTY, "archives")
    os.makedirs(archives, exist_ok=True)
    fetch.packages(program, False)
    if not fetch.verified(archives, program["archives"]):
        fetch.fetch_debian(program, THIRD_PARTY, archives)
    shutil.rmtree(tree, ignore_errors=True)
    fetch.unpack(program, archives, tree)


def run(command, tree, log):
    with open(log, "a") as out:
        out.write("$ " + " ".join(command) + "\n")
        out.flush()
        if subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, stdout=out, stderr=out).returncode:
            print(f"{' '.join(command[:3])} ... failed; its output is in {log}", file=sys.stderr)
            sys.exit(1)


def build(cc, tree=TREE, flags="", plain=False, port=None, programs=PROGRAMS):
    """The folder of the programs. `port`: another port file."""
    sources(tree)
    log = os.path.join(tree, "build.log")
    own = "-g -O2 -pthread"
    if not plain:
        run(["patch", "-p1", "-i", os.path.join(HERE, "memcached.patch")], tree, log)
        own += f" --nvmove-port={port or os.path.join(HERE, 'memcached.nvmove.yaml')}"
    run(["./configure", "--disable-docs", f"CC={cc}"], tree, log)
    run(["make", f"-j{os.cpu_count()}", f"CFLAGS={own} {flags}", *programs], tree, log)
    return tree


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True)
    p.add_argument("--tree", default=TREE)
    p.add_argument("--flags", default="")
    p.add_argument("--plain", action="store_true")
    a = p.parse_args()
    try:
        cc = os.path.abspath(a.cc) if os.sep in a.cc else a.cc
        print(build(cc, os.path.abspath(a.tree), a.flags, a.plain))
    except fetch.CannotFetch as e:
        print(f"memcached cannot be fetched here: {e}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
