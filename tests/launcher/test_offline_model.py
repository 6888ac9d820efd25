"""The offline model as a process of its own: where it listens, and who asks it."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from model.asking import question

from actors.launcher import port as ports
from actors.launcher.roles import model_for
from actors.model_server.serve import offline_server
from actors.settings import Settings

QUESTION = msgspec.structs.replace(question("Who are you?"), model="any")


async def test_actors_without_a_key_ask_the_offline_model_that_is_running(tmp_path: Path) -> None:
    asked = tmp_path / "requests.jsonl"
    async with offline_server(log=asked) as url, model_for(Settings(offline_url=url)) as model:
        assert "offline" in (await model.call(QUESTION)).text
    assert asked.read_text().count('"event":"asked"') == 1


async def test_an_address_of_a_model_goes_before_the_offline_one(tmp_path: Path) -> None:
    asked = tmp_path / "requests.jsonl"
    async with offline_server(log=asked) as url:
        settings = Settings(anthropic_base_url=url, offline_url="http://127.0.0.1:1")
        async with model_for(settings) as model:
            await model.call(QUESTION)
    assert asked.read_text().count('"event":"asked"') == 1


async def test_an_actor_that_starts_before_the_offline_model_waits_for_it() -> None:
    port = ports.free()
    async with model_for(Settings(offline_url=f"http://127.0.0.1:{port}")) as model, asyncio.TaskGroup() as group:
        asked = group.create_task(model.call(QUESTION))
        await asyncio.sleep(0)
        async with offline_server(port=port):
            assert "offline" in (await asked).text


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_an_address_that_is_not_of_this_machine_is_told_from_a_port_that_is_taken(host: str) -> None:
    assert ports.fault(0, host) == "is no address of this machine"
    assert ports.fault(0, "127.0.0.1") is None
