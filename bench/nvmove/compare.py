#!/usr/bin/env python3
"""NVMOVE's figure 2 and its redis-benchmark comparison, and how good such a prediction is.

usage: compare.py --cc NVMOVE_CC [--rounds N] [--records N] [--seconds S] [--folder DIR] [--load NAME]...
                  [--configuration NAME]... [--json FILE] [PART...]

Redis 3.2.6, one server for each configuration, each filled, then measured in turn, round by round:

  none, RDB each second, AOF everysec, AOF always    Redis as it is (clang, jemalloc, -O2); files in --folder
  PROFILE, worst; PROFILE, cached                    the same, emulated, with the types of types/nvmove
  counted                                            as cached, and nobody waits: what the model itself costs
  dram                                               as worst, with latencies of zero: the emulation itself
  PROFILE, writes                                    as cached, but loads cost nothing
  PROFILE, moved                                     the ported server (ports/redis), method shadow, domain
                                                     power, with the same latencies at its flushes and fences
  moved                                              the ported server as it is

PROFILE is pcm and sttram. Parts:

  sites      places that are charged, by kind; accesses as in the source and after optimisation; by sets of
             types: types/nvmove (25, as the paper has), types/needed, and what nvmove scan finds
  charges    nanoseconds that a request of one client is charged by each model, and where it was moved,
             without loads, and with those that compiled code announces; counted, so that they repeat.
             worst: the 25 types; cached: types/needed, without the volatile fields of the port file
  benchmark  redis-benchmark, 50 clients, a command at a time
  prediction redis-benchmark with one client, so each request is a turn of the server, and a transaction
  ycsb       YCSB's core: reads to updates 90/10, 50/50, 10/90; records of 1 KB
  wrong      the same with each of the three sets of types: what the types that hold no data cost

Printed are operations a second (median of the rounds), the shares of `none`, the server's processor time in
us for an operation, and what the slow memory adds to it: by the model worst, by writes (without what the
model itself costs), and measured where it was moved, without loads. The measured one should
lie between the other two; within TOLERANCE of the time without it counts as equal. The paper's figures
stand beside ours. Raw results: build/bench/nvmove.json.

--configuration chooses some for benchmark, prediction and ycsb. All servers are in memory at once: one with a
million records of 1 KB takes 3 GB, a ported one 6. `none` is always there.

Exit status: 0 measured, 1 not, 3 the sources cannot be had.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import redis as harness  # noqa: E402
import ycsb  # noqa: E402

PROFILES = ("pcm", "sttram")
MODELS = {"worst": "model=worst", "cached": "model=cached", "writes": "model=cached,read=0"}
SETS = ("nvmove", "found", "needed")
PORT = os.path.join(harness.ROOT, "ports", "redis", "redis.nvmove.yaml")
FILES = {"known": ("needed", PORT)}  # sets of several files: here with the volatile fields of a port file
ON_DISK = ("RDB each second", "AOF everysec", "AOF always")
MIXES = ("90/10", "50/50", "10/90")
TRIED = 2000  # operations that tell how many a run takes
TOLERANCE = 0.01
NEAR = 1  # nanoseconds of a request: the server commits work of its own now and then
COUNTED = 10000  # requests of one client whose charges are counted
FILLED_BY_ONE = 1000, 3 * COUNTED  # before that: where they make their data, and where they find or take it
LOADS = ("SET 3 B", "GET 3 B", "INCR", "LPUSH", "RPUSH", "LPOP", "SADD", "SPOP", "HSET", "ZADD", "LRANGE",
         "MSET 10")
# Operations a second of the paper's slides; AOF is "always", on an SSD.
PAPER = {
    "90/10": {"none": 50163, "RDB each second": 46355, "AOF always": 27946, "pcm": 28399, "sttram": 41213},
    "50/50": {"none": 48360, "RDB each second": 47609, "AOF always": 17612, "pcm": 25302, "sttram": 38048},
    "10/90": {"none": 27156, "RDB each second": 26605, "AOF always": 6605, "pcm": 9759, "sttram": 12155},
}


def types_of(name, cc):
    """The file with the names; what a scan finds is made anew."""
    if name != "found":
        return os.path.join(HERE, "types", name)  # or an absolute path
    made = os.path.join(harness.ROOT, "build", "bench", "found.json")
    os.makedirs(os.path.dirname(made), exist_ok=True)
    subprocess.run([os.path.join(os.path.dirname(os.path.abspath(cc)), "nvmove"), "scan", "-q", "-p",
                    scanned_tree(), "--load", "rdbLoad", "--format=json", "-o", made], check=True)
    return made


def scanned_tree():
    """The sources with their compile database."""
    tree = os.path.join(harness.build.THIRD_PARTY, "redis-3.2.6")
    if not os.path.exists(os.path.join(tree, "compile_commands.json")):
        subprocess.run([os.path.join(harness.ROOT, "tests", "accuracy", "fetch.py"), "redis"], check=True)
    return tree


def emulated(cc, types, options=""):
    """The folder of a server that waits at accesses to these types. Raises build.fetch.CannotFetch."""
    files = [types_of(name, cc) for name in FILES.get(types, (types,))]
    tree = os.path.join(harness.build.THIRD_PARTY, f"redis-3.2.6-emulated-{types}{options.replace('=', '-')}")
    named = " ".join(f"--emulate-types={file}" for file in files)
    compiler = f"{os.path.abspath(cc)} --emulate=dram {named} --nvmove-remarks {options}"
    return harness.build.build(compiler, tree, plain=True)


def announced(cc):
    """The folder of the ported server whose loads of persistent memory wait, too."""
    tree = os.path.join(harness.build.THIRD_PARTY, "redis-3.2.6-port-loads")
    return harness.build.build(f"{os.path.abspath(cc)} --nvmove-loads=optimized --nvmove-remarks", tree)


def configure():
    """Adds the configurations to those of redis.py."""
    for profile in PROFILES:
        for model in MODELS:
            for types in SETS:
                harness.CONFIGURATIONS[name_of(profile, model, types)] = (
                    {}, {"NVMOVE_EMULATE": f"{profile},{MODELS[model]}"}, types)
        moved = dict(harness.nvmove("shadow", "power"), NVMOVE_EMULATE=profile)
        harness.CONFIGURATIONS[f"{profile}, moved"] = ({}, moved, "port")
    harness.CONFIGURATIONS["counted"] = ({}, {"NVMOVE_EMULATE": "pcm,model=cached,virtual"}, "nvmove")
    harness.CONFIGURATIONS["dram"] = ({}, {"NVMOVE_EMULATE": "dram,model=worst"}, "nvmove")
    harness.CONFIGURATIONS["moved"] = ({}, harness.nvmove("shadow", "power"), "port")


def name_of(profile, model, types="nvmove"):
    return f"{profile}, {model}" + ("" if types == "nvmove" else f", {types}")


def sites(a, results):
    for types in SETS:
        for options in ("", "--nvmove-loads=optimized"):
            tree = os.path.dirname(emulated(a.cc, types, options))
            with open(os.path.join(tree, "build.log")) as log:
                found = re.findall(r"charged at (\d+) loads, (\d+) stores, (\d+) copies", log.read())
            loads, stores, copies = (sum(int(each[n]) for each in found) for n in range(3))
            results.append({"part": "sites", "types": types, "options": options, "loads": loads,
                            "stores": stores, "copies": copies})
            print(f"{types:8} {options or 'as in the source':26} {loads} loads, {stores} stores, {copies} "
                  f"copies, together {loads + stores + copies}", flush=True)
    print("NVMOVE: around 4000, source to source")


def processor_seconds(running):
    """Of the thread that serves; to the nanosecond."""
    with open(f"/proc/{running.server.process.pid}/schedstat") as f:
        return int(f.read().split()[0]) / 1e9


class Paced:
    """Runs of a load on each server; so many operations that each takes some seconds."""

    def __init__(self, seconds, run):
        self.seconds, self.run, self.counts = seconds, run, {}

    def measure(self, name, running):
        """Operations a second, and processor seconds of an operation."""
        if name not in self.counts:
            rate = self.run(running, TRIED)
            self.counts[name] = max(TRIED, int(rate * self.seconds))
        count, cpu = self.counts[name], processor_seconds(running)
        return {"rate": self.run(running, count), "cpu": (processor_seconds(running) - cpu) / count}


def rounds_of(servers, a, run):
    """Of each configuration what was measured in each round."""
    paced, seen, names = Paced(a.seconds, run), {name: [] for name in servers}, list(servers)
    for turn in range(a.rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            seen[name].append(paced.measure(name, servers[name]))
            servers[name].come_to_rest()
    return seen


def told(load, seen, results, part):
    """Prints a row for each configuration."""
    results.append({"part": part, "load": load, "seen": seen})
    rate = {name: statistics.median(r["rate"] for r in rounds) for name, rounds in seen.items()}
    cpu = {name: 1e6 * statistics.median(r["cpu"] for r in rounds) for name, rounds in seen.items()}
    shares = {name: statistics.median(r["rate"] / n["rate"] for r, n in zip(rounds, seen["none"]))
              for name, rounds in seen.items()}
    paper = PAPER.get(load, {})
    print(f"{part}, {load}:")
    for name in seen:
        its = paper.get(name.replace(", worst", ""))
        beside = f"   NVMOVE {its} ({its / paper['none']:.2f})" if its else ""
        print(f"  {name:24} {rate[name]:9.0f} {shares[name]:6.2f} {cpu[name]:8.2f} us{beside}", flush=True)
    for profile in PROFILES:
        needed = {"counted", "moved", *(f"{profile}, {name}" for name in ("worst", "writes", "moved"))}
        if not needed <= set(seen):
            continue
        worst = cpu[f"{profile}, worst"] - cpu["none"]
        least = cpu[f"{profile}, writes"] - cpu["counted"]
        moved = cpu[f"{profile}, moved"] - cpu["moved"]
        near = TOLERANCE * cpu["none"]
        where = "between" if least - near <= moved <= worst + near else "NOT BETWEEN"
        print(f"  {profile} adds {moved:.2f} us where it was moved, {where} {least:.2f} and {worst:.2f}",
              flush=True)


def all_names():
    emulations = [name_of(p, m) for p in PROFILES for m in MODELS]
    return [*ON_DISK, "counted", "dram", *emulations, *(f"{p}, moved" for p in PROFILES), "moved"]


def chosen(a, names):
    return [n for n in names if n in a.configuration] if a.configuration else names


def binaries_of(a, sets):
    made = harness.servers(a.cc)
    return {**made, **{types: emulated(a.cc, types) for types in sets}}


def benchmark(a, results, part="benchmark", options=(), names=None):
    binaries = binaries_of(a, ("nvmove",))
    harness.RANDOM_KEYS = a.records
    for load in a.load or LOADS:
        fill, measured = harness.LOADS[load]

        def run(running, count):
            return harness.benchmark(binaries, running, (*options, *measured), 1, count)

        def filled(running):
            return harness.benchmark(binaries, running, fill or measured, 16, 2 * a.records)

        with harness.filled(binaries, chosen(a, names or all_names()), a.folder, filled) as servers:
            told(load, rounds_of(servers, a, run), results, part)


def prediction(a, results):
    benchmark(a, results, "prediction", ("-c", "1"), [n for n in all_names() if n not in ON_DISK])


CHARGED = {  # nanoseconds that a server was charged; nobody waits
    "worst": ("nvmove", "{},virtual,model=worst"),
    "worst, no loads": ("nvmove", "{},virtual,model=worst,read=0"),
    "cached": ("known", "{},virtual,model=cached"),
    "cached, no loads": ("known", "{},virtual,model=cached,read=0"),
    "cached, 25 types": ("nvmove", "{},virtual,model=cached"), "moved": ("port", "{},virtual"),
    "moved, loads in a cache": ("announced", "{},virtual,model=cached"),
    "moved, all loads": ("announced", "{},virtual,model=worst")}


def charged_by(binaries, a, fill, measured, count, setting, which):
    """Of a server that is started, filled, given so many requests by one client, and ended."""
    environment = {"NVMOVE_EMULATE": setting, "NVMOVE_STATS": "1"}
    if which in ("port", "announced"):
        environment.update(harness.nvmove("shadow", "power"))
    harness.CONFIGURATIONS["charged"] = ({}, environment, which)
    running = harness.Running(binaries, "charged", parent=harness.FOLDER)
    try:
        harness.benchmark(binaries, running, ("-c", "1", *(fill or measured)), 1, FILLED_BY_ONE[bool(fill)])
        if count:
            harness.benchmark(binaries, running, ("-c", "1", *measured), 1, count)
        running.client.send(("SHUTDOWN", "NOSAVE"))
        running.server.ended()
        return int(re.findall(r"charged (\d+) ns, virtual", running.server.said(0))[-1])
    finally:
        running.stop()


def between(each, moved, suffix):
    least = each["cached" + suffix] - NEAR
    return "between" if least <= each[moved] <= each["worst" + suffix] else "NOT BETWEEN"


def charges(a, results):
    binaries = {**binaries_of(a, ("nvmove", "known")), "announced": announced(a.cc)}
    harness.RANDOM_KEYS = a.records
    for load in a.load or LOADS:
        fill, measured = harness.LOADS[load]
        for profile in PROFILES:
            each = {}
            for name, (which, setting) in CHARGED.items():
                some, none = (charged_by(binaries, a, fill, measured, count, setting.format(profile), which)
                              for count in (COUNTED, 0))
                each[name] = (some - none) / COUNTED
            results.append({"part": "charges", "load": load, "profile": profile, "each": each})
            print(f"{load}, {profile}: " + ", ".join(f"{n} {ns:.0f}" for n, ns in each.items()) +
                  f" ns a request: {between(each, 'moved', ', no loads')}; with loads "
                  f"{between(each, 'moved, loads in a cache', '')}", flush=True)


def ycsb_with(a, names, sets, part, results):
    binaries, classes = binaries_of(a, sets), ycsb.build()
    with harness.filled(binaries, names, a.folder, lambda r: ycsb.run(classes, r, a)) as servers:
        print(f"{part}: {len(servers)} servers are filled", flush=True)
        for mix in MIXES:
            def run(running, count):
                return ycsb.run(classes, running, argparse.Namespace(records=a.records, operations=count),
                                mix)["rate"]
            told(mix, rounds_of(servers, a, run), results, part)


def figure(a, results):
    ycsb_with(a, chosen(a, all_names()), ("nvmove",), "ycsb", results)


def wrong(a, results):
    ycsb_with(a, [name_of(p, "worst", s) for p in PROFILES for s in SETS], SETS, "wrong", results)


PARTS = {"sites": sites, "charges": charges, "benchmark": benchmark, "prediction": prediction,
         "ycsb": figure, "wrong": wrong}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("part", nargs="*", choices=[[], *PARTS])
    p.add_argument("--cc", required=True)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--records", type=int, default=100000, help="keys or records that a server is filled with")
    p.add_argument("--seconds", type=float, default=2, help="of each run")
    p.add_argument("--folder", type=os.path.abspath, default=os.path.join(harness.ROOT, "build"))
    p.add_argument("--load", action="append", choices=LOADS)
    p.add_argument("--configuration", action="append", choices=all_names(), metavar="NAME")
    p.add_argument("--json", default=os.path.join(harness.ROOT, "build", "bench", "nvmove.json"))
    a = p.parse_args()
    a.operations = TRIED
    configure()
    results = []
    try:
        for part in a.part or PARTS:
            PARTS[part](a, results)
    except harness.build.fetch.CannotFetch as e:
        print(f"Redis cannot be fetched here: {e}", file=sys.stderr)
        return 3
    except ycsb.NotMeasured as e:
        print(e, file=sys.stderr)
        return 1
    finally:
        harness.server.kill_all()
        harness.write(a.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
