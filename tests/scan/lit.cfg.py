# lit configuration of the scan tests.
#
# Substitutions:
#   %nvmove    the executable
#   %scan      nvmove scan without colours, on two threads; e.g.
#              RUN: %scan --load load %s -- -std=c99 | FileCheck %s
#   %exit N    runs the rest of the line and succeeds when that ends with status N, e.g.
#              RUN: %exit 2 %scan --load nothing %s -- 2>&1 | FileCheck %s
#   %inputs    the folder of shared input files and helper scripts
#   %private   runs the rest in a mount namespace of its own (REQUIRES: mount)
#   %python    the Python that runs lit
# Features: mount (may mount a tmpfs privately), pty (may open a pseudo-terminal)
# FileCheck, not, split-file and count are on PATH. Every test shares one facts cache that starts
# empty; a test that looks at the cache sets NVMOVE_CACHE_DIR=%t.cache itself.
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "scan"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

build = os.path.abspath(lit_config.params["build"])
config.test_exec_root = os.path.join(build, "tests", "scan")
nvmove = os.path.join(build, "bin", "nvmove")
inputs = os.path.join(config.test_source_root, "Inputs")

config.environment["PATH"] = os.pathsep.join(["/usr/lib/llvm-19/bin", os.environ["PATH"]])
cache = os.path.join(config.test_exec_root, "cache")
shutil.rmtree(cache, ignore_errors=True)
config.environment["NVMOVE_CACHE_DIR"] = cache
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
try:
    probe = subprocess.run(unshare + ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", "/mnt"],
                           capture_output=True, timeout=10)
    if probe.returncode == 0:
        config.available_features.add("mount")
except OSError:
    pass

try:
    for end in os.openpty():
        os.close(end)
    config.available_features.add("pty")
except OSError:
    pass

config.substitutions += [
    ("%scan", f"{nvmove} scan --color=never -j2"),
    ("%nvmove", nvmove),
    ("%exit", f"sh {os.path.dirname(config.test_source_root)}/exits.sh"),
    ("%inputs", inputs),
    ("%private", " ".join(unshare)),
    ("%python", sys.executable + " -S"),
]
