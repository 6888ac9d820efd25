import threading

from structlog.testing import capture_logs
from waiting import LIMIT_S

from observability.outlet import BATCH, HEAVIEST, MOST_WAITING, Outlet


def test_everything_is_sent_in_order() -> None:
    sent: list[int] = []
    outlet: Outlet[int] = Outlet(lambda batch: sent.extend(batch) is None, where="here", every_s=0.01)
    for number in range(3 * BATCH):
        outlet.put(number)
    assert outlet.close(LIMIT_S)
    assert sent == list(range(3 * BATCH))


def test_whoever_puts_is_never_held_up_and_the_oldest_gives_way() -> None:
    gate, sent = threading.Event(), list[int]()

    def send(batch: list[int]) -> bool:
        gate.wait()
        sent.extend(batch)
        return True

    outlet: Outlet[int] = Outlet(send, where="here", every_s=0.001)
    outlet.put_all(range(MOST_WAITING + 2 * BATCH))
    assert not sent, "nothing of it could be sent yet"
    gate.set()
    assert outlet.close(LIMIT_S)
    assert sent[-1] == MOST_WAITING + 2 * BATCH - 1
    assert len(sent) >= MOST_WAITING


def test_what_is_heavy_counts_for_as_much() -> None:
    gate, sent, started = threading.Event(), list[list[int]](), threading.Event()

    def send(batch: list[int]) -> bool:
        started.set()
        gate.wait()
        sent.append(batch)
        return True

    outlet: Outlet[int] = Outlet(send, where="here", every_s=0.001, weigh=lambda weight: weight)
    outlet.put(1)
    assert started.wait(LIMIT_S)
    outlet.put_all([HEAVIEST // 2] * 1000)
    gate.set()
    assert outlet.close(LIMIT_S)
    assert sum(sent[-1]) <= HEAVIEST
    assert MOST_WAITING - HEAVIEST < sum(sum(batch) for batch in sent) <= MOST_WAITING + 1


def test_something_heavier_than_all_that_fits_goes_alone() -> None:
    sent: list[int] = []
    outlet: Outlet[int] = Outlet(lambda b: sent.extend(b) is None, where="here", every_s=60, weigh=lambda w: w)
    outlet.put(2 * MOST_WAITING)
    assert outlet.close(LIMIT_S)
    assert sent == [2 * MOST_WAITING]


def test_closing_takes_no_longer_than_it_is_given() -> None:
    never = threading.Event()
    outlet: Outlet[int] = Outlet(lambda _: never.wait(), where="here", every_s=0.001)
    outlet.put(1)
    assert not outlet.close(0.05)
    never.set()


def test_a_receiver_that_is_away_is_told_once_and_again_when_it_is_back() -> None:
    answers = iter([False, False, True, True])
    turns = threading.Semaphore(0)

    def send(_: list[int]) -> bool:
        answer = next(answers)
        turns.release()
        return answer

    with capture_logs() as logs:
        outlet: Outlet[int] = Outlet(send, where="http://u:hunter22@there", every_s=0.001)
        for number in range(4):
            outlet.put(number)
            assert turns.acquire(timeout=LIMIT_S)
        assert outlet.close(LIMIT_S)
    assert [line["event"] for line in logs] == ["telemetry.undelivered", "telemetry.delivered_again"]
    assert "hunter22" not in str(logs)


def test_an_error_while_sending_is_only_told() -> None:
    sent: list[int] = []
    began = threading.Event()

    def send(batch: list[int]) -> bool:
        if not sent:
            sent.append(-1)
            began.set()
            raise ValueError("broken")
        sent.extend(batch)
        return True

    with capture_logs() as logs:
        outlet: Outlet[int] = Outlet(send, where="here", every_s=0.001)
        outlet.put(1)
        assert began.wait(LIMIT_S)
        outlet.put(2)
        assert outlet.close(LIMIT_S)
    assert sent == [-1, 2]
    assert logs[0]["reason"] == "ValueError: broken"
