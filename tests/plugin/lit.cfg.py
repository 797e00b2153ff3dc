# lit configuration of the tests of the compiler plugin.
#
# Substitutions:
#   %cc        nvmove-cc; -S -emit-llvm shows what it made
#   %ir        the same, to IR without debug information: RUN: %ir -O1 %s | FileCheck %s
#   %run FILE  compiles FILE with the recording runtime (Inputs/recorder.h) at -O0, -O1, -O2, -O3 and
#              -O3 -march=native, runs each and prints what they print behind the level; it fails when
#              a program fails, and a program that ends with recorder_finish() fails when it wrote a
#              byte that no note announced. Options after FILE go to the compiler; --level=-O2 picks
#              one level.
#   %crash FILE compiles FILE with libnvmove, kills it at each append of its log and lets it check what
#              is left (Inputs/crash.py)
#   %crashes FILE compiles FILE, a program for %run, with a recorder that keeps its memory in a pool, and
#              kills it at each append of its log, with both methods: what is left must be the state of
#              one of its commits. At -O0, -O2 and -O3 -march=native, or as --level says; with the runtime
#              comparing its copies, and without. With --outside it stores outside transactions, with
#              --committed it commits by itself before it calls recorder_commit
#   %nvmove    the tool
#   %recorder  the object file of the recording runtime
#   %exit N    runs the rest of the line and succeeds when that ends with status N
# FileCheck, not and split-file are on PATH.
import os
import subprocess
import sys

import lit.formats

config.name = "plugin"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".cpp", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

build = os.path.abspath(lit_config.params["build"])
config.test_exec_root = os.path.join(build, "tests", "plugin")
os.makedirs(config.test_exec_root, exist_ok=True)
cc = os.path.join(build, "bin", "nvmove-cc")
inputs = os.path.join(config.test_source_root, "Inputs")
root = os.path.dirname(os.path.dirname(config.test_source_root))
recorder = os.path.join(config.test_exec_root, "recorder.o")

subprocess.run(["clang-19", "-O2", "-Wall", "-Wextra", "-I", os.path.join(root, "include"), "-c",
                os.path.join(inputs, "recorder.c"), "-o", recorder], check=True)

config.environment["PATH"] = os.pathsep.join(["/usr/lib/llvm-19/bin", os.environ["PATH"]])
config.environment["NVMOVE_DOMAIN"] = "process"  # pools lie on a disk, and no test here is about that
if "long" not in lit_config.params:
    config.environment["NVMOVE_TEST_FEW"] = "1"
with open("/proc/cpuinfo") as cpu:  # what the waits of an emulated memory go by
    config.available_features |= {"nonstop_tsc"} & set(cpu.read().split())
config.substitutions += [
    ("%run", f"{sys.executable} -S {inputs}/run.py {cc} {recorder} {inputs} %t"),
    ("%crashes", f"{sys.executable} -S {inputs}/crashes.py {cc} {inputs} %t"),
    ("%crash", f"{sys.executable} -S {inputs}/crash.py {cc} {inputs} %t"),
    ("%cxx", os.path.join(build, "bin", "nvmove-c++")),
    ("%cc", cc),
    ("%ir", f"{cc} -S -emit-llvm -o - -fno-discard-value-names -I {inputs}"),
    ("%plugin", os.path.join(build, "lib", "nvmove", "libnvmove_plugin.so")),
    ("%recorder", recorder),
    ("%nvmove", os.path.join(build, "bin", "nvmove")),
    ("%inputs", inputs),
    ("%exit", f"sh {root}/tests/exits.sh"),
    ("%python", sys.executable + " -S"),
    ("%source", root),
]
