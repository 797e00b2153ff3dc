#!/usr/bin/env python3
"""A seeded bug and its corrected twin under `nvmove crash`.

usage: seeded.py --bin DIR --pool PATH [--few] FILE [OPTION OF nvmove-cc ...]

FILE is a program; with -DBUG it has the bug. A line that ends in `// FOUND: KIND` must be found with -DBUG,
by each method, and nothing elsewhere but kinds that a line `// ALSO: KIND` names. Without -DBUG nothing may
be found. With -DCHECKER the file is a checker, where it mentions that name; with -DELSEWHERE an object that
nothing instruments. What a finding prints to see its state again must end with the same kind.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PLAIN = ["clang-19", "-g", "-O1", "-I", os.path.join(ROOT, "include"), "-I", HERE]
METHODS = ("undo", "shadow")


def call(command, environment=None, **options):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, **options)
    return done


def must(command):
    done = call(command)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")


class Program:
    FEW = ("--epoch-states=48", "--samples=16")

    def __init__(self, a, folder):
        self.a, self.folder = a, folder
        text = open(a.file).read()
        self.expected = {(n, kind) for n, line in enumerate(text.splitlines(), 1)
                         for kind in re.findall(r"// FOUND: (.*)$", line)}
        self.also = set(re.findall(r"^// ALSO: (.*)$", text, re.M))
        self.parts = []
        self.options = []
        if "ELSEWHERE" in text:
            self.parts = [os.path.join(folder, "elsewhere.o")]
            must(PLAIN + ["-DELSEWHERE", "-c", a.file, "-o", self.parts[0]])
        if "CHECKER" in text:
            checker = os.path.join(folder, "check.so")
            must(PLAIN + ["-DCHECKER", "-shared", "-fPIC", a.file, "-o", checker])
            self.options = ["--check", checker]

    def explore(self, bug, method):
        program = os.path.join(self.folder, "bug" if bug else "right")
        if method == METHODS[0]:
            must([os.path.join(self.a.bin, "nvmove-cc"), "-g", "-O1", "-w", "--nvmove-trace", "-I", HERE,
                  "-pthread", *(["-DBUG"] if bug else []), *self.a.flags, self.a.file, *self.parts,
                  "-o", program])
        return self.run(program, method)

    def run(self, program, method):
        if os.path.exists(self.a.pool):
            os.unlink(self.a.pool)
        environment = dict(os.environ, NVMOVE_METHOD=method, TMPDIR=self.folder,
                           PATH=self.a.bin + os.pathsep + os.environ["PATH"])
        done = call([os.path.join(self.a.bin, "nvmove"), "crash", "-q", "--seconds=0", "--format=json",
                     *(self.FEW if self.a.few else []), *self.options, "--", program, self.a.pool],
                    environment)
        if done.returncode > 1:
            sys.exit(f"{os.path.basename(program)}, {method}: status {done.returncode}\n{done.stderr}")
        return done.returncode, json.loads(done.stdout), environment

    def name(self, bug, method):
        return f"{os.path.basename(self.a.file)} {'with' if bug else 'without'} the bug, {method}"

    def check(self, bug, method):
        status, result, environment = self.explore(bug, method)
        wanted = self.expected if bug else set()
        found, faults = set(), []
        for f in result["findings"]:
            here = f["place"] and os.path.realpath(f["place"]["file"]) == os.path.realpath(self.a.file)
            where = (f["place"]["line"] if here else 0, f["kind"])
            found.add(where)
            if not bug or (where not in wanted and f["kind"] not in self.also):
                faults.append(f"not expected: {json.dumps(f, indent=1)}")
            if f["replay"]:
                faults += self.replay(f, environment)
        faults += [f"not found: {kind} at line {line}" for line, kind in wanted - found]
        errors = [f for f in result["findings"] if f["level"] == "error"]
        if status != (1 if errors else 0):
            faults.append(f"status {status}: {result['not_done']}, {result['explored']}")
        return [f"{self.name(bug, method)}: {fault}" for fault in faults]

    @staticmethod
    def replay(finding, environment):
        done = call(shlex.split(finding["replay"]) + ["--format=json"], environment)
        again = json.loads(done.stdout)["findings"] if done.returncode == 1 else []
        if [f["kind"] for f in again] == [finding["kind"]]:
            return []
        return [f"{finding['replay']}: {done.stdout}{done.stderr}"]


def main(kind=Program, methods=METHODS, doc=__doc__):
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("--bin", required=True)
    p.add_argument("--pool", required=True)
    p.add_argument("--few", action="store_true", help="fewer states than nvmove crash takes by itself")
    p.add_argument("file")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = kind(a, folder)
        faults = [fault for bug in (False, True) for method in methods
                  for fault in program.check(bug, method)]
    print("\n".join(faults))
    return 1 if faults or not program.expected else 0


if __name__ == "__main__":
    sys.exit(main())
