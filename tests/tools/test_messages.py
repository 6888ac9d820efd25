import json
import socket
from pathlib import Path
from typing import Any

import pytest
from web import reply, site

from actors.settings import Settings
from actors.tools.given import CallKey
from actors.tools.messages import build, send_message
from protocol.errors import ToolError

NOTE = {"to": "on-call", "subject": "Fleet down", "text": "Robots stand still."}
KEY = CallKey("run.t1.1.2.1")


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def settings(folder: Path, webhook: str = "") -> Settings:
    return Settings(outbox=str(folder), webhook_url=webhook)


async def test_a_message_is_one_file_named_by_the_key(tmp_path: Path) -> None:
    told = await send_message.call(NOTE, key=KEY, settings=settings(tmp_path / "out"))
    assert told == f"sent to on-call: Fleet down [outbox, {KEY}]"
    (path,) = files(tmp_path / "out")
    assert path.name == f"{KEY}.json"
    assert json.loads(path.read_text()) == {"key": KEY, **NOTE, "posted": False}


async def test_the_same_call_sends_once_and_another_call_sends_again(tmp_path: Path) -> None:
    (send,) = build(tmp_path)
    await send.call(NOTE, key=KEY)
    before = [path.stat().st_mtime_ns for path in files(tmp_path / "outbox")]
    assert "not sent again" in await send.call(NOTE, key=KEY)
    assert [path.stat().st_mtime_ns for path in files(tmp_path / "outbox")] == before
    await send.call(NOTE, key=CallKey("run.t1.1.3.1"))
    assert len(files(tmp_path / "outbox")) == 2


async def test_without_a_setting_the_outbox_is_in_the_home_folder(tmp_path: Path) -> None:
    await send_message.call(NOTE, key=KEY, settings=Settings(home=str(tmp_path)))
    assert len(files(tmp_path / "outbox")) == 1


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"to": " "}, "to must be one line"),
        ({"subject": "a\nBcc: all"}, "subject must be one line"),
        ({"text": ""}, "text must have 1 to 100,000 characters"),
        ({"to": "x" * 201}, "to must be one line"),
    ],
)
async def test_a_message_that_is_none_is_refused(tmp_path: Path, wrong: dict[str, str], reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        await build(tmp_path)[0].call(NOTE | wrong, key=KEY)
    assert files(tmp_path) == []


@pytest.mark.parametrize("key", ["../up", "", "a/b", ".hidden", "a\x00b"])
def test_a_key_that_is_a_path_writes_nothing(tmp_path: Path, key: str) -> None:
    with pytest.raises(ToolError, match="no key of a call"):
        send_message.function(**NOTE, key=CallKey(key), outlet=(tmp_path / "out", ""))
    assert files(tmp_path) == []


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "outbox").write_text("in the way")
    with pytest.raises(ToolError, match="the message was not sent: "):
        await build(tmp_path)[0].call(NOTE, key=KEY)


async def test_a_webhook_gets_the_message_with_the_key_once(tmp_path: Path) -> None:
    with site(lambda handler, _: reply(handler, 204)) as hook:
        given = settings(tmp_path, f"http://127.0.0.1:{hook.port}/in?secret=s")
        assert "outbox and webhook" in await send_message.call(NOTE, key=KEY, settings=given)
        await send_message.call(NOTE, key=KEY, settings=given)
    (asked,) = hook.asked
    assert (asked.method, asked.path, asked.headers["Idempotency-Key"]) == ("POST", "/in?secret=s", KEY)
    assert json.loads(asked.body)["text"] == NOTE["text"]
    assert json.loads(files(tmp_path)[0].read_text())["posted"] is True


async def test_a_post_that_was_not_taken_is_made_again_with_the_same_key(tmp_path: Path) -> None:
    answers = [500, 200]
    with site(lambda handler, _: reply(handler, answers.pop(0))) as hook:
        given = settings(tmp_path, f"http://127.0.0.1:{hook.port}/")
        with pytest.raises(ToolError, match=r"the webhook at 127\.0\.0\.1 answered 500"):
            await send_message.call(NOTE, key=KEY, settings=given)
        await send_message.call(NOTE, key=KEY, settings=given)
    assert [asked.headers["Idempotency-Key"] for asked in hook.asked] == [KEY, KEY]
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize("url", ["ftp://example.com/", "example.com", "http://"])
async def test_an_address_that_is_none_is_told(tmp_path: Path, url: str) -> None:
    with pytest.raises(ToolError, match="set webhook_url to one"):
        await send_message.call(NOTE, key=KEY, settings=settings(tmp_path, url))


async def test_a_webhook_that_is_away_is_told_without_its_secret(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(ToolError) as caught:
        await send_message.call(NOTE, key=KEY, settings=settings(tmp_path, f"http://127.0.0.1:{port}/s3cret"))
    assert "did not answer" in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_only_what_a_model_should_say_is_in_the_schema() -> None:
    schemas: list[Any] = [send_message.schema, build(Path())[0].schema]
    assert [list(schema["properties"]) for schema in schemas] == [["to", "subject", "text"]] * 2
