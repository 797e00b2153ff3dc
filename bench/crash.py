#!/usr/bin/env python3
"""How many states a crash could leave of the examples' runs, all of them judged by `nvmove crash`.

usage: crash.py --bin DIR [--operations N] [--model power|process] [--out FILE]

Builds the B+tree and the cuckoo hash table with nvmove-cc --nvmove-trace, runs each with both methods, and
explores. Printed: states, different images among them, findings, seconds. Exit status 1 when something was
found or the images of all runs together are fewer than a million (with the default number of operations).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES, METHODS = ("btree", "cuckoo"), ("undo", "shadow")
OPERATIONS = 400
IMAGES_GOAL = 1000000


def explore(nvmove, program, method, a, folder):
    pool, out = os.path.join(folder, "pool"), os.path.join(folder, "out.json")
    command = [nvmove, "crash", "-q", "--allow-sampling", f"--model={a.model}", "--format=json", "-o", out,
               "--states-max", str(10 * IMAGES_GOAL), "--", program, str(a.operations), pool]
    if os.path.exists(pool):
        os.unlink(pool)
    done = subprocess.run(command, env=dict(os.environ, NVMOVE_METHOD=method))
    if done.returncode > 1:
        sys.exit(f"crash.py: {' '.join(command)} ended with {done.returncode}")
    with open(out) as f:
        return json.load(f)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--bin", required=True, help="folder of nvmove and nvmove-cc")
    p.add_argument("--operations", type=int, default=OPERATIONS)
    p.add_argument("--model", default="power")
    p.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "crash.json"))
    a = p.parse_args()
    nvmove, cc = (os.path.abspath(os.path.join(a.bin, name)) for name in ("nvmove", "nvmove-cc"))
    images = states = interrupted = found = 0
    seconds, runs = 0.0, []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for name in EXAMPLES:
            program = os.path.join(folder, name)
            source = os.path.join(ROOT, "examples", name, "persistent.c")
            subprocess.run([cc, "-O2", "-g", "--nvmove-trace", source, "-o", program], check=True)
            for method in METHODS:
                result = explore(nvmove, program, method, a, folder)
                e = result["explored"]
                runs.append({"example": name, "method": method, **result})
                images, states = images + e["distinct_images"], states + e["states"]
                interrupted += e["interrupted_recoveries"]
                seconds, found = seconds + e["seconds"], found + len(result["findings"])
                print(f"{name} {method}: {e['states']} states, {e['distinct_images']} images, "
                      f"{e['interrupted_recoveries']} interrupted recoveries, {len(result['findings'])} "
                      f"findings, {e['seconds']:.0f} s", flush=True)
    os.makedirs(os.path.dirname(a.out), exist_ok=True)
    with open(a.out, "w") as f:
        json.dump({"schema_version": 1, "operations": a.operations, "runs": runs}, f, indent=1)
    print(f"together: {states} states, {images} images, {interrupted} interrupted recoveries, "
          f"{found} findings, {seconds:.0f} s")
    return 1 if found or (a.operations >= OPERATIONS and images < IMAGES_GOAL) else 0


if __name__ == "__main__":
    sys.exit(main())
