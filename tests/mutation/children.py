"""Processes that a run starts, each with a group of its own: none outlives the run, however that ends."""
import os
import shutil
import signal
import subprocess
import threading

GROUPS, FOLDERS = set(), set()
STARTING = threading.Lock()  # none starts once the run ends
START_SECONDS = 5


def ended(command, seconds, **options):
    """Its status; None: it ran for so many seconds and was killed. All that it started ends with it: what a
    mutated program has left behind may run for ever."""
    with STARTING:
        run = subprocess.Popen(command, start_new_session=True, **options)
        GROUPS.add(run.pid)
    try:
        return run.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(run.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        run.wait()
        GROUPS.discard(run.pid)


def stop(_number, _frame):
    """Nothing runs on, and FOLDERS are gone."""
    STARTING.acquire(timeout=START_SECONDS)  # another thread may be about to start one
    for group in list(GROUPS):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass
    for folder in FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def end_with_signals():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
