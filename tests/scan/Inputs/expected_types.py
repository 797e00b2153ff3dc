#!/usr/bin/env python3
"""Turns a JSON report into one line "NAME LINE" a type, in the order of the definitions.

usage: nvmove scan --format=json ... | expected_types.py TEST

Types of other files than TEST are written "NAME FILE:LINE". A type whose definition in TEST is
marked with "// either" is left out: both answers are right, as in the accuracy sheets.
"""
import json
import os
import sys

test = os.path.realpath(sys.argv[1])
lines = open(test).read().split("\n")
answer = json.load(sys.stdin)
for t in sorted(answer["types"], key=lambda t: (t["file"], t["line"], t["name"])):
    same = os.path.realpath(t["file"]) == test
    if same and "// either" in lines[t["line"] - 1]:
        continue
    print(t["name"], t["line"] if same else f"{os.path.basename(t['file'])}:{t['line']}")
