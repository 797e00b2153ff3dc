#!/usr/bin/env python3
"""A command that gets Ctrl-C: as on a terminal, all of its processes do.

usage: interrupted.py SECONDS COMMAND...

Prints what the command printed, its status, and whether it ended within five seconds.
"""
import os
import signal
import subprocess
import sys
import time


def main():
    started = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(float(sys.argv[1]))
    os.killpg(started.pid, signal.SIGINT)
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
