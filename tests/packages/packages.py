#!/usr/bin/env python3
"""Debian source packages build unchanged with CC=nvmove-cc, and pass the tests that they pass with clang.

usage: packages.py --cc NVMOVE_CC [--list] [NAME...]

Each source is what Debian's archive has of this release, fetched into third_party/ (which git ignores;
apt checks it) and unpacked twice: for clang-19, and for nvmove-cc in the same way, with no option of its
own. -Werror stays where the package has it, and so does meson's b_lundef. Its tests run in both trees:
their status, and the lines in which they sum up (PASS, FAIL, "ok 1", "12 passed"), must be the same; a
test may fail if it fails with clang, too. Printed for each and over all, as ratios to clang's: user time of
the build; the size of text of what it links (code, constants, unwind tables), without libnvmove,
which each program has once however large it is, and with it.

A package that cannot be fetched or whose build fails with clang is skipped, and said so.
Exit status: 0 all are the same, 1 not.
"""
import argparse
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
THIRD_PARTY = os.path.join(ROOT, "third_party", "packages")
SECONDS_MAX = 3600
SUM = re.compile(r"^\s*((# )?(TOTAL|PASS|FAIL|XFAIL|SKIP|ERROR|XPASS)\b.*|(not )?ok \d+.*|"
                 r"\d+ (tests? )?(passed|failed).*|Ok: +\d+|Fail: +\d+|Result: \w+|"
                 r"\d+: .* (ok|(skipped|FAILED|expected failure|unexpected pass)\b.*)|"
                 r".*\d+% tests passed.*)$", re.I)
TIMES = re.compile(r"\d+\.\d+ ?(s|sec|ms|usr|sys|wallclock)?")

sys.path.insert(0, os.path.join(ROOT, "tests", "accuracy"))
import fetch  # noqa: E402

TEXT = re.compile(r"\.(text|rodata|eh_frame|gcc_except_table)")

JOBS = f"-j{os.cpu_count()}"
CONFIGURE = ("test -x configure || autoreconf -fi; ./configure CC='{cc}' CXX='{cxx}' CFLAGS='-O2 -g' "
             "MAKEINFO=true")


def autotools(*options, then="", test="make check", folder="."):
    commands = {"configure": " ".join([CONFIGURE, *options]) + then, "build": f"make {JOBS}", "test": test}
    return {kind: [f"cd {folder}; {command}"] for kind, command in commands.items()}


def cmake(*options, test="ctest --test-dir out --output-on-failure"):
    configure = "cmake -S . -B out -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER='{cc}'"
    return {"configure": [" ".join([configure, *options])], "build": [f"cmake --build out {JOBS}"],
            "test": [test]}


NGINX_TEST = r"""
mkdir -p run/logs run/html && echo "served by nginx" > run/html/index.html && cp conf/mime.types run/ &&
printf 'daemon on; master_process on; worker_processes 2; error_log logs/error.log; pid logs/pid;
events {} http { include mime.types; access_log logs/access.log; client_body_temp_path t1; proxy_temp_path t2;
fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5; server { listen unix:%s/run/socket; root html;
location /again { proxy_pass http://unix:%s/run/socket:/; } } }' "$PWD" "$PWD" > run/nginx.conf &&
objs/nginx -p "$PWD/run" -c "$PWD/run/nginx.conf" && sleep 1 &&
for path in / /again /missing; do for n in 1 2 3 4 5; do
  curl -s --unix-socket run/socket "http://localhost$path" | head -1 | sed "s/^/PASS /"; done; done
objs/nginx -p "$PWD/run" -c "$PWD/run/nginx.conf" -s quit; grep -c 'GET' run/logs/access.log
"""
REDIS_UNITS = ("dump expire scan sort multi quit scripting type/string type/incr type/list-3 type/set "
               "type/zset type/hash type/stream")
REDIS_TEST = ("./runtest --clients 1 " + " ".join(f"--single unit/{u}" for u in REDIS_UNITS.split()) +
              r" 2>&1 | sed 's/\x1b\[[0-9;]*m//g; s/ ([0-9]* ms)//' | "
              r"sed -n 's/^\[\(ok\|err\|exception\)\]: /PASS &/p'")
NCURSES_TEST = r"""
progs/tic -x -o ti misc/terminfo.src 2>/dev/null; export TERMINFO=$PWD/ti
for t in xterm-256color linux screen vt100 hp2621; do
  progs/infocmp -x $t | grep -v '^#' | cksum | sed "s/^/PASS $t /"; done
for c in 'cup 3 4' 'setaf 2' clear cols; do progs/tput -T screen $c | cksum | sed "s/^/PASS $c /"; done
"""
ROUND = ("for f in configure* Makefile* README*; do test -f $f || continue; {0} < $f > packed.tmp && "
         "{1} < packed.tmp | cmp - $f && echo PASS $f; done; rm -f packed.tmp")

# `source`: the name that apt has, where that is another.
PACKAGES = {
    "bash": autotools("--without-bash-malloc", test=(
        "make check 2>&1 | grep -v 'cannot change locale' | "
        "sed -nE '/^(run-|[<>] |[0-9,]+[acd][0-9,]+$)/s/^/PASS /p'")),
    "busybox": {"configure": ["make defconfig CC='{cc}'"], "build": [f"make {JOBS} CC='{{cc}}'"],
                "test": ["cd testsuite; ./runtest"]},
    "bzip2": {"build": ["make CC='{cc}' CFLAGS='-O2 -g -D_FILE_OFFSET_BITS=64' libbz2.a bzip2 bzip2recover"],
              "test": ["make CC='{cc}' test && echo PASS"]},
    "cjson": cmake("-DENABLE_CJSON_UTILS=On"),
    "dash": autotools(test="src/dash -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo PASS $i'"),
    "expat": autotools("--without-docbook", folder="expat"),
    # Debian's archive lacks the manual, which both folders are made from.
    "gawk": autotools("--disable-nls", "--disable-mpfr",
                      then=" && sed -i '/^SUBDIRS/s/ doc awklib / /' Makefile",
                      test=("make check && echo PASS; for f in test/_*; do "
                            "test -f $f && echo FAIL $f; done; true")),
    "gdbm": autotools("--disable-nls", "--without-readline"),
    "grep": autotools("--disable-nls"),
    "jq": autotools("--disable-docs", "--with-oniguruma=no", "--disable-valgrind"),
    "libevent": autotools("--disable-openssl", "--disable-samples",
                          test=("test/regress util/.. evbuffer/.. 2>&1 | "
                                "sed -n 's/.*\\(OK\\|FAIL\\|tests ok\\).*/PASS &/p'")),
    "libpng": {"source": "libpng1.6", **autotools()},
    "libsodium": autotools(),
    "libuv": {"source": "libuv1", **cmake("-DLIBUV_BUILD_TESTS=ON", test=(
        "UV_RUN_AS_ROOT=1 out/uv_run_tests_a 2>&1 | grep -E '^(not )?ok' | "
        "sed 's/ #.*//; s/^ok [0-9]* - /PASS /; s/^not ok [0-9]* - /FAIL /' | sort"))},
    "lighttpd": autotools("--without-pcre2", "--without-zlib", "--without-bzip2"),
    "lz4": {"build": [f"make {JOBS} CC='{{cc}}' CFLAGS='-O2 -g -Werror -Wno-error=unused'"],
            "test": ["make -C tests CC='{cc}' frametest >/dev/null 2>&1 && "
                     "tests/frametest -i500 -s1 >/dev/null 2>&1 && echo PASS",
                     ROUND.format("./lz4 -9", "./lz4 -d")]},
    "memcached": autotools("--disable-docs", test=(
        "prove t/binary.t t/cas.t t/expirations.t t/flags.t t/incrdecr.t t/issue_*.t t/lru.t "
        "t/multiversioning.t t/stats.t")),
    "ncurses": autotools("--without-ada", "--without-cxx-binding", test=NCURSES_TEST),
    "nginx": {"configure": ["./configure --with-cc='{cc}' --without-http_rewrite_module --with-threads "
                            "--with-http_v2_module"],
              "build": [f"make {JOBS}"], "test": [NGINX_TEST]},
    "pcre2": autotools("--enable-jit"),
    "redis": {"build": [f"make {JOBS} CC='{{cc}}'"], "test": [REDIS_TEST]},
    "sed": autotools("--disable-nls"),
    "tcl": {"source": "tcl8.6",
            "configure": ["cd unix && ./configure CC='{cc}' CFLAGS='-O2 -g'"],
            "build": [f"make -C unix {JOBS} tcltest"],
            "test": ["make -C unix test TESTFLAGS='-file \"string.test list.test dict.test compile.test "
                     "regexp.test\"' 2>&1 | grep Total | sed 's/^/PASS /'"]},
    "xz": {"source": "xz-utils", **autotools("--disable-nls")},
    "zstd": {"source": "libzstd",
             "configure": ["CC='{cc}' meson setup --buildtype=release build/meson out"],
             "build": ["ninja -C out"],
             "test": [ROUND.format("out/programs/zstd -q -19", "out/programs/zstd -q -d"),
                      "out/programs/zstd -q -b3 -i1 README.md >/dev/null && echo PASS"]},
}


class Skipped(Exception):
    pass


def versions_of(name, env):
    """Newest first: a mirror may have lost the newest."""
    shown = subprocess.run(["apt-cache", "showsrc", "--only-source", name], env=env, capture_output=True,
                           text=True)
    return list(dict.fromkeys(reversed(re.findall(r"^Version: (\S+)", shown.stdout, re.M))))


def archive_of(name):
    """The orig tarball of this release; fetched once."""
    folder = os.path.join(THIRD_PARTY, "archives", name)
    os.makedirs(folder, exist_ok=True)

    def there():
        found = [n for n in os.listdir(folder) if re.search(r"\.orig\.tar\.\w+$", n)]
        return os.path.join(folder, found[0]) if found else None
    if there():
        return there()
    state = os.path.join(ROOT, "third_party", "apt")
    env, stamp = fetch.private_apt(state), os.path.join(state, "updated")
    if not os.path.exists(stamp) or time.time() - os.path.getmtime(stamp) > fetch.LISTS_AGE_MAX_SECONDS:
        subprocess.run(["apt-get", "-qq", "update"], env=env, check=True, capture_output=True)
        open(stamp, "w").close()
    why = "apt has no such source"
    for version in versions_of(name, env):
        asked = subprocess.run(["apt-get", "-q", "source", "--download-only", "--only-source",
                                f"{name}={version}"], env=env, cwd=folder, capture_output=True, text=True)
        if there():
            return there()
        why = asked.stderr.strip().split("\n")[-1]
    raise Skipped("cannot be fetched: " + why)


def unpack(archive, tree):
    shutil.rmtree(tree, ignore_errors=True)
    work = tree + ".unpacking"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    with tarfile.open(archive) as t:
        t.extractall(work, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
    inside = os.listdir(work)
    os.rename(os.path.join(work, inside[0]) if len(inside) == 1 else work, tree)
    shutil.rmtree(work, ignore_errors=True)


def cxx_of(cc):
    """clang++-19 of clang-19, and nvmove-c++ of nvmove-cc."""
    folder, name = os.path.split(cc)
    return os.path.join(folder, name.replace("-cc", "-c++").replace("clang", "clang++"))


def run(command, cc, tree, log):
    """Status and output; user seconds of all that it ran."""
    command = command.replace("{cxx}", cxx_of(cc)).replace("{cc}", cc)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    env = dict(os.environ, LC_ALL="C", MAKEFLAGS="")
    try:
        made = subprocess.run(["sh", "-c", command], cwd=tree, env=env, stdin=subprocess.DEVNULL,
                              timeout=SECONDS_MAX, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
        status, said = made.returncode, made.stdout
    except subprocess.TimeoutExpired as e:
        status, said = "timeout", (e.stdout or b"").decode(errors="replace")
    log.write(f"$ {command}\n{said}\n-> {status}\n")
    log.flush()
    return status, said, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def text_of(path):
    """Bytes; without the names for the dynamic linker, which -rdynamic has of all that libnvmove has."""
    told = subprocess.run(["size", "-A", path], capture_output=True, text=True).stdout.split("\n")
    rows = [line.split() for line in told]
    return sum(int(row[1]) for row in rows if len(row) == 3 and TEXT.match(row[0]))


def runtime_text(cc):
    """Bytes that libnvmove has in a program that writes."""
    source = os.path.join(THIRD_PARTY, "writes.c")
    with open(source, "w") as f:
        f.write("int main(int count, char **each) { each[0] = 0; return count; }\n")
    sizes = []
    for compiler in (cc, "clang-19"):
        subprocess.run([compiler, "-O2", source, "-o", source + ".out"], check=True)
        sizes.append(text_of(source + ".out"))
    return sizes[0] - sizes[1]


def has_runtime(path):
    named = subprocess.run(["nm", path], capture_output=True, text=True).stdout
    return re.search(r" T __nvm_note$", named, re.M) is not None


def text_sizes(tree):
    """Of each linked file, by its path: bytes, and whether libnvmove is in them."""
    sizes = {}
    for folder, _, files in os.walk(tree):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.access(path, os.X_OK) and ".so" not in name:
                continue
            with open(path, "rb") as f:
                head = f.read(18)
            if head[:4] == b"\x7fELF" and head[16] in (2, 3):  # a program or a library
                sizes[os.path.relpath(path, tree)] = text_of(path), has_runtime(path)
    return sizes


def outcome_of(recipe, cc, tree, log):
    """(what failed, or the outcome of each test), user seconds, sizes."""
    seconds = 0.0
    for kind in ("configure", "build"):
        for command in recipe.get(kind, []):
            status, said, user = run(command, cc, tree, log)
            seconds += user if kind == "build" else 0
            if status:
                errors = [l for l in said.split("\n") if re.search(r"error|undefined|Error", l)]
                return f"{kind} fails: " + (errors or said.strip().split("\n"))[0][:200], seconds, {}
    sizes = text_sizes(tree)
    outcomes = []
    for command in recipe["test"]:
        status, said, _ = run(command, cc, tree, log)
        said = [TIMES.sub("", l).strip().replace(tree, "") for l in said.split("\n")]
        outcomes.append((status, sorted(filter(SUM.match, said))))
    return outcomes, seconds, sizes


def difference(clang, own):
    """One line of what is not the same; none."""
    if not all(before for _, before in clang):
        return "a test sums up nothing"
    for number, ((a, before), (b, after)) in enumerate(zip(clang, own), 1):
        lost, new = [l for l in before if l not in after], [l for l in after if l not in before]
        if a != b or lost or new:
            return (f"test {number}: status {a} with clang, {b} with nvmove-cc; "
                    f"only with clang {lost[:3]}, only with nvmove-cc {new[:3]}")
    return None


def size_ratios(clang, own, runtime):
    """Of all that both linked: without libnvmove, and with it."""
    both = [p for p in clang if p in own]
    before = max(1, sum(clang[p][0] for p in both))
    after = sum(own[p][0] for p in both)
    return (after - sum(runtime for p in both if own[p][1])) / before, after / before


def compare(name, cc):
    """(passed, what to print, ratios of time, of text without libnvmove, of text with it)."""
    recipe = PACKAGES[name]
    archive = archive_of(recipe.get("source", name))
    made = {}
    for kind, compiler in (("clang", "clang-19"), ("nvmove", cc)):
        tree = os.path.join(THIRD_PARTY, f"{name}-{kind}")
        unpack(archive, tree)
        with open(os.path.join(THIRD_PARTY, f"{name}-{kind}.log"), "w") as log:
            made[kind] = outcome_of(recipe, compiler, tree, log)
        if kind == "clang" and isinstance(made[kind][0], str):
            raise Skipped("with clang, too: " + made[kind][0])
    (clang, clang_time, clang_sizes), (own, own_time, own_sizes) = made["clang"], made["nvmove"]
    if isinstance(own, str):
        return False, own, None
    sizes = size_ratios(clang_sizes, own_sizes, runtime_text(cc))
    wrong = difference(clang, own)
    failing = sum(1 for status, _ in clang if status)
    said = wrong or ("same" + (f" ({failing} fail with clang, too)" if failing else ""))
    return not wrong, said, (own_time / max(clang_time, 0.01), *sizes)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0


def row(ratios):
    return " ".join(f"{r:7.2f}" for r in ratios)


def check(cc, names=None):
    """(passed, failed, skipped)."""
    passed = failed = skipped = 0
    measured = []
    cc = os.path.abspath(cc)
    os.makedirs(THIRD_PARTY, exist_ok=True)
    print(f"{'package':12} {'time x':>7} {'text x':>7} {'+lib x':>7}  outcome", flush=True)
    for name in names or PACKAGES:
        try:
            good, said, ratios = compare(name, cc)
        except (Skipped, fetch.CannotFetch, subprocess.CalledProcessError) as e:
            print(f"{name:12} {'-':>7} {'-':>7} {'-':>7}  skipped: {e}", flush=True)
            skipped += 1
            continue
        passed, failed = passed + good, failed + (not good)
        if ratios:
            measured.append(ratios)
        print(f"{name:12} {row(ratios or (0, 0, 0))}  {said}", flush=True)
    print(f"{'all':12} {row([mean(each) for each in zip(*measured)] or (0, 0, 0))}  {passed} same, "
          f"{failed} not, {skipped} skipped", flush=True)
    return passed, failed, skipped


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cc", required=True)
    p.add_argument("--list", action="store_true", help="the packages")
    p.add_argument("name", nargs="*")
    a = p.parse_args()
    unknown = [n for n in a.name if n not in PACKAGES]
    if a.list or unknown:
        print("\n".join(unknown and [f"no such package: {n}" for n in unknown] or PACKAGES))
        return 2 if unknown else 0
    return 1 if check(a.cc, a.name)[1] else 0


if __name__ == "__main__":
    sys.exit(main())
