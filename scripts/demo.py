#!/usr/bin/env python3
"""make demo: scans a real program and says where the reports went.

usage: demo.py --nvmove NVMOVE

Redis 3.2.6 is fetched by tests/accuracy/fetch.py, checked against its checksum, into third_party/
(ignored by git). When that is impossible the bundled examples/record-store is scanned instead.
"""
import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import accuracy  # noqa: E402

REPORTS = os.path.join("build", "demo")
EXAMPLE = os.path.join("examples", "record-store")


def redis_arguments():
    """The scan's arguments for Redis; raises CannotFetch."""
    print("Fetching Redis 3.2.6 and recording how it is compiled ...", flush=True)
    folder = accuracy.fetch("redis")
    plan = accuracy.recipe("redis")
    return ["-p", os.path.relpath(folder, ROOT), "--load", ",".join(plan["load"])], []


def example_arguments():
    sources = [os.path.join(EXAMPLE, name) for name in ("main.c", "store.c", "table.c")]
    return ["--load", "store_open", *sources], ["--", "-std=c99"]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--nvmove", required=True)
    a = p.parse_args()
    os.chdir(ROOT)
    os.makedirs(REPORTS, exist_ok=True)
    try:
        question, flags = redis_arguments()
        name = "redis"
    except (accuracy.CannotFetch, RuntimeError, OSError) as e:
        print(f"Redis cannot be fetched here: {e}\nScanning the bundled example instead.")
        question, flags = example_arguments()
        name = "record-store"
    html, json = (os.path.join(REPORTS, f"{name}.{kind}") for kind in ("html", "json"))
    command = [a.nvmove, "scan", "-q", "--keep-going", *question]
    shown = "nvmove " + " ".join(command[1:] + flags)
    print(f"\n$ {shown}\n", flush=True)
    status = subprocess.run([*command, "--html", html, "--json", json, *flags]).returncode
    if status:
        return status
    print(f"\nThe chain that proves each type, with source lines: {html}\n"
          f"The same for programs:                              {json}\n"
          f"In the terminal: the command above with {a.nvmove}, without -q")
    return 0


if __name__ == "__main__":
    sys.exit(main())
