"""Telemetry: the listener of one process, made of traces and metrics; either may be off."""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import Token

from opentelemetry.context import Context, detach

from observability import live
from observability.endpoint import Process
from observability.metrics import Metrics, start_metrics
from observability.outlet import Outlet
from observability.run_measures import Measure, measures_of
from observability.run_record import Entry
from observability.tracing import FLUSH_S, Story, Tracing, resource_of, start_tracing
from protocol.messages import Usage

SWITCH_S = 0.0005


class Telemetry:
    """Passes on what the actors of a process say."""

    def __init__(self, tracing: Tracing | None, metrics: Metrics | None) -> None:
        self._tracing = tracing
        self._metrics = metrics
        self._figures: Outlet[Story] = Outlet(self._measure, where="metrics", weigh=lambda story: len(story.entries))

    def _measure(self, stories: list[Story]) -> bool:
        if self._metrics:
            for story in stories:
                self._metrics.note(measures_of(story.run, story.entries))
        return True

    def enter(self, run: str, span: Callable[[], str]) -> "Token[Context] | None":
        """Make a span the parent of what is started."""
        return self._tracing.enter(run, span) if self._tracing else None

    def leave(self, token: object) -> None:
        """Undo `enter`."""
        if isinstance(token, Token):
            detach(token)  # pyright: ignore[reportUnknownArgumentType]

    def hold(self, key: str, span: str) -> None:
        """Keep the model calls under a span back."""
        if self._tracing:
            self._tracing.hold(key, span)

    @property
    def holds(self) -> bool:
        """Whether any model calls are held back at all."""
        return self._tracing is not None and self._tracing.holds

    def release(self, key: str, service: str = "") -> None:
        """Tell the model calls that were held back."""
        if self._tracing:
            self._tracing.release(key, service)

    def drop(self, key: str) -> None:
        """Forget the model calls that were held back."""
        if self._tracing:
            self._tracing.drop(key)

    def run_ended(self, run: str, entries: Sequence[Entry], told: Callable[[], None]) -> None:
        """Tell a run, and count it."""
        if self._tracing:
            self._tracing.tell(Story(run, entries, told))
        else:
            told()
        if self._metrics:
            self._figures.put(Story(run, entries))

    def model_called(self, role: str, model: str, usage: Usage, error: str) -> None:
        """Count a call to a model."""
        if self._metrics:
            self._metrics.model_called(role, model, usage, error)

    def asked_again(self) -> None:
        """The last call to a model was in vain."""
        if self._tracing:
            self._tracing.asked_again()

    def count(self, name: str, **told: str) -> None:
        """Count one more."""
        if self._metrics:
            self._metrics.note([Measure(name, 1, told)])

    def watch(self, name: str, team: str, look: Callable[[], Mapping[str, float]]) -> None:
        """Read a gauge now and then: a number for each worker of the team."""
        if self._metrics:
            self._metrics.watch(name, team, look)

    def close(self, within_s: float = FLUSH_S) -> None:
        """Send what is left, for a bounded time; nobody listens any more."""
        live.listen(None)
        if self._tracing:
            self._tracing.close(within_s)
        self._figures.close(within_s / 3)
        if self._metrics:
            self._metrics.close(within_s / 3)


def start_telemetry(environment: Mapping[str, str], process: Process) -> Telemetry | None:
    """Listen from now on, if anybody wants to know; None, and nothing was begun, if not."""
    # A collector that is away is told once, by us.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    tracing = start_tracing(environment, process)
    metrics = start_metrics(environment, resource_of(process), port=process.metrics_port)
    if tracing is None and metrics is None:
        return None
    # The thread that packs and sends must not keep the loop waiting for the interpreter: 5 ms would be the default.
    sys.setswitchinterval(SWITCH_S)
    telemetry = Telemetry(tracing, metrics)
    live.listen(telemetry)
    return telemetry
