"""The offline model as a process of its own: where it listens, and who asks it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx2
import msgspec
import pytest
from model.asking import question

from actors.launcher import port as ports
from actors.launcher.roles import model_for
from actors.model_server.serve import offline_server
from actors.settings import Settings

QUESTION = msgspec.structs.replace(question("Who are you?"), model="claude-haiku-5-5")


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


@pytest.mark.process
def test_the_command_serves_a_profile_and_names_the_others_if_it_does_not_exist(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "actors", "model", "--home", str(tmp_path)]
    wrong = subprocess.run([*command, "--profile", "nope"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "sonnet-5-5" in wrong.stderr) == (2, True)
    headers = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
    with subprocess.Popen([*command, "--profile", "haiku-5-5"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        body = {"model": "m", "max_tokens": 9, "top_k": 1, "messages": [{"role": "user", "content": "hi"}]}
        refused = httpx2.post(f"{url}/v1/messages", json=body, headers=headers)
        process.terminate()
    assert refused.status_code == 400
    assert "top_k" in refused.json()["error"]["message"]
