"""What a user sees whose key or model address does not work: one sentence, exit 1, and no run is stored."""

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.cli.running import Here
from tests.launcher.test_model_check import answering


@contextmanager
def provider(status: int, kind: str) -> Generator[str]:
    """The server of the test in a thread of its own, since a command runs a loop of its own."""
    started, stop = threading.Event(), threading.Event()
    urls: list[str] = []

    async def serve() -> None:
        async with answering(status, kind, "because of this") as url:
            urls.append(url)
            started.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    started.wait()
    try:
        yield urls[0]
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(("status", "kind"), [(401, "authentication_error"), (402, "billing_error")])
def test_ask_with_a_refused_key_ends_with_one_sentence_and_stores_no_run(
    here: Here, monkeypatch: pytest.MonkeyPatch, status: int, kind: str
) -> None:
    with provider(status, kind) as url:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "wrong")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        ended = here("ask", "Which region grew fastest?", "--json")
    assert ended.code == 1
    assert len(json.loads(ended.out)["error"]["messages"]) == 1
    assert "because of this" in ended.out
    assert "Traceback" not in ended.err


def test_ask_with_a_closed_port_ends_with_one_sentence(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider(200, "") as url:
        pass
    monkeypatch.setenv("ANTHROPIC_API_KEY", "dummy")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    ended = here("ask", "Which region grew fastest?")
    assert ended.code == 1
    assert url in ended.err
    assert "Traceback" not in ended.err
