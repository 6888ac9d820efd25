"""A page of the public web as text, and every way to reach something nearer refused."""

import ipaddress
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import LIMIT_S
from web import Asked, reply, site

from actors.settings import Settings
from actors.tools import fetching, page_text, pages
from actors.tools.addresses import Address, is_public
from actors.tools.fetching import Reach, fetch
from actors.tools.page_text import text_of
from protocol.errors import ToolError

PUBLIC = "93.184.216.34"
LOOPBACK = ipaddress.ip_address("127.0.0.1")
HTML = b"<html><head><title>A page</title><style>p {}</style></head><body><h1>Hi</h1><p>One &amp; two</p></body>"


def names(**hosts: str | Sequence[str]) -> Callable[[str, int], list[str]]:
    """A resolver that knows these hosts, with _ for dots."""

    def resolve(host: str, port: int) -> list[str]:
        found = hosts[host.replace(".", "_")]
        return [found] if isinstance(found, str) else list(found)

    return resolve


def here(**more: float) -> Reach:
    """A reach in which every name is this machine, and this machine alone is allowed."""

    def only_here(address: Address) -> bool:
        return address == LOOPBACK

    def resolve(host: str, port: int) -> list[str]:
        return [host if host[0].isdigit() else "127.0.0.1"]

    return Reach(resolve=resolve, allowed=only_here, **more)  # pyright: ignore[reportArgumentType]


class DialledError(Exception):
    """Somebody connected."""


def no_connection(address: str, port: int, timeout_s: float) -> socket.socket:
    raise DialledError(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.1",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%lo",
        "fc00::1",
        "fd12::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
    ],
)
def test_an_address_that_is_not_of_the_open_internet_is_never_connected_to(address: str) -> None:
    reach = Reach(resolve=names(example_com=address), connect=no_connection)
    with pytest.raises(ToolError, match="not on the public internet"):
        fetch("http://example.com/", reach)


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:2800:220:1::1", f"::ffff:{PUBLIC}"])
def test_a_public_address_is_connected_to(address: str) -> None:
    with pytest.raises(DialledError, match=address):
        fetch("http://example.com/", Reach(resolve=names(example_com=address), connect=no_connection))


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "127.1", "localhost", "0", "[::1]"),
        *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "3232235777", "[fe80::1]", "169.254.169.254"),
    ],
)
def test_every_way_to_write_a_near_address_is_refused_by_the_real_resolver(host: str) -> None:
    with pytest.raises(ToolError, match=r"not on the public internet|cannot be found"):
        fetch(f"http://{host}/", Reach(connect=no_connection))


def test_one_near_address_among_public_ones_is_enough_to_refuse() -> None:
    reach = Reach(resolve=names(example_com=[PUBLIC, "10.0.0.1"]), connect=no_connection)
    with pytest.raises(ToolError, match=r"10\.0\.0\.1"):
        fetch("http://example.com/", reach)


def test_a_name_that_changes_its_meaning_after_the_check_changes_nothing() -> None:
    answers = [[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]]
    dialled: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        return answers.pop(0)

    def connect(address: str, port: int, timeout_s: float) -> socket.socket:
        dialled.append(address)
        raise ConnectionRefusedError("nobody there")

    with pytest.raises(ToolError, match="nobody there"):
        fetch("http://rebinding.example/", Reach(resolve=resolve, connect=connect))
    assert dialled == [PUBLIC]
    assert len(answers) == 2, "the name was looked up once"


@given(st.ip_addresses())
def test_whatever_is_public_is_global_and_no_disguise(address: Address) -> None:
    if is_public(address):
        assert address.is_global
        assert not address.is_private
        assert not address.is_multicast
        mapped = getattr(address, "ipv4_mapped", None)
        assert mapped is None or is_public(mapped)


def html(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    reply(handler, 200, HTML, Content_Type="text/html; charset=utf-8")


async def test_a_page_comes_back_as_text_with_its_source() -> None:
    with site(html) as web:
        (page,) = pages.build(reach=here())
        url = f"http://example.com:{web.port}/a b?q=ü"
        assert await page.call({"url": url}) == f"[{url}]\nA page\n\n# Hi\n\nOne & two"
    assert web.asked[0].path == "/a%20b?q=%C3%BC"
    assert web.asked[0].headers["Host"] == f"example.com:{web.port}"


async def test_it_is_off_by_default_and_on_by_a_setting() -> None:
    for settings in (None, Settings()):
        with pytest.raises(ToolError, match="fetch_pages = true"):
            await pages.fetch_page.call({"url": "http://example.com/"}, settings=settings)
    with pytest.raises(ToolError, match="not on the public internet"):
        await pages.fetch_page.call({"url": "http://127.0.0.1/"}, settings=Settings(fetch_pages=True))


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://10.0.0.1/admin", r"10\.0\.0\.1.*not on the public internet"),
        ("http://169.254.169.254/latest/meta-data", "not on the public internet"),
        ("//192.168.0.1/", "not on the public internet"),
        ("file:///etc/passwd", "not an http or https address"),
        ("gopher://example.com/", "not an http or https address"),
        ("http://user:secret@example.com/", "user name or password"),
        ("/again", "more than 5 redirects"),
    ],
)
def test_each_redirect_is_checked_anew(location: str, reason: str) -> None:
    with (
        site(lambda handler, _: reply(handler, 302, Location=location)) as web,
        pytest.raises(ToolError, match=reason),
    ):
        fetch(f"http://example.com:{web.port}/", here())
    assert len(web.asked) <= 6


def test_a_redirect_to_where_one_may_go_is_followed() -> None:
    def answer(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        if asked.path == "/old":
            reply(handler, 301, Location="/new")
        else:
            reply(handler, 200, b"moved here", Content_Type="text/plain")

    with site(answer) as web:
        page = fetch(f"http://example.com:{web.port}/old", here())
    assert (page.body, page.url) == (b"moved here", f"http://example.com:{web.port}/new")


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.com", "ftp://example.com/", "file:///etc/passwd", "javascript:1", "http://", "http:///x"),
        *("http://[::1", "http://example.com:99999/", "http://example.com:0/", "http://a:b@example.com/"),
        *("http://\x00/", "http://exa\ud800mple/", f"http://{'a' * 3000}", "http://xn--/"),
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ToolError):
        fetch(url, Reach(connect=no_connection))


async def test_a_page_that_is_too_long_is_cut_and_says_so() -> None:
    def endless(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/plain")
        handler.end_headers()
        try:
            for _ in range(10_000):
                handler.wfile.write(b"x" * 10_000)
        except OSError:
            pass

    with site(endless) as web:
        told = await pages.build(reach=here(most_bytes=1_000))[0].call({"url": f"http://a.example:{web.port}/"})
    assert told.endswith("[cut off here: the page has more than 1,000 bytes]")
    assert len(told) < 1_200


@pytest.mark.parametrize("headers_first", [True, False])
def test_a_server_that_drips_is_given_up_in_time(headers_first: bool) -> None:
    stop = threading.Event()

    def drip(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        if headers_first:
            handler.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        try:
            while not stop.wait(0.02):
                handler.wfile.write(b"H")
        except OSError:
            pass

    began = time.monotonic()
    try:
        with site(drip) as web, pytest.raises(ToolError, match=r"took longer than 0\.3 s"):
            fetch(f"http://example.com:{web.port}/", here(time_s=0.3))
    finally:
        stop.set()
    assert time.monotonic() - began < LIMIT_S


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (404, {"Content_Type": "text/html"}, "answered 404"),
        (500, {"Content_Type": "text/html"}, "answered 500"),
        (302, {}, "answered 302"),
        (200, {"Content_Type": "application/pdf"}, "is application/pdf, not text"),
        (200, {"Content_Type": "text/plain", "Content_Encoding": "gzip"}, "came as gzip"),
    ],
)
async def test_what_is_not_a_page_of_text_is_told(status: int, headers: dict[str, str], reason: str) -> None:
    with (
        site(lambda handler, _: reply(handler, status, b"x", **headers)) as web,
        pytest.raises(ToolError, match=reason),
    ):
        await pages.build(reach=here())[0].call({"url": f"http://example.com:{web.port}/"})


def test_a_charset_nobody_knows_does_no_harm() -> None:
    page = fetching.Page(url="u", kind="text/plain", charset="klingon", body="é".encode(), cut=False)
    assert pages.told(page) == "[u]\n\né"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")
def test_the_name_of_the_host_is_what_tls_proves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=right.example"),
            *("-addext", "subjectAltName=DNS:right.example", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    trusted = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(fetching, "_context", lambda: trusted)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)
    with site(html, served) as web:
        assert fetch(f"https://right.example:{web.port}/", here()).body == HTML
        with pytest.raises(ToolError, match=r"wrong\.example could not be fetched.*not valid for"):
            fetch(f"https://wrong.example:{web.port}/", here())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>a<p>b", "a\n\nb"),
        ("<ul><li>one<li>two</ul>", "- one\n- two"),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "1 | 2 |"),
        ("a<script>evil()</script>b<style>x</style>c", "abc"),
        ("<head><title>t</title><body>text", "text"),
        ("</div></p>x<b>y", "xy"),
        ("&lt;b&gt; &nbsp; &#x41;", "<b> A"),
        ("", ""),
        ("<![CDATA[x]]><!-- no --><?php no ?>", ""),
    ],
)
def test_html_becomes_the_text_a_reader_sees(source: str, text: str) -> None:
    assert text_of(source)[1] == text


@given(st.text(alphabet="<>/!-&;abps \n'\"=", max_size=80))
def test_no_html_is_too_broken_to_read(source: str) -> None:
    text_of(source)


@pytest.mark.parametrize("piece", ["<!--", "<a", "</", "<?", "<![CDATA[", "<svg></p>"])
def test_html_that_would_keep_a_thread_busy_for_hours_is_given_up(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_text, "TIME_S", 0.05)
    began = time.process_time()
    with pytest.raises(ToolError, match="its HTML is broken"):
        text_of(piece * (2_000_000 // len(piece)))
    assert time.process_time() - began < 5.0
