#!/usr/bin/env python3
"""nvmove-cc with a fault: the runtime's functions are bound lazily in shared libraries, as others are.

usage: lazily.py NVMOVE_CC ARGUMENT...

The dynamic linker's resolver keeps no registers that only preserve_most keeps, so the first call of each
function destroys what the caller has there. The attribute that prevents it (plugin/emit/Abi.cpp) is taken
out of the compiled program before its code is made.
"""
import subprocess
import sys


def main():
    cc, *arguments = sys.argv[1:]
    if "-shared" not in arguments:
        return subprocess.run([cc, *arguments], check=False).returncode
    source = next(a for a in arguments if a.endswith(".c"))
    level = next(a for a in arguments if a.startswith("-O"))
    made = source[:-2]
    compiling = [a for a in arguments if a != "-shared" and not a.startswith("-Wl,")]
    at = compiling.index("-o")
    del compiling[at:at + 2]
    subprocess.run([cc, *compiling, "-S", "-emit-llvm", "-o", made + ".ll"], check=True)
    with open(made + ".ll", encoding="utf-8", errors="surrogateescape") as f:
        text = f.read()
    with open(made + ".ll", "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text.replace(" nonlazybind", ""))
    subprocess.run(["clang-19", level, "-fPIC", "-w", "-c", made + ".ll", "-o", made + ".o"], check=True)
    linking = [made + ".o" if a == source else a for a in arguments]
    return subprocess.run([cc, *linking], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
