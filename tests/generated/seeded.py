#!/usr/bin/env python3
"""Faults that generated programs must find: the generator is worth nothing if it does not.

usage: seeded.py --cc NVMOVE_CC [--only PART-OF-A-NAME] [--programs N] [--jobs N]

A fault is a line of the runtime's sources that is changed (the tree is not touched: the sources are copied
and compiled), a description that takes away what the compiler knows of a function, or an attribute that is
taken out of the compiled program (lazily.py). Programs are made
until one fails; how many it took is printed. A fault that is not found within N programs is a failure, and
so is a line that is not there: then the fault has to be put elsewhere.

Exit status: 0 all found, 1 not. The last line is "N passed, N failed".
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import generated  # noqa: E402
from workshop import HERE, ROOT  # noqa: E402

FLAGS = ["-std=gnu11", "-O1", "-fPIC", "-w", "-Iinclude", "-Iruntime"]
STEP = 50  # programs at a time

# Name, cell, file, its text, what stands there instead.
FAULTS = [
    ("a dependence is not taken over", "O0-exe-undo", "runtime/order/order.c",
     "      nvmi_node_depend(thread->node, on);", ";"),
    ("a commit does not wait", "O0-exe-undo", "runtime/order/commit_wait.c", "    waits = true;",
     "    waits = false;"),
    ("what joined a commit is not committed with it", "O0-exe-shadow", "runtime/tx/tx_order.c",
     "  nvmi_join_unpack(thread);", ";"),
    ("a broken one commits", "O0-exe-undo", "runtime/order/commit_wait.c", "      return BROKEN;",
     "      continue;"),
    ("released bytes are not kept", "O0-exe-shadow", "runtime/order/order_join.c",
     "pool->method->capture(thread->logs[pool->index], &lines[i]);",
     "((struct nvmi_line *)thread->lines.items)[kept++] = lines[i];"),
    ("an abort restores what the file has", "O0-exe-shadow", "runtime/methods/shadow_abort.c",
     "  find_others(log);", "  others.count = 0;"),
    ("an abort restores what a dependent has written", "O0-exe-shadow", "runtime/methods/shadow_abort.c",
     "  mask &= ~nvmi_masks_at(&nvmi_kept, line);", ";"),
    ("a dependent does not get the entries of who is undone", "O0-exe-undo", "runtime/order/undoing.c",
     "    log->pool->method->hand_on(log, &first, &parcel);", ";"),
    ("what a running call writes is not noted anew", "O0-exe-shadow", "runtime/tx/called.c",
     "      __nvm_note(called.address, called.size);", ";"),
    ("what is undone at a release is committed later", "O0-exe-shadow", "runtime/methods/shadow.c",
     "  log->captured.count = 0;\n  nvmi_shadow_each_line(", "  nvmi_shadow_each_line("),
    ("an aborted allocation stays", "O1-exe-undo", "runtime/tx/tx.c", "  nvmi_heap_aborted(log);", ";"),
    ("an inner abort lets the outer commit", "O2-lto-undo", "runtime/tx/tx.c",
     "thread->doomed = nvmi_in_transaction(thread);", "thread->doomed = false;"),
    ("a transaction is blamed for another's pointer", "O0-exe-undo", "runtime/judge/pointers.c",
     "if (NVMI_UNLIKELY(log->owner->others_stand) && pool->method->own_bytes)", "if (0)"),
    ("an unsafe pointer that others stored over is not looked for", "O0-exe-undo",
     "runtime/order/order_join.c", "    node->unsafe = true;", ";"),
    ("what decides alone is not looked at", "O0-exe-undo", "runtime/judge/judge.c",
     "      error = judge_decided(context, type, record, field);", ";"),
    ("what decides is read as others left it", "O0-exe-undo", "runtime/judge/judge.c",
     "judge->image ? (struct nvmi_view){nvmi_own_image_read, judge}", "0 ? (struct nvmi_view){0}"),
    ("what others free is not judged", "O0-exe-undo", "runtime/judge/judge.c",
     "  return span && (nvmi_is_live(span, at.index) || !is_freed(judge, span, at.index));",
     "  return span && nvmi_is_live(span, at.index);"),
    ("counts take others' bytes for committed", "O0-exe-shadow", "runtime/gc/changes.c",
     "(pool->method->private_work ? pool->home : pool->work) + offset", "pool->work + offset"),
    ("a block that is freed keeps its references", "O0-exe-shadow", "runtime/gc/changes.c",
     "if (fate != NVMI_FATE_FREES && fate != NVMI_FATE_ALLOCATES)", "if (fate != NVMI_FATE_ALLOCATES)"),
    ("an unsafe pointer in one pool lets the other commit", "O0-exe-undo", "runtime/tx/tx.c",
     "    result = nvmi_pointers_check_all(thread, touched, all);", ";"),
    ("only the first pool commits", "O0-exe-shadow", "runtime/tx/tx.c",
     "  for (; touched; touched &= touched - 1) {", "  for (; touched; touched = 0) {"),
    ("what was released is judged by what lies there now", "O0-exe-shadow", "runtime/judge/pointers.c",
     "    bytes[__builtin_ctzll(left)] = copy->bytes[__builtin_ctzll(left)];", ";"),
]
# Descriptions which say that releasing and acquiring locks keeps what was noted before.
FORGETFUL = """\
pthread_mutex_unlock={nargs:1,keeps,wr_set:{}}
pthread_mutex_lock={nargs:1,keeps,wr_set:{}}
pthread_rwlock_unlock={nargs:1,keeps,wr_set:{}}
pthread_rwlock_wrlock={nargs:1,keeps,wr_set:{}}
pthread_spin_unlock={nargs:1,keeps,wr_set:{}}
pthread_spin_lock={nargs:1,keeps,wr_set:{}}
sem_post={nargs:1,keeps,wr_set:{}}
sem_wait={nargs:1,keeps,wr_set:{}}
mtx_unlock={nargs:1,keeps,wr_set:{}}
mtx_lock={nargs:1,keeps,wr_set:{}}
pthread_cond_timedwait={nargs:3,keeps,wr_set:{}}
"""


def mutated(folder, name, old, new):
    """The runtime with this change, as one object file; None where the text is not there."""
    place = os.path.join(folder, "sources")
    shutil.rmtree(place, ignore_errors=True)
    for part in ("runtime", "include"):
        shutil.copytree(os.path.join(ROOT, part), os.path.join(place, part))
    path = os.path.join(place, name)
    with open(path) as f:
        text = f.read()
    if old not in text:
        return None
    with open(path, "w") as f:
        f.write(text.replace(old, new, 1))
    sources = [os.path.join(where, file) for where, _, files in os.walk(os.path.join(place, "runtime"))
               for file in files if file.endswith(".c")]
    objects = [f"{i}.o" for i in range(len(sources))]
    commands = "\n".join(" ".join([*FLAGS, "-c", source, "-o", made])
                         for source, made in zip(sources, objects))
    subprocess.run(["xargs", "-P2", "-L1", "clang-19"], input=commands, text=True, cwd=place, check=True)
    subprocess.run(["ar", "rcs", "mutated.a", *objects], cwd=place, check=True)
    return os.path.join(place, "mutated.a")


def found_after(cc, options, cell, programs, jobs):
    """How many programs it took; None: it was not found."""
    for first in range(1000000, 1000000 + programs, STEP):
        with tempfile.TemporaryDirectory() as keep:
            if generated.check(cc, STEP, first, jobs, keep, 0, cell, options)[1]:
                return first + STEP - 1000000
    return None


def written(path, text):
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


def faults(cc, folder):
    """Each: name, cell, a function that gives the compiler to use and its options, or None."""
    def runtime(name, old, new):
        made = mutated(folder, name, old, new)
        return made and (cc, ["--nvmove-runtime=" + made])

    tried = [(name, cell, lambda change=change: runtime(*change)) for name, cell, *change in FAULTS]
    forgetful = os.path.join(folder, "forgetful.unsafe")
    tried.append(("what a release ends is not known", "O2-exe-shadow",
                  lambda: (cc, ["--nvmove-unsafe=" + written(forgetful, FORGETFUL)])))
    wrapper = f"#!/bin/sh\nexec {sys.executable} {HERE}/lazily.py {cc} \"$@\"\n"
    tried.append(("the runtime is bound lazily", "O2-lazy-undo",
                  lambda: (written(os.path.join(folder, "lazily"), wrapper), [])))
    return tried


def check(cc, programs=1000, jobs=2, only=""):
    """Gives (passed, failed)."""
    passed = failed = 0
    with tempfile.TemporaryDirectory(dir=generated.FOLDER) as folder:
        for name, cell, make in faults(cc, folder):
            if only not in name:
                continue
            made = make()
            took = made and found_after(*made, cell, programs, jobs)
            passed, failed = passed + bool(took), failed + (not took)
            said = f"found after at most {took} programs" if took else \
                f"NOT FOUND in {programs}" if made else "its line is not there"
            print(f"seeded: {name}: {said}", flush=True)
    return passed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True)
    p.add_argument("--only", default="")
    p.add_argument("--programs", type=int, default=1000)
    p.add_argument("--jobs", type=int, default=2)
    a = p.parse_args()
    passed, failed = check(os.path.abspath(a.cc), a.programs, a.jobs, a.only)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
