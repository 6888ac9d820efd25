import pytest

from actors.cli import wording
from protocol.messages import Answer, Plan, Request, Task, Timing, Usage


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0.00s"),
        (0.754, "0.75s"),
        (12.34, "12.3s"),
        (59.94, "59.9s"),
        (60, "1m00s"),
        (119.9, "1m59s"),
        (3661, "1h01m"),
    ],
)
def test_a_duration_is_exact_where_it_is_short(value: float, said: str) -> None:
    assert wording.seconds(value) == said


@pytest.mark.parametrize(("value", "said"), [(-3, "0s"), (5, "5s"), (61, "1m"), (7300, "2h"), (200_000, "2d")])
def test_an_age_is_told_in_its_biggest_unit(value: float, said: str) -> None:
    assert wording.age(value) == said


def test_an_unknown_price_is_never_free() -> None:
    assert [wording.cost(usd) for usd in (0.0, None, 0.01234, 2.5)] == ["free", "cost unknown", "$0.0123", "$2.50"]


def test_one_thing_is_not_many() -> None:
    assert [wording.count(number, "task") for number in (0, 1, 1234)] == ["0 tasks", "1 task", "1,234 tasks"]


def test_what_was_spent_is_one_line() -> None:
    usage = Usage(input_tokens=10, output_tokens=2, model_calls=1, tool_calls=3, usd=None)
    assert wording.spent(usage) == "12 tokens (10 in, 2 out) · 1 model call · 3 tool calls · cost unknown"
    assert wording.spent(Usage()) == "no model calls · free"


def test_what_came_from_a_cache_is_told_apart_and_everything_adds_up() -> None:
    usage = Usage(input_tokens=20, cache_write_tokens=5, cache_read_tokens=100, output_tokens=2, model_calls=1)
    said = "127 tokens (25 in, 100 cached (80% hit rate), 2 out) · 1 model call · 0 tool calls · free"
    assert wording.spent(usage) == said


@pytest.mark.parametrize(
    ("usage", "rate"),
    [
        (Usage(input_tokens=20, cache_write_tokens=5, cache_read_tokens=75), 0.75),
        (Usage(input_tokens=20, cache_write_tokens=5), 0.0),
        (Usage(cache_read_tokens=5, output_tokens=100), 1.0),
        (Usage(input_tokens=20, output_tokens=5), None),
        (Usage(), None),
    ],
)
def test_the_hit_rate_is_the_part_of_all_input_that_was_read_from_the_cache(usage: Usage, rate: float | None) -> None:
    assert wording.cache_hit_rate(usage) == rate
    assert ("0 cached (0%" in wording.spent(usage + Usage(model_calls=1))) == (rate == 0.0)


def test_time_is_told_against_the_time_of_the_tasks_one_after_the_other() -> None:
    timing = Timing(wall_s=1.0, sequential_s=3.0, critical_path_s=0.9, speedup=3.0)
    said = wording.timed(Answer(run="a" * 32, status="partial", timing=timing))
    assert said == "partial in 1.00s · sequential 3.00s · speed-up 3.00x · critical path 0.90s"


@pytest.mark.parametrize(
    "timing",
    [
        Timing(wall_s=1.0, sequential_s=0.8, critical_path_s=0.8, speedup=0.8),
        Timing(wall_s=1.0),
    ],
    ids=["one task", "none"],
)
def test_a_run_in_which_nothing_was_parallel_has_no_speed_up(timing: Timing) -> None:
    assert wording.timed(Answer(run="a" * 32, status="complete", timing=timing)) == "complete in 1.00s"


def test_a_run_is_about_its_text_or_else_about_its_plan() -> None:
    plan = Plan(tasks=(Task(id="a", worker="w", intent="count the bolts"),))
    goal = Plan(tasks=plan.tasks, goal="Bolts")
    assert wording.about(Request(text="How many?", plan=goal), None) == "How many?"
    assert wording.about(Request(plan=goal), None) == "Bolts"
    assert wording.about(Request(), plan) == "count the bolts"
    assert wording.about(Request(), None) == ""


@pytest.mark.parametrize(
    ("usd", "prices", "said"),
    [
        (1.0, "known", "ceiling $1.00"),
        (0.005, "known", "ceiling $0.005"),
        (None, "known", "no ceiling in dollars"),
        (1.0, "partly", "ceiling $1.00 where the price is known"),
        (1.0, "unknown", "price unknown, no ceiling in dollars"),
        (None, "unknown", "price unknown, no ceiling in dollars"),
        (1.0, "free", ""),
        (1.0, "", ""),
    ],
)
def test_a_ceiling_is_said_only_as_far_as_it_binds(usd: float | None, prices: str, said: str) -> None:
    assert wording.ceiling(usd, prices) == said
