#!/usr/bin/env python3
"""Whether man pages and --help name the same options, and the pages are well-formed.

usage: man.py [--lie] FOLDER NVMOVE NVMOVE_CC
--lie: looks at pages with one option less and one more.
"""
import os
import re
import shutil
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def verbs(nvmove):
    listed = run(nvmove, "pool", "--help").split("Subcommands:\n")[1].split("\n\n")[0]
    return [["pool", line.split()[0]] for line in listed.splitlines()]


def complaints(folder, nvmove, nvmove_cc, lie):
    helps = {"nvmove": [[nvmove]],
             "nvmove-scan": [[nvmove, "scan"], [nvmove, "facts"]],
             "nvmove-crash": [[nvmove, "crash"]],
             "nvmove-pool": [[nvmove, "pool"]] + [[nvmove, *verb] for verb in verbs(nvmove)],
             "nvmove-cc": [[nvmove_cc]]}
    for name, commands in helps.items():
        path = os.path.join(folder, name + ".1")
        page = open(path).read().replace("\\-", "-")
        if lie:
            page = page.replace("--null-dangling", "").replace("--nvmove-trace", "--nvmove-imaginary")
        flag = "--nvmove-help" if name == "nvmove-cc" else "--help"
        said = {option for command in commands for option in OPTION.findall(run(*command, flag))}
        there = set(OPTION.findall(page))
        yield from (f"{name}.1: lacks {option}" for option in sorted(said - there))
        yield from (f"{name}.1: has {option}, which --help has not" for option in sorted(there - said))
        if shutil.which("groff"):
            groff = subprocess.run(["groff", "-man", "-ww", "-z", path], capture_output=True, text=True)
            yield from groff.stderr.splitlines()


def main():
    lie = sys.argv[1] == "--lie"
    found = list(complaints(*sys.argv[1 + lie:], lie))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
