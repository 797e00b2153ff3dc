"""Makes a failing program smaller, and writes it down as one C file with the commands that show the failure.

Parts of its list of operations are left out, many tries in one batch, as long as what is left fails in the
same way; runs that are killed are tried with the kill at every step.
"""
import os
import re

import script
from model import Spoiled
from program import Program
from workshop import HERE, commands

TRIES = 24           # candidates in a batch
INSIDE_MAX = 40      # steps of the runtime at which a candidate is killed
ROUNDS_MAX = 60


def runs_like(run, program):
    """The failing run again; where it was killed, a kill at each step."""
    parts = run.split()
    _, kind, step, kill = parts[:4]
    rest = " ".join(parts[4:])
    if kind == "step":
        return [f"R step {i} - {rest}" for i in range(len(program.steps) + 1)]
    if kind == "inside":
        what = kill.split(":")[0]
        return [f"R inside -1 {what}:{i} {rest}" for i in range(1, INSIDE_MAX)]
    return [f"R {kind} {step} {kill} {rest}"]


def smaller(program, operations, threads):
    """The program with these operations alone, or None."""
    try:
        made = Program(program.layout, program.seed, threads, operations, program.traits)
        made.run()
    except Spoiled:
        return None
    return made if len(made.kept) < len(program.kept) else None


def candidates(program, size):
    kept, threads = program.kept, len(program.texts)
    for gone in range(threads) if threads > 1 else ():
        made = smaller(program, [(t - (t > gone), *rest) for t, *rest in kept if t != gone], threads - 1)
        if made:
            yield made
    for start in range(0, len(kept), size):
        made = smaller(program, kept[:start] + kept[start + size:], threads)
        if made:
            yield made


def first_that_fails(shop, cell, failure, tried):
    """(program, failure) or None."""
    for start in range(0, len(tried), TRIES):
        some = tried[start:start + TRIES]
        _, found = shop.run(cell, some[0].layout, some, [runs_like(failure.run, p) for p in some], "shrink")
        same = [f for f in found if f.way() == failure.way()]
        if same:
            best = min(same, key=lambda f: len(some[f.number].kept))
            return some[best.number], best
    return None


def shrink(shop, cell, program, failure):
    """Gives (program, failure): as small as it gets."""
    size = max(1, len(program.kept) // 2)
    for _ in range(ROUNDS_MAX):
        found = first_that_fails(shop, cell, failure, list(candidates(program, size)))
        if found:
            program, failure = found
            size = min(size, max(1, len(program.kept) // 2))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return program, failure


def without_includes(name):
    with open(os.path.join(HERE, name)) as f:
        return re.sub(r'#include "(harness|image)\.h"\n|#pragma once\n', "", f.read())


def write_down(path, shop, cell, program, failure):
    """One C file: the program, its script, the harness; and how to build it."""
    run = failure.run
    text = script.script([program], [[run]])
    folder, name = os.path.split(os.path.splitext(path)[0])
    steps = [["clang-19", "-O1", "-fPIC", "-c", os.path.join(HERE, "library.c"), "-o", "library.o"],
             *commands(shop.cc, cell, name, HERE, ["library.o"], shop.options, ["-DGEN_LIBRARY"],
                       ["-DGEN_HARNESS", name + ".c"] if "lazy" in cell or "dlopen" in cell else [])]
    call = f"./{name} - ." + (f" ./{name}.so" if "dlopen" in cell else "")
    quoted = "\n".join('"' + line + '\\n"' for line in text.splitlines())
    said = [f"/* seed {program.seed}, {cell}: {failure.said}", f" * run: {run}", " *", f" *   cd {folder}"]
    said += [" *   " + " ".join(parts) for parts in steps] + [f" *   {call}", " */"]
    with open(path, "w") as f:
        f.write("\n".join(said) + "\n#define _GNU_SOURCE\n" + without_includes("harness.h") +
                "#ifndef GEN_HARNESS\n" +
                script.source(program.layout, [program]).replace('#include "harness.h"\n', "") + "#endif\n"
                "#ifndef GEN_LIBRARY\nconst char gen_script[] =\n" + quoted + ";\n" +
                without_includes("image.h") + without_includes("image.c") +
                without_includes("harness.c").replace("#define _GNU_SOURCE\n", "") + "#endif\n")
