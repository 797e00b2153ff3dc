#!/usr/bin/env python3
"""What changes in the scan's answers when one of its numbers moves (src/solve/Heuristics.def).

usage: tune.py [--only NAME] [--real PROGRAM...]

Builds nvmove so that the environment may give other numbers (build/tune), scans the small programs
(tests/accuracy/small) and real ones with each number a step lower and a step higher, and prints a row for
each: which types are lost, found, wrong, or wrong no more. A step is one; from 32 on it is half of the
number, or its double. docs/internals/heuristics.md has the table.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(HERE, "small"), os.path.join(ROOT, "tests", "e2e")]

import accuracy  # noqa: E402
import score  # noqa: E402

BUILD = os.path.join(ROOT, "build", "tune")
LARGE = 32
NAMED_MAX = 4  # types in a cell of the table


def heuristics():
    with open(os.path.join(ROOT, "src", "solve", "Heuristics.def")) as file:
        found = re.findall(r"^NVM_HEURISTIC\([\w ]+, (\w+), ([\d< ]+),", file.read(), re.M)
    return [(name, eval(value)) for name, value in found]  # 1 << 16


def steps(value):
    return [value // 2, value * 2] if value >= LARGE else [value - 1, value + 1]


def build():
    for command in (["cmake", "--preset", "release", "-B", BUILD, "-DNVMOVE_TUNABLE=ON"],
                    ["cmake", "--build", BUILD, "--target", "nvmove"]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return os.path.join(BUILD, "bin", "nvmove")


class Tuned:
    def __init__(self, nvmove, real, cache):
        self.nvmove, self.real, self.cache = nvmove, real, cache
        self.sheets = {os.path.splitext(file)[0]: score.sheet(os.path.join(score.PROGRAMS, file))
                       for file in sorted(os.listdir(score.PROGRAMS))}

    def small(self, name, plan):
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            subprocess.run([self.nvmove, "scan", "-q", "--load", ",".join(plan["load"]), "--format=json",
                            "-o", out.name, os.path.join(score.PROGRAMS, name + ".c"), "--", "-std=gnu17",
                            *plan["flags"]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return json.load(open(out.name))["types"]

    def answers(self, variable=None, value=None):
        """(missed, wrong) types of all programs."""
        os.environ["NVMOVE_CACHE_DIR"] = self.cache
        if variable:
            os.environ[variable] = str(value)
        missed, wrong = set(), set()
        for name, plan in self.sheets.items():
            spelt = [{t["name"], *t.get("aliases", [])} for t in self.small(name, plan)]
            seen = set().union(*spelt)
            missed |= {f"{m} ({name})" for m in plan["must"] if m not in seen}
            wrong |= {f"{min(s)} ({name})" for s in spelt if not s & set(plan["must"] + plan["either"])}
        for name in self.real:
            scored = accuracy.Score(accuracy.scan(self.nvmove, name), accuracy.sheet(name))
            missed |= {f"{m} ({name})" for m in scored.missed}
            wrong |= {f"{w} ({name})" for w in scored.wrong}
        if variable:
            del os.environ[variable]
        return missed, wrong


def cell(types):
    shown = ", ".join(sorted(types)[:NAMED_MAX]) + (", ..." if len(types) > NAMED_MAX else "")
    return f"{len(types)}: {shown}" if types else ""


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--only", metavar="NAME")
    p.add_argument("--real", nargs="*", default=["redis", "memcached"])
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        tuned = Tuned(build(), a.real, cache)
        missed, wrong = tuned.answers()
        print(f"as they are: {len(missed)} missed, {len(wrong)} wrong", flush=True)
        print("| number | is | moved to | lost | found | wrong | wrong no more |\n" + "|---" * 7 + "|")
        for name, value in heuristics():
            for other in steps(value) if a.only in (None, name) else []:
                now_missed, now_wrong = tuned.answers(f"NVMOVE_TUNE_{name}", other)
                changes = (now_missed - missed, missed - now_missed, now_wrong - wrong, wrong - now_wrong)
                print(f"| `{name}` | {value} | {other} | {' | '.join(map(cell, changes))} |", flush=True)


if __name__ == "__main__":
    main()
