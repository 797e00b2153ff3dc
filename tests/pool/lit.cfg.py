# lit configuration of the tests of `nvmove pool`.
#
# Substitutions:
#   %cc        nvmove-cc -g
#   %nvmove    the tool
#   %bin       the folder of the tools
#   %cases     how many random cases
#   %every     of so many programs that change, one
#   %pool      a path for a pool of this test, on a file system in DRAM
#   %exit N    runs the rest of the line and succeeds when that ends with status N
# FileCheck, not and split-file are on PATH.
import atexit
import os
import shutil
import sys
import tempfile

import lit.formats

config.name = "pool"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".test"]
config.excludes = ["Inputs", "changed"]
config.test_source_root = os.path.dirname(__file__)

build = os.path.abspath(lit_config.params["build"])
config.test_exec_root = os.path.join(build, "tests", "pool")
root = os.path.dirname(os.path.dirname(config.test_source_root))
pools = tempfile.mkdtemp(prefix="nvmove-pool-tests.", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)

atexit.register(shutil.rmtree, pools, ignore_errors=True)

config.environment["PATH"] = os.pathsep.join(["/usr/lib/llvm-19/bin", os.environ["PATH"]])
config.substitutions += [
    ("%cc", os.path.join(build, "bin", "nvmove-cc") + " -g"),
    ("%nvmove-cc", os.path.join(build, "bin", "nvmove-cc")),
    ("%nvmove-cxx", os.path.join(build, "bin", "nvmove-c++")),
    ("%nvmove", os.path.join(build, "bin", "nvmove")),
    ("%pool", os.path.join(pools, "%basename_t.pool")),
    ("%exit", f"sh {root}/tests/exits.sh"),
    ("%cases", "2000" if "long" in lit_config.params else "24"),
    ("%every", "1" if "long" in lit_config.params else "3"),
    ("%bin", os.path.join(build, "bin")),
    ("%python", sys.executable + " -S"),
]
