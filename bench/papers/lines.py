#!/usr/bin/env python3
"""Lines that a program needs to keep its data in a pool, counted in this repository.

usage: lines.py --json FILE

Of the maps (bench/maps): lines with a mark or with an allocation in the pool, and those that make the pool.
Of ported programs: lines of the port file and of the patch that are added or changed.
"""
import argparse
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PORTS = {"memcached": "memcached 1.6.18", "redis": "Redis 3.2.6"}


def text(*path):
    with open(os.path.join(ROOT, *path)) as f:
        return f.read().splitlines()


def persistent_part(lines):
    """Lines between #ifdef PERSISTENT and #else that are not blank."""
    first, end = lines.index("#ifdef PERSISTENT"), lines.index("#else")
    return sum(1 for line in lines[first + 1:end] if line.strip())


def map_lines(name):
    marked = sum(1 for line in text("bench", "maps", name) if re.search(r"\bNVM_ATOMIC\b|\bALLOCATE\(", line))
    return marked + persistent_part(text("bench", "maps", "memory.h"))


def port_lines(name):
    port = [line for line in text("ports", name, f"{name}.nvmove.yaml")
            if line.strip() and not line.lstrip().startswith("#")]
    patch = [line for line in text("ports", name, f"{name}.patch") if re.match(r"[+](?![+]{2}).*\S", line)]
    return len(port), len(patch)


def rows(path):
    """Of what main() wrote."""
    with open(path) as f:
        return {label: {"nvmove": figure} for label, figure in json.load(f).items()}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--json", required=True)
    a = p.parse_args()
    found = {"B+tree": map_lines("tree.c"), "hash table": map_lines("table.c")}
    for name in PORTS:
        port, patch = port_lines(name)
        found[name if name != "redis" else PORTS[name]] = port + patch
        print(f"{PORTS[name]}: {port} lines of a port file, {patch} added lines")
    with open(a.json, "w") as f:
        json.dump(found, f, indent=1)


if __name__ == "__main__":
    main()
