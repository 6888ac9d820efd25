"""Ports on loopback: which one to use."""

import errno
import secrets
import socket

HOST = "127.0.0.1"

FIRST, LAST = 20_000, 29_999
"""Below the range of outgoing connections: a client that tries a dead port of that range again and again may one day
connect to itself, and then the port is taken."""


def fault(port: int, host: str = HOST) -> str | None:
    """Why nobody can listen there; None if one can. Port 0 is any."""
    if not 0 <= port < 65_536:
        return "is not between 1 and 65535"
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except socket.gaierror:
            return "is no address of this machine"
        except PermissionError:
            return "may not be used by this user"
        except OSError as error:
            elsewhere = error.errno == errno.EADDRNOTAVAIL
            return "is no address of this machine" if elsewhere else "is taken by another program"
    return None


def free(last: int = 0) -> int:
    """A free port: the one used last if that is possible."""
    if last and fault(last) is None:
        return last
    for _ in range(100):
        port = FIRST + secrets.randbelow(LAST - FIRST + 1)
        if fault(port) is None:
            return port
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])
