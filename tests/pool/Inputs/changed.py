#!/usr/bin/env python3
"""Programs whose types change (../changed/*.c, *.cc; a file of the same name with .yaml is the map).

usage: changed.py BIN FOLDER [--every N]

The first line of each says what `nvmove pool convert` makes of its pool: "same": both programs print the
same; "prints TEXT": the new one prints this; "refused TEXT": the message has this. Converted pools are sound.
The last line is "N converted, N refused, N wrong".
"""
import concurrent.futures
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def judge(tools, folder, source):
    """What is wrong with one of them; empty: nothing."""
    name, end = os.path.splitext(os.path.basename(source))
    compiler = os.path.join(tools, "nvmove-c++" if end == ".cc" else "nvmove-cc")
    tool = os.path.join(tools, "nvmove")
    expected = open(source).readline().removeprefix("/* ").removesuffix(" */\n")
    place = os.path.join(folder, name)
    for version in (0, 1):
        status, said = run(compiler, "-w", f"-DV={version}", "-I", HERE, source, "-o", f"{place}.{version}")
        if status:
            return said
    status, before = run(place + ".0", place + ".pool")
    if status:
        return "the old program: " + before
    fields = source.removesuffix(end) + ".yaml"
    status, said = run(tool, "pool", "convert", place + ".pool", place + ".new", "--layouts", place + ".1",
                       *(("--map", fields) if os.path.exists(fields) else ()))
    kind, _, text = expected.partition(" ")
    if kind == "refused":
        return "" if status == 2 and text in said else f"not refused so: {said}"
    if status:
        return "refused: " + said
    status, said = run(tool, "pool", "check", place + ".new")
    if status or "hint" in said:
        return said
    status, after = run(place + ".1", place + ".new")
    if not status and after.strip() == (text or before.strip()):
        return ""
    return f"prints {after}, and before {before}"


def main():
    tools, folder = sys.argv[1:3]
    every = int(sys.argv[4]) if sys.argv[3:4] == ["--every"] else 1
    os.makedirs(folder, exist_ok=True)
    sources = sorted(glob.glob(os.path.join(os.path.dirname(HERE), "changed", "*.c*")))[::every]
    with concurrent.futures.ThreadPoolExecutor(2) as some:
        said = list(some.map(lambda source: judge(tools, folder, source), sources))
    for source, what in zip(sources, said):
        if what:
            print(f"{os.path.basename(source)}: {what}")
    refused = sum("/* refused" in open(source).readline() for source in sources)
    wrong = sum(bool(what) for what in said)
    print(f"{len(sources) - refused} converted, {refused} refused, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
