#!/usr/bin/env python3
"""Builds the ported Redis and tests what its users rely on: each test is a function here.

usage: check.py --cc NVMOVE_CC --nvmove NVMOVE [--rounds N] [--commands N] [--one-build] [NAME...]

--rounds: kills of the campaign (kills.py), 50 without; six times as many states after a power failure
(power.py). --commands: random commands of each method (alike.py), 400 times the rounds without.
--one-build: only what needs no other build of Redis than the ported one.

Exit status: 0 all passed, 1 not.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import alike  # noqa: E402
import build  # noqa: E402
import kills  # noqa: E402
import power  # noqa: E402
import server  # noqa: E402

FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
POOL = {"NVMOVE_POOL": "redis.pool", "NVMOVE_METHOD": "shadow"}
BIG = "v" * 100000


class Failed(Exception):
    """What a test found."""


class Skipped(Exception):
    """Why a test is not possible here."""


def expect(what, found, wanted):
    if found != wanted:
        raise Failed(f"{what}: {found!r}, not {wanted!r}")


def wait_until(what, holds):
    end = time.monotonic() + server.SECONDS_MAX
    while not holds():
        if time.monotonic() > end:
            raise Failed(f"{what}: not so after {server.SECONDS_MAX} s")
        time.sleep(0.05)


def fill(client):
    client.do("MSET", "a", "1", "b", BIG)
    client.do("RPUSH", "l", *range(300))
    client.do("SADD", "t", "x", "y", 3)
    client.do("HMSET", "h", "f", "v", "g", BIG)
    client.do("ZADD", "z", 1.5, "one", 2, "two")
    client.do("SET", "e", "soon")
    client.do("PEXPIREAT", "e", kills.FAR)


def expect_filled(client):
    expect("strings", client.do("MGET", "a", "b"), [b"1", BIG.encode()])
    expect("list", client.do("LRANGE", "l", 0, -1), [b"%d" % n for n in range(300)])
    expect("set", sorted(client.do("SMEMBERS", "t")), [b"3", b"x", b"y"])
    expect("hash", client.do("HMGET", "h", "f", "g"), [b"v", BIG.encode()])
    expect("sorted set", client.do("ZRANGE", "z", 0, -1, "WITHSCORES"), [b"one", b"1.5", b"two", b"2"])
    expect("expiry", client.do("PTTL", "e") > 10**10, True)
    expect("keys", client.do("DBSIZE"), 7)


def info(client, name):
    section = client.do("INFO", "nvmove").decode()
    return next(line.split(":", 1)[1] for line in section.split("\r\n") if line.startswith(name + ":"))


def started(src, folder, *options, **environment):
    """The server and a connection."""
    running = server.Server(src, folder, ("--save", "", *options), {**POOL, **environment})
    return running, running.wait()


def test_a_kill_loses_nothing(src, folder):
    running, client = started(src, folder)
    fill(client)
    expect("domain", info(client, "nvmove_domain"), "process")
    running.kill()
    running, client = started(src, folder)
    expect_filled(client)
    expect("pool", info(client, "nvmove_pool"), os.path.join(folder, "redis.pool"))
    running.kill()


def test_without_a_pool_it_is_redis(src, folder):
    running, client = started(src, folder, NVMOVE_POOL="")
    fill(client)
    expect_filled(client)
    expect("section", client.do("INFO", "nvmove"), b"")
    running.kill()
    expect("files", os.path.exists(os.path.join(folder, "redis.pool")), False)


def test_an_existing_dump_is_imported_once(src, folder):
    running, client = started(src, folder, NVMOVE_POOL="")
    fill(client)
    client.do("SAVE")
    running.kill()
    for _ in range(2):
        running, client = started(src, folder)
        expect_filled(client)
        client.do("DEL", "a")
        client.do("SET", "a", "1")
        running.kill()
        if os.path.exists(os.path.join(folder, "dump.rdb")):
            os.remove(os.path.join(folder, "dump.rdb"))


def test_snapshots_with_shadow(src, folder):
    running, client = started(src, folder)
    fill(client)
    for command in (("BGSAVE",), ("BGREWRITEAOF",)):
        client.do(*command)
        while b"in_progress:1" in client.do("INFO", "persistence"):
            client.do("INCR", "n")
    client.do("DEL", "n")
    running.kill()
    os.remove(os.path.join(folder, "redis.pool"))
    running, client = started(src, folder)
    expect("keys at least", client.do("DBSIZE") >= 7, True)
    client.do("DEL", "n")
    expect_filled(client)
    running.kill()


def test_a_script_of_a_client_in_an_aof(src, folder):
    """It takes its digest's place among a loaded command's words, once a rewrite forgot who knows it."""
    # A sync that is slow would put off what is read below.
    running, client = started(src, folder, "--appendonly", "yes", "--appendfsync", "no")
    path = os.path.join(folder, "appendonly.aof")
    add = "return redis.call('incr', KEYS[1])"
    client.do("EVAL", add, 1, "n")
    for _ in range(2):
        client.do("EVALSHA", client.do("SCRIPT", "LOAD", add), 1, "n")
    with open(path, "rb") as f:
        commands = f.read()
    client.do("BGREWRITEAOF")
    while b"in_progress:1" in client.do("INFO", "persistence"):
        time.sleep(0.1)
    with open(path, "wb") as f:
        f.write(commands)
    expect("loaded", client.do("DEBUG", "LOADAOF"), b"OK")
    expect("sum", client.do("GET", "n"), b"3")
    running.kill()


def test_a_large_sorted_set_at_once(src, folder):
    running, client = started(src, folder)
    for words in range(3):
        elements = [word for n in range(1000) for word in (n, f"{words}:{n}")]
        expect("added", client.do("ZADD", f"z{words}", *elements), 1000)
    running.kill()


def test_snapshots_are_refused_with_undo(src, folder):
    running, client = started(src, folder, NVMOVE_METHOD="undo")
    fill(client)
    client.send(("BGSAVE",))
    expect("BGSAVE", isinstance(client.reply(), server.resp.Failed), True)
    expect_filled(client)
    running.kill()
    expect("log", "fork was refused" in running.said(), True)


def refused(src, folder, *words, **environment):
    running = server.Server(src, folder, ("--save", ""), {**POOL, **environment})
    expect("exit status", running.process.wait(timeout=server.SECONDS_MAX), 1)
    for word in words:
        if word not in running.said():
            raise Failed(f"the log does not say {word!r}: {running.said()}")


def test_what_is_wrong_with_the_pool_is_said(src, folder):
    running, client = started(src, folder)
    fill(client)
    refused(src, folder, "redis.pool", "open")
    running.kill()
    pool = os.path.join(folder, "redis.pool")
    shutil.copyfile(pool, pool + ".whole")
    with open(pool, "r+b") as f:
        f.write(b"nothing" * 2000)
    refused(src, folder, "redis.pool")
    os.replace(pool + ".whole", pool)
    running, client = started(src, folder)
    expect_filled(client)
    running.kill()


def fills_and_stops(src, folder, said):
    """A server that finds no room any more ends and says so; the next one has what was acknowledged."""
    running, client = started(src, folder, NVMOVE_POOL_SIZE="16M")
    fill(client)
    kept = 0
    try:
        for kept in range(20000):
            client.do("SET", f"k{kept}", BIG)
    except (OSError, EOFError):
        pass
    running.process.wait(timeout=server.SECONDS_MAX)
    expect("exit status", running.process.returncode != 0, True)
    expect("log", any(said(line) for line in running.said(None).splitlines()), True)
    running, client = started(src, folder)
    expect("keys", client.do("DBSIZE") in (7 + kept, 8 + kept), True)
    expect("the last", client.do("GET", f"k{kept - 1}"), BIG.encode())
    running.kill()


def test_a_full_pool_stops_and_loses_nothing(src, folder):
    fills_and_stops(src, folder, lambda line: line.startswith("nvmove:") or "Out Of Memory" in line)


def test_a_full_disk_stops_and_loses_nothing(src, folder):
    """A folder of 40 MB, as root."""
    if os.geteuid():
        raise Skipped("only root may mount a small file system")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40M", "tmpfs", folder], check=True)
    try:
        fills_and_stops(src, folder,
                        lambda line: line.startswith("nvmove:") and "No space left" in line)
    finally:
        server.kill_all()
        subprocess.run(["umount", folder], check=True)


def test_maxmemory_evicts(src, folder):
    running, client = started(src, folder, "--maxmemory", "40mb", "--maxmemory-policy", "allkeys-lru")
    for n in range(2000):
        client.do("SET", f"k{n}", BIG)
    expect("evicted", client.do("DBSIZE") < 500, True)
    running.kill()
    running, client = started(src, folder)
    expect("the last", client.do("GET", "k1999"), BIG.encode())
    running.kill()


def test_a_node_of_a_cluster_knows_its_keys_by_slot(src, folder):
    def node():
        running, client = started(src, folder, "--cluster-enabled", "yes")
        if b"cluster_slots_assigned:0" in client.do("CLUSTER", "INFO"):
            client.do("CLUSTER", "ADDSLOTS", *range(16384))
        wait_until("the cluster is up", lambda: b"cluster_state:ok" in client.do("CLUSTER", "INFO"))
        return running, client

    running, client = node()
    slot = client.do("CLUSTER", "KEYSLOT", "{tag}")
    for n in range(300):
        client.do("SET", f"{{tag}}{n}", n)
        client.do("SET", f"k{n}", n)
    running.kill()
    for left in (300, 299):
        running, client = node()
        expect("keys", client.do("DBSIZE"), left + 300)
        expect("of the slot", client.do("CLUSTER", "COUNTKEYSINSLOT", slot), left)
        expect("one by one", len(set(client.do("CLUSTER", "GETKEYSINSLOT", slot, 1000))), left)
        client.do("DEL", f"{{tag}}{left - 1}")
        expect("one less", client.do("CLUSTER", "COUNTKEYSINSLOT", slot), left - 1)
        running.kill()
    running, client = node()
    client.do("FLUSHALL")
    client.do("SET", "{tag}", 1)
    expect("after a flush", client.do("CLUSTER", "COUNTKEYSINSLOT", slot), 1)
    running.kill()


# Need more than one build, or count by themselves.
MORE = ("a_rebuilt_server_attaches", "each_command_commits", "a_live_copy", "alike", "kills",
        "power")


def simple():
    return {n[len("test_"):]: f for n, f in globals().items() if n.startswith("test_")}


def check(cc, nvmove, rounds, commands, names=(), one_build=False):
    """(passed, failed, skipped)"""
    tests = simple()
    passed = failed = skipped = 0
    src = build.build(cc, os.path.join(build.THIRD_PARTY, "redis-3.2.6-port"))
    campaigns = [(src, rounds)]
    if not one_build:
        other = build.build(cc, os.path.join(build.THIRD_PARTY, "redis-3.2.6-port-o3"), "-O3 -fPIE -pie")
        tests["a_rebuilt_server_attaches"] = lambda src, folder: rebuilt(src, other, folder)
        tree = os.path.join(build.THIRD_PARTY, "redis-3.2.6-port-command")
        single = build.build(cc, tree, per_command=True)
        tests["each_command_commits"] = lambda _, folder: commits(src, single, folder)
        campaigns.append((single, rounds // 5))
    tests["a_live_copy"] = lambda src, folder: copied(src, nvmove, folder)
    for name, test in tests.items():
        if names and name not in names:
            continue
        folder = tempfile.mkdtemp(prefix="nvmove-redis-", dir=FOLDER)
        try:
            test(src, folder)
            passed += 1
        except Skipped as e:
            skipped += 1
            print(f"skipped: {name}: {e}")
        except Exception as e:
            failed += 1
            print(f"FAILED: {name}: {e if isinstance(e, Failed) else traceback.format_exc()}")
        finally:
            server.kill_all()
            shutil.rmtree(folder, ignore_errors=True)
    if not names or "alike" in names:
        for method in ("shadow", "undo"):
            same, different = alike.run(src, commands, 1, method)
            passed, failed = passed + (same > 0 and not different), failed + different
    if not names or "kills" in names:
        for binaries, count in campaigns:
            survived, lost = kills.run(binaries, nvmove, count, 1)
            passed, failed = passed + survived, failed + lost
    if "power" in names or not (names or one_build):
        right, wrong = power.explore(cc, nvmove, 3, 6 * rounds)
        passed, failed = passed + right, failed + wrong
    return passed, failed, skipped


def copied(src, nvmove, folder):
    """`nvmove pool backup` of the running server, and the copy saved by Redis itself."""
    running, client = started(src, folder)
    fill(client)
    copy = os.path.join(folder, "copy.pool")
    kills.tool(nvmove, "backup", os.path.join(folder, "redis.pool"), copy)
    expect("the server goes on", client.do("INCR", "n"), 1)
    running.kill()
    running, client = started(src, folder, "--dbfilename", "dump.rdb", NVMOVE_POOL=copy, NVMOVE_OPEN="copy")
    expect("saved", client.do("SAVE"), b"OK")
    running.kill()
    running, client = started(src, folder, NVMOVE_POOL="")
    expect_filled(client)
    running.kill()


def commits(src, single, folder):
    """Of a hundred commands sent at once: few in a turn of the event loop; or one each."""
    for binaries, enough in ((src, lambda n: n < 50), (single, lambda n: 100 <= n < 210)):
        running, client = started(binaries, folder)
        before = int(info(client, "nvmove_log_entries"))
        client.send(*(("SET", f"k{n}", "v") for n in range(100)))
        for _ in range(100):
            client.reply()
        made = int(info(client, "nvmove_log_entries")) - before
        expect(f"{made} records for 100 commands is right", enough(made), True)
        running.kill()


def rebuilt(src, other, folder):
    """At another optimisation level, position-independent or not."""
    for binaries in (src, other, src):
        running, client = started(binaries, folder)
        if binaries is src and client.do("DBSIZE") == 0:
            fill(client)
        expect_filled(client)
        client.do("HSET", "h", "f", "v")
        client.do("SADD", "t", "x")
        running.kill()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("name", nargs="*", help="of a test: " + ", ".join((*simple(), *MORE)))
    p.add_argument("--cc", required=True)
    p.add_argument("--nvmove", required=True)
    p.add_argument("--rounds", type=int, default=50)
    p.add_argument("--commands", type=int)
    p.add_argument("--one-build", action="store_true")
    a = p.parse_args()
    for name in a.name:
        if name not in simple() and name not in MORE:
            p.error(f"there is no test {name}; --help lists them")
    try:
        passed, failed, skipped = check(os.path.abspath(a.cc), os.path.abspath(a.nvmove), a.rounds,
                                        a.commands or 400 * a.rounds, a.name, a.one_build)
    except build.fetch.CannotFetch as e:
        print(f"skipped: Redis cannot be fetched here: {e}")
        passed, failed, skipped = 0, 0, 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not (passed or skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
