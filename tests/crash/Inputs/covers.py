#!/usr/bin/env python3
"""Whether a program calls each function of the public headers.

usage: covers.py PROGRAM.c
"""
import os
import re
import sys

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "include", "nvmove")
DECLARED = re.compile(r"^[A-Za-z].*?\b(nvm_[a-z_]+)\(", re.M)


def main():
    program = open(sys.argv[1]).read()
    declared = set()
    for header in ("nvmove.h", "inspect.h", "backup.h"):
        declared |= set(DECLARED.findall(open(os.path.join(INCLUDE, header)).read()))
    missing = [name for name in sorted(declared) if not re.search(rf"\b{name}\(", program)]
    if len(declared) < 25 or missing:
        sys.exit(f"{len(declared)} functions are declared; not called: {' '.join(missing) or 'none'}")


if __name__ == "__main__":
    main()
