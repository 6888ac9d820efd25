import pytest
from run_records import RUN

from actors.bus.port import Stored
from actors.record import understand
from protocol import codec
from protocol.ids import RunId
from protocol.messages import Fault, Result, Usage
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
