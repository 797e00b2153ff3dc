#!/usr/bin/env python3
"""How many states a crash could leave of the examples' runs, all of them judged; and how fast.

usage: crash.py --bin DIR [--operations N] [--model power|process] [--speed-only | --pools] [--out FILE]

Speed: states a second of a pool of 64 MiB, judged in the process and by an external command; processor
time of a traced run over that of a plain one. States: the B+tree and the cuckoo hash table, each with both
methods. Printed: states, different images among them, findings, seconds. Exit status 1 when something was
found, a goal was missed, or the images of all runs together are fewer than a million (with the default number
of operations).

--pools: instead, what changes a pool as a whole: programs that move it to other addresses, collect and
release garbage, resize it and copy it (tests/crash/every.c, moved.c), where recoveries fail in turn while
they move it elsewhere; and repairs that lose power, twice over (tests/crash/repair.c). The goal is 200,000
states.
"""
import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES, METHODS = ("btree", "cuckoo"), ("undo", "shadow")
OPERATIONS, TIMED_OPERATIONS, ROUNDS = 450, 20000, 5
IMAGES_GOAL, IN_PROCESS_GOAL, COMMAND_GOAL, TRACING_GOAL = 1000000, 1000, 50, 10
# Program, rounds, states at most.
POOL_RUNS, POOL_STATES_GOAL, REPAIRS = (("every", 12, 60000), ("moved", 40, 60000)), 200000, 200


def compile_c(cc, source, program, *options):
    subprocess.run([cc, "-O2", "-g", *options, source, "-o", program], check=True)
    return program


def explore(nvmove, program, method, arguments, folder, *options):
    """`arguments` of the program: POOL stands for the pool."""
    pool, out = os.path.join(folder, "pool"), os.path.join(folder, "out.json")
    command = [nvmove, "crash", "-q", "--seconds=0", "--format=json", "-o", out, *options,
               "--", program, *(pool if word == "POOL" else str(word) for word in arguments)]
    if os.path.exists(pool):
        os.unlink(pool)
    done = subprocess.run(command, env=dict(os.environ, NVMOVE_METHOD=method, TMPDIR=folder))
    if done.returncode > 1:
        sys.exit(f"crash.py: {' '.join(command)} ended with {done.returncode}")
    with open(out) as f:
        return json.load(f)


def processor_seconds(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tracing(cc, source, method, operations, folder):
    """Processor time of a traced run over that of a plain one."""
    plain = compile_c(cc, source, os.path.join(folder, "plain"))
    traced = compile_c(cc, source, os.path.join(folder, "traced"), "--nvmove-trace")
    pool, trace = os.path.join(folder, "pool"), os.path.join(folder, "trace")
    ratios = []
    for _ in range(ROUNDS):
        seconds = []
        for program, more in ((plain, {}), (traced, {"NVMOVE_TRACE": trace})):
            for path in (pool, trace, trace + ".image"):
                if os.path.exists(path):
                    os.unlink(path)
            environment = dict(os.environ, NVMOVE_METHOD=method, NVMOVE_DOMAIN="power", **more)
            seconds.append(processor_seconds([program, str(operations), pool], environment))
        ratios.append(seconds[1] / max(seconds[0], 1e-9))
    for path in (pool, trace, trace + ".image"):
        os.unlink(path)
    return statistics.median(ratios)


def speed(nvmove, cc, folder):
    """Rows of (what, figure, goal, whether it is reached)."""
    source = os.path.join(ROOT, "bench", "crash", "fill.c")
    program = compile_c(cc, source, os.path.join(folder, "fill"), "--nvmove-trace")
    rows = []
    for method in METHODS:
        command = ["--states-max", "1000", "--check", f"{program} check {{}}"]
        for what, options, goal in (("in the process", ["--states-max", "8000"], IN_PROCESS_GOAL),
                                    ("by a command", command, COMMAND_GOAL)):
            e = explore(nvmove, program, method, (12, "POOL"), folder, *options)["explored"]
            figure = e["states"] / e["seconds"]
            rows.append((f"states/s at 64 MiB {what}, {method}", figure, goal, figure >= goal))
    sources = [(name, os.path.join(ROOT, "examples", name, "persistent.c")) for name in EXAMPLES]
    for name, path in [("fill", source)] + sources:
        for method in METHODS:
            ratio = tracing(cc, path, method, TIMED_OPERATIONS, folder)
            rows.append((f"traced / plain, {name} {method}", ratio, TRACING_GOAL, ratio <= TRACING_GOAL))
    return rows


def states(nvmove, cc, a, folder):
    runs = []
    for name in EXAMPLES:
        program = compile_c(cc, os.path.join(ROOT, "examples", name, "persistent.c"),
                            os.path.join(folder, name), "--nvmove-trace")
        for method in METHODS:
            result = explore(nvmove, program, method, (a.operations, "POOL"), folder, f"--model={a.model}",
                             "--states-max", str(10 * IMAGES_GOAL))
            runs.append({"example": name, "method": method, **result})
            tell(f"{name} {method}", result)
    return runs


def tell(name, result):
    e = result["explored"]
    print(f"{name}: {e['states']} states, {e['distinct_images']} images, "
          f"{e['interrupted_recoveries']} interrupted recoveries, {len(result['findings'])} "
          f"findings, {e['seconds']:.0f} s", flush=True)


def repairs(cc, folder):
    """States that a power failure in a repair left, and how many of them were wrong."""
    wraps = [f"-Wl,--wrap={call}" for call in ("pwrite", "fsync")]
    source = os.path.join(ROOT, "tests", "crash", "repair.c")
    program = compile_c(cc, source, os.path.join(folder, "repair"), "-w", *wraps)
    said = subprocess.run([program, os.path.join(folder, "repaired"), str(REPAIRS), "7"], capture_output=True,
                          text=True).stdout.strip()
    print(f"repair: {said}", flush=True)
    match = re.match(r"\d+ repairs, (\d+) states, .*: (none|\d+) wrong$", said)
    return (int(match.group(1)), 0 if match.group(2) == "none" else int(match.group(2))) if match else (0, 1)


def pools(nvmove, cc, folder):
    """Status 1: something was wrong, or too little was looked at."""
    start, states, failed, wrong = time.time(), 0, 0, 0
    for name, rounds, most in POOL_RUNS:
        source = os.path.join(ROOT, "tests", "crash", name + ".c")
        program = compile_c(cc, source, os.path.join(folder, name), "--nvmove-trace", "-pthread", "-w")
        for method in METHODS:
            result = explore(nvmove, program, method, ("POOL", rounds), folder, "--states-max", str(most),
                             "--interrupt-every", "128")
            tell(f"{name} {method}", result)
            states += result["explored"]["states"]
            failed += result["explored"]["interrupted_recoveries"]
            wrong += len(result["findings"])
    more, bad = repairs(cc, folder)
    states, wrong = states + more, wrong + bad
    print(f"together: {states} states and {failed} recoveries that failed in their turn, {wrong} wrong, "
          f"{time.time() - start:.0f} s")
    return 1 if wrong or states < POOL_STATES_GOAL else 0


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--bin", required=True, help="folder of nvmove and nvmove-cc")
    p.add_argument("--operations", type=int, default=OPERATIONS)
    p.add_argument("--model", default="power")
    p.add_argument("--speed-only", action="store_true")
    p.add_argument("--pools", action="store_true", help="moves, garbage, sizes, copies and repairs instead")
    p.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "crash.json"))
    a = p.parse_args()
    nvmove, cc = (os.path.abspath(os.path.join(a.bin, name)) for name in ("nvmove", "nvmove-cc"))
    start = time.time()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if a.pools:
            return pools(nvmove, cc, folder)
        rows = speed(nvmove, cc, folder)
        for what, figure, goal, reached in rows:
            print(f"{what}: {figure:.1f} (goal {goal}{'' if reached else ', MISSED'})", flush=True)
        runs = [] if a.speed_only else states(nvmove, cc, a, folder)
    total = {key: sum(run["explored"][key] for run in runs)
             for key in ("states", "distinct_images", "interrupted_recoveries", "seconds")}
    found = sum(len(run["findings"]) for run in runs)
    os.makedirs(os.path.dirname(a.out), exist_ok=True)
    with open(a.out, "w") as f:
        json.dump({"schema_version": 2, "operations": a.operations, "speed": rows, "runs": runs}, f, indent=1)
    if runs:
        print(f"together: {total['states']} states, {total['distinct_images']} images, "
              f"{total['interrupted_recoveries']} interrupted recoveries, {found} findings, "
              f"{total['seconds']:.0f} s; with the rest {time.time() - start:.0f} s")
    short = runs and a.operations >= OPERATIONS and total["distinct_images"] < IMAGES_GOAL
    return 1 if found or short or not all(reached for *_, reached in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
