#!/usr/bin/env python3
"""Runs the counterpart of each table and figure of the three papers, and writes one report.

usage: papers.py --bin DIR [--quick] [--again] [--list] [--out DIR] [--folder DIR] [EXPERIMENT...]

DIR: nvmove, nvmove-cc and nvmove-runtime-bench of the release preset. Results go to --out (build/papers):
KEY.json raw results, KEY.log what was printed, KEY.done what ran when, report.html, and report.pdf where
Debian's weasyprint is there. A run that was interrupted goes on: what is done in the same way, at the same
commit, is not measured again, but with --again. --quick: shorter runs, and not all experiments. --folder: a
disk, for files of Redis itself (build).

Exit status: 0 all measured, 1 something was not (the report says what and why), 2 wrong use.
"""
import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import report  # noqa: E402
from experiments import EXPERIMENTS, ROOT, experiments  # noqa: E402

GOAL_MISSED = 1  # an exit status of what runs
LAST_SHOWN = 5  # lines of a command that failed


def commit():
    made = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT,
                          capture_output=True, text=True)
    return made.stdout.strip() or "no commit"


def processor():
    with open("/proc/cpuinfo") as f:
        m = re.search(r"^model name\s*: (.*)$", f.read(), re.M)
    return m.group(1) if m else platform.machine()


def machine():
    return f"{processor()}, {os.cpu_count()} processors, {platform.system()} {platform.release()}"


class Run:
    """One experiment's command, its raw results, and what became of it."""

    def __init__(self, experiment, a, at):
        self.experiment, self.at, self.is_quick = experiment, at, a.quick
        self.raw, self.log, self.done = (os.path.join(a.out, f"{experiment.key}.{kind}")
                                         for kind in ("json", "log", "done"))
        words = experiment.command(a.quick)
        filled = {"cc": os.path.join(a.bin, "nvmove-cc"), "bin": a.bin, "out": self.raw, "folder": a.folder}
        self.command = [word.format(**filled) for word in words] if words else None
        self.fault, self.seconds, self.before = "", 0.0, None
        if os.path.exists(self.done):
            with open(self.done) as f:
                self.before = json.load(f)
            self.seconds = self.before["seconds"]

    def known(self):
        """Whether it is done already, in this way, at this commit."""
        return self.before and (self.before["commit"], self.before["quick"], self.before["command"]) == (
            self.at, self.is_quick, self.command)

    def measure(self):
        begun = time.monotonic()
        command = self.command if not self.command[0].endswith(".py") else [sys.executable, *self.command]
        for path in (self.raw, self.done):
            if os.path.exists(path):
                os.unlink(path)
        try:
            with open(self.log, "w") as log:
                status = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                                        stderr=subprocess.STDOUT).returncode
        except FileNotFoundError:
            self.fault = f"{command[0]} is not there; 'make papers' builds it"
            return
        self.seconds = time.monotonic() - begun
        if status not in (0, GOAL_MISSED) or not os.path.exists(self.raw):
            with open(self.log, errors="replace") as log:
                said = " ".join(log.read().split("\n")[-LAST_SHOWN - 1:]).strip()
            self.fault = f"its command ended with {status}: {said or 'nothing was said'}"
            return
        try:
            self.rows()
        except (KeyError, ValueError) as e:  # no figures: statistics.StatisticsError is a ValueError
            self.fault = f"{self.raw} cannot be read: {e!r}"
            return
        self.before = {"commit": self.at, "quick": self.is_quick, "command": self.command,
                       "seconds": self.seconds, "machine": machine()}
        with open(self.done, "w") as f:
            json.dump(self.before, f, indent=1)

    def rows(self):
        return self.experiment.rows(self.raw if os.path.exists(self.raw) else None)

    def stamp(self):
        """Of results of another commit, or of another kind of run: which."""
        if not self.before or self.known():
            return ""
        kind = "a quick run" if self.before["quick"] else "a full run"
        return f"; of {kind} at commit {self.before['commit']}"


def minutes(count):
    return "less than a minute" if count < 1 else f"about {count:.0f} minute{'s' * (count >= 1.5)}"


def measure_all(runs, again):
    """Prints progress; the number of those that were not measured."""
    failed, wanted = 0, [r for r in runs if r.command]
    left = sum(r.experiment.minutes[r.is_quick] for r in wanted)
    print(f"{len(wanted)} experiments, {minutes(left)} on two cores, without what they build first")
    for number, run in enumerate(wanted, 1):
        name = f"[{number}/{len(wanted)}] {run.experiment.key}"
        if not again and run.known():
            print(f"{name}: done before, in {run.seconds:.0f} s", flush=True)
            continue
        print(f"{name}: {run.experiment.paper}, {run.experiment.item}; "
              f"{minutes(run.experiment.minutes[run.is_quick])} ...", flush=True)
        run.measure()
        failed += bool(run.fault)
        print(f"    {'NOT MEASURED: ' + run.fault if run.fault else 'done'}, {run.seconds:.0f} s", flush=True)
    return failed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("experiment", nargs="*", help="all, if none is named")
    p.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    p.add_argument("--quick", action="store_true")
    p.add_argument("--again", action="store_true")
    p.add_argument("--list", action="store_true", help="print the experiments and stop")
    p.add_argument("--out", type=os.path.abspath, default=os.path.join(ROOT, "build", "papers"))
    p.add_argument("--folder", type=os.path.abspath, default=os.path.join(ROOT, "build"))
    a = p.parse_args()
    a.bin = os.path.abspath(a.bin)
    try:
        chosen = experiments(a.experiment)
    except KeyError as e:
        p.error(f"there is no experiment {e.args[0]}; there are {', '.join(x.key for x in EXPERIMENTS)}")
    if a.list:
        for e in chosen:
            print(f"{e.key:20} {e.paper}, {e.item}" + ("" if e.quick else " (not in a quick run)"))
        return 0
    if not os.path.exists(os.path.join(a.bin, "nvmove-cc")):
        p.error(f"{a.bin} has no nvmove-cc; 'make build' makes it")
    os.makedirs(a.out, exist_ok=True)
    runs = [Run(e, a, commit()) for e in EXPERIMENTS]
    failed = measure_all([r for r in runs if r.experiment in chosen], a.again)
    for path in report.write(runs, a.out, machine(), commit(), a.quick):
        print(path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
