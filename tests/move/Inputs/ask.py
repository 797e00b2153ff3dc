"""ask.py REQUEST: sends one request to the server of ./socket, and prints the answer."""
import socket
import sys

with socket.socket(socket.AF_UNIX) as to:
    to.settimeout(5)
    to.connect("socket")
    to.sendall((sys.argv[1] + "\n").encode())
    while some := to.recv(4096):
        sys.stdout.write(some.decode())
