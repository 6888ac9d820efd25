"""Asking a NATS server how it is, over a bare socket: what needs no client should not load one."""

import json
import socket
from typing import BinaryIO

from actors.launcher.port import HOST

REPLY = "_INBOX.handoff.ready"
GREETING_S = 2.0
"""How long a server may take to greet: longer on a busy machine than the few milliseconds of an idle one."""


def server_name(port: int, *, patience_s: float = GREETING_S) -> str | None:
    """The name that the server on that port gives itself; None if no NATS server answers there."""
    try:
        with socket.create_connection((HOST, port), patience_s) as connection, connection.makefile("rb") as lines:
            return _greeting(lines)
    except OSError:
        return None


def is_mute(port: int, *, patience_s: float = GREETING_S) -> bool:
    """Whether somebody holds that port open and says nothing, as a server does that is stopped or stuck."""
    try:
        with socket.create_connection((HOST, port), patience_s) as connection:
            connection.recv(1)
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


def jetstream_answers(port: int, user: str, password: str, *, patience_s: float = 0.5) -> bool:
    """Whether the server on that port lets the user in and its JetStream is up."""
    connect = {"user": user, "pass": password, "verbose": False, "headers": True, "no_responders": True}
    words = f"CONNECT {json.dumps(connect)}\r\nSUB {REPLY} 1\r\nPUB $JS.API.INFO {REPLY} 0\r\n\r\n"
    try:
        with socket.create_connection((HOST, port), patience_s) as connection, connection.makefile("rb") as lines:
            if _greeting(lines) is None:
                return False
            connection.sendall(words.encode())
            return _account_is_told(lines)
    except OSError:
        return False


def _greeting(lines: BinaryIO) -> str | None:
    verb, _, info = lines.readline(65_536).partition(b" ")
    if verb != b"INFO":
        return None
    try:
        return str(json.loads(info).get("server_name", ""))
    except (ValueError, AttributeError):
        return None


def _account_is_told(lines: BinaryIO) -> bool:
    while line := lines.readline(65_536):
        if line.startswith((b"-ERR", b"HMSG")):
            return False
        if line.startswith(b"MSG "):
            return b'"error"' not in lines.read(int(line.rsplit(b" ", 1)[1]))
    return False
