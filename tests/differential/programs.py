#!/usr/bin/env python3
"""Real programs build with CC=nvmove-cc unchanged, and pass their own tests as with clang.

usage: programs.py --cc NVMOVE_CC [NAME...]

Each programs/NAME.json says what to fetch from Debian's sources (with checksums, into third_party/,
which git ignores), how to build it and which tests it brings. A program is built twice, by clang and by
nvmove-cc, with no pool open. A test ends with status 0; with "passes" it must print that line, without,
both builds must print the same. Tests run as an ordinary user where the machine lets us.

A third build puts all that the program allocates into the reserved range (heap.c) and links the recorder of
tests/plugin: every byte that its runs write to the heap must have been noted before. A fourth is compiled
with --nvmove-redirect and keeps every byte of the heap elsewhere (keeper.c): it must print what the third
prints.

Exit status: 0 all passed, 1 not.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
THIRD_PARTY = os.path.join(ROOT, "third_party")
PLUGIN_INPUTS = os.path.join(ROOT, "tests", "plugin", "Inputs")
RECIPES = os.path.join(HERE, "programs")
# Builds with the heap in the reserved range: the runtime, and options.
HEAPS = {"heap": (os.path.join(PLUGIN_INPUTS, "recorder.c"), ""),
         "kept": (os.path.join(HERE, "keeper.c"), " --nvmove-redirect")}
CLOCK = re.compile(r"\d+\.\d[-\de]*|\w{3} \w{3} +\d+ [\d:]+ \d{4}")
SECONDS_MAX = 3600  # sqlite's quick suite takes ten minutes on one slow core
NOBODY = 65534

sys.path.insert(0, os.path.join(ROOT, "tests", "accuracy"))
import fetch  # noqa: E402


def names():
    return sorted(n[:-len(".json")] for n in os.listdir(RECIPES) if n.endswith(".json"))


def load(name):
    with open(os.path.join(RECIPES, name + ".json")) as f:
        return json.load(f)


def steps(program, cc, kind):
    """The commands that build it."""
    if kind not in HEAPS:
        return [[a.format(cc=cc) for a in step] for step in program["build"]]
    wrapped = ("malloc", "calloc", "realloc", "free", "malloc_usable_size")
    wraps = " ".join("-Wl,--wrap=" + f for f in wrapped)
    runtime, options = HEAPS[kind]
    made = {"cc": cc + options, "compile": "-w -fno-builtin-malloc -fno-builtin-calloc --nvmove-warnings=off "
                                 "--nvmove-runtime={tree}/recorder.o",
            "link": wraps + " {tree}/heap.o --nvmove-runtime={tree}/recorder.o"}
    own = [["clang-19", "-O2", "-fPIC", "-I", os.path.join(ROOT, "include"), "-I", PLUGIN_INPUTS,
            "-DHEAP_SIZE=" + program["heap"]["size"], "-c", source, "-o", "{tree}/" + name]
           for source, name in ((runtime, "recorder.o"),
                                (os.path.join(HERE, "heap.c"), "heap.o"))]
    return own + [[a.format(**made) for a in step] for step in program["heap"]["build"]]


def build(program, cc, kind):
    """The folder of the program as that compiler makes it; built once for each compiler's change."""
    tree = os.path.join(THIRD_PARTY, f"{program['name']}-{program['version']}-{kind}")
    stamp = os.path.join(tree, ".built")
    plugin = os.path.join(os.path.dirname(cc), "..", "lib", "nvmove", "libnvmove_plugin.so")
    parts = [cc] if kind == "clang" else [cc, plugin]
    parts += [HEAPS[kind][0]] if kind in HEAPS else []
    digest = " ".join([json.dumps([program, steps(program, cc, kind)]),
                       *(fetch.sha256(shutil.which(p) or p) for p in parts)])
    if os.path.exists(stamp) and open(stamp).read() == digest:
        return tree
    archives = os.path.join(THIRD_PARTY, "archives")
    os.makedirs(archives, exist_ok=True)
    if not fetch.verified(archives, program["archives"]):
        fetch.fetch_debian(program, THIRD_PARTY, archives)
    shutil.rmtree(tree, ignore_errors=True)
    fetch.unpack(program, archives, tree)
    with open(os.path.join(tree, "build.log"), "w") as log:
        for step in steps(program, cc, kind):
            made = subprocess.run([a.replace("{tree}", tree) for a in step], cwd=tree,
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            if made.returncode:
                raise RuntimeError(f"{program['name']} by {kind}: {' '.join(step)} failed, see {log.name}")
    with open(stamp, "w") as f:
        f.write(digest)
    return tree


def ordinary_user():
    """Root passes where permissions matter: tests of them want an ordinary user."""
    if os.geteuid() == 0 and shutil.which("setpriv"):
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return []


def run(test, tree, each=""):
    folder = os.path.join(tree, test["in"]) if "in" in test else os.path.join(tree, "run")
    prefix = []
    if "in" not in test:
        prefix = ordinary_user()
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        os.chmod(folder, 0o777)
    done = subprocess.run(prefix + [a.format(tree=tree, each=each) for a in test["run"]], cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=SECONDS_MAX)
    return done.stdout, done.returncode


def check_one(program, trees):
    passed = failed = 0
    for test in program["tests"]:
        for each in test.get("each", [""]):
            got = run(test, trees["nvmove"], each)
            if "passes" in test:
                good = got[1] == 0 and re.search(test["passes"], got[0], re.M)
            else:
                good = got[1] == 0 and got == run(test, trees["clang"], each)
            passed += bool(good)
            failed += not good
            if not good:
                print(f"{program['name']}: {' '.join(test['run'])} {each}: status {got[1]}\n"
                      f"{got[0][-2000:]}")
    return passed, failed


def run_heap(command, tree):
    """(status, output but for what the clock says, the recorder's line)."""
    done = subprocess.run([a.format(here=HERE) for a in command], cwd=tree, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS_MAX)
    said = re.search(r"^recorder: [1-9].* 0 faults\n", done.stdout, re.M)
    output = done.stdout.replace(said[0], "") if said else done.stdout
    return done.returncode, CLOCK.sub("", output), said


def check_heap(program, cc):
    passed = failed = 0
    trees = [build(program, cc, kind) for kind in HEAPS]
    for command in program["heap"]["run"]:
        watched, kept = (run_heap(command, tree) for tree in trees)
        for what, good, got in (("watched", watched[0] == 0 and watched[2], watched),
                                ("kept elsewhere", kept[:2] == watched[:2] and kept[2], kept)):
            passed += bool(good)
            failed += not good
            if not good:
                print(f"{program['name']}, heap {what}: {' '.join(command)}: {got[0]}\n{got[1][-2000:]}")
    return passed, failed


def build_both(program, cc):
    return {"clang": build(program, "clang-19", "clang"), "nvmove": build(program, cc, "nvmove")}


def check(cc, wanted=()):
    """Gives (passed, failed, skipped)."""
    sums = [0, 0, 0]
    for name in wanted or names():
        program = load(name)
        try:
            for passed, failed in (check_one(program, build_both(program, cc)),
                                   check_heap(program, cc)):
                sums[0] += passed
                sums[1] += failed
        except fetch.CannotFetch as e:
            print(f"skipped: {name}: {e}")
            sums[2] += 1
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            print(f"{name}: {e}")
            sums[1] += 1
    return tuple(sums)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("name", nargs="*")
    p.add_argument("--cc", required=True)
    a = p.parse_args()
    passed, failed, skipped = check(os.path.abspath(a.cc), a.name)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
