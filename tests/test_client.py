"""The client of a program of one's own: what it asks, what it waits for, and what it gives back."""

import ast
import asyncio
import inspect
import json
import textwrap
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
from waiting import LIMIT_S

import actors.client
from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import Stored
from actors.client import Client
from actors.settings import Settings
from protocol import codec, streams, subjects
from protocol.errors import InvalidError, UnknownRunError, UnservedError
from protocol.events import Event, Finished, Planned, Started
from protocol.ids import RunId, new_run_id
from protocol.messages import Answer, Artifact, Budget, Plan, Request, SupervisorCard, Task

SETTINGS = Settings()
PLAN = Plan(tasks=(Task(id="a", worker="w", intent="count"),))


class WatchedBus(MemoryBus):
    """A bus that notes what is asked of it, and that can be deaf: nothing that is republished arrives then."""

    def __init__(self, server: MemoryServer) -> None:
        super().__init__(server, "client")
        self.asked: list[tuple[str, str]] = []
        self.deaf = False

    @asynccontextmanager
    async def subscribe(self, subject: str, heard: Callable[[Stored], None]) -> AsyncGenerator[None]:
        self.asked.append(("subscribe", subject))
        async with super().subscribe(subject, (lambda _: None) if self.deaf else heard):
            yield

    async def read(self, stream: str, subject: str, *, after: int = 0, limit: int = 0) -> list[Stored]:
        self.asked.append(("read", subject))
        return await super().read(stream, subject, after=after, limit=limit)


class Place:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.bus = WatchedBus(self.server)
        self.run = new_run_id()
        self.log = subjects.log(RunId(self.run))

    async def log_event(self, event: Event) -> None:
        await MemoryBus(self.server, "supervisor").publish(self.log, codec.encode(event))

    async def serve(self, team: str) -> None:
        """Announce a supervisor of the team."""
        card = codec.encode(SupervisorCard(team=team, instance="one"))
        await self.bus.put_card(subjects.supervisor_card(team, "one"), card, bucket=streams.SUPERVISORS)

    async def begin(self) -> None:
        """Store the beginning of the run."""
        request = Request(id=self.run, text="Count")
        await self.log_event(Started(epoch=1, supervisor="one", request=request, request_seq=1))

    async def requests(self) -> list[Request]:
        stored = await self.bus.read(streams.REQUESTS, subjects.REQUESTS)
        return [codec.decode(one.data, Request) for one in stored]


@pytest.fixture
async def place() -> Place:
    return Place()


async def test_who_waits_for_the_answer_reads_the_log_of_the_run_and_nothing_else(place: Place) -> None:
    await place.begin()
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        waiting = asyncio.create_task(client.run(place.run).answer())
        await place.clock.advance(1)
        await place.log_event(Planned(plan=PLAN))
        await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
        await place.clock.advance(1)
        assert (await waiting).text == "42"
    assert place.bus.asked == [("subscribe", subjects.stored(place.log))]


async def test_an_answer_that_was_not_republished_is_found_in_the_stream(place: Place) -> None:
    await place.begin()
    place.bus.deaf = True
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        waiting = asyncio.create_task(client.run(place.run).answer())
        await place.clock.advance(100)
        await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
        assert await place.clock.advance_until(waiting.done, 20)
        assert waiting.result().text == "42"


async def test_an_answer_that_was_missed_while_the_connection_was_lost_is_read_at_once(place: Place) -> None:
    await place.log_event(Planned(plan=PLAN))
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        waiting = asyncio.create_task(client.run(place.run).answer())
        await place.clock.advance(100)
        place.bus.lost()
        await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
        await place.clock.advance(0.1)
        place.bus.back()
        assert await place.clock.advance_until(waiting.done, 0.5)
        assert waiting.result().text == "42"


async def test_an_answer_that_is_there_already_needs_no_news(place: Place) -> None:
    await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        assert (await client.run(place.run).answer()).text == "42"


async def test_the_wait_for_an_answer_ends_after_its_timeout_and_can_be_begun_again(place: Place) -> None:
    await place.begin()
    async with Client(place.bus, settings=SETTINGS) as client:
        run = client.run(place.run)
        with pytest.raises(TimeoutError, match=place.run):
            await run.answer(timeout=0.01)
        await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
        assert (await run.answer(timeout=LIMIT_S)).text == "42"


async def test_an_answer_kept_as_an_artifact_comes_back_whole(place: Place) -> None:
    whole = "word " * 100_000
    digest = await place.bus.put_artifact(name := f"{place.run}.answer", whole.encode())
    artifact = Artifact(name=name, digest=digest, size=len(whole))
    short = Answer(run=place.run, status="complete", text="word word [cut off here]", artifacts=(artifact,))
    await place.log_event(Finished(answer=short))
    async with Client(place.bus, settings=SETTINGS) as client:
        assert (await client.run(place.run).answer()).text == whole


async def test_what_ask_is_given_stands_in_the_request(place: Place) -> None:
    await place.serve("shop")
    async with Client(place.bus, settings=SETTINGS) as client:
        artifact = Artifact(name="n", digest="d", size=1)
        run = await client.ask(
            "Count",
            plan=PLAN,
            team="shop",
            synthesis=False,
            budget=Budget(usd=0.5),
            deadline_s=9.0,
            artifacts=[artifact],
            review=True,
            metadata={"user": "ada"},
            id=place.run,
        )
    (request,) = await place.requests()
    assert run.id == place.run
    assert request == Request(
        id=place.run,
        text="Count",
        plan=PLAN,
        team="shop",
        synthesis=False,
        budget=Budget(usd=0.5),
        deadline_s=9.0,
        artifacts=(artifact,),
        review=True,
        metadata={"user": "ada"},
    )


async def test_ask_names_its_parameters_and_refuses_what_does_not_fit(place: Place) -> None:
    parameters = inspect.signature(Client.ask).parameters
    assert {"text", "plan", "team", "synthesis", "budget", "deadline_s", "review", "metadata"} <= set(parameters)
    assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters.values())
    async with Client(place.bus, settings=SETTINGS) as client:
        with pytest.raises(InvalidError, match="deadline_s"):
            await client.ask("Count", deadline_s="soon")  # pyright: ignore[reportArgumentType]
    assert await place.requests() == []


async def test_a_client_that_was_not_entered_says_so(place: Place) -> None:
    with pytest.raises(RuntimeError, match="async with Client"):
        await Client().ask("x")
    with pytest.raises(RuntimeError, match="async with Client"):
        await Client().submit(Request(text="x"))
    with pytest.raises(RuntimeError, match="async with Client"):
        Client().run(place.run)


def test_the_example_in_the_docstring_is_a_program() -> None:
    lines = (actors.client.__doc__ or "").splitlines()
    example = textwrap.dedent("\n".join(line for line in lines if not line or line.startswith("    ")))
    names = {node.attr for node in ast.walk(ast.parse(example)) if isinstance(node, ast.Attribute)}
    assert {"ask", "events", "answer", "to_dict"} <= names
    for method in ("ask", "events", "answer", "to_dict"):
        assert any(hasattr(owner, method) for owner in (Client, actors.client.Run, Answer))


def test_an_answer_is_plain_json_after_one_call() -> None:
    answer = Answer(run="r", status="complete", text="42", gaps=("none",), spending={})
    plain = json.loads(json.dumps(answer.to_dict()))
    assert (plain["status"], plain["gaps"], plain["usage"]["input_tokens"]) == ("complete", ["none"], 0)


async def test_a_run_that_does_not_exist_is_an_error_at_once(place: Place) -> None:
    async with Client(place.bus, settings=SETTINGS) as client:
        run = client.run(place.run)
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(UnknownRunError) as raised:
                await run.answer()
            with pytest.raises(UnknownRunError):
                _ = [event async for event in run.events()]
    assert raised.value.run == place.run


async def test_a_run_whose_request_waits_for_a_supervisor_is_known(place: Place) -> None:
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        await client.ask("Count", id=place.run, check_served=False)
        waiting = asyncio.create_task(client.run(place.run).answer())
        await place.clock.advance(100)
        assert not waiting.done()
        await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
        assert await place.clock.advance_until(waiting.done, 20)
        assert waiting.result().text == "42"


async def test_the_wait_ends_when_the_request_is_refused_and_no_run_began(place: Place) -> None:
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        run = await client.ask("Count", check_served=False)
        waiting = asyncio.create_task(run.answer())
        await place.clock.advance(1)
        (stored,) = await place.bus.read(streams.REQUESTS, subjects.REQUESTS)
        await place.bus.delete(streams.REQUESTS, stored.seq)
        assert await place.clock.advance_until(waiting.done, 60)
        with pytest.raises(UnknownRunError):
            await waiting


async def test_a_request_for_a_team_without_a_supervisor_is_refused_and_not_stored(place: Place) -> None:
    await place.serve("shop")
    async with Client(place.bus, settings=SETTINGS) as client:
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(UnservedError) as raised:
                await client.ask("Count", team="shpo")
        assert raised.value.team == "shpo"
        assert "shop" in str(raised.value)
        assert await place.requests() == []
        await client.ask("Count", team="shop")
    assert [request.team for request in await place.requests()] == ["shop"]


async def test_a_team_whose_supervisor_has_no_card_is_served_while_a_pull_waits(place: Place) -> None:
    queue = streams.request_queue("legacy", SETTINGS.ack_wait)
    pull = await MemoryBus(place.server, "old").pull(queue, 1, lambda _: None)
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        await client.ask("Count", team="legacy")
        assert len(await place.requests()) == 1
        await pull.stop()
        await place.clock.advance(5)
        asking = asyncio.create_task(client.ask("Count", team="legacy"))
        assert await place.clock.advance_until(asking.done, 20)
        with pytest.raises(UnservedError):
            await asking


async def test_a_supervisor_that_is_restarted_gets_the_request(place: Place) -> None:
    queue = streams.request_queue("shop", SETTINGS.ack_wait)
    await (await MemoryBus(place.server, "old").pull(queue, 1, lambda _: None)).stop()
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        asking = asyncio.create_task(client.ask("Count", team="shop"))
        await place.clock.advance(1)
        await place.serve("shop")
        assert await place.clock.advance_until(asking.done, 20)
        await asking


async def test_many_requests_look_for_the_supervisor_once(place: Place) -> None:
    await place.serve("shop")
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        await client.ask("Count", team="shop")
        await place.bus.drop_card(subjects.supervisor_card("shop", "one"), bucket=streams.SUPERVISORS)
        await client.ask("Count", team="shop")
    assert len(await place.requests()) == 2
