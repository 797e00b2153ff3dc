"""Each table and figure of the three papers: what the paper measured, what runs here, how the two compare.

An experiment runs commands that write raw results, and reads rows out of them. A row has a label and a figure
for each column; columns of the paper and ours stand beside each other. Figures of the papers are quoted from
their texts and slides; a figure that is only drawn is quoted by what the text says of it.
"""
import json
import os
import statistics

import lines

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAPERS = {
    "NVMOVE": "NVMOVE: Helping Programmers Move to Byte-Based Persistence (INFLOW 2016), and its slides",
    "Breeze": "Breeze: User-Level Access to Non-Volatile Main Memories for Legacy Software (ICCD 2018)",
    "SCM": "Persisting In-Memory Databases Using SCM (Giles, Doshi, Varman)",
}


class Experiment:
    """`full`, `quick`: argument lists; {cc}, {bin}, {out}, {folder} are filled in. quick None: a quick run
    leaves it out. `minutes`: of both on two cores, without what they build. `axis`: of the chart; "": none is
    drawn."""

    def __init__(self, key, paper, item, asks, columns, quoted, full, quick, minutes, read, differs, axis=""):
        self.axis = axis
        self.key, self.paper, self.item, self.asks = key, paper, item, asks
        self.columns, self.quoted, self.read, self.differs = columns, quoted, read, differs
        self.full, self.quick, self.minutes = full, quick, minutes

    def command(self, is_quick):
        return self.quick if is_quick else self.full

    def rows(self, path):
        """Label -> column -> figure, of the paper and of the raw results at `path` (None: not measured)."""
        found = {label: dict(figures) for label, figures in self.quoted.items()}
        for label, figures in (self.read(path) if path else {}).items():
            found.setdefault(label, {}).update(figures)
        return found


class Missing:
    """What a paper has, and nvmove has no counterpart of yet."""

    def __init__(self, paper, item, why):
        self.paper, self.item, self.why = paper, item, why


def loaded(path):
    with open(path) as f:
        return json.load(f)


def by_line(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def median_of(rounds, key):
    return statistics.median(r[key] for r in rounds)


def shares(seen, base):
    """Of each configuration: the median of its rounds' shares of `base`."""
    return {name: statistics.median(r["rate"] / b["rate"] for r, b in zip(rounds, seen[base]))
            for name, rounds in seen.items() if name != base}


# NVMOVE

def types_found(path):
    found = loaded(path)
    return {"types that hold persistent state": {"nvmove": found["needed"]},
            "of these found": {"nvmove": found["found"]},
            "types reported": {"nvmove": found["reported"]},
            "of these wrong": {"nvmove": found["wrong"]},
            "seconds of the analysis": {"nvmove": round(found["seconds"], 2)}}


def charged_places(path):
    rows = {}
    for each in loaded(path)["results"]:
        if each["types"] == "nvmove":
            kind = "after optimisation" if each["options"] else "as in the source"
            rows[f"places that are charged, {kind}"] = {
                "nvmove": each["loads"] + each["stores"] + each["copies"]}
    return rows


MIX_NAMES = {"90/10": "90 % reads", "50/50": "50 % reads", "10/90": "10 % reads"}
SERVED = {"none": "in memory", "RDB each second": "RDB", "AOF always": "AOF",
          "pcm, worst": "PCM, worst case", "pcm, cached": "PCM, with a cache",
          "sttram, worst": "STT-RAM, worst case", "sttram, cached": "STT-RAM, with a cache"}


def emulated(path):
    rows = {}
    for each in loaded(path)["results"]:
        mix = MIX_NAMES.get(each["load"], each["load"])
        for name, share in shares(each["seen"], "none").items():
            if name in SERVED:
                rows[f"{mix}: {SERVED[name]}"] = {"share here": round(share, 2)}
    return rows


def quoted_throughput():
    """The slides' table of throughputs, as shares of Redis in memory."""
    table = {"PCM, worst case": (28399, 25302, 9759), "STT-RAM, worst case": (41213, 38048, 12155),
             "AOF": (27946, 17612, 6605), "RDB": (46355, 47609, 26605)}
    memory = (50163, 48360, 27156)
    return {f"{mix}: {name}": {"share, NVMOVE": round(rates[n] / memory[n], 2)}
            for n, mix in enumerate(MIX_NAMES.values()) for name, rates in table.items()}


# Breeze

def allocation(path):
    rows = {}
    seen = by_line(path)
    for size in (1024, 2048, 4096):
        figures = {}
        for system, column in (("libpmemobj", "libpmemobj 1.12"), ("undo", "nvmove, undo"),
                               ("shadow", "nvmove, shadow")):
            times = [r["cpu_ns"] for r in seen if r["parameter"] == size and r["system"] == system]
            figures[column] = round(statistics.median(times) / 1000, 2)
        rows[f"{size // 1024} KB"] = figures
    return rows


def moving(path):
    rows = {}
    for each in by_line(path):
        label = f"{each['objects'] >> 20} GB, {each['threads']} thread{'s' * (each['threads'] > 1)}"
        rows[f"{label}: same address"] = {"nvmove": round(each["same_s"], 3)}
        rows[f"{label}: new address"] = {"nvmove": round(each["moved_s"], 2)}
    return rows


def maps(path):
    rows = {}
    for each in loaded(path)["workloads"]:
        if each["threads"] != 1:
            continue
        for operation in ("insert", "update", "read"):
            label = f"{each['structure']}, {each['value_bytes']} B, {operation}"
            base = [r["libpmemobj"][operation][0] for r in each["rounds"]]
            figures = {}
            for system in ("undo", "shadow", "volatile"):
                times = [r[system][operation][0] for r in each["rounds"]]
                column = "plain C, keeps nothing" if system == "volatile" else f"nvmove, {system}"
                figures[column] = round(statistics.median(b / t for b, t in zip(base, times)), 2)
            rows[label] = figures
    return rows


def memcached(path):
    rows = {}
    for each in loaded(path)["results"]:
        if each["part"] == "throughput":
            for name, share in shares(each["seen"], "plain").items():
                label = f"{each['load']}, {each['threads']} worker threads"
                rows.setdefault(label, {})[name] = round(share, 2)
    return rows


# SCM

def fences(path):
    rows = {}
    for each in loaded(path)["results"]:
        if each["part"] == "throughput" and each["pipeline"] == 1:
            for name, column in (("undo, power", "nvmove, undo"), ("shadow, power", "nvmove, shadow")):
                if name in each["seen"]:
                    rows.setdefault(f"{each['load']}: fences a request", {})[column] = round(
                        median_of(each["seen"][name], "fences"), 2)
                    rows.setdefault(f"{each['load']}: log bytes a request", {})[column] = round(
                        median_of(each["seen"][name], "bytes"))
    return rows


BTREE = {"undo": "undo (CoW)", "lat": "lat", "latb": "latb", "shadow": "shadow"}


def btree(path):
    """Times of an insert over those of write-through in the same round."""
    rows = {}
    for each in loaded(path)["rows"]:
        speed = f"{each['rate']:,} a second" if each["rate"] else "back to back"
        memory = "" if each["profile"] == "none" else f", {each['profile']}"
        bound = each["results"]["write-through"]
        rows[f"{each['kind']}, {speed}{memory}"] = {
            column: round(statistics.median(own["ns"] / least["ns"]
                                            for own, least in zip(each["results"][name], bound)), 2)
            for name, column in BTREE.items()}
    return rows


def slower(path):
    """Throughput in slower memory over that in memory as fast as DRAM, of the same round."""
    rows = {}
    for each in loaded(path)["results"]:
        for name, rounds in each["seen"].items():
            if ", " in name:
                method, times = name.split(", ")
                first = each["seen"][f"{method}, 1x"]
                rows.setdefault(f"{each['load']}: writes {times} as long", {})[method] = round(
                    statistics.median(r["rate"] / f["rate"] for r, f in zip(rounds, first)), 2)
    return rows


def redis_shares(path):
    rows = {}
    for each in loaded(path)["results"]:
        if each["part"] in ("throughput", "ycsb"):
            load = each.get("mix") or f"{each['load']}, {each['pipeline']} at a time"
            rows[load] = {name: round(share, 2) for name, share in shares(each["seen"], "none").items()}
    return rows


COMPARE = ["bench/nvmove/compare.py", "--cc", "{cc}", "--json", "{out}", "--folder", "{folder}"]
REDIS = ["bench/redis.py", "--cc", "{cc}", "--json", "{out}", "--folder", "{folder}"]
WRAPPED = ["bench/wrap.py", "--archive", "{bin}/../lib/nvmove/libnvmove.a", "--out", "{out}"]
METHODS = ("undo", "shadow")
BESIDE = ["undo, power", "shadow, power", "AOF everysec", "AOF always", "none again"]


def chosen(names):
    return [word for name in names for word in ("--configuration", name)]


EXPERIMENTS = [
    Experiment(
        "nvmove-table-1", "NVMOVE", "Table 1, and slides 20 to 24",
        "Which types of Redis hold its persistent state, asked with nothing but the name of the load "
        "function.",
        ["NVMOVE", "nvmove"],
        {"types that hold persistent state": {"NVMOVE": 14}, "of these found": {"NVMOVE": 14},
         "types reported": {"NVMOVE": 25}, "of these wrong": {"NVMOVE": 11},
         "seconds of the analysis": {"NVMOVE": 300}},
        ["bench/papers/redis_types.py", "--nvmove", "{bin}/nvmove", "--json", "{out}"],
        ["bench/papers/redis_types.py", "--nvmove", "{bin}/nvmove", "--json", "{out}"], (1, 1), types_found,
        "The paper compares with a list of an industrial team, of Redis 3.2.0. Here the answer sheet of "
        "Redis 3.2.6 in tests/accuracy names 11 types; types that may be listed or not count as neither."),
    Experiment(
        "nvmove-sites", "NVMOVE", "Section 4.2: injected delays",
        "How many places of Redis are charged for slow memory.", ["NVMOVE", "nvmove"],
        {"places that are charged, as in the source": {"NVMOVE": 4000}},
        [*COMPARE, "sites"],
        None, (15, 0), charged_places,
        "The paper transforms sources, and says \"around 4000\". nvmove-cc charges accesses in the "
        "compiler; the set of types is the paper's 25."),
    Experiment(
        "nvmove-figure-2", "NVMOVE", "Figure 2, and the slides' table of throughputs",
        "YCSB on Redis: in memory, with its own persistence, and with its types in emulated memory; as "
        "shares of Redis in memory.",
        ["share, NVMOVE", "share here"], quoted_throughput(),
        [*COMPARE, "ycsb"],
        [*COMPARE, "--rounds", "1",
         "--records", "20000", "--seconds", "1", "--load", "SET 3 B", "benchmark"],
        (40, 2), emulated,
        "The paper's server has 56 cores and an SSD, and clients on other cores; here two cores are shared. "
        "A share of a slow client's throughput is nearer to 1. The paper's model charges each access (worst "
        "case); the other end of the bracket knows a cache. A quick run measures one load of "
        "redis-benchmark instead.",
        "share of the throughput of Redis in memory"),
    Experiment(
        "breeze-table-3", "Breeze", "Table III",
        "Lines of source that must be changed or added; a line of a port file counts as one.",
        ["Breeze", "NVML", "NVM-Direct", "nvmove"],
        {"B+tree": {"Breeze": 18, "NVML": 101, "NVM-Direct": 96},
         "hash table": {"Breeze": 20, "NVML": 45, "NVM-Direct": 77},
         "memcached": {"Breeze": 541, "NVML": 1547}, "MongoDB": {"Breeze": 882, "NVML": 1273}},
        ["bench/papers/lines.py", "--json", "{out}"],
        ["bench/papers/lines.py", "--json", "{out}"], (0.1, 0.1),
        lines.rows,
        "B+tree and hash table are ours (bench/maps), as simple as the paper's; memcached is 1.6.18 here. "
        "MongoDB has no counterpart yet."),
    Experiment(
        "breeze-table-4", "Breeze", "Table IV", "Time of an allocation, in microseconds.",
        ["Breeze", "NVML 1.0", "NVM-Direct", "libpmemobj 1.12", "nvmove, undo", "nvmove, shadow"],
        {"1 KB": {"Breeze": 2.51, "NVML 1.0": 4.74, "NVM-Direct": 16.59},
         "2 KB": {"Breeze": 2.02, "NVML 1.0": 4.76, "NVM-Direct": 16.56},
         "4 KB": {"Breeze": 2.48, "NVML 1.0": 6.01, "NVM-Direct": 16.59}},
        ["{bin}/nvmove-runtime-bench", "--json", "{out}", "alloc"],
        ["{bin}/nvmove-runtime-bench", "--rounds", "1", "--json", "{out}", "alloc"], (2, 0.5), allocation,
        "The paper's memory is emulated by PMEP (100 ns, clwb 40 ns, an eighth of the bandwidth); here a "
        "flush and a fence reach DRAM. libpmemobj is NVML's successor: it says how much of the difference "
        "is the machine. Here an allocation is a whole transaction, which also stores the address in a "
        "slot.",
        "microseconds"),
    Experiment(
        "breeze-table-5", "Breeze", "Table V", "Seconds to open a pool of objects of 1 KB.",
        ["Breeze", "nvmove"],
        {f"{size} GB, {threads} thread{'s' * (threads > 1)}: {where} address": {"Breeze": figure}
         for (size, threads), pair in {(4, 1): (0.62, 18.95), (4, 2): (0.31, 10.58), (8, 1): (0.86, 21.25),
                                       (8, 2): (0.59, 21.08)}.items()
         for where, figure in zip(("same", "new"), pair)},
        ["{bin}/nvmove-runtime-bench", "--json", "{out}", "moving"],
        None, (6, 0), moving,
        "Breeze rebuilds its allocation tables when a pool is opened, and needs a transaction for each "
        "moved pointer. nvmove reads tables when they are first needed, and moves pointers without a log "
        "(runtime/pool/relocate.h). Each object has eight pointers here; the paper does not say."),
    Experiment(
        "breeze-figure-10", "Breeze", "Figure 10: B+tree and hash table",
        "Processor time of an operation: how many times as fast as libpmemobj.",
        ["nvmove, undo", "nvmove, shadow", "plain C, keeps nothing"], {},
        ["bench/maps.py", "--cc", "{cc}", "--threads", "1", "--out", "{out}"],
        ["bench/maps.py", "--cc", "{cc}", "--threads", "1", "--rounds", "1", "--keys", "100000", "--out",
         "{out}"], (6, 1), maps,
        "The figure has no numbers in the text: Breeze is ahead of NVML where half of the operations write, "
        "and about equal where few do. Here each operation is measured on its own, not in YCSB's mixes.",
        "times as fast as libpmemobj"),
    Experiment(
        "breeze-figure-9", "Breeze", "Figure 9: memcached",
        "Throughput, as a share of unmodified memcached.", ["undo, process", "undo, power", "shadow, process",
                                                            "shadow, power", "plain again"], {},
        ["bench/memcached.py", "--cc", "{cc}", "--json", "{out}", "throughput"],
        ["bench/memcached.py", "--cc", "{cc}", "--json", "{out}", "--rounds", "1", "--requests", "50000",
         "--threads", "1", "--configuration", "shadow, power", "throughput"], (30, 2), memcached,
        "The figure has no numbers in the text: both systems are slower than unmodified memcached, and "
        "Breeze is ahead of NVML but for YCSB-B and D. Clients and server share two cores here.",
        "share of the throughput of memcached"),
    Experiment(
        "scm-figure-4", "SCM", "Figure 4: B-tree inserts",
        "Time of an insert into a B-tree of 200,000 elements, by rate and by speed of the memory; as a "
        "multiple of write-through's, which is not failure-atomic.",
        [*BTREE.values()], {},
        [*WRAPPED],
        [*WRAPPED, "--rounds", "1", "--inserts", "20000",
         "--rates", "0", "--profiles", "none,scm-8x"], (8, 0.5), btree,
        "The figure has no numbers in the text. It says: write-through is the fastest, CoW the slowest, "
        "LAT and LATB are alike and in between. Here shadow is a fourth method.",
        "times as long as write-through"),
    Experiment(
        "scm-figures-6-10", "SCM", "Figures 6 and 10: Redis in slower memory",
        "Throughput of SET and of YCSB A when writes to memory take 2, 4 and 8 times as long, as a share "
        "of that with writes as fast as DRAM's.",
        [*METHODS], {},
        ["bench/slow_memory.py", "--cc", "{cc}", "--json", "{out}", "--folder", "{folder}"],
        ["bench/slow_memory.py", "--cc", "{cc}", "--json", "{out}", "--folder", "{folder}", "--rounds", "1",
         "--requests", "20000", "--random-keys", "20000", "set"], (20, 1.5), slower,
        "The figures have no numbers in the text. It says: at 8 times LATB has 60 % more throughput than "
        "CoW, and LAT is like LATB. The ported Redis has undo (which fences before each store, as CoW "
        "does) and shadow.",
        "share of the throughput in memory as fast as DRAM"),
    Experiment(
        "scm-table-1", "SCM", "Table I and Figure 5: operations of a SET",
        "Persistent commits (fences) and log bytes of a SET of Redis, one client request at a time.",
        ["CoW", "LATB", "LAT", "nvmove, undo", "nvmove, shadow"],
        {"SET: fences a request, 1,000,000 keys": {"CoW": 21.64, "LATB": 7.30, "LAT": 5.00}},
        [*REDIS, *chosen(BESIDE[:2]), "--load", "SET 3 B", "--load", "INCR", "--load", "LPUSH",
         "throughput"],
        [*REDIS, *chosen(BESIDE[:2]), "--load", "SET 3 B", "--rounds", "1", "--requests", "20000",
         "--random-keys", "50000", "throughput"], (15, 2), fences,
        "The paper commits each internal update of Redis, five in a SET. The port commits once for each "
        "turn of the event loop: with 50 clients many requests share a fence."),
    Experiment(
        "scm-figure-7", "SCM", "Figure 7: redis-benchmark", "Throughput, as a share of Redis in memory.",
        [*BESIDE], {},
        [*REDIS, *chosen(BESIDE), "throughput"], None, (60, 0), redis_shares,
        "The figure has no numbers in the text. It says: for SET the best method that loses nothing is "
        "LATB; for GET all are close to memory; AOF with a sync for each command is far behind.",
        "share of the throughput of Redis in memory"),
    Experiment(
        "scm-figures-8-11", "SCM", "Figures 8, 9 and 11: YCSB A and B on Redis",
        "Throughput, as a share of Redis in memory.", [*BESIDE], {},
        ["bench/ycsb.py", "--cc", "{cc}", "--json", "{out}", "--folder", "{folder}", *chosen(BESIDE), "A",
         "B"], None, (20, 0), redis_shares,
        "The figures have no numbers in the text. It says: with YCSB A the methods in memory are alike, and "
        "the latency of an update is five times as long with AOF on an SSD; with YCSB B that server is 15 % "
        "behind.",
        "share of the throughput of Redis in memory"),
]

MISSING = [
    Missing("Breeze", "Figure 9 and Table III: MongoDB", "WiredTiger, its storage engine, has no port yet."),
    Missing("SCM", "Figures 5 to 11: Redis with LAT and LATB",
            "Compiled programs have the methods undo and shadow; lat and latb need the functions of "
            "nvmove/wrap.h."),
    Missing("NVMOVE", "Slides: data lost at a crash",
            "nvmove estimate --loses measures it (docs/results/emulation.md)."),
]


def experiments(keys):
    """Those that are named; all where none is. KeyError: one is not there."""
    known = {e.key: e for e in EXPERIMENTS}
    return [known[key] for key in keys] or EXPERIMENTS
