#!/usr/bin/env python3
"""Failure points of traces, and the callers in reports of them.

usage: callers.py NVMOVE --same TRACE ... --more TRACE

The traces behind --same have as many failure points, the one behind --more has more. Each report names the
callers of its finding, in JSON and in SARIF alike.
"""
import argparse
import json
import subprocess
import sys


def report(nvmove, trace, form):
    command = [nvmove, "crash", "--trace", trace, f"--format={form}"]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout)


def names(nvmove, trace):
    finding = report(nvmove, trace, "json")["findings"][0]
    stack = report(nvmove, trace, "sarif")["runs"][0]["results"][0]["stacks"][0]
    said = [(c["text"], c["place"]["line"]) for c in finding["callers"]]
    frames = [f["location"] for f in stack["frames"]]
    if said != [(f["message"]["text"], f["physicalLocation"]["region"]["startLine"]) for f in frames]:
        sys.exit(f"{trace}: {said} in JSON is not {frames} in SARIF")
    return [text for text, _ in said]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nvmove")
    parser.add_argument("--same", nargs="+")
    parser.add_argument("--more")
    a = parser.parse_args()
    points = {t: report(a.nvmove, t, "json")["explored"]["failure_points"] for t in a.same + [a.more]}
    if len({points[t] for t in a.same}) != 1 or points[a.more] <= points[a.same[0]]:
        sys.exit(f"failure points: {points}")
    for trace in points:
        said = names(a.nvmove, trace)
        if said[-1] != "called from main" or "called from work" not in said:
            sys.exit(f"{trace}: {said}")


if __name__ == "__main__":
    main()
