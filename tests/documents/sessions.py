#!/usr/bin/env python3
"""Runs the terminal sessions of the documents; what they show must be what a reader sees.

usage: sessions.py --bin DIR [DOCUMENT...]

A session is all blocks of a document that are fenced as ```console, in one shell, one after the other. Above
the first stands `<!-- session in FOLDER -->`: the shell starts in a copy of that folder, with DIR at the
front of PATH. A line that begins with "$ " is a command, "> " goes on with it; the lines below are all that
it prints, up to the next command. "..." in a line stands for any text, and alone for any lines.

Exit status: 0 all passed, 1 not.
"""
import argparse
import glob
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS_MAX = 120  # of a command
PATIENCE = 10      # seconds for what is printed behind a command's end, as by one in the background
DONE = "-- done --"


class Wrong(Exception):
    pass


def documents():
    found = ["README.md", *sorted(glob.glob("docs/**/*.md", recursive=True, root_dir=ROOT))]
    return [name for name in found if "```console" in open(os.path.join(ROOT, name)).read()]


def steps(text):
    """(line number, command, lines it prints) of each command."""
    found, shown = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            shown = line.rstrip() == "```console"
        elif shown and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif shown and line.startswith("> ") and found and not found[-1][2]:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line[2:], [])
        elif shown:
            found[-1][2].append(line)
    return found


def pattern(lines):
    """What a command prints, as a regular expression."""
    parts = [r"(?:.*\n)*?" if line.strip() == "..." else
             ".*".join(re.escape(part.rstrip() if last else part) for part, last in split(line)) + r"[ \t]*\n"
             for line in lines]
    return re.compile("".join(parts))


def split(line):
    pieces = line.split("...")
    return [(piece, at == len(pieces) - 1) for at, piece in enumerate(pieces)]


class Shell:
    def __init__(self, folder, tools):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVMOVE_")}
        environment["PATH"] = f"{tools}:{environment['PATH']}"
        self.process = subprocess.Popen(["bash", "--norc"], cwd=folder, env=environment, text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def run(self, command, wanted):
        """What it prints; of a background job as much as is wanted."""
        self.process.stdin.write(f"{command}\necho '{DONE}'\n")
        printed, end, ended = "", time.monotonic() + SECONDS_MAX, False
        while not ended or not wanted.fullmatch(printed):
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                break
            if DONE in line:
                ended, end = True, time.monotonic() + PATIENCE
                line = line.replace(DONE + "\n", "")
            if not re.match(r"bash: line \d+: +\d+ (Killed|Done)|^ +\d+ (Killed|Done)", line):
                printed += line
        return printed

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def run(name, tools):
    """Number of commands that print what the document says. Wrong: one does not."""
    with open(os.path.join(ROOT, name)) as f:
        text = f.read()
    start = re.search(r"<!-- session in (\S+) -->", text)
    if not start:
        raise Wrong(f"{name}: no <!-- session in FOLDER --> above its first session")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        folder = os.path.join(place, os.path.basename(start.group(1)))
        shutil.copytree(os.path.join(ROOT, start.group(1)), folder)
        shell = Shell(folder, tools)
        try:
            for number, command, lines in steps(text):
                printed = shell.run(command, pattern(lines))
                if not pattern(lines).fullmatch(printed):
                    raise Wrong(f"{name}:{number}: {command}\n  printed:\n{printed}  the document says:\n" +
                                "\n".join(lines))
        finally:
            shell.end()
    return len(steps(text))


def check(tools, names=()):
    """(passed, failed): documents."""
    passed = failed = 0
    for name in names or documents():
        try:
            print(f"{name}: {run(name, os.path.abspath(tools))} commands")
            passed += 1
        except Wrong as wrong:
            print(f"FAILED: {wrong}")
            failed += 1
    return passed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True, help="folder of nvmove and nvmove-cc")
    p.add_argument("documents", nargs="*", help="relative to the project; none: all with sessions")
    a = p.parse_args()
    passed, failed = check(a.bin, a.documents)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
