"""bench/papers: a run measures, goes on where another ended, and says what it could not measure."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAPERS = os.path.join(ROOT, "bench", "papers", "papers.py")
MEASURED, LACKING = "breeze-table-3", "breeze-table-4"  # the second needs a program that DIR does not have


def run(tools, out, *names):
    """Exit status, what was printed, the report."""
    done = subprocess.run([sys.executable, PAPERS, "--bin", tools, "--quick", "--out", out, *names],
                          capture_output=True, text=True)
    path = os.path.join(out, "report.html")
    return done.returncode, done.stdout + done.stderr, open(path).read() if os.path.exists(path) else ""


def wrong(tools):
    """What does not hold; nothing: all does."""
    with tempfile.TemporaryDirectory() as out:
        tools_without = os.path.join(out, "bin")
        os.makedirs(tools_without)
        os.symlink(os.path.join(tools, "nvmove-cc"), os.path.join(tools_without, "nvmove-cc"))
        status, said, report = run(tools_without, out, MEASURED)
        if status or "1/1] " + MEASURED not in said or ">541<" not in report:
            yield f"{MEASURED} is not measured: {status}, {said}"
        if "NOT MEASURED" in said or "Table V" not in report or "WiredTiger" not in report:
            yield "the report lacks what was not asked for, or what has no counterpart"
        status, said, _ = run(tools_without, out, MEASURED)
        if status or "done before" not in said:
            yield f"{MEASURED} is measured twice: {said}"
        status, said, report = run(tools_without, out, LACKING)
        if status != 1 or "NOT MEASURED" not in said or "Not measured: " not in report:
            yield f"{LACKING} without its program: {status}, {said}"
        status, said, _ = run(tools_without, out, "breeze-table-0")
        if status != 2 or MEASURED not in said:
            yield f"an experiment that is not there: {status}, {said}"


def check(tools):
    """(passed, failed)"""
    found = list(wrong(os.path.abspath(tools)))
    for what in found:
        print(f"papers: {what}")
    return int(not found), len(found)
