import msgspec
import pytest
from run_records import RUN

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import Stored
from actors.record import Recorded, complete_run, read_run, understand
from actors.settings import Settings
from protocol import codec, subjects
from protocol.events import Started
from protocol.ids import RunId
from protocol.messages import Fault, Handoff, Request, Result, Usage
from protocol.steps import Taken
from protocol.subjects import TaskAddress

ADDRESS = TaskAddress(RunId("ab" * 16), "default", "echo", "t1", 1)


def read(**fields: object) -> Result:
    own = {"run": ADDRESS.run, "task": "t1", "attempt": 1, "worker": "echo", "status": "completed"}
    result = Result(**(own | fields))  # pyright: ignore[reportArgumentType]
    stored = Stored(subject=ADDRESS.result, data=codec.encode(result), seq=1, time_ns=1)
    entry = understand(stored)
    assert entry is not None
    assert isinstance(entry.message, Result)
    return entry.message


@pytest.mark.parametrize("fields", [{"worker": "admin"}, {"task": "t2"}, {"attempt": 2}, {"run": "cd" * 16}])
def test_whose_result_it_is_stands_in_the_subject(fields: dict[str, object]) -> None:
    result = read(**fields)
    assert (result.run, result.worker, result.task, result.attempt) == (ADDRESS.run, "echo", "t1", 1)


@pytest.mark.parametrize(
    "usage", [Usage(input_tokens=-1), Usage(usd=-0.5), Usage(seconds=-3.0), Usage(tool_calls=10**30)]
)
def test_what_cannot_have_been_spent_is_not_counted_and_its_price_not_known(usage: Usage) -> None:
    assert read(usage=usage).usage == Usage(usd=None)


def test_what_was_spent_is_taken_as_it_is_told() -> None:
    usage = Usage(input_tokens=5, output_tokens=7, usd=None, seconds=0.5)
    assert read(usage=usage).usage == usage


def test_the_fault_of_a_worker_in_any_language_is_read_without_its_secrets() -> None:
    fault = Fault(kind="login", message="password=hunter22 was refused", retryable=True)
    result = Result(run=RUN, task="a", attempt=1, worker="shouter", status="failed", error=fault)
    address = TaskAddress(RUN, "default", "shouter", "a", 1)
    entry = understand(Stored(subject=address.result, data=codec.encode(result), seq=1, time_ns=1))
    assert entry is not None
    assert isinstance(entry.message, Result)
    assert entry.message.error == Fault(kind="login", message="password=[redacted] was refused", retryable=True)


class Watched(MemoryBus):
    """Notes what is read."""

    def __init__(self) -> None:
        super().__init__(MemoryServer(Settings(), VirtualClock()), "s")
        self.trees: list[str] = []

    async def read(self, stream: str, subject: str, *, after: int = 0, limit: int = 0) -> list[Stored]:
        self.trees.append(subject)
        return await super().read(stream, subject, after=after, limit=limit)


async def a_run(bus: MemoryBus) -> dict[str, Recorded]:
    """Two handoffs, one after the result of the other; returns their results by subject."""
    await bus.publish(subjects.log(ADDRESS.run), codec.encode(Started(epoch=1, supervisor="s", request=Request())))
    for task in ("t1", "t2"):
        at = ADDRESS._replace(task=task)
        handoff = Handoff(run=at.run, task=task, attempt=1, from_agent="s", to_agent="echo", intent="say")
        result = Result(run=at.run, task=task, attempt=1, worker="echo", status="completed", output=task)
        await bus.publish(at.handoff, codec.encode(handoff))
        await bus.publish(at.steps, codec.encode(Taken(instance="i")))
        await bus.publish(at.result, codec.encode(result))
    return {e.subject: e for e in await read_run(bus, ADDRESS.run) if isinstance(e.message, Result)}


async def test_results_that_were_heard_are_not_read_again() -> None:
    bus = Watched()
    heard = await a_run(bus)
    whole = await read_run(bus, ADDRESS.run)
    bus.trees.clear()
    assert await complete_run(bus, ADDRESS.run, heard) == whole
    assert subjects.run_work(ADDRESS.run, "result") not in bus.trees


async def test_results_are_read_if_one_was_not_heard() -> None:
    bus = Watched()
    heard = await a_run(bus)
    del heard[ADDRESS.result]
    assert await complete_run(bus, ADDRESS.run, heard) == await read_run(bus, ADDRESS.run)


async def test_what_was_heard_on_no_subject_of_a_task_is_not_told() -> None:
    bus = Watched()
    heard = await a_run(bus)
    stray = subjects.stored(ADDRESS.result)
    heard[stray] = msgspec.structs.replace(heard[ADDRESS.result], subject=stray, seq=0)
    assert await complete_run(bus, ADDRESS.run, heard) == await read_run(bus, ADDRESS.run)


async def test_a_message_on_no_subject_of_a_task_does_not_keep_a_run_from_being_told() -> None:
    bus = Watched()
    heard = await a_run(bus)
    await bus.publish(f"{subjects.log(ADDRESS.run).removesuffix('log')}task.stray", b"?")
    assert await complete_run(bus, ADDRESS.run, heard) == await read_run(bus, ADDRESS.run)
