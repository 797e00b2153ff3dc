"""examples/record-store in a pool: killed within every command, it has the state before or after it.

The plain program and the persistent one run the same commands and must answer alike. Each command of the
persistent one is then killed at its n-th append, for n = 1, 2, ... until it gets through, on a copy of
the pool as the command found it; what is left is read back key by key.
"""
import difflib
import os
import re
import shutil
import signal
import subprocess

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STORE = os.path.join(HERE, "examples", "record-store")
KEYS = [f"key{n}" for n in range(18)] + ["long"]
# More than 16 keys: the table grows in one of the commands.
COMMANDS = [*(("put", key, key.upper()) for key in KEYS[:18]), ("put", "long", "x" * 5000),
            ("put", "key3", "new"), ("del", "key5"), ("del", "key5"), ("put", "key5", "again"),
            ("compact",)]
SECONDS_MAX = 60


class Wrong(Exception):
    """What the store did that it must not."""


def build(compiler, folder, persistent, out):
    own = os.path.join(STORE, "persistent") if persistent else STORE
    subprocess.run([*compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-I", STORE,
                    os.path.join(STORE, "main.c"), os.path.join(own, "store.c"),
                    os.path.join(own, "table.c"), "-o", os.path.join(folder, out)], check=True)
    return os.path.join(folder, out)


def run(program, store, command, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NVMOVE_")}
    environment.update({"NVMOVE_" + k.upper(): v for k, v in settings.items()})
    done = subprocess.run([program, store, *command], env=environment, text=True, timeout=SECONDS_MAX,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout


def contents(program, store, method):
    """What a store says it holds, when it is opened again."""
    answers = [run(program, store, ("get", key), method=method) for key in KEYS]
    return [run(program, store, ("count",), method=method)] + answers


def command_crashes(program, folder, command, method):
    """Runs one command on folder/pool, after killing it at each of its appends; how many those were."""
    pool, copy = os.path.join(folder, "pool"), os.path.join(folder, "copy")
    before = contents(program, pool, method) if os.path.exists(pool) else None
    after_copy = os.path.join(folder, "after")
    if before:
        shutil.copyfile(pool, after_copy)
    elif os.path.exists(after_copy):
        os.unlink(after_copy)
    run(program, after_copy, command, method=method)
    after = contents(program, after_copy, method)
    empty = [(0, "0\n")] + [(1, "")] * len(KEYS)
    n = 0
    while True:
        if before:
            shutil.copyfile(pool, copy)
        elif os.path.exists(copy):
            os.unlink(copy)
        status, _ = run(program, copy, command, method=method, kill_at=f"append:{n + 1}")
        if status != -signal.SIGKILL:
            shutil.copyfile(copy, pool)
            return n
        n += 1
        left = contents(program, copy, method)
        if left not in (before or empty, after):
            raise Wrong(f"'{' '.join(command)[:40]}' killed at append {n}: neither before nor after")


def check(cc, folder, methods):
    """Yields (text, whether that is a failure)."""
    plain = build(["clang-19"], folder, False, "plain")
    persistent = build([cc], folder, True, "persistent")
    added = 0
    for name in ("store.c", "table.c"):
        texts = []
        for part in (name, os.path.join("persistent", name)):
            with open(os.path.join(STORE, part)) as f:
                text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
            texts.append([line for line in text.splitlines() if line.strip()])
        diff = list(difflib.ndiff(*texts))
        added += sum(line.startswith("+ ") for line in diff)
    yield f"{added} lines added", False
    for method in methods:
        log, total = os.path.join(folder, "log"), 0
        for name in ("pool", "log"):
            if os.path.exists(os.path.join(folder, name)):
                os.unlink(os.path.join(folder, name))
        try:
            for command in COMMANDS:
                total += command_crashes(persistent, folder, command, method)
                run(plain, log, command)
            if contents(plain, log, method) != contents(persistent, os.path.join(folder, "pool"), method):
                raise Wrong("the plain and the persistent store answer differently")
            if total < len(KEYS):
                raise Wrong(f"only {total} crashes")
            yield f"{method}: {total} crashes survived", False
        except Wrong as e:
            yield f"{method}: {e}", True
