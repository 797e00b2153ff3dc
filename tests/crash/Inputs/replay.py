#!/usr/bin/env python3
"""Whether the states that findings name fail again, and are the smallest that do.

usage: replay.py NVMOVE REPORT.json
"""
import json
import re
import shlex
import subprocess
import sys


def findings(nvmove, replay, state):
    words = shlex.split(replay)
    words = [nvmove] + words[1:-1] + [state, "--format=json"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(f"{shlex.join(words)}: {done.stderr}")
    return [f["kind"] for f in json.loads(done.stdout)["findings"]]


def main():
    nvmove, report = sys.argv[1:]
    with open(report) as f:
        named = [f for f in json.load(f)["findings"] if f["replay"]]
    if not named:
        sys.exit("no finding names a state")
    for f in named:
        state = f["state"]
        if findings(nvmove, f["replay"], state) != [f["kind"]]:
            sys.exit(f"{f['replay']} does not show '{f['kind']}'")
        event, lost = re.fullmatch(r"(\d+)(?::(.*))?", state).groups()
        lost = lost.split(",") if lost else []
        for i in range(len(lost)):
            less = ",".join(lost[:i] + lost[i + 1:])
            if findings(nvmove, f["replay"], event + (":" + less if less else "")) == [f["kind"]]:
                sys.exit(f"{state} fails without {lost[i]}, too")


if __name__ == "__main__":
    main()
