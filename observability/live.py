"""What actors say while they work: where they are, what they are about to call, what came to an end.

Somebody may listen (observability/telemetry.py); while nobody does, all of this costs next to nothing.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from observability import names, span_ids
from observability.announced import Calls, announced
from observability.current import Place, here
from observability.run_record import Entry
from protocol.messages import Usage
from protocol.subjects import TaskAddress


class Listener(Protocol):
    """Who tells the world about it."""

    def enter(self, run: str, span: Callable[[], str]) -> object:
        """Make a span the parent of whatever is started from now on; returns what `leave` needs."""
        ...

    @property
    def holds(self) -> bool:
        """Whether any model calls are held back."""
        ...

    def leave(self, token: object) -> None:
        """Undo `enter`."""
        ...

    def hold(self, key: str, span: str) -> None:
        """Keep the model calls under a span to yourself until `release` or `drop` of that key."""
        ...

    def release(self, key: str, service: str = "") -> None:
        """Those calls are ours to tell."""
        ...

    def drop(self, key: str) -> None:
        """Others tell those calls, if anybody does."""
        ...

    def run_ended(self, run: str, entries: Sequence[Entry], told: Callable[[], None]) -> None:
        """A run is over, and this is its record. Calls `told`, from any thread, once nobody need wait for it."""
        ...

    def model_called(self, role: str, model: str, usage: Usage, error: str) -> None:
        """A model was asked; `error` is what went wrong, if anything did."""
        ...

    def asked_again(self) -> None:
        """The last call to a model failed, and is made again."""
        ...

    def count(self, name: str, **told: str) -> None:
        """One more of something."""
        ...

    def watch(self, name: str, team: str, look: Callable[[], Mapping[str, float]]) -> None:
        """Read a gauge now and then: a number for each worker of the team."""
        ...


_listeners: list[Listener] = []


def listen(listener: Listener | None) -> None:
    """Let this one listen, alone; None for nobody."""
    _listeners[:] = [listener] if listener else []


def listening() -> bool:
    """Whether anybody listens."""
    return bool(_listeners)


@contextmanager
def holding_run(run: str) -> Generator[None]:
    """A supervisor has a run; what it learns of its own calls is lost with it, unless the run ended here."""
    token = here.set(Place(run))
    try:
        yield
    finally:
        here.reset(token)
        for listener in _listeners:
            listener.drop(run)


@contextmanager
def thinking(role: str, *which: str | int, epoch: int) -> Generator[None]:
    """A supervisor is about to ask a model, for one decision."""
    place = here.get()
    if not _listeners or place is None:
        yield
        return
    span = span_ids.thought(place.run, role, *which)
    _listeners[0].hold(place.run, span)
    with _below(_listeners[0], place.run, span, Calls(span, epoch)):
        yield


class executing:  # noqa: N801  reads as a verb, as the others do
    """A worker has a task, after so many others had it. On the way of every task, so written out for speed."""

    __slots__ = ("_entered", "_place", "_token")

    def __init__(self, address: TaskAddress, number: int) -> None:
        self._place = Place(address.run, address.task, address.worker, address.attempt, number)
        self._entered: object = None

    def __enter__(self) -> None:
        self._token = here.set(self._place)
        if _listeners:
            place = self._place
            self._entered = _listeners[0].enter(place.run, place.own_span)

    def __exit__(self, *_: object) -> None:
        here.reset(self._token)
        if _listeners:
            _listeners[0].leave(self._entered)
            if _listeners[0].holds:
                _listeners[0].drop(self._place.span)


def result_stored() -> None:
    """The task that we are at has its result, and it is ours."""
    if not _listeners or not _listeners[0].holds:
        return
    place = here.get()
    if place is not None and place.task:
        _listeners[0].release(place.span, names.worker_service(place.worker))


@contextmanager
def asking(turn: int) -> Generator[None]:
    """A worker is about to ask a model, after so many turns."""
    place = here.get()
    if not _listeners or place is None:
        yield
        return
    _listeners[0].hold(place.span, place.span)
    token = announced.set(Calls(place.span, turn))
    try:
        yield
    finally:
        announced.reset(token)


@contextmanager
def calling_tool(turn: int, call: str) -> Generator[None]:
    """A worker is about to call a tool, as a turn of the model asks."""
    place = here.get()
    if not _listeners or place is None:
        yield
        return
    with _below(_listeners[0], place.run, span_ids.tool(place.span, turn, call), None):
        yield


def run_ended(run: str, entries: Sequence[Entry], told: Callable[[], None]) -> None:
    """A run ended here: its story can be told."""
    for listener in _listeners:
        listener.run_ended(run, entries, told)


def run_answered(run: str) -> None:
    """The answer of a run is stored, by us: the calls we made for it are ours to tell."""
    for listener in _listeners:
        listener.release(run)


def model_called(role: str, model: str, usage: Usage, error: str = "") -> None:
    """A model was asked."""
    for listener in _listeners:
        listener.model_called(role, model, usage, error)


def asked_again() -> None:
    """A call to a model failed, and is made again."""
    for listener in _listeners:
        listener.asked_again()


def count(name: str, **told: str) -> None:
    """One more of something that is counted."""
    for listener in _listeners:
        listener.count(name, **told)


def watch(name: str, team: str, look: Callable[[], Mapping[str, float]]) -> None:
    """Have a gauge read now and then: a number for each worker of the team."""
    for listener in _listeners:
        listener.watch(name, team, look)


@contextmanager
def _below(listener: Listener, run: str, span: str, calls: Calls | None) -> Generator[None]:
    token, entered = announced.set(calls), listener.enter(run, lambda: span)
    try:
        yield
    finally:
        listener.leave(entered)
        announced.reset(token)
