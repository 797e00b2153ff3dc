"""interrupt.py FOLDER NVMOVE: interrupts a scan in the middle of a source; status must be 130."""
import os
import signal
import subprocess
import sys
import time

STEP_SECONDS_MAX = 60


def interrupt(scan, number):
    writer = None
    deadline = time.monotonic() + STEP_SECONDS_MAX
    while writer is None and time.monotonic() < deadline:
        try:  # Succeeds once the compiler has opened the other end.
            writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.02)
    if writer is None:
        sys.exit("the scan never reached the FIFO")
    scan.send_signal(number)
    status = scan.wait(STEP_SECONDS_MAX)
    os.close(writer)
    if status != 130:
        sys.exit(f"signal {number}: status {status}")


folder, nvmove = sys.argv[1:]
fifo = os.path.join(folder, "fifo.h")
source = os.path.join(folder, "waits.c")
os.mkfifo(fifo)
with open(source, "w") as f:
    f.write('#include "fifo.h"\nint load(void) { return 0; }\n')
for number in (signal.SIGINT, signal.SIGTERM):
    scan = subprocess.Popen(
        [nvmove, "scan", "--load", "load", "-o", os.path.join(folder, "out", "report.txt"),
         "--html", os.path.join(folder, "out", "report.html"), source, "--"],
        env=dict(os.environ, NVMOVE_CACHE_DIR=os.path.join(folder, "out")))
    try:
        interrupt(scan, number)
    finally:
        scan.kill()
