"""Images and PDFs of a task: by digest in the Step, as bytes in the request, and never as text in an estimate."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import msgspec
import pytest
from at_work import RUN, SETTINGS, Desk, use

from actors.bus.memory import MemoryBus, MemoryServer
from actors.clock import SystemClock
from actors.model.port import Block, Call, Turn
from actors.model_server.serve import offline_server
from actors.tools.tool import tool
from actors.worker.allowance import asked_tokens
from actors.worker.definition import Worker
from actors.worker.file_tokens import TOKENS_A_PAGE, TOKENS_AN_IMAGE, tokens_of_file
from actors.worker.files import Files
from protocol.errors import ArtifactError
from protocol.messages import Artifact, Usage
from protocol.steps import Begun, ModelCalled, ToolCalled
from tests.model.asking import asking, lines

PNG = b"\x89PNG\r\n" + bytes(range(256)) * 4
PDF = b"%PDF-1.4 << /Type /Pages /Count 2 >> << /Type /Page >> << /Type/Page >>"


@tool
def look(page: int) -> str:
    """Look at a page.

    Args:
        page: its number
    """
    return f"page {page}"


READER = Worker("reader", summary="Reads.", prompt="You read.", tools=[look])
BLIND = Worker("reader", summary="Reads.", prompt="You read.", model="my-own-model")


async def desk(worker: Worker = READER) -> Desk:
    found = Desk(worker)
    await found.attach("plan.png", PNG, "image/png")
    await found.attach("terms.pdf", PDF, "application/pdf")
    await found.attach("notes.txt", b"notes", "text/plain")
    return found


def content_of(call: Call) -> list[Block]:
    content = call.turns[0].content
    assert not isinstance(content, str)
    return content


async def test_the_step_holds_digests_and_the_request_holds_bytes() -> None:
    there = await desk()
    done = await there.do()
    begun = done.steps[0]
    assert isinstance(begun, Begun)
    stored: list[Block] = msgspec.json.decode(begun.prompt)
    assert [(one["type"], one.get("name"), one.get("digest")) for one in stored] == [
        ("artifact", "plan.png", there.artifacts[0].digest),
        ("artifact", "terms.pdf", there.artifacts[1].digest),
        ("text", None, None),
    ]
    assert base64.b64encode(PNG) not in bytes(begun.prompt)
    image, document, text = content_of(done.calls[0])
    assert image == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()},
    }
    assert (document["type"], document["title"], document["citations"]) == ("document", "terms.pdf", {"enabled": True})
    assert base64.b64decode(document["source"]["data"]) == PDF
    assert "plan.png" in text["text"]
    assert "notes.txt" not in text["text"]


async def test_every_call_of_the_task_sends_the_same_files() -> None:
    done = await (await desk()).do([use("look", 1, page=1)])
    assert len(done.calls) == 2
    assert done.calls[0].turns[0] == done.calls[1].turns[0]


async def test_a_model_that_reads_no_files_is_told_their_names() -> None:
    done = await (await desk(BLIND)).do()
    content = done.calls[0].turns[0].content
    assert isinstance(content, str)
    assert "plan.png (image/png): this model cannot read" in content
    assert "terms.pdf" in content


@pytest.mark.parametrize("other", [None, b"something else"])
async def test_a_file_that_is_missing_or_was_replaced_fails_the_task_before_it_costs_anything(
    other: bytes | None,
) -> None:
    there = await desk()
    await there.replace("terms.pdf", other)
    done = await there.do()
    assert done.result.error is not None
    assert (done.result.status, done.result.error.kind, done.calls) == ("failed", "artifact", [])
    assert "terms.pdf" in done.result.error.message


async def test_a_takeover_sends_the_stored_files_and_fails_with_what_was_spent_if_one_is_gone() -> None:
    begun = (await (await desk()).do()).steps[0]
    assert isinstance(begun, Begun)
    content: list[Block] = [use("look", 1, page=1)]
    turn = ModelCalled(
        model="m", content=msgspec.Raw(msgspec.json.encode(content)), stop_reason="tool_use", usage=Usage(model_calls=1)
    )
    before = [begun, turn, ToolCalled(call=content[0]["id"], tool="look", output="page 1")]
    other = Worker("reader", summary="Reads.", prompt="Another release.", model="my-own-model")
    there = await desk(other)
    done = await there.do(content, before=before)
    assert [block["type"] for block in content_of(done.calls[0])] == ["image", "document", "text"]
    gone = await desk(other)
    await gone.replace("plan.png", None)
    failed = await gone.do(content, before=before)
    assert failed.result.error is not None
    assert (failed.result.error.kind, failed.calls, failed.result.usage.model_calls) == ("artifact", [], 1)


async def test_files_beyond_the_size_of_a_request_are_refused_before_they_are_read() -> None:
    there = await desk()
    there.artifacts[0] = msgspec.structs.replace(there.artifacts[0], size=25_000_000)
    await there.replace("plan.png", None)  # a read would say that it is missing
    done = await there.do()
    assert done.result.error is not None
    assert (done.result.error.kind, done.calls) == ("request_too_large", [])


class CountingBus(MemoryBus):
    """Counts what is read from the object store."""

    reads = 0

    async def get_artifact(self, name: str) -> bytes | None:
        self.reads += 1
        return await super().get_artifact(name)


async def files_of(*artifacts: tuple[str, bytes, str]) -> tuple[CountingBus, Files, list[Artifact]]:
    bus = CountingBus(MemoryServer(SETTINGS, SystemClock()), "files")
    found = [
        Artifact(name=name, digest=await bus.put_artifact(name, data), size=len(data), media_type=media_type)
        for name, data, media_type in artifacts
    ]
    return bus, Files(bus), found


def call_with(*blocks: Block, system: str = "") -> Call:
    return Call(run=RUN, role="w", system=system, turns=[Turn(role="user", content=list(blocks))], model="m")


async def test_a_file_is_read_once_for_all_calls_of_a_task() -> None:
    bus, files, found = await files_of(("plan.png", PNG, "image/png"))
    blocks = await files.blocks(found)
    for _ in range(3):
        assert content_of(await files.resolved(call_with(*blocks)))[0]["type"] == "image"
    assert bus.reads == 1


async def test_files_and_texts_together_are_kept_below_the_size_of_a_request() -> None:
    _, files, found = await files_of(("plan.png", PNG * 18_000, "image/png"))
    blocks = await files.blocks(found)
    await files.resolved(call_with(*blocks))
    with pytest.raises(ArtifactError) as raised:
        await files.resolved(call_with(*blocks, {"type": "text", "text": "x" * 10_000_000}))
    assert raised.value.kind == "request_too_large"


async def test_an_estimate_counts_files_by_image_and_page_and_never_their_base64() -> None:
    _, files, found = await files_of(("plan.png", PNG * 1000, "image/png"), ("terms.pdf", PDF, "application/pdf"))
    call = call_with(*await files.blocks(found))
    expected = TOKENS_AN_IMAGE + 2 * TOKENS_A_PAGE
    assert asked_tokens(call) == expected
    encoded = asked_tokens(await files.resolved(call))
    assert TOKENS_AN_IMAGE < encoded < expected  # the pages of a PDF in base64 are guessed from its size
    assert tokens_of_file(b"%PDF" + bytes(120_000), "application/pdf") == 3 * TOKENS_A_PAGE


@pytest.mark.parametrize("profile", ["haiku-5-5", "sonnet-5-5"])
async def test_the_strict_server_takes_files_and_tools_of_the_provider_through_the_real_sdk(
    profile: str, tmp_path: Path
) -> None:
    _, files, found = await files_of(("plan.png", PNG * 3000, "image/png"), ("terms.pdf", PDF, "application/pdf"))
    text: Block = {"type": "text", "text": "<task>\nSay what the files are about\n</task>"}
    search: dict[str, Any] = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    call = await files.resolved(call_with(*await files.blocks(found), text, system="You work."))
    call = msgspec.structs.replace(
        call, model=f"claude-{profile}", server_tools=[{"type": "web_search_20260318", "name": "web_search"}]
    )
    paused = msgspec.structs.replace(call, turns=[*call.turns, Turn(role="assistant", content=[search])])
    async with (
        asyncio.timeout(60),
        offline_server(profile=profile, log=tmp_path / "log") as url,
        asking(url) as model,
    ):
        assert (await model.call(call)).text
        assert (await model.call(paused)).text
        assert TOKENS_A_PAGE < await model.count(call) < 20_000
    assert {line["status"] for line in lines(tmp_path / "log") if "status" in line} == {200}
