"""Starts a Redis server of a build folder (ports/redis/build.py) and stops it."""
import os
import signal
import socket
import subprocess
import time

import resp

SECONDS_MAX = 30


class NotStarted(Exception):
    """The server ended, or never answered."""


def free_port():
    """A cluster's nodes talk to each other at the one 10,000 above."""
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        if port + 10000 < 1 << 16:
            return port


running = []


def kill_all():
    """What a test that failed left behind."""
    for one in list(running):
        one.kill()


class Server:
    """`options` are Redis's own ("--appendonly", "yes"); `environment` is added to ours; `before` goes
    before the command."""

    def __init__(self, src, folder, options=(), environment=None, before=()):
        self.port = free_port()
        self.log = os.path.join(folder, "server.log")
        command = [*before, os.path.join(src, "redis-server"), "--port", str(self.port), "--dir", folder,
                   *options]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, cwd=folder, env={**os.environ, **(environment or {})},
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        running.append(self)

    def wait(self):
        """A connection, once the server answers."""
        end = time.monotonic() + SECONDS_MAX
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                connection = resp.Connection(self.port)
                connection.do("PING")
                return connection
            except (OSError, EOFError):
                time.sleep(0.002)
            except resp.Failed:
                return connection  # it loads
        self.kill()
        raise NotStarted(f"the server ended with {self.process.returncode}: {self.said()}")

    def said(self, last=2000):
        """The end of the log; without a number all of it."""
        with open(self.log, errors="replace") as f:
            return f.read()[-last if last else 0:]

    def ended(self):
        """How it ended by itself; None: it did not."""
        try:
            return self.process.wait(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self in running:
            running.remove(self)
