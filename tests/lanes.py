"""Suites beside each other, each in a process of its own: run.py with that suite alone.

What sleeps, or waits for a disk, leaves a core idle, so there are two lanes more than there are cores. The
lanes take the suites, those that take longest first. What a suite prints is kept and printed whole when it
ends.
"""
import contextlib
import signal
import subprocess
import tempfile
import time

# The others follow, as they are.
LONGEST_FIRST = ("runtime", "crash", "plugin", "threads", "ports", "driver", "move", "generated", "scan",
                 "pool", "plan", "examples")
# These fetch into the same folder.
APART = ({"ports", "e2e"},)
PAUSE = 0.1          # seconds between two looks at what runs
ENDING_SECONDS = 20  # for what is stopped to stop what it has started


def next_of(waiting, running):
    """The first that may run beside what runs; None: none may."""
    for name in waiting:
        if not any(name in group and group & set(running) for group in APART):
            return name
    return None


def in_order(names):
    first = [n for n in LONGEST_FIRST if n in names]
    return first + [n for n in names if n not in first]


def stop(processes):
    """As Ctrl-C does, which they have heard as well if it was that: they stop what they have started."""
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PAUSE)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    for process in processes:
        try:
            process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def run(names, command, lanes):
    """Yields (name, exit status, what it printed) of each suite when it ends; `command` and a name run it."""
    waiting, running = in_order(names), {}
    try:
        while waiting or running:
            name = next_of(waiting, running) if len(running) < lanes else None
            if name:
                waiting.remove(name)
                said = tempfile.TemporaryFile()
                running[name] = subprocess.Popen([*command, name], stdin=subprocess.DEVNULL, stdout=said,
                                                 stderr=subprocess.STDOUT), said
                continue
            for name in [n for n, (process, _) in running.items() if process.poll() is not None]:
                process, said = running.pop(name)
                said.seek(0)
                with said:
                    yield name, process.returncode, said.read().decode(errors="replace")
            time.sleep(PAUSE)
    finally:
        stop([process for process, _ in running.values()])
