"""Fetching over HTTP from public addresses only, within limits of size, time and redirects.

What always holds: each hop is checked anew before it is connected to, by the address that is then used; the whole
fetch, however slowly the server drips, ends with its time limit.
"""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from actors.tools.addresses import Address, Resolve, checked, is_public, resolve
from protocol.errors import ToolError

MOST_BYTES = 2_000_000
MOST_REDIRECTS = 5
MOST_URL = 2_000
TIME_S = 20.0

_HEADERS = {"User-Agent": "handoff", "Accept": "text/*, application/json;q=0.9", "Accept-Encoding": "identity"}
_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}


class Page(NamedTuple):
    """What came back. `cut` says that there was more than the limit."""

    url: str
    kind: str
    charset: str
    body: bytes
    cut: bool


def connect(address: str, port: int, timeout_s: float) -> socket.socket:
    """A connection to an address, which is never a name."""
    return socket.create_connection((str(ip_address(address)), port), timeout_s)


@dataclass(frozen=True)
class Reach:
    """How far fetching reaches: who finds addresses, which are allowed, who connects, and the limits."""

    resolve: Resolve = resolve
    allowed: Callable[[Address], bool] = is_public
    connect: Callable[[str, int, float], socket.socket] = connect
    time_s: float = TIME_S
    most_bytes: int = MOST_BYTES


def fetch(url: str, reach: Reach) -> Page:
    """Get a page, following redirects; ToolError says what kept it from being got."""
    until = time.monotonic() + reach.time_s
    for _ in range(MOST_REDIRECTS + 1):
        found = _hop(_parsed(url), reach, until)
        if isinstance(found, Page):
            return found
        url = urljoin(url, found)
    raise ToolError(f"more than {MOST_REDIRECTS} redirects: {url[:MOST_URL]} was not fetched")


def _parsed(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise ToolError(f"{url[:200]!r} is not an address: {error}") from error
    if parts.scheme not in _PORTS:
        raise ToolError(f"{url[:200]!r} is not an http or https address")
    if parts.username is not None or parts.password is not None:
        raise ToolError("an address with a user name or password is not fetched")
    if not parts.hostname or port == 0 or len(url) > MOST_URL:
        raise ToolError(f"{url[:200]!r} is not an address that can be fetched")
    return parts


def _hop(parts: SplitResult, reach: Reach, until: float) -> Page | str:
    """One request: the page, or where it redirects to."""
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    address = checked(host, port, reach.resolve, reach.allowed)
    left = until - time.monotonic()
    if left <= 0:
        raise _too_slow(host, reach)
    connection = _Pinned(host, port, lambda: reach.connect(address, port, left), secure=parts.scheme == "https")
    # A server may send a byte now and then for ever; closing its socket is what ends that.
    watch = threading.Timer(left, connection.cut)
    watch.daemon = True
    watch.start()
    try:
        connection.request("GET", _target(parts), headers=_HEADERS)
        with connection.getresponse() as response:
            found = _read(response, parts.geturl(), reach.most_bytes)
        if connection.was_cut:
            raise _too_slow(host, reach)
        return found
    except (HTTPException, OSError, ValueError) as error:
        if time.monotonic() >= until:
            raise _too_slow(host, reach) from error
        raise ToolError(f"{host} could not be fetched: {error or type(error).__name__}") from error
    finally:
        watch.cancel()
        connection.close()


def _too_slow(host: str, reach: Reach) -> ToolError:
    return ToolError(f"{host} took longer than {reach.time_s:g} s and was given up")


def _target(parts: SplitResult) -> str:
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    return path + (f"?{quote(parts.query, safe='/?%:@!$&()*+,;=~-._')}" if parts.query else "")


def _read(response: HTTPResponse, url: str, most_bytes: int) -> Page | str:
    if response.status in _REDIRECTS and (location := response.getheader("Location")):
        return location
    if response.status != 200:
        raise ToolError(f"{url} answered {response.status} {response.reason}")
    if (encoding := response.getheader("Content-Encoding", "identity").lower()) != "identity":
        raise ToolError(f"{url} came as {encoding}, though plain text was asked for")
    body = response.read(most_bytes + 1)
    message = response.headers
    return Page(
        url=url,
        kind=message.get_content_type(),
        charset=message.get_content_charset("utf-8"),
        body=body[:most_bytes],
        cut=len(body) > most_bytes or bool(response.length),
    )


def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Pinned(HTTPConnection):
    """A connection to one address that was checked; the name is used for TLS and the Host header alone."""

    def __init__(self, host: str, port: int, dial: Callable[[], socket.socket], *, secure: bool) -> None:
        super().__init__(host, port)
        self.default_port = 443 if secure else 80
        self._dial = dial
        self._secure = secure
        self.was_cut = False
        # The connection lets go of its socket once the answer begins; the answer does not.
        self._line: socket.socket | None = None

    def connect(self) -> None:
        """Connect to the address, not to whatever the name means by now."""
        self.sock = self._line = self._dial()
        if self._secure:
            self.sock = self._line = secured = _context().wrap_socket(
                self.sock, server_hostname=self.host, do_handshake_on_connect=False
            )
            secured.do_handshake()  # only now: a handshake that drips can be cut, too
        if self.was_cut:
            self.cut()

    def cut(self) -> None:
        """End it, from whatever thread: who waits for a byte gets an error."""
        self.was_cut = True
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)
