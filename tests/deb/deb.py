#!/usr/bin/env python3
"""The Debian packages: scripts/deb builds them, and lintian has no error and no warning; each installed file
is in one package; what is unpacked from them compiles a program, runs it, and judges it.

Exit status: 0 all passed, 1 not.
"""
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAMES = ("nvmove", "libnvmove-dev", "nvmove-doc")
WANTED = ("usr/bin/nvmove", "usr/bin/nvmove-cc", "usr/bin/nvmove-c++", "usr/include/nvmove/nvmove.h",
          "usr/share/man/man1/nvmove-crash.1.gz", "usr/share/bash-completion/completions/nvmove",
          "usr/share/doc/nvmove/docs/guide/quickstart.md.gz",
          "usr/share/doc/nvmove/examples/till/till.c")


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        print(f"deb: {' '.join(command)}: status {done.returncode}\n{done.stdout}")
    return done.returncode == 0, done.stdout


def unpacked(folder):
    """Unpacks all; false: one is missing, or two have the same file."""
    known = {}
    for name in NAMES:
        found = glob.glob(os.path.join(ROOT, "build", "deb", f"{name}_*.deb"))
        if len(found) != 1 or not run(["dpkg-deb", "-x", found[0], folder])[0]:
            print(f"deb: {name}: {len(found)} packages")
            return False
        for line in run(["dpkg-deb", "-c", found[0]])[1].splitlines():
            path = line.split()[5]
            if not path.endswith("/") and known.setdefault(path, name) != name:
                print(f"deb: {path} is in {known[path]} and in {name}")
                return False
    return True


def works(folder):
    """A program is compiled, run and judged by what was unpacked alone."""
    work = os.path.join(folder, "work")
    source = os.path.join(folder, "usr", "share", "doc", "nvmove", "examples", "till")
    os.mkdir(work)
    environment = dict(os.environ, PATH=os.path.join(folder, "usr", "bin") + os.pathsep + os.environ["PATH"],
                       NVMOVE_METHOD="undo")
    built, _ = run(["nvmove-cc", "-g", "--nvmove-trace", os.path.join(source, "till.c"), "-o", "till"],
                   cwd=work, env=environment)
    judged, said = run(["sh", "-c", "echo 250 > sales; nvmove crash -- ./till till.pool < sales"], cwd=work,
                       env=environment)
    return built and judged and "total 250" in said and "no finding" in said


def is_described(folder):
    """pkg-config's description names what was unpacked."""
    [described] = glob.glob(os.path.join(folder, "usr", "lib", "*", "pkgconfig"))
    environment = dict(os.environ, PKG_CONFIG_PATH=described)
    found = [run(["pkg-config", f"--variable={name}", "nvmove"], env=environment)[1].strip()
             for name in ("includedir", "libdir", "compiler")]
    wanted = ("nvmove/nvmove.h", "libnvmove.a", "")
    missing = [name for name, path in zip(found, wanted)
               if not os.path.exists(os.path.join(name, path).rstrip("/"))]
    print("".join(f"deb: pkg-config names {name}, which is not there\n" for name in missing), end="")
    return not missing


def check():
    made, _ = run([os.path.join(ROOT, "scripts", "deb")])
    if not made:
        return 0, 1
    with tempfile.TemporaryDirectory() as folder:
        if not unpacked(folder):
            return 1, 1
        missing = [path for path in WANTED if not os.path.exists(os.path.join(folder, path))]
        for path in missing:
            print(f"deb: {path} is in no package")
        results = [True, True, not missing, works(folder), is_described(folder)]
    return sum(results), len(results) - sum(results)


if __name__ == "__main__":
    passed, failed = check()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)
