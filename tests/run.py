#!/usr/bin/env python3
"""Runs every test suite and sums up: the last line is "N passed, N failed, N skipped".

usage: run.py --build build/dev [--long] [--lanes N] [SUITE...]
       run.py --build build/dev --test tests/SUITE/...

Suites: tidy, unit, runtime, threads, storm, damage, generated, fuzz, scan, plugin, driver, crash, pool, plan,
move, examples, documents, differential, ports, small, e2e and, with --long, clang-tidy, sanitized, packages,
deb, soak and mutation. A suite is a function that returns an Outcome; a suite that breaks counts as one
failure. Those that are not for --long alone run beside each other in lanes (lanes.py): two more than there
are processors, but four at most. What one prints comes when it ends. Exit status 0 only without failures.
"""
import argparse
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import lanes as side_by_side
from outcome import Outcome

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"
SOAK_SEEDS = 50
SOAK_TRANSACTIONS = 10000000
LIT_SECONDS_MAX = 1500  # Of a suite, thrice that with --long. A test that waits for ever is named.
# Parts of the names of libnvmove's tests with several threads.
WITH_THREADS = ("threads_run", "threads_crash", "order_", "shrink_", "fork_beside", "counted", "backup",
                "port_threads", "closed_", "returns_", "review_", "waits_", "handed_",
                "stands_still", "reader_", "wrapped_circle", "wrapped_undone", "delayed_commit",
                "delayed_syncs", "delayed_number", "delayed_exit")
# Parts of the names of those that simulate many failures, each in a process of its own.
WITH_FAILURES = ("power_failure", "disk_", "delayed_", "repair_", "in_spite_of", "lives_of", "faults_",
                 "crash_", "killed_", "_on_disk", "at_each", "after_a_kill")
STEPPED = "nvmove-stepped-tests"  # has tests/runtime/tx/stepped*.c
PLAIN = "nvmove-plain-tests"      # all others, with libnvmove as it is shipped
SHOWN_SECONDS_MIN = 20  # Lit prints its slowest tests itself; suites above this are worth a line.

# How much of a suite is done at a time; a lane (beside) leaves its share to the other.
JOBS_VARIABLE = "NVMOVE_TEST_JOBS"
JOBS = int(os.environ.get(JOBS_VARIABLE, os.cpu_count()))
LANES = min(4, os.cpu_count() + 2)

for room in ("tidy", "e2e", "accuracy", os.path.join("accuracy", "small"), "differential", "examples",
             "documents", "mutation", "fuzz", "storm", "generated"):
    sys.path.insert(0, os.path.join(ROOT, "tests", room))


def tidy(a):
    import tidy as checks
    import selftest
    outcome = Outcome(*checks.run(ROOT))
    outcome.add(Outcome(*selftest.run()))
    return outcome


def unit(a, names="*"):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([os.path.join(a.build, "bin", "nvmove-unit-tests"), "--gtest_brief=1",
                        f"--gtest_filter={names}", f"--gtest_output=json:{out.name}"], cwd=ROOT)
        try:
            report = json.load(open(out.name))
        except json.JSONDecodeError:
            print("unit: ended without a report")
            return Outcome(failed=1)
    skipped = report.get("disabled", 0)
    names = [f"{group['name']}.{test['name']}" for group in report["testsuites"]
             for test in group["testsuite"] if "failures" in test]
    return Outcome(report["tests"] - report["failures"] - skipped, report["failures"], skipped, names)


def summed(name, command):
    """Of tests that print one line for each that failed or was skipped, and the sum last."""
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace")
    m = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", run.stdout, re.M)
    if not m:
        print(f"{run.stdout}{name}: ended with status {run.returncode} and without a sum")
        return Outcome(failed=1)
    outcome = Outcome(*map(int, m.groups()), re.findall(r"^FAILED: (.+)$", run.stdout, re.M))
    if outcome.failed:
        print(run.stdout, end="")
    else:
        print("".join(line + "\n" for line in run.stdout.split("\n") if line.startswith("skipped")), end="")
    return outcome


def runtime_tests(build, *parts, program="nvmove-runtime-tests"):
    return summed("runtime", [os.path.join(build, "bin", program), "--jobs", str(JOBS), *parts])


def runtime_names(build, *parts):
    listed = subprocess.run([os.path.join(build, "bin", "nvmove-runtime-tests"), "--list", *parts],
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    return listed.splitlines()


def runtime(a):
    """Under AddressSanitizer and UndefinedBehaviorSanitizer; with --long also those that simulate many
    failures, which take half the time without."""
    if a.long:
        outcome = runtime_tests(a.build)
    else:
        # A third of the time; with --long, uses of a frame that is left and leaks are looked for, too.
        os.environ.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=0:detect_leaks=0")
        plain = runtime_names(a.build, *WITH_FAILURES)
        outcome = runtime_tests(a.build, *plain, program=PLAIN)
        outcome.add(runtime_tests(a.build, *(n for n in runtime_names(a.build) if n not in set(plain))))
    outcome.add(runtime_tests(a.build, program=STEPPED))
    return outcome


def built(a, preset, target="all"):
    """The folder of another preset, beside a.build; None: it cannot be built."""
    build = os.path.join(os.path.dirname(os.path.abspath(a.build)), preset)
    for command in (["cmake", "--preset", preset, "-B", build],
                    ["cmake", "--build", build, "--target", target, "-j", str(JOBS)]):
        made = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if made.returncode:
            print(made.stdout)
            return None
    return build


def threads(a):
    """The runtime's tests with several threads once more, under ThreadSanitizer; not those with a simulated
    power failure: like a cache, the simulation reads whole lines of which others are storing a part. Those of
    one thread that dies again and again, beside the one that counts references, only with --long."""
    build = built(a, "tsan", "nvmove-runtime-tests")
    if not build:
        return Outcome(failed=1)
    names = runtime_names(build, *WITH_THREADS)
    apart = ("power_failure",) if a.long else ("power_failure", "in_spite_of", "killed_where")
    return runtime_tests(build, *(n for n in names if not any(part in n for part in apart)))


def storm(a):
    """Threads write to a pool until the process is killed; everything acknowledged must be there."""
    import storm as storms
    few, many = 150, 2000
    return Outcome(*storms.check(os.path.join(a.build, "bin", "nvmove-cc"), many if a.long else few))


def damage(a):
    """Damaged pools of a storm: refused, recovered, told, or what the semantics leave out; counted."""
    import damage as damages
    return Outcome(*damages.check(os.path.join(a.build, "bin", "nvmove-cc"), 10000 if a.long else 300))


def generated(a):
    """Random programs with threads, locks, aborts and kills, and random records; with --long also faults that
    they must find."""
    import generated as generator
    import records
    import seeded
    few, many = 300, 20000
    few_records, many_records = 6, 500
    cc = os.path.join(a.build, "bin", "nvmove-cc")
    outcome = Outcome(*generator.check(cc, many if a.long else few, jobs=JOBS))
    outcome.add(Outcome(*records.check(cc, many_records if a.long else few_records)))
    if a.long:
        outcome.add(Outcome(*seeded.check(cc)))
    return outcome


def fuzz(a):
    """Damaged pools: the corpus, and with --long new ones."""
    import fuzz as fuzzer
    return Outcome(*fuzzer.check(a.build, 1000000 if a.long else 0, JOBS))


def soak(a):
    """Crashes and power failures of other random workloads (a failure names its seed); and a long course of
    counted references."""
    outcome = Outcome()
    for seed in range(1, SOAK_SEEDS + 1):
        os.environ["NVMOVE_TEST_SEED"] = str(seed)
        one = runtime_tests(a.build, "power_failure", "crash_late", "threads_crash", "compare_accepts")
        if one.failed:
            print(f"soak: NVMOVE_TEST_SEED={seed} fails")
        outcome.add(one)
    del os.environ["NVMOVE_TEST_SEED"]
    os.environ["NVMOVE_TEST_SOAK"] = str(SOAK_TRANSACTIONS)
    outcome.add(runtime_tests(a.build, "soaked_counts undo process", "soaked_counts shadow process"))
    del os.environ["NVMOVE_TEST_SOAK"]
    return outcome


def mutation(a):
    """Each flush, fence, check and ordering of the runtime removed in turn: the tests must notice."""
    import mutate
    release = built(a, "release")
    return Outcome(*mutate.run(os.path.join(release, "bin"))) if release else Outcome(failed=1)


def sanitized(a):
    """The suites of the tools once more, with the tools under AddressSanitizer and
    UndefinedBehaviorSanitizer."""
    build = built(a, "asan")
    if not build:
        return Outcome(failed=1)
    outcome, other = Outcome(), argparse.Namespace(**{**vars(a), "build": build})
    for suite in ("unit", "scan", "crash", "pool", "plan", "move"):
        outcome.add(SUITES[suite](other))
    return outcome


def small(a):
    """Small whole programs against their answer sheets."""
    import score
    import suggest
    nvmove = os.path.abspath(os.path.join(a.build, "bin", "nvmove"))
    outcome = Outcome(*score.run(nvmove))
    outcome.add(Outcome(*suggest.run(nvmove, a.long)))
    return outcome


def run_with_end(command, seconds):
    """Runs a command in a session of its own; after so long kills that and prints what still ran."""
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            left = subprocess.run(["ps", "-o", "etimes=,args=", "-s", str(process.pid)], text=True,
                                  stdout=subprocess.PIPE, check=False)
            print(f"stopped after {seconds} s; these still ran, with their seconds:\n{left.stdout}")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def tests_in(path):
    """(file, what TEST's parentheses have: up to two names) of each test in a file or folder."""
    files = [path] if os.path.isfile(path) else [
        os.path.join(where, name) for where, _, names in os.walk(path) for name in sorted(names)
        if name.endswith((".c", ".cpp"))]
    found = []
    for file in files:
        with open(file) as f:
            found += [(os.path.basename(file), *names)
                      for names in re.findall(r"^TEST\w*\((\w+)(?:, (\w+))?\)", f.read(), re.M)]
    return found


def one(a, path):
    """The suite of a file or folder under tests/: that file alone, where the suite can do that."""
    path = os.path.relpath(os.path.abspath(path), ROOT)
    parts = path.split(os.sep)
    if parts[0] != "tests" or len(parts) < 2 or not os.path.exists(os.path.join(ROOT, path)):
        raise SystemExit(f"run.py: {path}: no test; name a file or folder under tests/")
    suite = parts[1]
    if suite in LIT_SUITES:
        return lit(a, os.path.relpath(path, "tests"))
    if suite not in SUITES:
        raise SystemExit(f"run.py: {path}: belongs to none of the suites: {', '.join(SUITES)}")
    if suite not in ("runtime", "unit") or len(parts) == 2:
        return SUITES[suite](a)
    tests = tests_in(os.path.join(ROOT, path))
    if not tests:
        raise SystemExit(f"run.py: {path}: no tests in it")
    if suite == "unit":
        return unit(a, ":".join(f"{group}.{name}" for _, group, name in tests))
    outcome = Outcome()
    for program in ("nvmove-runtime-tests", STEPPED):
        names = [f"{name} " for file, name, _ in tests if file.startswith("stepped") == (program == STEPPED)]
        if names:
            outcome.add(runtime_tests(a.build, "--all-ways", *names, program=program))
    return outcome


def lit(a, suite):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        run_with_end([sys.executable, LIT, "-sv", "-j", str(JOBS), "--output", out.name,
                      "--param", f"build={a.build}", *(["--param", "long=1"] if a.long else []),
                      os.path.join(ROOT, "tests", suite)], LIT_SECONDS_MAX * (3 if a.long else 1))
        try:
            report = json.load(open(out.name))
        except json.JSONDecodeError:
            print(f"{suite}: lit ended without a report")
            return Outcome(failed=1)
    result = Outcome()
    for test in report["tests"]:
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            result.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED"):
            result.skipped += 1
            print(f"skipped: {test['name']}: {test['output'] or 'not possible on this machine'}")
        else:
            result.add(Outcome(failed=1, names=[test["name"].rpartition(" :: ")[2]]))
    if not report["tests"]:
        result.failed += 1
    return result


def scan(a):
    return lit(a, "scan")


def plugin(a):
    return lit(a, "plugin")


def driver(a):
    return lit(a, "driver")


def crash(a):
    return lit(a, "crash")


def pool(a):
    return lit(a, "pool")


def plan(a):
    """Port files planned from the source, and with observed runs: what they say, and programs that survive
    kills with them."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "plan"))
    import survives
    outcome = lit(a, "plan")
    tools = os.path.join(a.build, "bin")
    outcome.add(Outcome(*survives.check(tools)))
    some = () if a.long else ("made-before-load", "one-hash-two-uses", "rings", "texts-only")
    outcome.add(Outcome(*survives.check(tools, some, observes=True)))
    return outcome


def move(a):
    """From a source to a build that survives kills; with --long also the small programs of `plan`."""
    outcome = lit(a, "move")
    if a.long:
        sys.path.insert(0, os.path.join(ROOT, "tests", "move"))
        import moves
        outcome.add(Outcome(*moves.check(os.path.join(a.build, "bin"), 60)))
    return outcome


def examples(a):
    import examples as checks
    return Outcome(*checks.check(os.path.join(a.build, "bin", "nvmove-cc")))


def documents(a):
    """Terminal sessions of the README and the documents print what they show; the report on papers."""
    import papers_report
    import sessions
    outcome = Outcome(*sessions.check(os.path.join(a.build, "bin")))
    outcome.add(Outcome(*papers_report.check(os.path.join(a.build, "bin"))))
    return outcome


def differential(a):
    """Programs behave the same under nvmove-cc and clang; with --long also real ones."""
    import csmith
    import programs
    few, many = 12, 2000
    cc = os.path.join(a.build, "bin", "nvmove-cc")
    outcome = Outcome(*csmith.check(cc, many if a.long else few, jobs=JOBS))
    if a.long:
        outcome.add(Outcome(*programs.check(cc)))
    return outcome


def ports(a):
    """Redis and memcached in pools: what their users rely on, and kills; with --long their own suites, other
    builds of Redis, and power failures."""
    cc, nvmove = (os.path.join(a.build, "bin", name) for name in ("nvmove-cc", "nvmove"))
    redis, memcached = (os.path.join(ROOT, "ports", name) for name in ("redis", "memcached"))
    few, many = ["--rounds", "10", "--commands", "1000", "--one-build"], ["--rounds", "500"]
    tools = ["--cc", cc, "--nvmove", nvmove]
    outcome = summed("redis", [sys.executable, os.path.join(redis, "check.py"), *tools,
                               *(many if a.long else few)])
    if a.long:
        outcome.add(redirected_ports(redis, memcached, cc, nvmove))
        outcome.add(summed("suite", [sys.executable, os.path.join(redis, "suite.py"), "--cc", cc]))
    outcome.add(summed("memcached", [sys.executable, os.path.join(memcached, "check.py"), *tools,
                                     *(["--long"] if a.long else ["--rounds", "20"])]))
    return outcome


def redirected_ports(redis, memcached, cc, nvmove):
    """Both servers with each method, killed (docs/reference/methods.md)."""
    outcome = Outcome()
    for port, tree, option in ((redis, "redis-3.2.6-redirected", "--src"),
                               (memcached, "memcached-1.6.18-redirected", "--tree")):
        made = subprocess.run([sys.executable, os.path.join(port, "build.py"), "--cc", cc, "--tree",
                               os.path.join(ROOT, "third_party", tree), "--flags=--nvmove-redirect"],
                              capture_output=True, text=True)
        print(made.stderr, end="")
        killed = made.returncode == 0 and subprocess.run(
            [sys.executable, os.path.join(port, "kills.py"), option, made.stdout.split()[-1], "--nvmove",
             nvmove, "--rounds", "200", "--methods", "undo,shadow,lat,latb"]).returncode == 0
        outcome.add(Outcome(int(killed), int(not killed)))
    return outcome


def e2e(a):
    import accuracy
    return Outcome(*accuracy.run(os.path.join(a.build, "bin", "nvmove"), a.long))


def packages(a):
    """Debian packages build unchanged with nvmove-cc, and pass what they pass with clang."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "packages"))
    import packages as debian
    return Outcome(*debian.check(os.path.join(a.build, "bin", "nvmove-cc")))


def deb(a):
    """The Debian packages are built, clean, and work where they are unpacked."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "deb"))
    import deb as debian_packages
    return Outcome(*debian_packages.check())


def clang_tidy(a):
    commands = os.path.join(os.path.dirname(os.path.abspath(a.build)), "each-source-alone")
    subprocess.run(["cmake", "--preset", "dev", "-B", commands, "-DNVMOVE_QUICK_BUILD=OFF"], cwd=ROOT,
                   check=True, stdout=subprocess.DEVNULL)
    listed = json.load(open(os.path.join(commands, "compile_commands.json")))
    sources = [e["file"] for e in listed if "/tests/" not in e["file"]]
    result = Outcome()
    for source in sources:
        run = subprocess.run(["clang-tidy-19", "-quiet", "-p", commands, source],
                             capture_output=True, text=True)
        print(run.stdout, end="")
        result.add(Outcome(1, 0) if run.returncode == 0 else Outcome(0, 1))
    return result


SUITES = {"tidy": tidy, "unit": unit, "runtime": runtime, "threads": threads, "storm": storm,
          "damage": damage, "generated": generated, "fuzz": fuzz, "scan": scan, "plugin": plugin,
          "driver": driver, "crash": crash, "pool": pool, "plan": plan, "move": move, "examples": examples,
          "documents": documents,
          "differential": differential, "ports": ports, "small": small, "e2e": e2e,
          "clang-tidy": clang_tidy, "sanitized": sanitized, "packages": packages, "deb": deb, "soak": soak,
          "mutation": mutation}
LONG = ("clang-tidy", "sanitized", "packages", "deb", "soak", "mutation")
LIT_SUITES = ("scan", "plugin", "driver", "crash", "pool", "plan", "move")


def processor_seconds():
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def beside(a, names):
    """Runs suites in lanes: each is this program with one suite; its last lines: what failed, and its sum."""
    command = [sys.executable, os.path.abspath(__file__), "--build", a.build, *(["--long"] if a.long else [])]
    os.environ[JOBS_VARIABLE] = str(max(1, JOBS // a.lanes))
    total, told = Outcome(), []
    for name, status, said in side_by_side.run(names, command, a.lanes):
        m = re.search(rf"^== {name}: .*\n((failed in .*\n)?"
                      r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n)\Z", said, re.M)
        if m and status in (0, 1):
            print(said[:m.start(1)], end="", flush=True)
            outcome = Outcome(*(int(n or 0) for n in m.groups()[2:]))
            told += [m.group(2).rstrip()] if m.group(2) else []
        else:
            outcome = Outcome(failed=1)
            print(f"{said}\n== {name}: ended with status {status}, or without a sum", flush=True)
            told.append(f"failed in {name}: it ended with status {status}, or without a sum")
        total.add(outcome)
    del os.environ[JOBS_VARIABLE]
    return total, told


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("suite", nargs="*", choices=[[], *SUITES], help="default: all")
    p.add_argument("--build", required=True, help="folder of the dev preset")
    p.add_argument("--long", action="store_true", help="also what takes hours: every corpus, clang-tidy")
    p.add_argument("--lanes", type=int, default=LANES, help="suites beside each other")
    p.add_argument("--test", metavar="PATH", help="one test, or one folder of them, under tests/")
    a = p.parse_args()
    a.build = os.path.abspath(a.build)
    # This Python itself for tests that say python3: a version manager's needs seven times as long to start.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # suites have started others, which end, too
    if a.long or any(n in LONG for n in a.suite):
        os.environ["NVMOVE_TEST_LONG"] = "1"  # tests/runtime/harness/harness.h
    if a.test:
        outcome = one(a, a.test)
        print(outcome)
        return 1 if outcome.failed or not outcome.passed else 0
    names = a.suite or [n for n in SUITES if a.long or n not in LONG]
    total, told, alone = Outcome(), [], names
    if a.lanes > 1 and len(names) > 1:
        alone = [n for n in names if n in LONG]
        total, told = beside(a, [n for n in names if n not in LONG])
    for name in alone:
        start, before = time.monotonic(), processor_seconds()
        try:
            outcome = SUITES[name](a)
        except Exception:  # One broken suite must not hide the others' results.
            print(f"{name}: {traceback.format_exc()}")
            outcome = Outcome(failed=1)
        total.add(outcome)
        told += [outcome.told(name)] if outcome.failed else []
        print(f"== {name}: {outcome} ({time.monotonic() - start:.0f} s, "
              f"{processor_seconds() - before:.0f} s of a processor)", flush=True)
    print("".join(line + "\n" for line in told), end="")
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
