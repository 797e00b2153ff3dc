"""interrupt.py FOLDER NVMOVE: interrupts a scan in the middle of a source; status must be 130."""
import os
import signal
import subprocess
import sys
import time

STEP_SECONDS_MAX = 60
FUNCTIONS = 200_000  # Some seconds of work; a source that is a pipe, or includes one, is not read.


def interrupt(scan, number):
    deadline = time.monotonic() + STEP_SECONDS_MAX
    reads = False
    while not reads and scan.poll() is None and time.monotonic() < deadline:
        with open(f"/proc/{scan.pid}/maps") as f:
            reads = source in f.read()  # The compiler maps what it reads.
        time.sleep(0.005)
    if not reads:
        sys.exit("the scan was never seen to read the source")
    scan.send_signal(number)
    status = scan.wait(STEP_SECONDS_MAX)
    if status != 130:
        sys.exit(f"signal {number}: status {status}")


signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
folder, nvmove = sys.argv[1:]
source = os.path.realpath(os.path.join(folder, "long.c"))
with open(source, "w") as f:
    for i in range(FUNCTIONS):
        f.write(f"int f{i}(int a) {{ return a + {i}; }}\n")
    f.write("int load(void) { return 0; }\n")
for number in (signal.SIGINT, signal.SIGTERM):
    scan = subprocess.Popen(
        [nvmove, "scan", "--load", "load", "-o", os.path.join(folder, "out", "report.txt"),
         "--html", os.path.join(folder, "out", "report.html"), source, "--"],
        env=dict(os.environ, NVMOVE_CACHE_DIR=os.path.join(folder, "out")))
    try:
        interrupt(scan, number)
    finally:
        scan.kill()
