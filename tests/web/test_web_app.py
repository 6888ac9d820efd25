"""The page: what it shows, what it refuses, and that nothing in it can act."""

import asyncio
from collections.abc import AsyncGenerator
from html.parser import HTMLParser

import httpx2
import msgspec
import pytest
from big_runs import HOSTILE, BigRun
from big_runs import RUN as BIG

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.settings import Settings
from actors.web import app
from actors.web.app import create_app
from protocol import codec, subjects
from protocol.messages import Request, RunEntry

NOBODY = "f" * 32


@pytest.fixture
async def bus() -> MemoryBus:
    """A bus with one run of twelve tasks, in which everything that was said is hostile."""
    bus = MemoryBus(MemoryServer(Settings(), VirtualClock()), "bus")
    for entry in BigRun(12, hostile=True).play():
        await bus.publish(entry.subject, codec.encode(entry.message))
    listed = RunEntry(run=BIG, team="default", status=f"done {HOSTILE}", text=HOSTILE, started=1.0, tasks=12, done=12)
    await bus.publish(subjects.index("default", BIG), codec.encode(listed), expect=0)
    return bus


@pytest.fixture
async def browser(bus: MemoryBus) -> AsyncGenerator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=create_app(bus, VirtualClock(), ["box.example"]))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


async def test_the_list_leads_to_every_run(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/")
    assert page.status_code == 200
    assert [given["href"] for tag, given in Tags(page.text).found if tag == "a"] == [f"/runs/{BIG}"]


async def test_what_was_asked_cannot_act_in_the_list(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/")
    assert HOSTILE not in page.text
    assert "owned" in page.text, "it is shown, as text"
    assert not {tag for tag, _ in Tags(page.text).found} & {"script", "img", "iframe", "form"}
    assert page.headers["content-security-policy"].startswith("default-src 'none'")


async def test_a_request_that_waits_is_in_the_list_and_leads_nowhere_yet(
    bus: MemoryBus, browser: httpx2.AsyncClient
) -> None:
    await bus.publish(subjects.request("default"), codec.encode(Request(id="a" * 32, text="Not begun")))
    page = await browser.get("/")
    assert "Not begun" in page.text
    assert f"/runs/{'a' * 32}" not in page.text
    assert (await browser.get(f"/runs/{'a' * 32}")).status_code == 404


@pytest.mark.parametrize("name", [BIG, BIG[:8]])
async def test_a_run_is_the_page_that_trace_makes(browser: httpx2.AsyncClient, name: str) -> None:
    page = await browser.get(f"/runs/{name}")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert f"run {BIG[:8]}" in page.text
    assert HOSTILE not in page.text


async def test_a_run_is_data_too_without_what_was_said(browser: httpx2.AsyncClient) -> None:
    found = await browser.get(f"/runs/{BIG}.json")
    assert msgspec.json.decode(found.content)["run"] == BIG
    spans = await browser.get(f"/runs/{BIG}.otlp")
    assert msgspec.json.decode(spans.content)["resourceSpans"]
    assert "owned" not in found.text + spans.text


@pytest.mark.parametrize("name", [NOBODY, "zzz", "%3Cscript%3E", "..%2F..%2Fetc%2Fpasswd", "abc"])
async def test_what_is_no_run_is_not_found_in_plain_words(browser: httpx2.AsyncClient, name: str) -> None:
    page = await browser.get(f"/runs/{name}")
    assert page.status_code == 404
    assert "<script" not in page.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
async def test_a_foreign_name_is_refused(browser: httpx2.AsyncClient, host: str) -> None:
    assert (await browser.get("/", headers={"host": host})).status_code == 400


async def test_a_name_that_was_given_is_answered(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/", headers={"host": "box.example"})).status_code == 200


@pytest.mark.parametrize("verb", ["POST", "PUT", "DELETE"])
async def test_nothing_can_be_changed(browser: httpx2.AsyncClient, verb: str) -> None:
    assert (await browser.request(verb, f"/runs/{BIG}")).status_code == 405


async def test_a_bus_that_does_not_answer_is_told_soon(
    bus: MemoryBus, browser: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(app, "PATIENCE_S", 0.05)
    monkeypatch.setattr(bus, "last", silent)
    page = await browser.get("/")
    assert page.status_code == 503
    assert "the bus does not answer" in page.text
    assert (await browser.get("/health")).status_code == 200
