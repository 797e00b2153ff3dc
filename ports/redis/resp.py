"""The little of Redis's protocol that the tests and benchmarks of this port speak."""
import socket


class Failed(Exception):
    """The server answered with an error."""


class Connection:
    """A client. Raises OSError or EOFError when the server is gone."""

    def __init__(self, port, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")

    def close(self):
        self.input.close()
        self.socket.close()

    def send(self, *commands):
        self.socket.sendall(b"".join(map(encode, commands)))

    def reply(self):
        line = self.input.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        if kind == b"-":
            return Failed(rest.decode(errors="backslashreplace"))
        if int(rest) < 0:
            return None
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        text = self.input.read(int(rest) + 2)
        if len(text) != int(rest) + 2:
            raise EOFError("the server closed the connection")
        return text[:-2]

    def do_or_error(self, *command):
        self.send(command)
        return self.reply()

    def do(self, *command):
        answer = self.do_or_error(*command)
        if isinstance(answer, Failed):
            raise answer
        return answer


def encode(command):
    parts = [p if isinstance(p, bytes) else str(p).encode() for p in command]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
