"""`handoff ask` on a bus that was named: it starts nothing there, and refuses what no supervisor would take."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from servers import NatsServer

from actors.bus.jetstream import JetStreamBus, connect
from actors.settings import Settings
from protocol import codec, streams, subjects
from protocol.messages import Card, SupervisorCard
from tests.cli.running import Here

pytestmark = pytest.mark.process

T = TypeVar("T")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    server = NatsServer(tmp_path_factory.mktemp("nats"))
    asyncio.run(server.start())
    yield server
    asyncio.run(server.stop())


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr("actors.cli.opening.SETTLE_S", 0.2)


def on(server: NatsServer, work: Callable[[JetStreamBus], Awaitable[T]]) -> T:
    """Do something on the bus, outside the command."""

    async def done() -> T:
        bus = await connect(Settings(nats_url=server.url), timeout_s=30)
        try:
            return await work(bus)
        finally:
            await bus.close()

    return asyncio.run(done())


def requests(server: NatsServer, team: str) -> int:
    """How many requests of a team are stored."""
    found = on(server, lambda bus: bus.counts(streams.REQUESTS, subjects.request(team)))
    return sum(found.values())


@pytest.mark.parametrize("more", [(), ("--no-start",), ("--detach",), ("--json",)])
def test_without_a_supervisor_nothing_is_stored_and_nothing_started(
    here: Here, home: Path, server: NatsServer, more: tuple[str, ...]
) -> None:
    ended = here("ask", "What is 2 + 3?", "--nats", server.url, *more)
    assert ended.code == 3
    assert "no supervisor of team 'default'" in ended.err + ended.out
    assert requests(server, "default") == 0
    assert not home.exists(), "a team that was started writes its logs there"


def test_a_team_that_is_not_known_is_refused_with_those_that_are(here: Here, server: NatsServer) -> None:
    ended = here("ask", "What is 2 + 3?", "--nats", server.url, "--team", "nobody")
    assert ended.code == 2
    assert "'nobody'" in ended.err
    assert "default" in ended.err
    assert requests(server, "nobody") == 0


def test_a_supervisor_whose_slots_are_all_in_use_gets_the_request(here: Here, home: Path, server: NatsServer) -> None:
    card = codec.encode(SupervisorCard(team="busy", instance="one", slots=1, runs=1))
    key = subjects.supervisor_card("busy", "one")
    on(server, lambda bus: bus.put_card(key, card, bucket=streams.SUPERVISORS))
    ended = here("ask", "What is 2 + 3?", "--nats", server.url, "--team", "busy", "--detach")
    assert ended.code == 0, ended.err
    assert requests(server, "busy") == 1
    assert not home.exists(), "a team that was started writes its logs there"


def test_the_doctor_names_teams_with_workers_and_no_supervisor(here: Here, server: NatsServer) -> None:
    card = codec.encode(Card(worker="clerk", instance="one"))
    on(server, lambda bus: bus.put_card(subjects.card("lonely", "clerk", "one"), card))
    found = here("doctor", "--nats", server.url, "--json").data
    (row,) = [row for row in found if row["name"] == "supervisors" and "lonely" in row["found"]]
    assert row["state"] == "warn"
    assert "lonely" in here("workers", "--nats", server.url).err


@pytest.mark.parametrize("more", [("--list",), ("--json",), ("--answer", "abcd/t", "yes")])
def test_the_inbox_of_a_person_that_the_team_does_not_have_is_refused_with_those_it_has(
    here: Here, server: NatsServer, more: tuple[str, ...]
) -> None:
    for name, person in (("counsel", True), ("clerk", False)):
        card = codec.encode(Card(worker=name, instance="one", person=person))
        on(server, lambda bus, card=card, name=name: bus.put_card(subjects.card("firm", name, "one"), card))
    place = ("--team", "firm", "--nats", server.url)
    for name in ("nobody", "clerk"):
        ended = here("inbox", "--as", name, *more, *place)
        assert ended.code == 2, name
        assert "counsel" in ended.err
    assert here("inbox", "--as", "counsel", "--list", *place).code == 0
