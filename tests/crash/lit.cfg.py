# lit configuration of the tests of `nvmove crash`.
#
# Substitutions:
#   %cc        nvmove-cc -g --nvmove-trace
#   %untraced  nvmove-cc
#   %plain     clang, for code that nobody instruments
#   %crash     nvmove crash -q --seconds=0 --method=auto (each method, by default: methods.test); but in
#              long runs few states of an epoch, where the test does not say how many
#   %seeded FILE [-- OPTIONS]  a program with a seeded bug, and without it (Inputs/seeded.py)
#   %raw FILE [-- OPTIONS]  the same of a program that flushes by itself (Inputs/raw.py)
#   %pool      a path for a pool of this test, on a file system in DRAM
#   %sizes{FEW|MANY}  options of %crash: how many states; MANY in long runs (lit's parameter long)
#   %exit N    runs the rest of the line and succeeds when that ends with status N
# FileCheck, not and split-file are on PATH.
import atexit
import os
import shutil
import sys
import tempfile

import lit.formats

config.name = "crash"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

build = os.path.abspath(lit_config.params["build"])
config.test_exec_root = os.path.join(build, "tests", "crash")
root = os.path.dirname(os.path.dirname(config.test_source_root))
pools = tempfile.mkdtemp(prefix="nvmove-crash-tests.", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)

atexit.register(shutil.rmtree, pools, ignore_errors=True)

with open("/proc/cpuinfo") as cpu:
    config.available_features |= {"clwb", "clflushopt"} & set(cpu.read().split())

config.environment["TMPDIR"] = pools  # traces of findings stay there
# A finding of threads that met once is worth all that was said.
config.environment["FILECHECK_OPTS"] = "-dump-input-context=200"
config.environment["PATH"] = os.pathsep.join(["/usr/lib/llvm-19/bin", os.environ["PATH"]])
is_long = "long" in lit_config.params
if not is_long:
    config.excludes.append("recycled-long.test")
config.substitutions += [
    (r"%sizes\{([^|}]*)\|([^}]*)\}", r"\2" if is_long else r"\1"),
    ("%cc", os.path.join(build, "bin", "nvmove-cc") + " -g --nvmove-trace"),
    ("%untraced", os.path.join(build, "bin", "nvmove-cc")),
    ("%plain", "/usr/lib/llvm-19/bin/clang -g"),
    ("%crash", os.path.join(build, "bin", "nvmove") + " crash -q --seconds=0 --method=auto" +
     ("" if is_long else " --epoch-states 64 --samples 8")),
    ("%nvmove", os.path.join(build, "bin", "nvmove")),
    ("%seeded", f"{sys.executable} -S {config.test_source_root}/Inputs/seeded.py --bin {build}/bin "
     f"--pool {pools}/%basename_t.pool"),
    ("%raw", f"{sys.executable} -S {config.test_source_root}/Inputs/raw.py --bin {build}/bin "
     f"--pool {pools}/%basename_t.file" + ("" if is_long else " --few")),
    ("%pool", os.path.join(pools, "%basename_t.pool")),
    ("%exit", f"sh {root}/tests/exits.sh"),
    ("%python", sys.executable + " -S"),
    ("%include", os.path.join(root, "include")),
    ("%archives", os.path.join(build, "lib", "nvmove")),
]
