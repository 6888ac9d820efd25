"""Pricing: what a task or a call is likely to cost, by the models that the workers and roles use."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from actors.run.estimate import (
    LONG_ROLE,
    LONG_TASK,
    PLANNER,
    REPORT,
    SHORT_ROLE,
    SHORT_TASK,
    SYNTHESIZER,
    UNKNOWN,
    Cost,
    Costs,
)
from actors.settings import Settings
from protocol.messages import Card, Usage

Price = Callable[[str, Usage], float | None]
"""The port to a list of prices: what so much costs at a model; None where that is not known."""

Known = Literal["known", "partly", "unknown", "free"]

NOTHING = Cost(0.0, 0.0)


def nobody_knows(model: str, usage: Usage) -> float | None:
    """No prices at all."""
    del model, usage


class Pricing:
    """Prices as the settings and the cards of the workers have it. Each model is looked up once."""

    def __init__(self, price: Price, settings: Settings) -> None:
        self._price = price
        self._settings = settings
        self._known: dict[tuple[str, bool], Cost | None] = {}

    def costs(self, workers: Mapping[str, Sequence[Card]], *, free: bool = False) -> Costs:
        """What each worker and each role costs, where that is known; nothing at all with `free`."""
        writer = self._settings.model_synthesizer
        roles = {PLANNER: self._settings.model_planner, SYNTHESIZER: writer, REPORT: writer}
        found = {name: self._cost(model, role=True) for name, model in roles.items()}
        # A worker without a model is a function, or a person: not paid by the token.
        found |= {name: self._cost(cards[0].model, role=False) for name, cards in workers.items()}
        if free:
            return dict.fromkeys(found, NOTHING)
        return {name: cost for name, cost in found.items() if cost is not None}

    def at_a_guess(self, workers: Mapping[str, Sequence[Card]]) -> Costs:
        """The same while no call has told yet who answers: behind an address of one's own that can be anybody."""
        if self._settings.offline:
            return self.costs(workers, free=True)
        return UNKNOWN if self._settings.anthropic_base_url else self.costs(workers)

    def known(self, models: Iterable[str]) -> Known:
        """How far the prices of these models of workers, and of the roles of the supervisor, are known.

        Behind a configured address any model may answer, so no price is known there.
        """
        own = () if self._settings.offline else (self._settings.model_planner, self._settings.model_synthesizer)
        found = [self._cost(model, role=False) for model in {*own, *models} if model]
        if all(cost == NOTHING for cost in found):
            return "free"
        if all(cost is None for cost in found if cost != NOTHING):
            return "unknown"
        return "partly" if None in found or self._settings.anthropic_base_url else "known"

    def _cost(self, model: str, *, role: bool) -> Cost | None:
        if not model:
            return NOTHING
        if (model, role) not in self._known:
            short, long = (SHORT_ROLE, LONG_ROLE) if role else (SHORT_TASK, LONG_TASK)
            low, high = self._price(model, short), self._price(model, long)
            self._known[model, role] = None if low is None or high is None else Cost(low, high)
        return self._known[model, role]
