#!/usr/bin/env python3
"""Scans small whole programs, one construct each, and scores the answers against their sheets.

usage: score.py --nvmove NVMOVE [-v] [PROGRAM...]

A program is one file of programs/. Its first comments are its sheet, written before the first run:
`load:` names the load functions, `must:` the types that have to be found, `either:` those that may
be, `never:` tempting wrong answers, `flags:` what the compiler is told besides. A type in no list counts
as wrong. Prints a row for each program that is not right (-v: for all), then recall, precision, and for
each word of confidence how often it stood at a right type.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
RECALL_MIN, PRECISION_MIN, HIGH_RIGHT_MIN = 0.95, 0.95, 0.95
UNNAMED = re.compile(r"\([^)]*\)|\S+")


def sheet(path):
    made = {"load": [], "must": [], "either": [], "never": [], "flags": []}
    with open(path) as f:
        for line in f:
            m = re.match(r"// (load|must|either|never|flags): (.*)", line)
            if m:
                made[m.group(1)] = UNNAMED.findall(m.group(2))
    return made


def scan(nvmove, path, plan):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        run = subprocess.run([nvmove, "scan", "--no-cache", "-q", "--load", ",".join(plan["load"]),
                              "--format=json", "-o", out.name, path, "--", "-std=gnu17", *plan["flags"]],
                             capture_output=True, text=True)
        if run.returncode not in (0, 1):
            raise RuntimeError(f"{path}: status {run.returncode}: {run.stderr.strip()[-300:]}")
        return json.load(open(out.name))["types"]


class Tally:
    def __init__(self):
        self.needed = self.found = self.right = self.wrong = self.programs = 0
        self.words = collections.defaultdict(lambda: [0, 0])  # Confidence: right, wrong.

    def add(self, name, plan, types, verbose):
        names = [(t, {t["name"], *t.get("aliases", [])}) for t in types]
        reported = set().union(*(n for _, n in names))
        missed = [m for m in plan["must"] if m not in reported]
        wrong = []
        for t, spelt in names:
            if spelt & set(plan["either"]):
                continue
            good = bool(spelt & set(plan["must"]))
            self.words[t["confidence"]][0 if good else 1] += 1
            self.right += good
            if not good:
                wrong.append(f"{t['name']} ({t['confidence']})")
        self.needed += len(plan["must"])
        self.found += len(plan["must"]) - len(missed)
        self.wrong += len(wrong)
        self.programs += 1
        if missed or wrong or verbose:
            print(f"{name}: {len(plan['must']) - len(missed)}/{len(plan['must'])}"
                  + (f", missed: {', '.join(missed)}" if missed else "")
                  + (f", wrong: {', '.join(wrong)}" if wrong else ""))

    def share(self, word):
        right, wrong = self.words[word]
        return right / (right + wrong) if right + wrong else 1.0

    def recall(self):
        return self.found / max(1, self.needed)

    def precision(self):
        return self.right / max(1, self.right + self.wrong)

    def good(self):
        return (self.recall() >= RECALL_MIN and self.precision() >= PRECISION_MIN
                and self.share("high") >= HIGH_RIGHT_MIN)

    def table(self):
        print(f"{self.programs} programs: recall {self.found}/{self.needed} = {self.recall():.3f}, "
              f"wrong {self.wrong}, precision {self.precision():.3f}")
        print("confidence  right  wrong")
        for word in ("high", "medium", "low"):
            right, wrong = self.words[word]
            print(f"{word:<10} {right:6} {wrong:6}")


def run(nvmove, names=(), verbose=False):
    """For tests/run.py: (passed, failed)."""
    tally = Tally()
    for file in sorted(os.listdir(PROGRAMS)):
        name = os.path.splitext(file)[0]
        if names and name not in names:
            continue
        path = os.path.join(PROGRAMS, file)
        plan = sheet(path)
        tally.add(name, plan, scan(nvmove, path, plan), verbose)
    tally.table()
    return int(tally.good()), int(not tally.good())


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("--nvmove", required=True)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("programs", nargs="*")
    a = parser.parse_args()
    return run(os.path.abspath(a.nvmove), a.programs, a.v)[1]


if __name__ == "__main__":
    sys.exit(main())
