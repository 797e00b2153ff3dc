#!/usr/bin/env python3
"""Fetch the programs of the accuracy corpus and make their compile databases.

usage: fetch.py [--dir DIR] [--install] [--check] NAME... | --all | --list

For each program, programs/NAME/program.json says what to fetch, with which checksums, and how to
run its configure step and its make. The tree goes to third_party/NAME-VERSION (ignored by git) and
gets a compile_commands.json. Nothing is compiled: make runs with record-cc as its compiler.
A second call does nothing. Archives stay in third_party/archives.

Exit status: 0 done, 1 the build step failed or --check found errors, 2 usage, 3 a fetch is
impossible here (no such version, checksum differs, a tool or package is missing).

Sources come from the registries this machine already uses: Debian source packages through a
private copy of its apt configuration with the source lists enabled (/etc/apt is not touched), and
PyPI source distributions through pip, checked by hash before pip looks inside.
"""
import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = os.path.join(HERE, "programs")
RECORDER = os.path.join(HERE, "record-cc")
LISTS_AGE_MAX_SECONDS = 24 * 3600
CHECK_ERRORS_SHOWN = 5
STAMP = ".corpus"


class CannotFetch(Exception):
    """Nothing wrong with the corpus: this machine cannot get the source."""


class BuildFailed(Exception):
    """The tree is there, but its compile database could not be made."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(command, **kw):
    return subprocess.run(command, stdin=subprocess.DEVNULL, **kw)


def need(tool, package):
    if not shutil.which(tool):
        raise CannotFetch(f"{tool} is not installed (Debian package {package})")


def names():
    return sorted(n for n in os.listdir(PROGRAMS)
                  if os.path.exists(os.path.join(PROGRAMS, n, "program.json")))


def load(name):
    path = os.path.join(PROGRAMS, name, "program.json")
    with open(path) as f:
        text = f.read()
    program = json.loads(text)
    program["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return program


def sha256(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


def verified(folder, archives):
    """True when every archive is there and right; a wrong one is an error, an absent one is not."""
    for name, digest in archives.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return False
        if sha256(path) != digest:
            os.rename(path, path + ".bad")
            raise CannotFetch(f"checksum of {name} differs from program.json (kept as {name}.bad)")
    return True


# Debian source packages

def codename():
    with open("/etc/os-release") as f:
        found = re.search(r"^VERSION_CODENAME=(\w+)", f.read(), re.M)
    return found.group(1) if found else ""


def source_lists():
    """The machine's own apt sources for this release, as deb-src; other vendors' lists are left out."""
    etc, release = "/etc/apt", codename()
    wanted = re.compile(rf"^{re.escape(release)}(-\w+)?$")
    files = [os.path.join(etc, "sources.list")]
    parts = os.path.join(etc, "sources.list.d")
    files += sorted(os.path.join(parts, n) for n in os.listdir(parts)) if os.path.isdir(parts) else []
    lines, stanzas = [], []
    for path in files:
        if not os.path.exists(path):
            continue
        with open(path) as f:
            text = f.read()
        if path.endswith(".sources"):
            for stanza in re.split(r"\n\s*\n", text):
                suites = re.search(r"^Suites:(.*)$", stanza, re.M)
                if suites and any(wanted.match(s) for s in suites.group(1).split()):
                    stanzas.append(re.sub(r"^Types:.*$", "Types: deb-src", stanza, flags=re.M))
        elif path.endswith(".list"):
            for line in text.splitlines():
                m = re.match(r"\s*deb(?:-src)?\s+(\[[^]]*\]\s*)?(\S+)\s+(\S+)\s+(.*)$", line)
                if m and wanted.match(m.group(3)):
                    lines.append(f"deb-src {m.group(1) or ''}{m.group(2)} {m.group(3)} {m.group(4)}")
    return sorted(set(lines)), stanzas


def private_apt(state):
    """Environment of an apt that has its own lists, cache and sources below `state`."""
    parts = os.path.join(state, "sources.list.d")
    for d in ("lists/partial", "cache/archives/partial", "sources.list.d"):
        os.makedirs(os.path.join(state, d), exist_ok=True)
    lines, stanzas = source_lists()
    if not lines and not stanzas:
        raise CannotFetch("no apt source for this Debian release is configured on this machine")
    with open(os.path.join(parts, "corpus.list"), "w") as f:
        f.write("\n".join(lines) + "\n")
    with open(os.path.join(parts, "corpus.sources"), "w") as f:
        f.write("\n\n".join(s.strip() for s in stanzas) + "\n")
    conf = os.path.join(state, "apt.conf")
    with open(conf, "w") as f:
        f.write(f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{parts}";\n'
                f'Dir::State::lists "{state}/lists";\nDir::Cache "{state}/cache";\n'
                'Acquire::Languages "none";\nAPT::Sandbox::User "root";\n')
    return dict(os.environ, APT_CONFIG=conf)


def fetch_debian(program, third_party, archives):
    need("apt-get", "apt")
    need("dpkg-source", "dpkg-dev")
    state = os.path.join(third_party, "apt")
    env = private_apt(state)
    stamp = os.path.join(state, "updated")
    if not os.path.exists(stamp) or time.time() - os.path.getmtime(stamp) > LISTS_AGE_MAX_SECONDS:
        r = run(["apt-get", "-qq", "update"], env=env, capture_output=True, text=True)
        if r.returncode:
            raise CannotFetch("apt-get update: " + r.stderr.strip())
        open(stamp, "w").close()
    source = program["source"]
    command = ["apt-get", "-q", "source", "--download-only", f"{source['debian']}={source['version']}"]
    r = run(command, env=env, cwd=archives, capture_output=True, text=True)
    # Some mirrors lack the Debian part of a package: what program.json lists is what counts.
    if not verified(archives, program["archives"]):
        errors = [l for l in r.stderr.splitlines() if l.startswith("E:")]
        raise CannotFetch(f"source package {source['debian']} {source['version']}: " +
                          ("; ".join(errors) or "not all files arrived"))


def fetch_pypi(program, third_party, archives):
    source = program["source"]
    wanted = os.path.join(archives, f"{program['name']}-requirements.txt")
    hashes = " ".join(f"--hash=sha256:{h}" for h in program["archives"].values())
    with open(wanted, "w") as f:
        f.write(f"{source['pypi']}=={source['version']} {hashes}\n")
    pips = [[sys.executable, "-m", "pip"], ["pip3"], ["pip"]]
    pip = next((p for p in pips if (len(p) > 1 or shutil.which(p[0])) and
                run([*p, "--version"], capture_output=True).returncode == 0), None)
    if not pip:
        raise CannotFetch("pip is not installed (Debian package python3-pip)")
    r = run([*pip, "download", "--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", wanted,
             "-d", archives], capture_output=True, text=True)
    if not verified(archives, program["archives"]):
        raise CannotFetch(f"pip download {source['pypi']}: " + r.stderr.strip()[-800:])


def unpack(program, archives, tree):
    """Unpack beside the final place, then rename, so a tree is whole or absent."""
    work = tree + ".unpacking"
    shutil.rmtree(work, ignore_errors=True)
    dsc = next((n for n in program["archives"] if n.endswith(".dsc")), None)
    if dsc:
        r = run(["dpkg-source", "--no-check", "-x", os.path.join(archives, dsc), work],
                capture_output=True, text=True)
        if r.returncode:
            raise CannotFetch("dpkg-source: " + (r.stderr or r.stdout).strip()[-800:])
    else:
        os.makedirs(work)
        with tarfile.open(os.path.join(archives, next(iter(program["archives"])))) as t:
            t.extractall(work, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
    top = work
    if not dsc and len(os.listdir(work)) == 1:
        top = os.path.join(work, os.listdir(work)[0])
    top = os.path.join(top, program["source"].get("subdirectory", "."))
    open(os.path.join(top, STAMP), "w").close()  # Ours from the start, done when it has the digest.
    os.rename(os.path.normpath(top), tree)
    shutil.rmtree(work, ignore_errors=True)


def packages(program, install):
    wanted = program.get("packages", [])
    if not wanted:
        return
    need("dpkg-query", "dpkg")
    r = run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *wanted],
            capture_output=True, text=True)
    have = {l.split()[0] for l in r.stdout.splitlines() if l.endswith(" installed")}
    missing = [p for p in wanted if p not in have]
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if not install:
        raise CannotFetch(f"{program['name']} needs packages: " + " ".join(command))
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    say("installing " + " ".join(missing))
    r = run([*command, "-o", "DPkg::Lock::Timeout=600"], env=env, capture_output=True, text=True)
    if r.returncode:
        raise CannotFetch("apt-get install: " + r.stderr.strip()[-800:])


def steps(program, tree, log, env):
    with open(os.path.join(tree, "corpus-build.log"), "w") as out:
        for kind in ("configure", "make"):
            for step in program.get(kind, []):
                command = [a.replace("{cc}", RECORDER).replace("{tree}", tree) for a in step["run"]]
                folder = os.path.join(tree, step.get("in", "."))
                os.makedirs(folder, exist_ok=True)
                out.write("+ " + " ".join(command) + "\n")
                out.flush()
                r = run(command, cwd=folder, env=dict(env, RECORD_CC_LOG=log), stdout=out,
                        stderr=subprocess.STDOUT)
                if r.returncode and not step.get("may_fail"):
                    raise BuildFailed(f"{' '.join(command)} failed, see {out.name}")


def commands(program, tree, log):
    """What the build wrote down: its own database (CMake, meson), or the lines of record-cc."""
    own = program.get("database")
    if own:
        with open(os.path.join(tree, own)) as f:
            for e in json.load(f):
                if e["file"].endswith(".c"):
                    file = os.path.normpath(os.path.join(e["directory"], e["file"]))
                    yield {"directory": e["directory"], "file": file,
                           "arguments": e.get("arguments") or shlex.split(e["command"])}
    elif os.path.exists(log):
        with open(log) as f:
            yield from map(json.loads, f)


def database(program, tree):
    log = os.path.join(tree, "corpus-compile.jsonl")
    if os.path.exists(log):
        os.unlink(log)
    env = dict(os.environ, LC_ALL="C", RECORD_CC_REAL=program.get("real", ""))
    for v in ("MAKEFLAGS", "CFLAGS", "CPPFLAGS", "LDFLAGS", "CC"):
        env.pop(v, None)
    steps(program, tree, log, env)
    entries, seen = [], set()
    skip = re.compile(program["skip"]) if program.get("skip") else None
    for e in commands(program, tree, log):
        # libtool compiles everything twice; the same file with other macros is another unit.
        macros = tuple(a for a in e["arguments"] if a.startswith("-D") and a != "-DPIC")
        key = (e["directory"], e["file"], macros)
        inside = os.path.relpath(e["file"], tree)
        if key in seen or not os.path.exists(e["file"]) or (skip and skip.search(inside)):
            continue
        seen.add(key)
        entries.append(e)
    have = {os.path.relpath(e["file"], tree) for e in entries}
    absent = [f for f in program["expect"] if f not in have]
    if absent:
        raise BuildFailed("not in the compile database: " + ", ".join(absent) +
                          f" (see {tree}/corpus-build.log)")
    path = os.path.join(tree, "compile_commands.json")
    with open(path + ".new", "w") as f:
        json.dump(entries, f, indent=1)
    os.replace(path + ".new", path)
    return len(entries)


def without_dependencies(arguments):
    """Options that write make rules go, those of them that take a word with it; so does -Werror."""
    rest = iter(arguments)
    for a in rest:
        if a in ("-MF", "-MT", "-MQ"):
            next(rest, None)
        elif not a.startswith(("-M", "-Wp,-M", "-Werror")):
            yield a


def check(tree, clang):
    need(clang, clang)
    with open(os.path.join(tree, "compile_commands.json")) as f:
        entries = json.load(f)
    bad = 0
    for e in entries:
        args = without_dependencies(e["arguments"][1:])
        r = run([clang, "-w", "-fsyntax-only", *args], cwd=e["directory"], capture_output=True, text=True)
        if r.returncode:
            bad += 1
            if bad <= CHECK_ERRORS_SHOWN:
                first = next((l for l in r.stderr.splitlines() if "error:" in l), r.stderr[:200])
                say(f"  {os.path.relpath(e['file'], tree)}: {first}")
    say(f"  {clang}: {len(entries)} files, {bad} with errors")
    return bad


def corpus(program, a):
    tree = os.path.join(a.dir, f"{program['name']}-{program['version']}")
    stamp = os.path.join(tree, STAMP)
    if os.path.exists(stamp) and open(stamp).read() == program["digest"]:
        say(f"{program['name']}: already there, {tree}")
    else:
        begun = time.time()
        packages(program, a.install)
        archives = os.path.join(a.dir, "archives")
        os.makedirs(archives, exist_ok=True)
        if not verified(archives, program["archives"]):
            fetch = fetch_debian if "debian" in program["source"] else fetch_pypi
            fetch(program, a.dir, archives)
        fetched = time.time()
        if os.path.lexists(tree) and not os.path.exists(stamp):
            raise CannotFetch(f"{tree} was not made by this script; move it away")
        shutil.rmtree(tree, ignore_errors=True)
        unpack(program, archives, tree)
        count = database(program, tree)
        with open(stamp, "w") as f:
            f.write(program["digest"])
        say(f"{program['name']}: {count} compile commands, fetched in {fetched - begun:.0f} s, "
            f"database in {time.time() - fetched:.0f} s, {tree}")
    return bool(a.check and check(tree, a.clang))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("name", nargs="*")
    p.add_argument("--all", action="store_true", help="every program")
    p.add_argument("--list", action="store_true", help="print the names and load functions")
    p.add_argument("--dir", default=os.path.join(ROOT, "third_party"), help="where trees go")
    p.add_argument("--install", action="store_true", help="install missing Debian packages (root)")
    p.add_argument("--check", action="store_true", help="parse every entry with clang")
    p.add_argument("--clang", default="clang-19")
    a = p.parse_args()
    a.dir = os.path.realpath(a.dir)  # As compilers and CMake write paths when they follow links.
    if a.list:
        for n in names():
            print(n, load(n)["version"], ",".join(load(n)["load"]))
        return 0
    unknown = [n for n in a.name if n not in names()]
    if unknown or not (a.name or a.all):
        p.error(("no such program: " + ", ".join(unknown) + "; " if unknown else "") +
                "programs are: " + " ".join(names()))
    status = 0
    for n in names() if a.all else a.name:
        try:
            status = max(status, 1 if corpus(load(n), a) else 0)
        except CannotFetch as e:
            say(f"{n}: cannot fetch: {e}")
            status = 3
        except BuildFailed as e:
            say(f"{n}: {e}")
            status = max(status, 1)
    return status


if __name__ == "__main__":
    sys.exit(main())
