#!/usr/bin/env python3
"""Plans the ports of small programs, builds them, and kills them behind each answer.

usage: survives.py --bin DIR [--method NAME] [--observed] [PROGRAM...]

A program of programs/ reads commands, one a line, and answers each with one line. Its head says how it is
used:

    // load: FUNCTION       save: FUNCTION       file: NAME of what it loads
    // data: a line of that file (repeated)
    // command: a line of its input (repeated)
    // ask: a line of its input that shows what is there (repeated)
    // source: a program of this repository, in place of one behind the head
    // hand: KEY: ENTRY, or KEY.FIELD: ENTRY, that a person adds to the plan; why stands behind "#"
    // drop: ENTRY that a person takes out; why stands behind "#"

The oracle is the program itself, built by clang, that nobody kills: after the first N commands both are
asked, for each N, with each method, and have to say the same. The killed one has no file that it could load
when it starts again: what it knows it has from its pool. The plan is used as it is written but for `hand`
and `drop`, which are counted.
--observed: the plan is also told what a run of all commands did (`nvmove observe`).
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
METHODS = ("undo", "shadow")
SECONDS_MAX = 60
ROOT = os.path.dirname(os.path.dirname(HERE))
KEYS = ("load", "save", "file", "data", "command", "ask", "source", "hand", "drop")
HEAD = re.compile(rf"^// ({'|'.join(KEYS)}): (.*)$", re.M)


class Program:
    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)[:-2]
        self.head = {key: [] for key in KEYS}
        with open(path) as f:
            for key, value in HEAD.findall(f.read()):
                self.head[key].append(value)

    def flags(self):
        return ["-I", self.path[:-2]] if os.path.isdir(self.path[:-2]) else []

    def sources(self):
        """The program is one file, or the folder of its name."""
        folder = self.path[:-2]
        more = [os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.endswith(".c")] \
            if os.path.isdir(folder) else []
        return [*([os.path.join(ROOT, name) for name in self.head["source"]] or [self.path]), *more]


class Failed(Exception):
    pass


def run(command, folder, **more):
    ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           timeout=SECONDS_MAX, **more)
    if ended.returncode:
        raise Failed(f"{' '.join(command)}: status {ended.returncode}\n{ended.stdout}")
    return ended.stdout


def edited(text, program):
    """The plan with what a person adds and takes out."""
    for entry in program.head["drop"]:
        name = entry.split(" #")[0].strip()
        lines = [line for line in text.split("\n") if line.split("#")[0].strip() != f"- {name}"]
        if len(lines) == len(text.split("\n")):
            raise Failed(f"the plan has no '{name}' that could be taken out")
        text = "\n".join(lines)
    for entry in program.head["hand"]:
        key, name = entry.split(" #")[0].strip().split(": ", 1)
        top, _, field = key.partition(".")
        indent = "  " if field else ""
        wanted = f"{indent}{field or top}:"
        lines = text.split("\n")
        if top + ":" not in lines:
            lines.append(top + ":")
        if wanted not in lines:
            lines.insert(lines.index(top + ":") + 1, wanted)
        lines.insert(lines.index(wanted) + 1, f"{indent}  - {name}")
        text = "\n".join(lines)
    return text


def observe(tools, program, folder):
    """The file of an observed run of all commands."""
    observed, ran = os.path.join(folder, "observed"), os.path.join(folder, "observed.json")
    run([os.path.join(tools, "nvmove-cc"), "--nvmove-observe", "-w", "-O1", *program.flags(),
         *program.sources(), "-o", observed, "-lpthread"], folder)
    write_data(program, folder)
    loads = [word for name in program.head["load"] for word in ("--load", name)]
    subprocess.run([os.path.join(tools, "nvmove"), "observe", "-q", *loads, "-o", ran, "--", observed],
                   cwd=folder, stdout=subprocess.DEVNULL, text=True, timeout=SECONDS_MAX,
                   input="".join(line + "\n" for line in program.head["command"] + program.head["ask"]))
    remove_data(program, folder)
    return ran


def plan(tools, program, folder, observes):
    port = os.path.join(folder, "port.yaml")
    seen = ["--observed", observe(tools, program, folder)] if observes else []
    command = [os.path.join(tools, "nvmove"), "plan", "--no-cache", "-q"]
    for key in ("load", "save"):
        for name in program.head[key]:
            command += [f"--{key}", name]
    sources = [*program.sources(), "--", "-std=gnu11", *program.flags()]
    run([*command, *seen, "-o", port, *sources], folder)
    if not observes:
        run([*command, "--check", port, *sources], folder)  # a plan has all that a plan asks for
    with open(port) as f:
        text = f.read()
    with open(port, "w") as f:
        f.write(edited(text, program))
    return port


class Process:
    """A run that answers each line with one."""

    def __init__(self, command, folder, **environment):
        self.running = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, bufsize=1,
                                        env={**os.environ, **environment})

    def say(self, line):
        self.running.stdin.write(line + "\n")
        self.running.stdin.flush()
        answer = self.running.stdout.readline()
        if not answer:
            self.running.kill()
            raise Failed(f"no answer to '{line}': {self.running.stderr.read()}")
        return answer

    def kill(self):
        self.running.send_signal(signal.SIGKILL)
        self.running.wait()
        for stream in (self.running.stdin, self.running.stdout, self.running.stderr):
            stream.close()


def write_data(program, folder):
    for name in program.head["file"]:
        with open(os.path.join(folder, name), "w") as f:
            f.writelines(line + "\n" for line in program.head["data"])


def remove_data(program, folder):
    for name in program.head["file"]:
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))


def asked(process, program):
    return [process.say(line) for line in program.head["ask"]]


def compare(program, folder, plain, ported, method):
    """The kills that were survived."""
    commands = program.head["command"]
    for count in range(1, len(commands) + 1):
        answers, known = [], []
        for command, environment in ((plain, {}), (ported, {"NVMOVE_POOL": f"pool.{count}",
                                                            "NVMOVE_METHOD": method})):
            write_data(program, folder)
            process = Process([command], folder, **environment)
            answers.append([process.say(line) for line in commands[:count]])
            if command == ported:
                process.kill()
                remove_data(program, folder)
                process = Process([command], folder, **environment)
            known.append(asked(process, program))
            process.kill()
        if answers[0] != answers[1]:
            raise Failed(f"{method}: answers {answers[1]} in place of {answers[0]}")
        if known[0] != known[1]:
            raise Failed(f"{method}: killed after {commands[:count]}\n"
                         f"knows       {known[1]}\nshould know {known[0]}")
        os.unlink(os.path.join(folder, f"pool.{count}"))
    return len(commands)


def check_one(tools, path, methods, observes):
    """(kills survived, hand edits)"""
    program, kills = Program(path), 0
    with tempfile.TemporaryDirectory() as folder:
        port = plan(tools, program, folder, observes)
        plain, ported = os.path.join(folder, "plain"), os.path.join(folder, "ported")
        run(["clang-19", "-w", "-O1", *program.flags(), *program.sources(), "-o", plain, "-lpthread"], folder)
        run([os.path.join(tools, "nvmove-cc"), "-w", "-g", "-O1", f"--nvmove-port={port}", *program.flags(),
             *program.sources(), "-o", ported, "-lpthread"], folder)
        for method in methods:
            kills += compare(program, folder, plain, ported, method)
    return kills, len(program.head["hand"]) + len(program.head["drop"])


def check(tools, names=(), methods=METHODS, observes=False):
    """(passed, failed)"""
    found = sorted(n for n in os.listdir(PROGRAMS) if n.endswith(".c") and (not names or n[:-2] in names))
    passed, kills_all, edits_all = 0, 0, 0
    for name in found:
        try:
            kills, edits = check_one(tools, os.path.join(PROGRAMS, name), methods, observes)
        except (Failed, subprocess.TimeoutExpired) as e:
            print(f"plan: {name}: {e}")
            continue
        print(f"plan: {name}: {kills} kills survived, {edits} hand edits")
        passed, kills_all, edits_all = passed + 1, kills_all + kills, edits_all + edits
    print(f"plan: {passed} of {len(found)} programs, {kills_all} kills, {edits_all} hand edits")
    return passed, len(found) - passed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True, help="folder of nvmove and nvmove-cc")
    p.add_argument("--method", choices=METHODS, help="only this one")
    p.add_argument("--observed", action="store_true", help="plan with an observed run, too")
    p.add_argument("programs", nargs="*", metavar="PROGRAM", help="without .c; default: all")
    a = p.parse_args()
    passed, failed = check(os.path.abspath(a.bin), a.programs, (a.method,) if a.method else METHODS,
                           a.observed)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
