#!/usr/bin/env python3
"""Takes the small programs of tests/plan/programs through `nvmove move`.

usage: moves.py --bin DIR [--kills N] [PROGRAM...]

Their heads say how they are used (tests/plan/survives.py): commands are the workload, questions the check.
Programs whose questions show nothing of their commands, or whose plan a person edits, are left out, and
those whose own end changes data get --any-end.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "plan"))

import survives  # noqa: E402

SHOWS_NOTHING = ("graph", "own-memdup")
ENDS_OTHERWISE = ("lines",)
SECONDS_MAX = 900
RESULT = re.compile(r"^survived: (\d+) kills with undo, (\d+) kills with shadow$", re.M)


def copy_source(program, folder):
    """The names of the sources, as the copy has them."""
    names = []
    for path in program.sources():
        inside = path.startswith(survives.PROGRAMS)
        name = os.path.relpath(path, survives.PROGRAMS) if inside else os.path.basename(path)
        os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
        shutil.copy(path, os.path.join(folder, name))
        names.append(name)
    if os.path.isdir(program.path[:-2]):
        shutil.copytree(program.path[:-2], os.path.join(folder, program.name), dirs_exist_ok=True)
    survives.write_data(program, folder)
    return names


def write_steps(path, lines):
    with open(path, "w") as f:
        f.writelines(f"\\{line}\n" for line in lines)


def move(tools, program, kills, folder):
    """The kills that were survived."""
    source, workload, check = (os.path.join(folder, name) for name in ("source", "workload", "check"))
    os.mkdir(source)
    names = copy_source(program, source)
    write_steps(workload, program.head["command"])
    write_steps(check, program.head["ask"])
    command = [os.path.join(tools, "nvmove"), "move", "-q", "--no-cache", "-C", source, "-o",
               os.path.join(folder, "moved"), "--workload", workload, "--check", check, "--kills", str(kills),
               "--run", "./program", "--build",
               f"$CC -g -O2 {' '.join(names)} -I{program.name} -lpthread -o program"]
    for key in ("load", "save"):
        for name in program.head[key]:
            command += [f"--{key}", name]
    command += ["--any-end"] if program.name in ENDS_OTHERWISE else []
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           timeout=SECONDS_MAX)
    found = RESULT.search(ended.stdout)
    if ended.returncode or not found:
        raise survives.Failed(f"status {ended.returncode}\n{ended.stdout}")
    return sum(int(number) for number in found.groups())


def check(tools, kills, names=()):
    """(passed, failed)"""
    passed, failed, all_kills = 0, 0, 0
    for file in sorted(os.listdir(survives.PROGRAMS)):
        program = survives.Program(os.path.join(survives.PROGRAMS, file)) if file.endswith(".c") else None
        if not program or (names and program.name not in names) or program.name in SHOWS_NOTHING or \
                program.head["hand"] or program.head["drop"]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                survived = move(tools, program, kills, folder)
                print(f"move: {program.name}: {survived} kills survived", flush=True)
                passed, all_kills = passed + 1, all_kills + survived
            except (survives.Failed, subprocess.TimeoutExpired) as e:
                print(f"move: {program.name}: {e}", flush=True)
                failed += 1
    print(f"move: {passed} of {passed + failed} programs, {all_kills} kills")
    return passed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True, help="folder of nvmove and nvmove-cc")
    p.add_argument("--kills", type=int, default=60, help="of each program")
    p.add_argument("programs", nargs="*", metavar="PROGRAM", help="without .c; default: all")
    a = p.parse_args()
    passed, failed = check(os.path.abspath(a.bin), a.kills, a.programs)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
