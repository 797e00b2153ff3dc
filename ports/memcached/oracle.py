"""A client of the kill tests, and what its keys have to be afterwards.

Each client has keys of its own, so it knows what each command answers. A model is a dictionary: key to
(value, flags, end), where end is the time at which it expires, or 0. What is sent and not answered yet is
a list of models, one for each command: a server that was killed has the last answered one or one of these.
"""
import time

import server

FAR = 3600        # seconds until a touched key expires
SOON = 1          # and until a key expires that nobody reads before
SLACK = 2.5       # seconds by which clocks of whole seconds may differ
BIG = 600000      # bytes of a value of several chunks
KEYS = 10
SHORTENED = 10**12    # a number that is less has a digit less


class Wrong(Exception):
    """What a server answered, or has."""


def words(*parts, value=None):
    return server.request(*parts, value=value)


def stored(key, value, flags=0, end=0):
    return lambda model: model.__setitem__(key, (value, flags, end))


def valued(dice, key):
    if key.startswith(b"B"):
        return bytes([dice.randrange(97, 123)]) * BIG
    size = dice.choice((1, 8, 30, 100)) if dice.random() < 0.97 else 40000
    return b"%x" % dice.getrandbits(40) + b"v" * size


def one_set(dice, model, key, verb):
    """set, add, replace, append, prepend, and ms in its modes: (request, answer, change)."""
    value, flags = valued(dice, key), dice.choice((0, 7))
    held = model.get(key)
    done = {"set": True, "add": not held}.get(verb, bool(held))
    after = (value, flags, 0)
    if verb == "append" and held:
        value = value[:30]
        after = (held[0] + value, *held[1:])
    elif verb == "prepend" and held:
        value = value[:30]
        after = (value + held[0], *held[1:])
    if len(after[0]) > 500000 and verb in ("append", "prepend"):
        verb, done, after = "set", True, (value, flags, 0)
    if dice.random() < 0.3:
        mode = {"set": "MS", "add": "ME", "replace": "MR", "append": "MA", "prepend": "MP"}[verb]
        asked = words("ms", key, len(value), "T0", f"F{flags}", mode, value=value)
        answer = b"HD" if done else b"NS"
    else:
        asked = words(verb, key, flags, 0, len(value), value=value)
        answer = b"STORED" if done else b"NOT_STORED"
    return asked, answer, (lambda m: m.__setitem__(key, after)) if done else lambda m: None


def one_number(dice, model, key):
    """incr, decr and ma: g: becomes a digit longer, n: a digit shorter and longer again."""
    held = model.get(key)
    if held is None:
        value = b"9" if key.startswith(b"g") else b"%d" % (SHORTENED + dice.randrange(200))
        return words("set", key, 0, 0, len(value), value=value), b"STORED", stored(key, value)
    by = dice.randrange(1, 100)
    if dice.random() < 0.3 and not key.startswith(b"g"):
        after = b"%d" % (int(held[0]) - by)
        return words("decr", key, by), after, stored(key, after, *held[1:])
    after = b"%d" % (int(held[0]) + by)
    if dice.random() < 0.3:
        return words("ma", key, f"D{by}"), b"HD", stored(key, after, *held[1:])
    return words("incr", key, by), after, stored(key, after, *held[1:])


def one_command(dice, model, name):
    """(request, its answer's first line, change of the model)."""
    key = b"k%d:" % dice.randrange(KEYS) + name
    kind = dice.random()
    if kind < 0.5:
        verb = dice.choices(("set", "add", "replace", "append", "prepend"), (10, 3, 3, 4, 2))[0]
        if dice.random() < 0.01:
            return one_set(dice, model, b"B:" + name, "set")
        return one_set(dice, model, key, verb)
    if kind < 0.65:
        return one_number(dice, model, dice.choice((b"n:", b"g:")) + name)
    if kind < 0.75:
        there = key in model
        answers = (b"DELETED", b"NOT_FOUND") if (classic := dice.random() < 0.7) else (b"HD", b"NF")
        return (words("delete" if classic else "md", key), answers[not there], lambda m: m.pop(key, None))
    if kind < 0.85:
        held, end = model.get(key), time.time() + FAR
        return (words("touch", key, FAR), b"TOUCHED" if held else b"NOT_FOUND",
                stored(key, *held[:2], end) if held else lambda m: None)
    if kind < 0.9:
        soon = b"e%d:" % dice.randrange(KEYS) + name
        return words("set", soon, 0, SOON, 1, value=b"x"), b"STORED", stored(soon, b"x", 0,
                                                                           time.time() + SOON)
    new = b"u%x:" % dice.getrandbits(60) + name
    return words("set", new, 0, 0, 4, value=b"once"), b"STORED", stored(new, b"once")


def matches(model, found):
    """The first difference, or None; `found`: what mg says of each key. A key whose end is near may be
    there or not, and one behind its end is not."""
    now = time.time()
    for key in set(model) | set(found):
        held, has = model.get(key), found.get(key)
        if held and held[2] and abs(held[2] - now) < SLACK:
            continue
        if held and held[2] and held[2] < now:
            held = None
        if (held is None) != (has is None):
            return key, held, has
        if not held:
            continue
        left = int(has["t"]) if has["t"] != b"-1" else 0
        same_end = abs(left - (held[2] - now)) < SLACK if held[2] else not left
        value = has["="]
        if key.startswith(b"n:") and len(value) == len(b"%d" % SHORTENED):
            value = value.rstrip(b" ")    # a number that became shorter keeps its length
        if held[0] != value or held[1] != int(has["f"]) or not same_end:
            return key, held, has
    return None


def read(connection, keys):
    """What mg says of each, all asked at once in parts."""
    found, keys = {}, list(keys)
    for first in range(0, len(keys), 200):
        part = keys[first:first + 200]
        connection.send(b"".join(words("mg", key, "v", "f", "t", "k") for key in part) + b"mn\r\n")
        while (line := connection.line()) != b"MN":
            parts = line.split()
            if parts[0] == b"EN":
                continue
            if parts[0] != b"VA":
                raise Wrong(f"mg answers {line[:100]!r}")
            told = {word[:1].decode(): word[1:] for word in parts[2:]}
            told["="] = connection.bytes(int(parts[1]))
            found[told["k"]] = told
    return found


def check(connection, models):
    """The model of those that the server has. Raises Wrong."""
    found = read(connection, {key for model in models for key in model} |
                 {b"k%d:" % n + name for n in range(KEYS) for name in {k.split(b":")[1] for k in models[0]}})
    for model in models:
        if not matches(model, found):
            return model
    key, held, has = matches(models[0], found)
    raise Wrong(f"with {len(models) - 1} commands in flight: {key.decode()} was acknowledged as "
                f"{str(held)[:90]}, found {str(has)[:120]}")
