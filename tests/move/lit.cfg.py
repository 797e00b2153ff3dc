# lit configuration of the tests of nvmove move.
#
# Substitutions:
#   %nvmove    the executable
#   %python    this Python
#   %kills{FEW|MANY}  a number of kills: MANY in long runs (lit's parameter long)
#   %exit N    runs the rest of the line and succeeds when that ends with status N
# FileCheck, not and split-file are on PATH. Every test shares one facts cache that starts empty.
import os
import shutil
import sys

import lit.formats

config.name = "move"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

build = os.path.abspath(lit_config.params["build"])
config.test_exec_root = os.path.join(build, "tests", "move")
root = os.path.dirname(os.path.dirname(config.test_source_root))
nvmove = os.path.join(build, "bin", "nvmove")

config.environment["PATH"] = os.pathsep.join(["/usr/lib/llvm-19/bin", os.environ["PATH"]])
config.environment["NVMOVE_DOMAIN"] = "process"  # pools lie on a disk, and no test here is about that
cache = os.path.join(config.test_exec_root, "cache")
shutil.rmtree(cache, ignore_errors=True)
config.environment["NVMOVE_CACHE_DIR"] = cache
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

is_long = "long" in lit_config.params
config.substitutions += [
    (r"%kills\{([^|}]*)\|([^}]*)\}", r"\2" if is_long else r"\1"),
    ("%nvmove", nvmove),
    ("%python", sys.executable + " -S"),
    ("%exit", f"sh {root}/tests/exits.sh"),
]
