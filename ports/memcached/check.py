#!/usr/bin/env python3
"""Builds the ported memcached and tests what its users rely on: each test is a function here.

usage: check.py --cc NVMOVE_CC --nvmove NVMOVE [--rounds N] [--long] [NAME...]

--rounds: kills of the campaign (kills.py), 30 without, 500 with --long. --long: each test with both methods,
not with one in turn; a server that answers before it commits, which the campaign has to notice; and
memcached's own tests (suite.py).

Exit status: 0 all passed, 1 not.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import build  # noqa: E402
import kills  # noqa: E402
import server  # noqa: E402
import suite  # noqa: E402

FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
METHODS = ("undo", "shadow")
LARGE = b"l" * 700000        # three chunks and more
CONTROL_ROUNDS = 60          # kills until a late commit point is noticed


class Failed(Exception):
    """What a test found."""


def expect(what, found, wanted):
    if found != wanted:
        raise Failed(f"{what}: {str(found)[:200]}, not {str(wanted)[:200]}")


def wait_until(what, holds):
    end = time.monotonic() + server.SECONDS_MAX
    while not holds():
        if time.monotonic() > end:
            raise Failed(f"{what}: not so after {server.SECONDS_MAX} s")
        time.sleep(0.05)


class Place:
    """A folder with a pool, and servers of it one after the other."""

    def __init__(self, tree, folder, method):
        self.tree, self.folder, self.method, self.running = tree, folder, method, None

    def start(self, *options, **environment):
        self.running = server.Server(self.tree, self.folder, ("-t", "4", *options),
                                     {"NVMOVE_POOL": "memcached.pool", "NVMOVE_METHOD": self.method,
                                      **environment})
        return self.running.wait()

    def again(self, *options, **environment):
        """Killed, and started."""
        self.running.kill()
        return self.start(*options, **environment)


def put(client, key, value, flags=0, end=0):
    expect(f"set of {key}", client.do("set", key, flags, end, len(value), value=value), b"STORED")


def fill(client, first, last, size=100):
    for start in range(first, last, 500):
        keys = range(start, min(start + 500, last))
        client.send(b"".join(server.request("set", f"f{n}", 0, 0, size, "noreply", value=b"%0*d" % (size, n))
                             for n in keys))
    client.do("version")


def expect_filled(client, numbers, size=100):
    numbers = list(numbers)
    for start in range(0, len(numbers), 100):
        part = numbers[start:start + 100]
        found = client.gets(*(f"f{n}" for n in part))
        for n in part:
            expect(f"f{n}", found.get(b"f%d" % n, (None,))[0], b"%0*d" % (size, n))


def used(client):
    return sum(int(v) for k, v in client.stats("slabs").items() if k.endswith(":used_chunks"))


def test_a_kill_loses_nothing(place):
    client = place.start()
    put(client, "a", b"hello", flags=7)
    put(client, "l", LARGE)
    put(client, "n", b"41")
    expect("incr", client.do("incr", "n", 1), b"42")
    expect("append", client.do("append", "a", 0, 0, 1, value=b"!"), b"STORED")
    put(client, "gone", b"x")
    expect("delete", client.do("delete", "gone"), b"DELETED")
    before = client.gets("a", "n", "l", "gone")
    for _ in range(2):
        client = place.again()
        expect("values, flags and cas ids", client.gets("a", "n", "l", "gone"), before)
        expect("items", client.stats()["curr_items"], "3")


def test_cas_ids_go_on(place):
    client = place.start()
    put(client, "a", b"1")
    put(client, "b", b"1")
    last = client.gets("b")[b"b"][2]
    client.do("delete", "b")
    client = place.again()
    put(client, "b", b"2")
    expect("the next id is larger", client.gets("b")[b"b"][2] > last, True)
    expect("cas with the old id", client.do("cas", "b", 0, 0, 1, last, value=b"3"), b"EXISTS")
    held = client.gets("a")[b"a"][2]
    expect("cas with the right one", client.do("cas", "a", 0, 0, 1, held, value=b"3"), b"STORED")


def test_time_passes_while_it_is_down(place):
    client = place.start()
    put(client, "soon", b"x", end=3)
    put(client, "late", b"x", end=100)
    put(client, "at", b"x", end=int(time.time()) + 100)
    begun = time.monotonic()
    place.running.kill()
    time.sleep(4)
    client = place.start()
    expect("expired", client.get("soon"), None)
    for key in ("late", "at"):
        left = int(client.mg(key, "t")["t"])
        expect(f"{key} has {left} s left", abs(left - (100 - (time.monotonic() - begun))) < 2.5, True)


def test_a_flush_stays(place):
    client = place.start()
    put(client, "a", b"1")
    time.sleep(1.1)
    expect("flush_all", client.do("flush_all"), b"OK")
    client = place.again()
    expect("flushed", client.get("a"), None)
    put(client, "b", b"1")
    expect("flush_all in time", client.do("flush_all", 3), b"OK")
    client = place.again()
    expect("not yet", client.get("b"), b"1")
    time.sleep(4.5)
    expect("now", client.get("b"), None)
    put(client, "c", b"1")
    client = place.again()
    expect("set behind it", client.get("c"), b"1")


def test_options_that_the_pool_was_made_with(place):
    """Slab classes and the hash function are the pool's, whatever the command line says."""
    client = place.start("-m", "200", "-f", "1.5", "-I", "2m", "-o", "hash_algorithm=jenkins")
    fill(client, 0, 3000)
    put(client, "l", LARGE * 2)
    client = place.again("-m", "64", "-f", "1.2", "-n", "96", "-o", "hash_algorithm=murmur3")
    expect_filled(client, range(3000))
    expect("a large one", client.get("l"), LARGE * 2)
    put(client, "m", LARGE * 2)
    fill(client, 3000, 6000)
    client = place.again()
    expect_filled(client, range(6000))


def test_what_a_connection_held_is_free(place):
    """A value that is read half, one that is written half: no chunk is lost, none stays in use."""
    client = place.start("-m", "300")
    for n in range(20):
        put(client, f"l{n}", LARGE)
    reader, writer = (server.Connection(place.running.port) for _ in range(2))
    reader.send(server.request("get", *(f"l{n}" for n in range(20))))
    writer.send(server.request("set", "half", 0, 0, len(LARGE)) + LARGE[:600000])
    wait_until("half a value is there", lambda: used(client) > 61)
    fill(client, 0, 3000)
    client = place.again("-m", "300")
    expect("chunks in use", used(client), 3000 + 60)
    for n in range(20):
        expect("delete", client.do("delete", f"l{n}"), b"DELETED")
    wait_until("3000 chunks are in use", lambda: used(client) == 3000)  # a thread may look at one yet
    expect("half", client.get("half"), None)


def test_the_oldest_go_first(place):
    """A full cache evicts, before a kill and behind it."""
    client = place.start("-m", "8")
    fill(client, 0, 20000, 1000)
    kept = int(client.stats()["curr_items"])
    expect("evicted", kept < 10000, True)
    client = place.again("-m", "8")
    expect("items", client.stats()["curr_items"], str(kept))
    fill(client, 20000, 25000, 1000)
    expect("evicted again", int(client.stats()["curr_items"]) < 10000, True)
    expect("the last one", client.get("f24999"), b"%01000d" % 24999)


def test_a_page_that_moves(place):
    """It moves on after a kill; nothing that is in it is lost."""
    client = place.start("-m", "100", "-o", "no_lru_crawler,no_slab_automove")
    fill(client, 0, 60000)
    left = [n for n in range(60000) if n % 3 == 0]
    client.send(b"".join(server.request("delete", f"f{n}", "noreply") for n in range(60000) if n % 3))
    fill(client, 100000, 100200, 1000)
    slabs = client.stats("slabs")
    source, target = sorted({int(k.split(":")[0]) for k in slabs if k.endswith("used_chunks")})[:2]
    moving = 0
    for n in range(6):
        client.do("slabs", "reassign", source, target)
        time.sleep(0.002 * n)
        client = place.again("-m", "100", "-o", "no_lru_crawler,no_slab_automove")
        moving += client.stats()["slab_reassign_running"] == "1"
        expect_filled(client, left)
        wait_until("the page has moved", lambda: client.stats()["slab_reassign_running"] == "0")
        expect_filled(client, left)
        expect("items", client.stats()["curr_items"], str(len(left) + 200))
        expect("chunks", used(client), len(left) + 200)
    expect("kills while a page moved", moving > 0, True)


def test_without_a_pool_it_is_memcached(place):
    client = place.start(NVMOVE_POOL="")
    put(client, "a", b"1")
    expect("a", client.get("a"), b"1")
    client = place.again(NVMOVE_POOL="")
    expect("nothing is kept", client.get("a"), None)
    expect("files", os.path.exists(os.path.join(place.folder, "memcached.pool")), False)


def test_a_daemon_keeps_its_pool(place):
    pid = os.path.join(place.folder, "pid")
    place.running = server.Server(place.tree, place.folder, ("-d", "-P", pid),
                                  {"NVMOVE_POOL": os.path.join(place.folder, "memcached.pool"),
                                   "NVMOVE_METHOD": place.method})
    expect("exit status", place.running.process.wait(timeout=server.SECONDS_MAX), 0)
    wait_until("the daemon is there", lambda: os.path.exists(pid) and os.path.getsize(pid))
    with open(pid) as f:
        number = int(f.read())
    try:
        client = server.Connection(place.running.port)
        put(client, "a", b"1")
    finally:
        os.kill(number, 9)
    wait_until("it is gone", lambda: not os.path.exists(f"/proc/{number}"))
    expect("a", place.start().get("a"), b"1")


def tests():
    return {n[len("test_"):]: f for n, f in globals().items() if n.startswith("test_")}


MORE = ("kills", "a_late_commit_is_noticed")


def one(name, test, tree, method):
    """Whether it passes."""
    folder = tempfile.mkdtemp(prefix="nvmove-memcached-", dir=FOLDER)
    place = Place(tree, folder, method)
    try:
        test(place)
        return True
    except Exception as e:
        print(f"FAILED: {name}, {method}: {e if isinstance(e, Failed) else traceback.format_exc()}")
        if place.running:
            print(place.running.said())
        return False
    finally:
        server.kill_all()
        shutil.rmtree(folder, ignore_errors=True)


def late_is_noticed(cc, nvmove):
    """With a reply before its commit the campaign has to fail, or it is worth nothing."""
    with open(os.path.join(HERE, "memcached.nvmove.yaml")) as f:
        text = f.read()
    port = os.path.join(build.THIRD_PARTY, "late.nvmove.yaml")
    with open(port, "w") as f:
        f.write(text.replace("[transmit, transmit_udp, settle,", "[settle,"))
    tree = build.build(cc, build.TREE + "-late", port=port, programs=("memcached",))
    return kills.run(tree, nvmove, CONTROL_ROUNDS, 1, quiet=True)[1] > 0


def check(cc, nvmove, rounds, names=(), long=False):
    """(passed, failed, skipped)"""
    passed = failed = skipped = 0
    tree = build.build(cc, programs=("memcached",))
    for number, (name, test) in enumerate(tests().items()):
        if names and name not in names:
            continue
        for method in METHODS if long or names else METHODS[number % 2:][:1]:
            good = one(name, test, tree, method)
            passed, failed = passed + good, failed + (not good)
    if not names or "kills" in names:
        survived, lost = kills.run(tree, nvmove, rounds, 1)
        passed, failed = passed + survived, failed + lost
    if long or "a_late_commit_is_noticed" in names:
        noticed = late_is_noticed(cc, nvmove)
        passed, failed = passed + noticed, failed + (not noticed)
        print("" if noticed else "FAILED: a reply before its commit was not noticed")
    for method in METHODS if long else ():
        good, bad, not_run = suite.run(cc, method=method)
        passed, failed, skipped = passed + good, failed + bad, skipped + not_run
    return passed, failed, skipped


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("name", nargs="*", help="of a test: " + ", ".join((*tests(), *MORE)))
    p.add_argument("--cc", required=True)
    p.add_argument("--nvmove", required=True)
    p.add_argument("--rounds", type=int)
    p.add_argument("--long", action="store_true")
    a = p.parse_args()
    for name in a.name:
        if name not in tests() and name not in MORE:
            p.error(f"there is no test {name}; --help lists them")
    rounds = a.rounds or (500 if a.long else 30)
    try:
        passed, failed, skipped = check(os.path.abspath(a.cc), os.path.abspath(a.nvmove), rounds, a.name,
                                        a.long)
    except build.fetch.CannotFetch as e:
        print(f"skipped: memcached cannot be fetched here: {e}")
        passed, failed, skipped = 0, 0, 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
