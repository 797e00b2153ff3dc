"""Starts a memcached of a build folder (ports/memcached/build.py), and speaks the text protocol with it."""
import os
import signal
import socket
import subprocess
import time

SECONDS_MAX = 120


class NotStarted(Exception):
    """The server ended, or never answered."""


class Connection:
    """A client. Raises OSError or EOFError when the server is gone."""

    def __init__(self, port, timeout=SECONDS_MAX):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")

    def close(self):
        self.input.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def line(self):
        """Items of a walk end with a line feed alone."""
        line = self.input.readline()
        if not line.endswith(b"\n"):
            raise EOFError("the server closed the connection")
        return line[:-1].removesuffix(b"\r")

    def bytes(self, count):
        data = self.input.read(count + 2)
        if len(data) != count + 2:
            raise EOFError("the server closed the connection")
        return data[:-2]

    def do(self, *words, value=None):
        """The first line of the answer."""
        self.send(request(*words, value=value))
        return self.line()

    def values(self):
        """What get and gets answer: {key: (value, flags, cas or None)}."""
        found = {}
        while True:
            words = self.line().split()
            if words[:1] == [b"END"]:
                return found
            if words[:1] != [b"VALUE"]:
                raise ValueError(b" ".join(words).decode())
            found[words[1]] = (self.bytes(int(words[3])), int(words[2]),
                               int(words[4]) if len(words) > 4 else None)

    def gets(self, *keys):
        self.send(request("gets", *keys))
        return self.values()

    def get(self, key):
        """The value, or None."""
        return self.gets(key).get(key if isinstance(key, bytes) else key.encode(), (None,))[0]

    def mg(self, key, *flags):
        """Of a meta get: {flag: token}, or None; the value is '='."""
        words = self.do("mg", key, *flags).split()
        if words[0] not in (b"VA", b"HD"):
            return None
        told = {word[:1].decode(): word[1:] for word in words[1 + (words[0] == b"VA"):]}
        if words[0] == b"VA":
            told["="] = self.bytes(int(words[1]))
        return told

    def stats(self, *what):
        self.send(request("stats", *what))
        found = {}
        while (line := self.line()) != b"END":
            _, name, value = line.split(b" ", 2)
            found[name.decode()] = value.decode()
        return found


def request(*words, value=None):
    head = b" ".join(w if isinstance(w, bytes) else str(w).encode() for w in words) + b"\r\n"
    return head if value is None else head + value + b"\r\n"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


running = []


def kill_all():
    """What a test that failed left behind."""
    for one in list(running):
        one.kill()


class Server:
    """`options` are memcached's own ("-m", "64"); `environment` is added to ours; `before` goes before the
    command."""

    def __init__(self, tree, folder, options=(), environment=None, before=(), program="memcached"):
        self.port = free_port()
        self.log = os.path.join(folder, "server.log")
        user = ("-u", "root") if os.geteuid() == 0 else ()
        command = [*before, os.path.join(tree, program), *user, "-l", "127.0.0.1", "-p", str(self.port),
                   "-U", "0", *options]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, cwd=folder, env={**os.environ, **(environment or {})},
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        running.append(self)

    def wait(self, timeout=SECONDS_MAX):
        """A connection, once the server answers."""
        end = time.monotonic() + SECONDS_MAX
        while time.monotonic() < end and self.process.poll() is None:
            try:
                connection = Connection(self.port, timeout)
                connection.do("version")
                return connection
            except (OSError, EOFError):
                time.sleep(0.002)
        self.kill()
        raise NotStarted(f"the server ended with {self.process.returncode}: {self.said()}")

    def said(self, last=2000):
        """The end of the log; without a number all of it."""
        with open(self.log, errors="replace") as f:
            return f.read()[-last if last else 0:]

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self in running:
            running.remove(self)
