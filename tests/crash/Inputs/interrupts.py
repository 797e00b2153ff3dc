#!/usr/bin/env python3
"""A command that gets SIGINT while it works, again and again.

usage: interrupts.py TIMES COMMAND...

Each time all of its processes get it, as on a terminal, a bit later than the time before. Prints what
the command printed the last time, the findings of all times, and the last status.
"""
import os
import signal
import subprocess
import sys
import time


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    errors = []
    for turn in range(int(sys.argv[1])):
        started = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, text=True, start_new_session=True)
        time.sleep(0.5 + 0.07 * turn)
        os.killpg(started.pid, signal.SIGINT)
        said, _ = started.communicate(timeout=60)
        errors += [line for line in said.splitlines() if "error: " in line]
    print(said, end="")
    print(f"errors {len(errors)}", *errors[:3])
    print(f"status {started.returncode}")


if __name__ == "__main__":
    main()
