"""The address of the bus as it is: it holds a password, so it is written only on request."""

import shlex
import sys
from urllib.parse import urlsplit

from actors.cli.terminal import write, write_json


def write_address(url: str, *, as_json: bool = False) -> None:
    """Write the address for other shells, or its parts as data: some clients take no password in an address."""
    if as_json:
        write_json(_parts(url))
    else:
        write(f"export NATS_URL={shlex.quote(url)}")
    sys.stdout.flush()


def _parts(url: str) -> dict[str, str]:
    """The address, and the parts of its first server; a lone user is a token."""
    first = url.partition(",")[0]
    parts = urlsplit(first if "://" in first else f"nats://{first}")
    server = parts.netloc.rpartition("@")[2]
    return {"url": url, "server": server, "user": parts.username or "", "password": parts.password or ""}
