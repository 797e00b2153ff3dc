#!/usr/bin/env python3
"""A command that gets a signal when a file is there that it, or what it runs, makes.

usage: interrupted.py [--signal INT] [--alone] [--times N] FILE COMMAND...

As Ctrl-C on a terminal the signal goes to all processes of the command; with --alone to the first. Prints
what the command printed, its status, and whether it ended within five seconds.
"""
import argparse
import os
import signal
import subprocess
import sys
import time

START_SECONDS_MAX = 120
BETWEEN = 0.5  # seconds: the command goes on with what it was at


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--signal", default="INT")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("file")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    a = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    if os.path.exists(a.file):
        sys.exit(f"interrupted.py: {a.file} is there already")
    started = subprocess.Popen(a.command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    begin = time.monotonic()
    while not os.path.exists(a.file) and time.monotonic() < begin + START_SECONDS_MAX:
        if started.poll() is not None:
            break
        time.sleep(0.02)
    for _ in range(a.times):
        time.sleep(BETWEEN)
        (os.kill if a.alone else os.killpg)(started.pid, signal.Signals["SIG" + a.signal])
    asked = time.monotonic()
    try:
        said, _ = started.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        raise
    print(said, end="")
    print(f"status {started.returncode}", "soon" if time.monotonic() < asked + 5 else "late")


if __name__ == "__main__":
    main()
