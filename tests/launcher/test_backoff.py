from hypothesis import given
from hypothesis import strategies as st

from actors.launcher.backoff import Backoff


def test_waits_double_up_to_the_longest() -> None:
    backoff = Backoff()
    assert [backoff.after(0) for _ in range(7)] == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


def test_a_long_life_begins_anew() -> None:
    backoff = Backoff()
    for _ in range(5):
        backoff.after(29.9)
    assert backoff.after(30.0) == 0.2
    assert backoff.after(0.0) == 0.4


@given(st.lists(st.floats(min_value=0, max_value=1e6)))
def test_no_wait_is_outside_its_bounds(lives: list[float]) -> None:
    backoff = Backoff()
    assert all(0.2 <= backoff.after(life) <= 5.0 for life in lives)
