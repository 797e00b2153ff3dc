# lit configuration of the tests of nvmove-cc.
#
# Substitutions:
#   %cc, %cxx  the driver; it links libnvmove.a of the build tree
#   %recorder  the recording runtime of tests/plugin, for --nvmove-runtime
#   %plain     the clang that the driver runs
#   %exit N    runs the rest of the line and succeeds when that ends with status N
#   %source    the root of the source tree, %build that of the build
# Features: cmake, libtool (the tool is installed)
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "driver"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

build = os.path.abspath(lit_config.params["build"])
config.test_exec_root = os.path.join(build, "tests", "driver")
os.makedirs(config.test_exec_root, exist_ok=True)
root = os.path.dirname(os.path.dirname(config.test_source_root))
recorder = os.path.join(config.test_exec_root, "recorder.o")
subprocess.run(["clang-19", "-O2", "-I", os.path.join(root, "include"), "-c",
                os.path.join(root, "tests", "plugin", "Inputs", "recorder.c"), "-o", recorder], check=True)

config.environment["PATH"] = os.pathsep.join(["/usr/lib/llvm-19/bin", os.environ["PATH"]])
config.environment["NVMOVE_DOMAIN"] = "process"  # pools lie on a disk, and no test here is about that
for tool in ("cmake", "libtool"):
    if shutil.which(tool):
        config.available_features.add(tool)
config.substitutions += [
    ("%cxx", os.path.join(build, "bin", "nvmove-c++")),
    ("%cc", os.path.join(build, "bin", "nvmove-cc")),
    ("%plain", "/usr/lib/llvm-19/bin/clang"),
    ("%recorder", recorder),
    ("%exit", f"sh {root}/tests/exits.sh"),
    ("%source", root),
    ("%build", build),
    ("%nvmove", os.path.join(build, "bin", "nvmove")),
    ("%python", sys.executable + " -S"),
]
