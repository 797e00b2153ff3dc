#!/usr/bin/env python3
"""A seeded bug in a program that makes its data persistent by itself, and its twin, under `nvmove crash`.

usage: raw.py --bin DIR --pool PATH [--few] FILE [OPTION OF nvmove-cc ...]

As seeded.py. The program checks its own file: with the file and what was printed as arguments (raw.h).
"""
import os
import shlex
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import seeded  # noqa: E402


class RawProgram(seeded.Program):
    FEW = ("--epoch-states=12", "--samples=4")  # each is judged by a process

    def explore(self, bug, method):
        program = os.path.join(self.folder, "bug" if bug else "right")
        seeded.must([os.path.join(self.a.bin, "nvmove-cc"), "-g", "-O1", "--nvmove-trace=raw", "-pthread",
                     "-I", seeded.HERE, *(["-DBUG"] if bug else []), self.a.file, "-o", program,
                     *self.a.flags])
        self.options = ["--check", f"{shlex.quote(program)} {{}} {{acked}}"]
        return self.run(program, method)


if __name__ == "__main__":
    sys.exit(seeded.main(RawProgram, ("",), __doc__))
