"""A process that is asked to stop once may be signalled twice for it."""

import signal

from actors.launcher.stop_signals import REPEAT_S, StopSignals


def test_a_sigterm_right_after_another_is_the_same_request() -> None:
    now = 100.0
    signals = StopSignals(lambda: now)
    assert [signals.count(signal.SIGTERM) for _ in range(3)] == [1, 1, 1]
    now += REPEAT_S
    assert signals.count(signal.SIGTERM) == 2


def test_a_sigterm_right_after_a_ctrl_c_is_the_same_request() -> None:
    signals = StopSignals(lambda: 100.0)
    assert [signals.count(number) for number in (signal.SIGINT, signal.SIGTERM)] == [1, 1]


def test_each_ctrl_c_counts() -> None:
    signals = StopSignals(lambda: 100.0)
    assert [signals.count(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGINT)] == [1, 2, 3]
