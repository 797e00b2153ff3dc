#!/usr/bin/env python3
"""Scans real programs of the accuracy corpus and scores the answers against their sheets.

usage: accuracy.py --nvmove NVMOVE [--algorithm NAME] [--table] [--all | PROGRAM...]

Without names: the programs that must be right (REQUIRED). --all: every program that has a sheet.
--table prints a Markdown table for docs/results/accuracy.md, with a last row for all but the required ones
together. A program whose source cannot be fetched here is skipped, and the reason printed.
Scoring: a reported type is right when one of its names is in the sheet's `must`, ignored when in
`either`, else wrong; of each `group` in `either` one must be reported. Totals sum over programs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = os.path.join(ROOT, "tests", "accuracy")
PROGRAMS = os.path.join(CORPUS, "programs")
CANNOT_FETCH = 3

# program, with the save functions, false positives allowed. Nothing may be missed.
REQUIRED = [("redis", False, 1), ("redis", True, 0), ("memcached", False, 0)]
# Over all programs together (make check-long); HIGH_RIGHT_MIN of the types called 'high'.
RECALL_MIN, PRECISION_MIN, HIGH_RIGHT_MIN = 0.97, 0.80, 0.95
WORDS = ("high", "medium", "low")


class CannotFetch(Exception):
    pass


def bare(name):
    return name.split(" ", 1)[1] if name.startswith(("struct ", "union ")) else name


def spellings(entry):
    return {bare(n) for n in [entry["name"], *entry.get("aliases", [])]}


class Score:
    """found of needed types, right of counted reports, with the names of what went wrong."""

    def __init__(self, report, sheet):
        must, either = sheet["must"], sheet.get("either", [])
        reported = [(t["name"], spellings(t)) for t in report["types"]]
        seen = set().union(*(s for _, s in reported))
        groups = {}
        for entry in either:
            if "group" in entry:
                groups.setdefault(entry["group"], set()).update(spellings(entry))
        self.missed = [e["name"] for e in must if not spellings(e) & seen]
        self.missed += [f"one of {g}" for g, names in groups.items() if not names & seen]
        required = set().union(*map(spellings, must))
        ignored = set().union(*map(spellings, either))
        self.wrong = [n for n, s in reported if not s & (required | ignored)]
        self.needed = len(must) + len(groups)
        self.found = self.needed - len(self.missed)
        self.right = sum(1 for _, s in reported if s & required)
        self.reported = len(reported)
        self.words = {word: [0, 0] for word in WORDS}  # Confidence: right, wrong.
        for t in report["types"]:
            right = bool(spellings(t) & required)
            if right or not spellings(t) & ignored:
                self.words[t["confidence"]][0 if right else 1] += 1
        self.stats = report["stats"]

    def recall(self):
        return self.found / self.needed if self.needed else 1.0

    def precision(self):
        counted = self.right + len(self.wrong)
        return self.right / counted if counted else 1.0


def recipe(name):
    with open(os.path.join(PROGRAMS, name, "program.json")) as f:
        return json.load(f)


def sheet(name):
    path = os.path.join(PROGRAMS, name, "truth.json")
    if not os.path.exists(path):
        return None
    with open(path) as f:
        return json.load(f)


def fetch(name):
    """The folder of the program's source with its compile database."""
    install = ["--install"] if os.geteuid() == 0 else []
    run = subprocess.run([sys.executable, os.path.join(CORPUS, "fetch.py"), *install, name],
                         capture_output=True, text=True)
    if run.returncode == CANNOT_FETCH:
        raise CannotFetch(run.stderr.strip().split("\n")[-1] or "fetch.py gave no reason")
    if run.returncode:
        raise RuntimeError(f"fetch.py {name} failed: {run.stderr.strip()[-500:]}")
    return os.path.join(ROOT, "third_party", f"{name}-{recipe(name)['version']}")


def scan(nvmove, name, saves=False, extra=()):
    folder, plan = fetch(name), recipe(name)
    command = [nvmove, "scan", "-p", folder, "--load", ",".join(plan["load"]), "--keep-going", "-q"]
    if saves and plan.get("save"):
        command += ["--save", ",".join(plan["save"])]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        run = subprocess.run([*command, "--format=json", "-o", out.name, *extra],
                             capture_output=True, text=True)
        if run.returncode not in (0, 1):
            raise RuntimeError(f"nvmove ended with {run.returncode}: {run.stderr.strip()[-500:]}")
        with open(out.name) as f:
            return json.load(f)


def describe(title, score):
    text = (f"{title}: recall {score.found}/{score.needed}, wrong {len(score.wrong)}, "
            f"precision {score.precision():.2f}")
    if score.missed:
        text += "\n  missed: " + ", ".join(score.missed)
    if score.wrong:
        text += "\n  wrong: " + ", ".join(score.wrong)
    return text


def together(scores):
    """Types found and needed, reported ones that are wrong, recall, precision."""
    found, needed = sum(s.found for s in scores), sum(s.needed for s in scores)
    right, wrong = sum(s.right for s in scores), sum(len(s.wrong) for s in scores)
    return found, needed, wrong, found / max(1, needed), right / max(1, right + wrong)


def confidence(scores):
    """Prints how often each word stood at a right type; gives the share for 'high'."""
    print("| confidence | right | wrong | right of 100 |")
    print("|---|---|---|---|")
    shares = {}
    for word in WORDS:
        right, wrong = (sum(s.words[word][i] for s in scores) for i in (0, 1))
        shares[word] = right / max(1, right + wrong)
        print(f"| {word} | {right} | {wrong} | {100 * shares[word]:.0f} |")
    return shares["high"]


def with_sheet():
    return [name for name in sorted(os.listdir(PROGRAMS)) if sheet(name)]


def check_required(nvmove):
    passed = failed = skipped = 0
    for name, saves, wrong_max in REQUIRED:
        title = name + (" with --save" if saves else "")
        try:
            score = Score(scan(nvmove, name, saves), sheet(name))
        except CannotFetch as e:
            print(f"skipped: {title}: {e}")
            skipped += 1
            continue
        good = not score.missed and len(score.wrong) <= wrong_max
        print(("" if good else "FAILED: ") + describe(title, score))
        passed, failed = passed + good, failed + (not good)
    return passed, failed, skipped


def check_all(nvmove):
    """Every program with a sheet, judged together."""
    scores, skipped = [], 0
    for name in with_sheet():
        try:
            scores.append(Score(scan(nvmove, name), sheet(name)))
            print(describe(name, scores[-1]))
        except CannotFetch as e:
            print(f"skipped: {name}: {e}")
            skipped += 1
    _, _, _, recall, precision = together(scores)
    high = confidence(scores)
    good = not scores or (recall >= RECALL_MIN and precision >= PRECISION_MIN
                          and high >= HIGH_RIGHT_MIN)
    print(f"together: recall {recall:.3f} (at least {RECALL_MIN}), "
          f"precision {precision:.3f} (at least {PRECISION_MIN}), 'high' {high:.3f} right "
          f"(at least {HIGH_RIGHT_MIN})")
    return int(good), int(not good), skipped


def bundled_example(nvmove):
    """examples/record-store, which needs no network."""
    folder = os.path.join(ROOT, "examples", "record-store")
    with open(os.path.join(folder, "truth.json")) as f:
        truth = json.load(f)
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        run = subprocess.run([nvmove, "scan", "-q", "--load", ",".join(truth["load_functions"]),
                              "--format=json", "-o", out.name, os.path.join(folder, "store.c"),
                              os.path.join(folder, "table.c"), os.path.join(folder, "main.c"),
                              "--", "-std=c99"], capture_output=True, text=True)
        if run.returncode:
            print(f"FAILED: record-store: status {run.returncode}: {run.stderr.strip()[-500:]}")
            return 0, 1
        score = Score(json.load(open(out.name)), truth)
    good = not score.missed and not score.wrong
    print(("" if good else "FAILED: ") + describe("record-store", score))
    return int(good), int(not good)


def run(nvmove, everything):
    """For tests/run.py: (passed, failed, skipped)."""
    passed, failed = bundled_example(nvmove)
    skipped = 0
    for check in [check_required, *([check_all] if everything else [])]:
        result = check(nvmove)
        passed, failed, skipped = passed + result[0], failed + result[1], skipped + result[2]
    return passed, failed, skipped


def table(nvmove, names, extra):
    print("| program | files | types | recall | wrong | precision | functions visited | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    everything, others = [], []
    for name in names:
        try:
            s = Score(scan(nvmove, name, extra=extra), sheet(name))
        except CannotFetch as e:
            print(f"| {name} | skipped: {e} |", flush=True)
            continue
        everything.append(s)
        others += [s] if name not in {r[0] for r in REQUIRED} else []
        print(f"| {name} | {s.stats['translation_units']} | {s.reported} | {s.found}/{s.needed} | "
              f"{len(s.wrong)} | {s.precision():.2f} | {s.stats['functions_visited']} of "
              f"{s.stats['functions_total']} | {s.stats['seconds']:.1f} |", flush=True)
    found, needed, wrong, recall, precision = together(others)
    if others:
        print(f"| {len(others)} together |  |  | {found}/{needed} = {recall:.3f} | {wrong} | "
              f"{precision:.3f} |  |  |")
    print()
    confidence(everything)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("program", nargs="*")
    p.add_argument("--all", action="store_true")
    p.add_argument("--nvmove", required=True)
    p.add_argument("--algorithm", default="left-behind")
    p.add_argument("--table", action="store_true")
    a = p.parse_args()
    extra = [f"--algorithm={a.algorithm}"]
    names = a.program or (with_sheet() if a.all else sorted({name for name, _, _ in REQUIRED}))
    if a.table:
        table(a.nvmove, names, extra)
        return 0
    for name in names:
        print(describe(name, Score(scan(a.nvmove, name, extra=extra), sheet(name))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
