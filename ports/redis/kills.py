#!/usr/bin/env python3
"""Kills the ported Redis while four writers use it, and looks at what is left. Again and again.

usage: kills.py --src FOLDER --nvmove NVMOVE [--rounds N] [--seed N] [--methods M,N]

FOLDER is what ports/redis/build.py printed. Each writer has a database of its own and keeps a model of it:
strings (some of 40 KB), counters, lists, sets, hashes, sorted sets, deletes, far expiry times, MULTI/EXEC,
FLUSHDB, alone or several at once. Half of the kills come from the runtime itself, at a random log append or
step of a commit, half are SIGKILL at a random moment. The next start has to show each writer's database as
after all that was acknowledged and then some of what was sent, in order, MULTI whole or not at all. Every
few rounds the pool is collected and checked by `nvmove pool`. Last, a pool of some rounds ago is put back,
and the logs of a killed server's pool are emptied, so that nothing is recovered: both have to be noticed, or
the rest is worth nothing.

Exit status: 0 all right, 1 not; the pool stays then.
"""
import argparse
import copy
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading

import resp
import server

WRITERS = 4
COLLECTED_EVERY = 10  # rounds
MOMENT_MAX = 0.4      # seconds
STEPS_MAX = 4000      # of the runtime, until it kills
FAR = 4102444800000   # an expiry time in milliseconds, in the year 2100
CONTROLS_MAX = 40     # kills until one needs its recovery
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None

METHODS, APPENDING = ("undo", "shadow"), ("undo", "latb")  # by default; those that append before a commit


class Wrong(Exception):
    """What a database held after a kill."""


def one_change(dice, keys=12):
    """A command, and what it does to a model: a dictionary of str, list, set, and dict values."""
    n, member = dice.randrange(keys), "m%d" % dice.randrange(40)
    value = "v" * 40000 if dice.random() < 0.02 else "v%d" % dice.randrange(1 << 40)

    def within(key, empty, change):
        def apply(model):
            held = model.setdefault(key, empty())
            change(held)
            if not held:
                del model[key]
        return apply

    def count(model):
        model["c%d" % n] = str(int(model.get("c%d" % n, "0")) + 1)

    def flush(model):
        model.clear()

    return dice.choices([
        (("SET", "s%d" % n, value), lambda m: m.__setitem__("s%d" % n, value)),
        (("INCR", "c%d" % n), count),
        (("APPEND", "s%d" % n, "x"), lambda m: m.__setitem__("s%d" % n, m.get("s%d" % n, "") + "x")),
        (("RPUSH", "l%d" % n, value), within("l%d" % n, list, lambda h: h.append(value))),
        (("LPOP", "l%d" % n), within("l%d" % n, list, lambda h: h and h.pop(0))),
        (("SADD", "t%d" % n, member), within("t%d" % n, set, lambda h: h.add(member))),
        (("SREM", "t%d" % n, member), within("t%d" % n, set, lambda h: h.discard(member))),
        (("HSET", "h%d" % n, member, value), within("h%d" % n, dict, lambda h: h.__setitem__(member, value))),
        (("HDEL", "h%d" % n, member), within("h%d" % n, dict, lambda h: h.pop(member, None))),
        (("ZADD", "z%d" % n, n, member), within("z%d" % n, dict, lambda h: h.__setitem__(member, str(n)))),
        (("ZREM", "z%d" % n, member), within("z%d" % n, dict, lambda h: h.pop(member, None))),
        (("DEL", "s%d" % n), lambda m: m.pop("s%d" % n, None)),
        (("SET", "k%s" % value[:20], member), lambda m: m.__setitem__("k%s" % value[:20], member)),
        (("PEXPIREAT", "s%d" % n, FAR), lambda m: None),
        (("FLUSHDB",), flush),
    ], weights=[8, 8, 3, 8, 4, 8, 3, 8, 3, 8, 3, 3, 12, 3, 0.05])[0]


def one_step(dice):
    """Commands that take effect together, and the change."""
    if dice.random() < 0.8:
        command, change = one_change(dice)
        return [command], change
    parts = [one_change(dice) for _ in range(dice.randint(2, 5))]

    def all_of_them(model):
        for _, change in parts:
            change(model)
    return [("MULTI",), *(command for command, _ in parts), ("EXEC",)], all_of_them


class Writer(threading.Thread):
    def __init__(self, number, port, dice, model):
        super().__init__()
        self.number, self.port, self.dice = number, port, dice
        self.model, self.sent, self.error, self.steps = model, [], None, 0

    def run(self):
        try:
            connection = resp.Connection(self.port)
            connection.do("SELECT", self.number)
            while True:
                steps = [one_step(self.dice) for _ in range(1 if self.dice.random() < 0.7 else 10)]
                self.sent = [change for _, change in steps]
                connection.send(*(c for commands, _ in steps for c in commands))
                for commands, change in steps:
                    for answer in [connection.reply() for _ in commands]:
                        if isinstance(answer, resp.Failed):
                            raise Wrong(f"{commands}: {answer}")
                    change(self.model)
                    self.sent.pop(0)
                    self.steps += 1
        except (OSError, EOFError):
            pass
        except Wrong as e:
            self.error = e


def text(answer):
    """What a broken pool answers, too: bytes that are no text, or nothing where there was a key."""
    return "nothing" if answer is None else answer.decode(errors="backslashreplace")


def held(connection, number):
    """The database as a model."""
    connection.do("SELECT", number)
    read = {"s": ("GET",), "c": ("GET",), "k": ("GET",), "l": ("LRANGE", 0, -1), "t": ("SMEMBERS",),
            "h": ("HGETALL",), "z": ("ZRANGE", 0, -1, "WITHSCORES")}
    model = {}
    for key in sorted(text(k) for k in connection.do("KEYS", "*")):
        if key[:1] not in read:
            raise Wrong(f"database {number} holds a key {key[:80]!r} that nobody sent")
        name, *rest = read[key[0]]
        value = connection.do(name, key, *rest)
        if isinstance(value, list):
            value = [text(v) for v in value]
            model[key] = (value if name == "LRANGE" else set(value) if name == "SMEMBERS" else
                          dict(zip(value[::2], value[1::2])))
        else:
            model[key] = text(value)
    if connection.do("DBSIZE") != len(model):
        raise Wrong(f"database {number}: DBSIZE is not the number of keys")
    return model


def compare(connection, number, model, sent):
    """Gives the model that the database agrees with."""
    found = held(connection, number)
    candidate = copy.deepcopy(model)
    for change in [None, *sent]:
        if change:
            change(candidate)
        if candidate == found:
            return found
    keys = [k for k in sorted(set(model) | set(found)) if model.get(k) != found.get(k)]
    raise Wrong(f"database {number} is not what was acknowledged, with {len(sent)} steps in flight: "
                f"{len(keys)} keys, first {keys[0]}: acknowledged {str(model.get(keys[0]))[:80]}, "
                f"found {str(found.get(keys[0]))[:80]}")


def tool(nvmove, *arguments, environment=None):
    made = subprocess.run([nvmove, "pool", *arguments], capture_output=True, text=True, errors="replace",
                          env={**os.environ, **(environment or {})})
    if made.returncode:
        raise Wrong(f"nvmove pool {' '.join(arguments)}: {(made.stdout + made.stderr).strip()[:500]}")


def empty_logs(path):
    """All frames of all logs (docs/internals/pool-format.md): nothing will be undone or replayed."""
    slots, slot, header = 0x4000, 16, 64
    with open(path, "r+b") as f:
        f.seek(slots)
        firsts = [at for at in struct.unpack("<2048Q", f.read(1024 * slot)) if at]
        for at in firsts:
            while at:
                f.seek(at)
                _, following, _, size = struct.unpack("<4Q", f.read(32))
                f.seek(at + header)
                f.write(bytes(size - header))
                at = following


class Campaign:
    def __init__(self, src, nvmove, folder, seed, methods=METHODS):
        self.methods = methods
        self.src, self.nvmove, self.folder = src, nvmove, folder
        self.dice = random.Random(seed)
        self.pool = os.path.join(folder, "redis.pool")
        self.models = [{} for _ in range(WRITERS)]
        self.sent = [[] for _ in range(WRITERS)]
        self.inside = self.steps = 0

    def start(self, inside=False, method=None):
        """`inside`: the runtime is to kill it. Methods that keep old bytes append before a commit."""
        method = method or self.dice.choice(self.methods)
        environment = {"NVMOVE_POOL": self.pool, "NVMOVE_METHOD": method,
                       "NVMOVE_DOMAIN": self.dice.choice(("process", "power"))}
        if inside:
            step = self.dice.choice(("append", "commit")) if method in APPENDING else "commit"
            environment["NVMOVE_KILL_AT"] = f"{step}:{self.dice.randint(50, STEPS_MAX)}"
        return server.Server(self.src, self.folder, ("--save", ""), environment)

    def check(self, connection):
        try:
            for n in range(WRITERS):
                self.models[n] = compare(connection, n, self.models[n], self.sent[n])
                self.sent[n] = []
        except resp.Failed as e:
            raise Wrong(f"the server answers: {e}")

    def round(self, method=None):
        """With a `method` the runtime does the killing."""
        inside = method is not None or self.dice.random() < 0.55
        running = self.start(inside, method)
        try:
            connection = running.wait()
        except server.NotStarted:
            if running.process.returncode != -signal.SIGKILL:
                raise Wrong(running.said())
            self.inside += 1  # while it started
            return
        try:
            self.check(connection)
        except (OSError, EOFError) as e:
            if not inside or running.ended() != -signal.SIGKILL:
                raise Wrong(f"the server went away ({e}): {running.said()}")
            self.inside += 1  # while we looked: a client writes, too
            return
        seeds = [self.dice.random() for _ in range(WRITERS)]
        writers = [Writer(n, running.port, random.Random(seeds[n]), self.models[n]) for n in range(WRITERS)]
        for w in writers:
            w.start()
        try:
            running.process.wait(timeout=10 * MOMENT_MAX if inside else self.dice.random() * MOMENT_MAX)
            self.inside += 1
        except subprocess.TimeoutExpired:
            pass
        running.kill()
        for w in writers:
            w.join()
            self.sent[w.number] = w.sent
            self.steps += w.steps
            if w.error:
                raise w.error
        if running.process.returncode != -signal.SIGKILL:
            raise Wrong(f"the server ended with {running.process.returncode}: {running.said()}")

    def look(self):
        running = self.start()
        try:
            self.check(running.wait())
        except (server.NotStarted, OSError, EOFError) as e:
            raise Wrong(f"{e}: {running.said()}")
        finally:
            running.kill()

    def collect(self):
        tool(self.nvmove, "gc", self.pool)
        tool(self.nvmove, "check", self.pool)
        tool(self.nvmove, "leaks", self.pool)

    def notices_an_old_pool(self):
        old = self.pool + ".old"
        self.look()
        shutil.copyfile(self.pool, old)
        before = self.steps
        while self.steps == before:
            self.round()
        os.replace(old, self.pool)
        try:
            self.look()
        except Wrong:
            return True
        return False

    def notices_that_nothing_is_recovered(self):
        """With undo, whose recovery takes back what a kill left half done."""
        kept = self.pool + ".kept"
        for _ in range(CONTROLS_MAX):
            self.round(method="undo")
            shutil.copyfile(self.pool, kept)
            models, sent = copy.deepcopy(self.models), list(self.sent)
            empty_logs(self.pool)
            try:
                self.look()
            except Wrong:
                return True
            self.models, self.sent = models, sent
            os.replace(kept, self.pool)
        return False


def run(src, nvmove, rounds, seed, methods=METHODS):
    """(passed, failed)"""
    folder = tempfile.mkdtemp(prefix="nvmove-redis-", dir=FOLDER)
    campaign = Campaign(src, nvmove, folder, seed, methods)
    done = 0
    try:
        for done in range(1, rounds + 1):
            campaign.round()
            if done % COLLECTED_EVERY == 0:
                campaign.collect()
        campaign.look()
        if not campaign.notices_an_old_pool():
            raise Wrong("an old pool in place of the last one was not noticed")
        control = Campaign(src, nvmove, tempfile.mkdtemp(dir=folder), seed)
        if not control.notices_that_nothing_is_recovered():
            raise Wrong(f"{CONTROLS_MAX} kills without recovery were not noticed")
    except Wrong as e:
        print(f"FAILED: kills, round {done} of seed {seed}: {e}\nthe pool is in {folder}")
        return done - 1, 1
    shutil.rmtree(folder)
    print(f"{rounds} kills survived, {campaign.inside} of them inside the runtime, "
          f"{campaign.steps} acknowledged steps")
    return rounds, 0


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--src", required=True)
    p.add_argument("--nvmove", required=True)
    p.add_argument("--rounds", type=int, default=50)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--methods", default=",".join(METHODS),
                   help="lat and latb need a server that is built with --flags=--nvmove-redirect")
    a = p.parse_args()
    return 1 if run(os.path.abspath(a.src), os.path.abspath(a.nvmove), a.rounds, a.seed,
                    a.methods.split(","))[1] else 0


if __name__ == "__main__":
    sys.exit(main())
