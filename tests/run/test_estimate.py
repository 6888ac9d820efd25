import pytest
from run.folding import a_task

from actors.model.price import price_usd
from actors.run.estimate import PLANNER, REPORT, SYNTHESIZER, Cost, own_estimate, planned_estimate
from actors.settings import Settings
from actors.supervisor.pricing import Pricing, nobody_knows
from actors.supervisor.roster import modelless
from protocol.messages import Card, Plan, Request, Usage

DIAMOND = Plan(tasks=(a_task("a"), a_task("b", "a"), a_task("c", "a", worker="v"), a_task("d", "b", "c")))


def by_tokens(model: str, usage: Usage) -> float | None:
    return None if model == "mystery" else usage.tokens / 1e6


def cards(**models: str) -> dict[str, list[Card]]:
    return {name: [Card(worker=name, instance="i", model=model)] for name, model in models.items()}


def test_a_plan_is_measured_before_it_runs() -> None:
    found = planned_estimate(DIAMOND)
    assert (found.tasks, found.critical_path, found.widest, found.model_calls) == (4, 3, 2, 7)
    assert (found.usd_low, found.usd_high) == (None, None)


def test_a_plan_of_ones_own_needs_no_planner_and_perhaps_no_writer() -> None:
    assert own_estimate(Request(), DIAMOND).model_calls == 6
    assert own_estimate(Request(synthesis=False), DIAMOND).model_calls == 4


def test_functions_and_persons_are_counted_as_tasks_and_not_as_model_calls() -> None:
    found = planned_estimate(DIAMOND, modelless={"w"})
    assert (found.tasks, found.model_calls) == (4, 4), "the planner, c at v, the synthesizer, and the report"
    assert own_estimate(Request(synthesis=False), DIAMOND, modelless={"w", "v"}).model_calls == 0


def test_the_card_tells_whether_a_worker_calls_a_model() -> None:
    kinds = {
        "agent": Card(worker="agent", instance="i", kind="agent", model="m"),
        "function": Card(worker="function", instance="i", kind="function"),
        "person": Card(worker="person", instance="i", kind="person", person=True),
        "team": Card(worker="team", instance="i", kind="team"),
        "older": Card(worker="older", instance="i", model="m"),
        "older-function": Card(worker="older-function", instance="i"),
    }
    assert modelless({name: [card] for name, card in kinds.items()}) == {"function", "person", "older-function"}


def test_the_price_is_a_range_where_every_price_is_known() -> None:
    costs = {
        "w": Cost(0.01, 0.1),
        "v": Cost(0.02, 0.3),
        PLANNER: Cost(1.0, 2.0),
        SYNTHESIZER: Cost(3.0, 3.0),
        REPORT: Cost(0.0, 1.0),
    }
    found = planned_estimate(DIAMOND, costs)
    assert (found.usd_low, found.usd_high) == (4.05, 6.6)
    del costs["v"]
    assert planned_estimate(DIAMOND, costs).usd_low is None, "an unknown part makes the whole unknown"


def test_prices_come_from_the_models_of_the_workers_and_a_function_costs_nothing() -> None:
    costs = Pricing(by_tokens, Settings()).costs(cards(w="m", f="", x="mystery"))
    assert costs["w"].low < costs["w"].high
    assert costs["f"] == Cost(0.0, 0.0)
    assert "x" not in costs
    assert {PLANNER, SYNTHESIZER} <= set(costs)


def test_where_calls_are_free_or_nobody_knows_no_price_is_made_up() -> None:
    assert set(Pricing(by_tokens, Settings()).at_a_guess(cards(w="m")).values()) == {Cost(0.0, 0.0)}, "offline"
    own = Settings(anthropic_base_url="http://127.0.0.1:1", anthropic_api_key="k")
    assert Pricing(by_tokens, own).at_a_guess(cards(w="m")) == {}
    assert Pricing(nobody_knows, Settings(anthropic_api_key="k")).at_a_guess(cards(w="m")) == {}
    assert "w" in Pricing(by_tokens, Settings(anthropic_api_key="k")).at_a_guess(cards(w="m"))


@pytest.mark.parametrize(
    ("settings", "models", "known"),
    [
        (Settings(), ["offline-rules", "offline-rules (why)", ""], "free"),
        (Settings(), [], "free"),
        (Settings(), ["offline-rules", "claude-haiku-5-5"], "known"),
        (Settings(anthropic_api_key="k"), ["claude-haiku-5-5", ""], "known"),
        (Settings(anthropic_api_key="k"), ["some-local-model"], "partly"),
        (Settings(anthropic_base_url="http://x"), ["claude-haiku-5-5"], "partly"),
        (
            Settings(anthropic_base_url="http://x", model_planner="qwen", model_synthesizer="qwen"),
            ["qwen"],
            "unknown",
        ),
    ],
)
def test_how_far_the_prices_of_a_team_are_known(settings: Settings, models: list[str], known: str) -> None:
    assert Pricing(price_usd, settings).known(models) == known
