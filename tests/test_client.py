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
from protocol.errors import InvalidError
from protocol.events import Event, Finished, Planned
from protocol.ids import RunId, new_run_id
from protocol.messages import Answer, Artifact, Budget, Plan, Request, Task

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

    async def requests(self) -> list[Request]:
        stored = await self.bus.read(streams.REQUESTS, subjects.REQUESTS)
        return [codec.decode(one.data, Request) for one in stored]


@pytest.fixture
async def place() -> Place:
    return Place()


async def test_who_waits_for_the_answer_reads_the_log_of_the_run_and_nothing_else(place: Place) -> None:
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        waiting = asyncio.create_task(client.run(place.run).answer())
        await place.clock.advance(1)
        await place.log_event(Planned(plan=PLAN))
        await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
        await place.clock.advance(1)
        assert (await waiting).text == "42"
    assert place.bus.asked == [("subscribe", subjects.stored(place.log))]


async def test_an_answer_that_was_not_republished_is_found_in_the_stream(place: Place) -> None:
    place.bus.deaf = True
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        waiting = asyncio.create_task(client.run(place.run).answer())
        await place.clock.advance(100)
        await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
        assert await place.clock.advance_until(waiting.done, 20)
        assert waiting.result().text == "42"


async def test_an_answer_that_is_there_already_needs_no_news(place: Place) -> None:
    await place.log_event(Finished(answer=Answer(run=place.run, status="complete", text="42")))
    async with Client(place.bus, settings=SETTINGS, clock=place.clock) as client:
        assert (await client.run(place.run).answer()).text == "42"


async def test_the_wait_for_an_answer_ends_after_its_timeout_and_can_be_begun_again(place: Place) -> None:
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
