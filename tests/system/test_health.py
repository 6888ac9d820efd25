"""`handoff health`: the actor of a container is alive if its own cards are fresh; nothing else is read."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest
from actor_processes import BOOT, Actor, Stage, until
from servers import NatsServer
from waiting import LIMIT_S

from actors.bus.jetstream import connect
from actors.launcher.card_file import read_card_file
from actors.settings import Settings

pytestmark = pytest.mark.process

USERS = """
authorization {{ users = [
  {{ user: all, password: all }}
  {{ user: health, password: health, permissions: {{ publish: {{ allow: {publish} }}, subscribe: "_INBOX.>" }} }}
] }}
"""


async def health(stage: Stage, *arguments: str) -> tuple[int, str]:
    """The exit code of the check, and what it says on standard output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BOOT, "health", *arguments, env=stage.environment, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


async def becomes(stage: Stage, code: int) -> None:
    async def so() -> bool:
        return (await health(stage))[0] == code

    await until(so)


def in_container(stage: Stage) -> None:
    stage.environment |= {
        "HANDOFF_CARD_FILE": str(stage.directory / "cards.json"),
        "HANDOFF_HEARTBEAT_S": "0.5",
        "HANDOFF_CARD_TTL_S": "3",
    }


@pytest.mark.parametrize("kind", ["supervisor", "worker"])
async def test_a_stopped_actor_becomes_unhealthy_and_healthy_again_when_it_goes_on(stage: Stage, kind: str) -> None:
    in_container(stage)
    actor: Actor = await (stage.supervisor() if kind == "supervisor" else stage.worker("echo", "fail"))
    await becomes(stage, 0)
    actor.signal(signal.SIGSTOP)
    await becomes(stage, 1)
    actor.signal(signal.SIGCONT)
    await becomes(stage, 0)


async def test_every_kind_of_a_process_is_looked_at(stage: Stage) -> None:
    in_container(stage)
    actor = await stage.worker("echo", "fail")
    await becomes(stage, 0)
    code, said = await health(stage, "--json")
    assert code == 0
    assert sorted(key.split(".")[1] for key in json.loads(said)["cards"]) == ["echo", "fail"]
    actor.signal(signal.SIGTERM)
    await actor.ended()
    code, said = await health(stage, "--json")
    assert code == 1
    assert len(json.loads(said)["error"]["messages"]) == 2


async def test_an_actor_that_another_one_replaced_is_not_looked_at_any_more(stage: Stage) -> None:
    in_container(stage)
    first = await stage.worker("echo")
    first.kill()
    await stage.worker("fail")
    await becomes(stage, 0)


async def test_without_a_bus_a_setting_or_an_actor_nothing_is_healthy(stage: Stage) -> None:
    assert (await health(stage))[0] == 2
    in_container(stage)
    assert (await health(stage))[0] == 1
    actor = await stage.worker("echo")
    actor.kill()
    await stage.server.kill()
    assert (await health(stage, "--timeout", "1"))[0] == 3
    await stage.server.start()


async def test_a_check_reads_its_own_cards_and_nothing_else(stage: Stage, tmp_path: Path) -> None:
    in_container(stage)
    await stage.worker("echo")
    (card,) = read_card_file(stage.environment["HANDOFF_CARD_FILE"])
    allowed = [
        f"$JS.API.DIRECT.GET.KV_{card.bucket}.$KV.{card.bucket}.{card.key}",
        f"$JS.API.STREAM.INFO.KV_{card.bucket}",
    ]
    async with NatsServer(tmp_path / "guarded", config=USERS.format(publish=json.dumps(allowed))) as guarded:
        everything = guarded.url.replace("://", "://all:all@")
        bus = await connect(Settings(nats_url=everything, card_ttl_s=LIMIT_S), timeout_s=LIMIT_S)
        stage.environment["HANDOFF_CARD_TTL_S"] = str(LIMIT_S)  # the test writes the card once
        stage.environment["NATS_URL"] = guarded.url.replace("://", "://health:health@")
        assert (await health(stage))[0] == 1
        await bus.put_card(card.key, b"{}", bucket=card.bucket)
        assert (await health(stage))[0] == 0
        await bus.drop_card(card.key, bucket=card.bucket)
        assert (await health(stage))[0] == 1
        await bus.close()
