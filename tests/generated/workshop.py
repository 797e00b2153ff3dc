"""Builds batches of programs, each batch in one way (a cell of the matrix), and runs them.

A cell is an optimisation level, a form (executable code; a shared library that is bound lazily; one that is
loaded by dlopen; -flto) and the methods of its runs. Its name, "O2-lazy-shadow", is what a failure prints.
"""
import os
import random
import re
import shutil
import subprocess

import script

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LEVELS = ("O0", "O1", "O2", "O2", "O3")
FORMS = ("exe", "exe", "lazy", "dlopen", "lto", "exe", "lazy", "dlopen", "lto", "static", "asan")
# Of an executable, by its form. What a killed process has not freed is no leak.
EXECUTABLE = {"exe": [], "lto": ["-flto"], "static": ["-static"],
              "asan": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]}
METHODS = ("undo", "shadow", "shadow", "both", "lat", "latb")
SECONDS_MAX = 600
LIBRARY = ["-fPIC", "-shared", "-Wl,-z,lazy"]


def cell_of(batch):
    dice = random.Random(batch * 7919 + 1)
    return "-".join((dice.choice(LEVELS), dice.choice(FORMS), dice.choice(METHODS)))


class Failure:
    """A program that failed: its place in the batch, the run, what was wrong."""

    def __init__(self, number, run, said):
        self.number, self.run, self.said = number, run, said

    def way(self):
        """The same for failures that are likely to have one cause."""
        for sign in ("nobody noted", "after opening", "pool check", "ended by signal 14", "ended by signal",
                     "operation"):
            if sign in self.said:
                return sign
        return re.sub(r"[^a-z ]", "", self.said)[:20]


class Workshop:
    """A folder with the harness compiled."""

    def __init__(self, cc, folder, options=()):
        self.cc, self.folder, self.options = cc, folder, options
        os.makedirs(folder, exist_ok=True)
        for name in ("harness", "image", "library"):
            self.command("clang-19", "-O1", "-w", "-I" + os.path.join(ROOT, "include"), "-fPIC", "-c",
                         os.path.join(HERE, name + ".c"), "-o", name + ".o")
        self.objects = ["harness.o", "image.o", "library.o"]

    def environment(self):
        """Not the caller's settings."""
        outside = {k: v for k, v in os.environ.items() if not k.startswith("NVMOVE_")}
        return {**outside, "ASAN_OPTIONS": "detect_leaks=0"}

    def command(self, *parts):
        made = subprocess.run(parts, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=SECONDS_MAX)
        if made.returncode:
            raise RuntimeError(f"{' '.join(parts)}\n{made.stdout}")

    def build(self, cell, name):
        """Gives the command that runs the batch."""
        for parts in commands(self.cc, cell, name, HERE, self.objects, self.options):
            self.command(*parts)
        return ["./" + name] + [name + ".txt", ".", "./" + name + ".so"][:3 if "dlopen" in cell else 2]

    def run(self, cell, layout, programs, run_lists, name="batch"):
        """Gives (runs, failures)."""
        with open(os.path.join(self.folder, name + ".c"), "w") as f:
            f.write(script.source(layout, programs))
        with open(os.path.join(self.folder, name + ".txt"), "w") as f:
            f.write(script.script(programs, run_lists))
        command = self.build(cell, name)
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=SECONDS_MAX * 2, env=self.environment())
        sums = re.search(r"^(\d+) runs, (\d+) failed$", done.stdout, re.M)
        if not sums:
            raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-2000:]}")
        found = re.findall(r"^FAIL (\d+): (R .*?): (.*)$", done.stdout, re.M)
        failures = [Failure(int(number), run, said) for number, run, said in found]
        if int(sums.group(2)) != len(failures):
            raise RuntimeError(done.stdout[-2000:])
        return int(sums.group(1)), failures

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def commands(cc, cell, name, here, objects, more=(), library=(), harness=()):
    """How a batch is built; `more`: further options; `library`, `harness`: those of either half."""
    level, form, method = cell.split("-")
    redirected = ["--nvmove-redirect"] if method.startswith("lat") else []
    options = ["-" + level, "-w", "-I" + here, "-pthread", *redirected, *more,
               "--nvmove-unsafe=" + os.path.join(here, "library.unsafe")]
    if form in EXECUTABLE:
        return [[cc, *options, *EXECUTABLE[form], name + ".c", *objects, "-o", name]]
    linked = ["-Wl,--no-as-needed", f"./{name}.so", "-Wl,-z,lazy"] if form == "lazy" else []
    return [[cc, *options, *LIBRARY, *library, name + ".c", "-o", name + ".so"],
            [cc, *options, *harness, *objects, *linked, "-rdynamic", "-ldl", "-o", name]]
