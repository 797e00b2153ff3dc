#!/usr/bin/env python3
"""Runs a command, sends it SIGINT a second after its pool is there, and ends with its status.

usage: interrupted.py COMMAND ... -- PROGRAM POOL ...
"""
import os
import signal
import subprocess
import sys
import time

pool = sys.argv[sys.argv.index("--") + 2]
process = subprocess.Popen(sys.argv[1:])
while not os.path.exists(pool) and process.poll() is None:
    time.sleep(0.1)
time.sleep(1)
process.send_signal(signal.SIGINT)
sys.exit(process.wait())
