#!/usr/bin/env python3
"""Kills the ported memcached while 50 clients use its 4 threads, and looks at what is left. Again and again.

usage: kills.py --tree FOLDER --nvmove NVMOVE [--rounds N] [--seed N] [--methods M,N]

FOLDER is what ports/memcached/build.py printed. Each client has keys of its own (oracle.py) and sends
commands of the text and the meta protocol, alone or ten at once. Others walk through all items, start the
crawler and move slab pages. Half of the kills come from the runtime, at a random log append, step of a commit
or step of a recovery, half are SIGKILL at a random moment. Each start expands the hash table, as long as it
is too small for the items that were set first. After each kill all that was acknowledged has to be there,
and no part of a command; the counters, the LRU lists, the hash table and the free chunks have to agree.

Exit status: 0 all right, 1 not; the pool stays then.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import oracle
import server
from oracle import Wrong

CLIENTS = 50
THREADS = 4
ROUNDS_EACH = 12     # with one pool
FILLED = 60000       # items, of which every third goes; a table of 8192 places is expanded twice for them
MOMENT_MAX = 0.4     # seconds
TRIES = 200          # until counters agree, of which some change meanwhile
METHODS, APPENDING = ("undo", "shadow"), ("undo", "latb")  # by default; those that append before a commit
STEPS_MAX = 6000     # of the runtime, until it kills
OPTIONS = ("-t", str(THREADS), "-m", "512", "-o", "hashpower=13,slab_automove=1")
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None


class Client(threading.Thread):
    def __init__(self, number, port, dice, model):
        super().__init__()
        self.number, self.port, self.dice = number, port, dice
        self.name_ = b"%d" % number
        self.models, self.error, self.done, self.cas = [model], None, 0, 0

    def batch(self, connection):
        count = 1 if self.dice.random() < 0.7 else 10
        sent, answers, model = [], [], self.models[-1]
        for _ in range(count):
            asked, answer, change = oracle.one_command(self.dice, model, self.name_)
            model = dict(model)
            change(model)
            self.models.append(model)
            sent.append(asked)
            answers.append(answer)
        connection.send(b"".join(sent))
        for asked, answer in zip(sent, answers):
            line = connection.line()
            if line != answer:
                raise Wrong(f"{asked[:80]!r} is answered {line[:80]!r}, not {answer!r}")
            self.models.pop(0)
            self.done += 1

    def silent(self, connection):
        """Without a reply; the next one tells that it was done."""
        key, value = b"k0:" + self.name_, b"silent%d" % self.dice.randrange(1000)
        model = dict(self.models[-1])
        model[key] = (value, 0, 0)
        self.models.append(model)
        connection.send(oracle.words("set", key, 0, 0, len(value), "noreply", value=value))
        self.read(connection)
        self.models.pop(0)

    def read(self, connection):
        if wrong := oracle.matches(self.models[-1], oracle.read(connection, self.models[-1])):
            raise Wrong(f"{wrong[0].decode()}: {str(wrong[1])[:100]}, the server says {str(wrong[2])[:100]}")

    def compare_and_set(self, connection):
        key, value = b"k%d:" % self.dice.randrange(oracle.KEYS) + self.name_, b"by cas"
        held = connection.gets(key).get(key)
        if not held:
            return
        self.cas = max(self.cas, held[2])
        right = self.dice.random() < 0.7
        model = dict(self.models[-1])
        if right:
            model[key] = (value, 0, 0)
        self.models.append(model)
        line = connection.do("cas", key, 0, 0, len(value), held[2] - (not right), value=value)
        if line != (b"STORED" if right else b"EXISTS"):
            raise Wrong(f"cas of {key!r} is answered {line!r}")
        self.models.pop(0)
        self.done += 1

    def run(self):
        try:
            connection = server.Connection(self.port)
            while True:
                self.dice.choices((self.batch, self.silent, self.read, self.compare_and_set),
                                  (20, 1, 1, 2))[0](connection)
        except (OSError, EOFError):
            pass
        except Wrong as e:
            self.error = e


class Disturber(threading.Thread):
    """Walks, crawls and moves pages; what it is answered does not matter."""

    def __init__(self, port, dice):
        super().__init__()
        self.port, self.dice = port, dice

    def run(self):
        try:
            connection = server.Connection(self.port)
            while True:
                slabs = connection.stats("slabs")
                classes = [int(name.split(":")[0]) for name in slabs if name.endswith("total_pages")]
                roomy = [n for n in classes if int(slabs[f"{n}:total_pages"]) > 2 and
                         int(slabs[f"{n}:free_chunks"]) > 1.2 * int(slabs[f"{n}:chunks_per_page"])]
                if roomy:
                    connection.do("slabs", "reassign", self.dice.choice(roomy), self.dice.choice(classes))
                connection.do("lru_crawler", "crawl", "all")
                connection.stats("items")
                connection.gets(*(b"f%d" % self.dice.randrange(FILLED) for _ in range(100)))
        except (OSError, EOFError, ValueError):
            pass


def walked(connection, how):
    """{key: cas} of all items, by the LRU lists or the hash table."""
    connection.send(oracle.words("lru_crawler", "metadump", how))
    found = {}
    while (line := connection.line()) != b"END":
        if line.startswith((b"BUSY", b"ERROR", b"CLIENT_ERROR")):
            return None
        parts = dict(part.split(b"=", 1) for part in line.split())
        if parts[b"key"] in found and how == "hash":  # among the lists items move meanwhile
            raise Wrong(f"{parts[b'key']!r} is twice in the table")
        found[parts[b"key"]] = int(parts[b"cas"])
    return found


class Campaign:
    def __init__(self, tree, folder, seed, methods):
        self.methods = methods
        self.tree, self.folder, self.dice = tree, folder, random.Random(seed)
        self.pool = os.path.join(folder, "memcached.pool")
        self.inside = self.recovering = self.expanding = self.moving = self.done = 0
        self.renew()

    def renew(self):
        """A fresh pool."""
        if os.path.exists(self.pool):
            os.remove(self.pool)
        self.models, self.cas = [[{}] for _ in range(CLIENTS)], 0
        running = self.start()
        connection = running.wait()
        for first in range(0, FILLED, 1000):
            connection.send(b"".join(oracle.words("set", f"f{n}", 0, 0, 8, "noreply", value=b"%08d" % n)
                                     for n in range(first, first + 1000)))
        connection.send(b"".join(oracle.words("delete", f"f{n}", "noreply") for n in range(0, FILLED, 3)))
        connection.do("version")
        running.kill()

    def start(self, kill=None):
        """`kill`: the runtime is to do so, at a step of this kind, or in a commit or append."""
        method = self.dice.choice(self.methods)
        environment = {"NVMOVE_POOL": self.pool, "NVMOVE_METHOD": method, "NVMOVE_POOL_SIZE": "64M",
                       "NVMOVE_DOMAIN": self.dice.choice(("process", "power"))}
        if kill:
            step = self.dice.choice(("append", "commit")) if method in APPENDING else "commit"
            number = self.dice.randint(20, STEPS_MAX) if kill == "any" else self.dice.randint(1, 3)
            environment["NVMOVE_KILL_AT"] = f"{step if kill == 'any' else kill}:{number}"
        return server.Server(self.tree, self.folder, OPTIONS, environment)

    def check(self, connection, thoroughly):
        stats = connection.stats()
        self.expanding += stats["hash_is_expanding"] == "1"
        self.moving += stats["slab_reassign_running"] == "1"
        self.agree(connection, thoroughly)
        for n in range(CLIENTS):
            self.models[n] = [oracle.check(connection, self.models[n])]
        some = range(FILLED) if thoroughly else self.dice.sample(range(FILLED), 1000)
        keys = [b"f%d" % n for n in some]
        found = oracle.read(connection, keys)
        for n, key in zip(some, keys):
            if (key in found) != bool(n % 3) or n % 3 and found[key]["="] != b"%08d" % n:
                raise Wrong(f"{key!r}, which nobody has changed: {found.get(key)}")
        connection.do("set", "probe", 0, 0, 1, value=b"p")
        cas = connection.gets("probe")[b"probe"][2]
        if cas <= self.cas:
            raise Wrong(f"the cas id {cas} was given before, up to {self.cas}")
        self.cas = cas

    def agree(self, connection, thoroughly):
        """Counters, lists, table and free chunks; again where the crawler was between two answers."""
        for _ in range(TRIES):
            odd = self.disagrees(connection, thoroughly)
            if not odd:
                return
            time.sleep(0.02)
        raise Wrong(odd)

    def disagrees(self, connection, thoroughly):
        items, slabs, stats = (connection.stats(*what) for what in (("items",), ("slabs",), ()))
        count = int(stats["curr_items"])
        listed = sum(int(v) for k, v in items.items() if k.endswith(":number"))
        if listed != count:
            return f"curr_items is {count}, the LRU lists count {listed}"
        asked = sum(int(v) for k, v in items.items() if k.endswith(":mem_requested"))
        if asked != int(stats["bytes"]):
            return f"bytes is {stats['bytes']}, the LRU lists count {asked}"
        if not thoroughly:
            return None
        lists, table = walked(connection, "all"), walked(connection, "hash")
        if lists is None or table is None:
            return "the crawler is busy"
        if lists != table:
            odd = sorted(set(lists.items()) ^ set(table.items()))
            return f"{len(lists)} items in lists, {len(table)} in the table, as {odd[:3]}"
        used = sum(int(v) for k, v in slabs.items() if k.endswith(":used_chunks"))
        chunks = 2 * sum(key.startswith(b"B%3A") for key in lists)
        if stats["slab_reassign_running"] == "1":
            return "a page moves"
        if used != count + chunks:
            return f"{used} chunks are used, by {count} items and {chunks} chunks of large ones"
        return None

    def round(self, thoroughly):
        kill = self.dice.choices((None, "any", "recover"), (45, 45, 10))[0]
        running = self.start(kill)
        try:
            connection = running.wait()
            self.check(connection, thoroughly and not kill)
            clients = [Client(n, running.port, random.Random(self.dice.random()), self.models[n][0])
                       for n in range(CLIENTS)]
        except (server.NotStarted, OSError, EOFError) as e:
            running.kill() if not kill else running.process.wait(timeout=server.SECONDS_MAX)
            if not kill or running.process.returncode != -signal.SIGKILL:
                raise Wrong(f"the server ended with {running.process.returncode} ({e}): {running.said()}")
            self.recovering += kill == "recover"
            self.inside += 1  # while it started, or while we looked
            return
        others = [Disturber(running.port, random.Random(self.dice.random()))]
        for one in (*clients, *others):
            one.start()
        try:
            running.process.wait(timeout=5 * MOMENT_MAX if kill == "any" else self.dice.random() * MOMENT_MAX)
            self.inside += 1
        except subprocess.TimeoutExpired:
            pass
        running.kill()
        for one in (*clients, *others):
            one.join()
        if running.process.returncode != -signal.SIGKILL:
            raise Wrong(f"the server ended with {running.process.returncode}: {running.said()}")
        for client in clients:
            self.models[client.number] = client.models
            self.done += client.done
            self.cas = max(self.cas, client.cas)
            if client.error:
                raise client.error

    def look(self, nvmove):
        """With no kill, all of it; and the pool from outside."""
        running = self.start()
        try:
            self.check(running.wait(), True)
        except (server.NotStarted, OSError, EOFError) as e:
            raise Wrong(f"{e}: {running.said()}")
        finally:
            running.kill()
        made = subprocess.run([nvmove, "pool", "check", self.pool], capture_output=True, text=True)
        if made.returncode:
            raise Wrong(f"nvmove pool check: {(made.stdout + made.stderr).strip()[:500]}")

    def notices_an_old_pool(self, nvmove):
        self.look(nvmove)
        shutil.copyfile(self.pool, self.pool + ".old")
        before = self.done
        while self.done == before:
            self.round(False)
        os.replace(self.pool + ".old", self.pool)
        try:
            self.look(nvmove)
        except Wrong:
            return True
        return False


def run(tree, nvmove, rounds, seed, quiet=False, methods=METHODS):
    """(passed, failed); `quiet`: it should fail."""
    folder = tempfile.mkdtemp(prefix="nvmove-memcached-", dir=FOLDER)
    done = 0
    try:
        campaign = Campaign(tree, folder, seed, methods)
        for done in range(1, rounds + 1):
            campaign.round(done % 4 == 0)
            if done % ROUNDS_EACH == 0:
                campaign.look(nvmove)
                campaign.renew()
        if not campaign.notices_an_old_pool(nvmove):
            raise Wrong("an old pool in place of the last one was not noticed")
    except Wrong as e:
        if quiet:
            shutil.rmtree(folder)
        else:
            print(f"FAILED: kills, round {done} of seed {seed}: {e}\nthe pool is in {folder}")
        return max(done - 1, 0), 1
    finally:
        server.kill_all()
    shutil.rmtree(folder)
    print(f"{rounds} kills survived, {campaign.inside} of them inside the runtime, {campaign.recovering} in "
          f"a recovery, {campaign.expanding} in an expansion of the table, {campaign.moving} while a page "
          f"moved; {campaign.done} acknowledged commands")
    return rounds, 0


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--tree", required=True)
    p.add_argument("--nvmove", required=True)
    p.add_argument("--rounds", type=int, default=50)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--methods", default=",".join(METHODS),
                   help="lat and latb need a server that is built with --flags=--nvmove-redirect")
    a = p.parse_args()
    return 1 if run(os.path.abspath(a.tree), os.path.abspath(a.nvmove), a.rounds, a.seed,
                    methods=a.methods.split(","))[1] else 0


if __name__ == "__main__":
    sys.exit(main())
