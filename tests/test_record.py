from run_records import RUN

from actors.bus.port import Stored
from actors.record import understand
from protocol import codec
from protocol.messages import Fault, Result
from protocol.subjects import TaskAddress


def test_the_fault_of_a_worker_in_any_language_is_read_without_its_secrets() -> None:
    fault = Fault(kind="login", message="password=hunter22 was refused", retryable=True)
    result = Result(run=RUN, task="a", attempt=1, worker="shouter", status="failed", error=fault)
    address = TaskAddress(RUN, "default", "shouter", "a", 1)
    entry = understand(Stored(subject=address.result, data=codec.encode(result), seq=1, time_ns=1))
    assert entry is not None
    assert isinstance(entry.message, Result)
    assert entry.message.error == Fault(kind="login", message="password=[redacted] was refused", retryable=True)
