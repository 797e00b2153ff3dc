#!/usr/bin/env python3
"""The ported Redis with a pool answers as the same server does without one, whatever is asked of it.

usage: alike.py --src FOLDER [--commands N] [--seed N] [--method NAME]

FOLDER is what ports/redis/build.py printed. Random commands of all types go to both servers, by themselves,
in MULTI/EXEC, from scripts, with wrong arguments, at thresholds that make small values change their
encodings: both have to answer the same, and to hold the same. Every so often the server with
the pool is killed and started again, and has to hold what it held, or the dataset is saved and loaded
(DEBUG RELOAD). Left out: what answers at random, waits, or tells the time.

Exit status: 0 alike, 1 not; the folder stays then.
"""
import argparse
import os
import random
import shutil
import sys
import tempfile

import resp
import server

BATCH = 25           # commands sent at once
KILLED_EVERY = 80    # batches
DATABASES = (1, 0)
LOADED_EVERY = 50
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
SMALL = [
    "--hash-max-ziplist-entries", "5", "--hash-max-ziplist-value", "20", "--zset-max-ziplist-entries", "5",
    "--zset-max-ziplist-value", "20", "--set-max-intset-entries", "5", "--list-max-ziplist-size", "4",
    "--list-compress-depth", "1",
    "--hll-sparse-max-bytes", "200", "--save", ""]
ANY_ORDER = {"KEYS", "SMEMBERS", "SUNION", "SINTER", "SDIFF", "HGETALL", "HKEYS", "HVALS", "SPOP"}


class Different(Exception):
    """What the two said, or held."""


class Grammar:
    """Random commands. Keys are few, and of any type; but Redis itself dies of other strings where it wants a
    HyperLogLog, and makes places of uninitialised memory from scores that GEOADD did not make."""

    def __init__(self, dice):
        self.dice = dice

    def key(self):
        return "%s%d" % (self.dice.choice("slthzb"), self.dice.randrange(5))

    def of(self, kind):
        return self.key() if self.dice.random() < 0.05 else "%s%d" % (kind, self.dice.randrange(5))

    def value(self):
        return self.dice.choice((lambda: str(self.dice.randrange(-20, 20)),
                                 lambda: str(self.dice.randrange(1 << 62)),
                                 lambda: "v%d" % self.dice.randrange(30),
                                 lambda: "x" * self.dice.randrange(60),
                                 lambda: "%.3f" % self.dice.uniform(-9, 9), lambda: "",
                                 lambda: "y" * self.dice.choice((100, 1000, 40000))))()

    def member(self):
        return self.dice.choice(("m%d", "%d", "a member that is quite long %d")) % self.dice.randrange(12)

    def index(self):
        return self.dice.randrange(-8, 8)

    def score(self):
        return self.dice.choice(("%d", "%.2f")) % self.dice.uniform(-50, 50)

    def many(self, make, most=6):
        return [make() for _ in range(self.dice.randint(1, most))]

    def pairs(self, one, other, most=6):
        return [word for _ in range(self.dice.randint(1, most)) for word in (one(), other())]

    def command(self):
        kind = self.dice.choice("slthzbgpk")
        command = getattr(self, "of_" + kind)()
        if self.dice.random() < 0.03 and command[0] != "SPOP" and len(command) > 1:  # one word too few
            command.pop(self.dice.randrange(1, len(command)))
        return command

    def of_s(self):
        k, far = self.of("s"), 100000 + self.dice.randrange(9)
        return self.dice.choice((
            ["SET", k, self.value()], ["SET", k, self.value(), "EX", far], ["SET", k, self.value(), "NX"],
            ["SET", k, self.value(), "XX"], ["SETNX", k, self.value()], ["SETEX", k, far, self.value()],
            ["PSETEX", k, far * 1000, self.value()], ["GET", k], ["GETSET", k, self.value()],
            ["APPEND", k, self.value()], ["STRLEN", k],
            ["SETRANGE", k, self.dice.randrange(50), self.value()],
            ["GETRANGE", k, self.index(), self.index()], ["INCR", k], ["DECR", k],
            ["INCRBY", k, self.value()],
            ["DECRBY", k, self.index()], ["INCRBYFLOAT", k, self.score()],
            ["MSET", *self.pairs(lambda: self.of("s"), self.value)],
            ["MSETNX", *self.pairs(lambda: self.of("s"), self.value, 2)],
            ["MGET", *self.many(lambda: self.of("s"))]))

    def of_l(self):
        k, other = self.of("l"), self.of("l")
        return self.dice.choice((
            ["LPUSH", k, *self.many(self.value)], ["RPUSH", k, *self.many(self.value)],
            ["LPUSHX", k, self.value()],
            ["RPUSHX", k, self.value()], ["LPOP", k], ["RPOP", k], ["RPOPLPUSH", k, other], ["LLEN", k],
            ["LINDEX", k, self.index()], ["LSET", k, self.index(), self.value()], ["LRANGE", k, 0, -1],
            ["LREM", k, self.index(), self.value()], ["LTRIM", k, self.index(), self.index()],
            ["LINSERT", k, self.dice.choice(("BEFORE", "AFTER")), self.value(), self.value()],
            ["SORT", k, "ALPHA", "LIMIT", 0, 5], ["SORT", k, "ALPHA", "DESC", "STORE", other]))

    def of_t(self):
        k, other = self.of("t"), self.of("t")
        return self.dice.choice((
            ["SADD", k, *self.many(self.member)], ["SADD", k, *self.many(self.index)],
            ["SREM", k, *self.many(self.member)],
            ["SISMEMBER", k, self.member()], ["SCARD", k], ["SMEMBERS", k],
            ["SMOVE", k, other, self.member()],
            ["SUNION", k, other], ["SINTER", k, other], ["SDIFF", k, other],
            ["SUNIONSTORE", self.of("t"), k, other],
            ["SINTERSTORE", self.of("t"), k, other], ["SDIFFSTORE", self.of("t"), k, other],
            ["SPOP", k, 1000],
            ["SORT", k, "ALPHA", "STORE", self.of("l")]))

    def of_h(self):
        k = self.of("h")
        return self.dice.choice((
            ["HSET", k, self.member(), self.value()], ["HSETNX", k, self.member(), self.value()],
            ["HMSET", k, *self.pairs(self.member, self.value)], ["HGET", k, self.member()],
            ["HMGET", k, *self.many(self.member)], ["HDEL", k, *self.many(self.member)], ["HLEN", k],
            ["HSTRLEN", k, self.member()], ["HKEYS", k], ["HVALS", k], ["HGETALL", k],
            ["HEXISTS", k, self.member()],
            ["HINCRBY", k, self.member(), self.index()], ["HINCRBYFLOAT", k, self.member(), self.score()]))

    def of_z(self):
        k, other = self.of("z"), self.of("z")
        low, high = sorted((self.dice.randrange(-50, 50), self.dice.randrange(-50, 50)))
        return self.dice.choice((
            ["ZADD", k, *self.pairs(self.score, self.member)],
            ["ZADD", k, "XX", "CH", self.score(), self.member()],
            ["ZADD", k, "INCR", self.score(), self.member()], ["ZINCRBY", k, self.score(), self.member()],
            ["ZREM", k, *self.many(self.member)], ["ZSCORE", k, self.member()], ["ZRANK", k, self.member()],
            ["ZREVRANK", k, self.member()], ["ZCARD", k], ["ZCOUNT", k, low, high],
            ["ZRANGE", k, 0, -1, "WITHSCORES"],
            ["ZREVRANGE", k, self.index(), self.index()], ["ZRANGEBYSCORE", k, low, high, "LIMIT", 0, 3],
            ["ZREMRANGEBYRANK", k, self.index(), self.index()],
            ["ZREMRANGEBYSCORE", k, low, low + 5], ["ZADD", "e", *self.pairs(lambda: 0, self.member)],
            ["ZRANGEBYLEX", "e", "-", "[m5"], ["ZLEXCOUNT", "e", "(m2", "+"],
            ["ZREMRANGEBYLEX", "e", "[m1", "[m2"],
            ["ZUNIONSTORE", self.of("z"), 2, k, self.of("t"), "WEIGHTS", 2, 1],
            ["ZINTERSTORE", self.of("z"), 2, k, other, "AGGREGATE", "MAX"]))

    def of_b(self):
        k, other = self.of("b"), self.of("b")
        at = self.dice.randrange(300)
        return self.dice.choice((
            ["SETBIT", k, at, self.dice.randrange(2)], ["GETBIT", k, at], ["BITCOUNT", k],
            ["BITPOS", k, self.dice.randrange(2)],
            ["BITOP", self.dice.choice(("AND", "OR", "XOR")), self.of("b"), k, other],
            ["BITOP", "NOT", other, k],
            ["BITFIELD", k, "INCRBY", "u5", at, self.index(), "GET", "i8", at, "OVERFLOW", "SAT", "SET",
            "u4", at, 9]))

    def of_g(self):
        k = "g%d" % self.dice.randrange(5)

        def at():
            return "%.4f" % self.dice.uniform(-80, 80)
        return self.dice.choice((
            ["GEOADD", k, *(word for _ in range(self.dice.randint(1, 4)) for word in (at(), at(),
            self.member()))],
            ["GEOHASH", k, *self.many(self.member)], ["GEOPOS", k, self.member()],
            ["GEODIST", k, self.member(), self.member(), "km"],
            ["GEORADIUS", k, at(), at(), 5000, "km", "WITHDIST", "ASC"],
            ["GEORADIUS", k, at(), at(), 9000, "km", "STORE", self.of("z")],
            ["GEORADIUSBYMEMBER", k, self.member(), 8000, "km", "STOREDIST", self.of("z")]))

    def of_p(self):
        def own():
            return "p%d" % self.dice.randrange(5)
        return self.dice.choice((
            ["PFADD", own(), *self.many(self.value, 20)], ["PFCOUNT", own(), own()],
            ["PFMERGE", own(), own(), own()]))

    def of_k(self):
        k, other = self.key(), self.key()
        return self.dice.choice((
            ["DEL", *self.many(self.key, 2)], ["EXISTS", k, other], ["TYPE", k], ["RENAME", k, other],
            ["RENAMENX", k, other],
            ["EXPIRE", k, 100000], ["PEXPIREAT", k, 4102444800000], ["EXPIRE", k, -1], ["PERSIST", k],
            ["KEYS", "*"],
            ["DBSIZE"], ["MOVE", k, 1], ["OBJECT", "ENCODING", k], ["DUMP", k],
            ["PUBLISH", k, self.value()], ["SELECT", 1],
            ["SELECT", 0], ["SELECT", 0], ["FLUSHDB"] if self.dice.random() < 0.1 else ["PING"],
            ["TOUCH", k], ["ECHO", k]))

    def step(self):
        """Commands that belong together."""
        dice = self.dice.random()
        if dice < 0.15:
            queued = self.many(self.command, 5) + [["BLPOP", self.of("l"), 0],
                                                   ["BRPOPLPUSH", self.of("l"), self.of("l"), 0]]
            watched = [["WATCH", self.key()]] if self.dice.random() < 0.3 else []
            return watched + [["MULTI"], *queued, [self.dice.choice(("EXEC", "EXEC", "EXEC", "DISCARD"))]]
        if dice < 0.25:
            command = [w for w in self.command() if w != ""]
            return [["EVAL", "redis.replicate_commands() return redis.pcall(unpack(ARGV))", 0, *command]]
        return [self.command()]


def plain(command, answer):
    """The answer without what may differ."""
    words = [str(w) for w in command]
    name = words[words.index("0") + 1] if words[0] == "EVAL" and len(words) > 3 else words[0]
    if isinstance(answer, resp.Failed):
        return "error", str(answer)
    if name == "DUMP":
        return answer is None  # sets and hashes are in any order
    if isinstance(answer, list) and name == "HGETALL":
        return sorted(zip(answer[::2], answer[1::2]))
    if isinstance(answer, list) and name in ANY_ORDER:
        return sorted(answer, key=str)
    return answer


READ = {b"string": ("GET",), b"list": ("LRANGE", 0, -1), b"set": ("SMEMBERS",), b"hash": ("HGETALL",),
        b"zset": ("ZRANGE", 0, -1, "WITHSCORES")}


def held(client, number):
    """What the database holds, by key: its type and encoding, whether it expires, its value."""
    client.do("SELECT", number)
    keys = client.do("KEYS", "*")
    client.send(*(("TYPE", k) for k in keys), *(("OBJECT", "ENCODING", k) for k in keys),
                *(("TTL", k) for k in keys))
    types, encodings, times = [[client.reply() for _ in keys] for _ in range(3)]
    reads = [[READ[of][0], key, *READ[of][1:]] for key, of in zip(keys, types)]
    client.send(*reads)
    values = [plain(read, client.reply()) for read in reads]
    return {key: (of, encoding, time > 0, value)
            for key, of, encoding, time, value in zip(keys, types, encodings, times, values)}


class Pair:
    def __init__(self, src, folder, method):
        self.src, self.method = src, method
        self.folders = [os.path.join(folder, name) for name in ("pool", "none")]
        for f in self.folders:
            os.mkdir(f)
        self.running, self.clients = [None, None], [None, None]
        for which in (0, 1):
            self.start(which)

    def start(self, which):
        pool = {"NVMOVE_POOL": os.path.join(self.folders[0], "redis.pool"), "NVMOVE_METHOD": self.method}
        self.running[which] = server.Server(self.src, self.folders[which], SMALL, {} if which else pool)
        self.clients[which] = self.running[which].wait()

    def ask(self, steps):
        commands = [c for step in steps for c in step]
        for client in self.clients:
            client.send(*commands)
        queued = None  # of the open MULTI
        for command in commands:
            ours, theirs = [client.reply() for client in self.clients]
            if command[0] == "MULTI":
                queued = []
            elif queued is not None and command[0] not in ("EXEC", "DISCARD"):
                queued.append(command)
                if isinstance(theirs, resp.Failed):
                    queued.pop()
            if command[0] == "EXEC" and isinstance(theirs, list) and isinstance(ours, list):
                ours = [plain(c, a) for c, a in zip(queued, ours)] + [len(ours)]
                theirs = [plain(c, a) for c, a in zip(queued, theirs)] + [len(theirs)]
            if command[0] in ("EXEC", "DISCARD"):
                command, queued = [command[0], *(queued or ())], None
            if plain(command, ours) != plain(command, theirs):
                raise Different(f"{command}: {str(ours)[:300]}, without a pool {str(theirs)[:300]}")

    def compare(self, when):
        for number in DATABASES:
            ours, theirs = [held(client, number) for client in self.clients]
            for key in sorted(set(ours) | set(theirs)):
                if ours.get(key) != theirs.get(key):
                    raise Different(f"{when}: key {key} of database {number} is {str(ours.get(key))[:300]}, "
                                    f"without a pool {str(theirs.get(key))[:300]}")
        for client in self.clients:
            client.do("SELECT", 0)

    def kill(self):
        self.running[0].kill()
        self.start(0)

    def stop(self):
        for running in self.running:
            running.kill()


def run(src, commands, seed, method="shadow"):
    """(passed, failed): batches."""
    folder = tempfile.mkdtemp(prefix="nvmove-alike-", dir=FOLDER)
    grammar, pair, done, sent = Grammar(random.Random(seed)), None, 0, 0
    try:
        pair = Pair(src, folder, method)
        while sent < commands:
            steps = [grammar.step() for _ in range(BATCH)]
            pair.ask(steps)
            sent += sum(map(len, steps))
            pair.compare(f"batch {done}")
            done += 1
            if done % LOADED_EVERY == 0:
                for client in pair.clients:
                    client.do("DEBUG", "RELOAD")
                pair.compare("after a reload")
            if done % KILLED_EVERY == 0:
                pair.kill()
                pair.compare("after a kill")
    except (Different, resp.Failed, server.NotStarted, OSError, EOFError) as e:
        said = pair.running[0].said(600) if pair else ""
        print(f"FAILED: alike, seed {seed}, batch {done}: {e}\n{said}\nin {folder}")
        return done, 1
    finally:
        if pair:
            pair.stop()
    shutil.rmtree(folder)
    print(f"{sent} commands answered alike, with a pool and without")
    return done, 0


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--src", required=True)
    p.add_argument("--commands", type=int, default=100000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--method", default="shadow", choices=("shadow", "undo"))
    a = p.parse_args()
    passed, failed = run(os.path.abspath(a.src), a.commands, a.seed, a.method)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
