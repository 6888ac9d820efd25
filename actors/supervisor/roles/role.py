"""A role: a prompt of its own on a model, which carries out one kind of decision and ends in one Event."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from actors.model.port import Model, Ready
from actors.model.role_model import Ask, RoleModel
from actors.model.ways import Ways
from actors.prompt_file import read_prompt
from actors.run.decisions import ModelCall
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor.pricing import Pricing
from protocol.events import Event
from protocol.messages import Card, Request

Workers = Mapping[str, Sequence[Card]]
Schema = dict[str, Any]
D = TypeVar("D", bound=ModelCall)

LAST_CALL_S = 60.0
"""How long a call may wait for a busy provider after the deadline of the run."""


@dataclass(frozen=True)
class RoleKit:
    """What every role of one supervisor is made with."""

    _: KW_ONLY
    model: Model
    settings: Settings
    pricing: Pricing
    ways: Ways = field(default_factory=Ways)


@dataclass(frozen=True)
class Choice:
    """The workers that a plan may name, and those that it may not because their circuit breaker is open."""

    _: KW_ONLY
    workers: Workers = field(default_factory=dict[str, Sequence[Card]])
    shunned: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Situation:
    """The run as a role sees it. `said` gets the text of the answer while it is written."""

    _: KW_ONLY
    request: Request
    state: RunState
    now: float
    choice: Choice = field(default_factory=Choice)
    said: Callable[[str], None] | None = None
    ready: Ready | None = None

    @property
    def workers(self) -> Workers:
        """The live workers, as far as the role needs them."""
        return self.choice.workers


@dataclass(frozen=True)
class PendingCall:
    """A decision bound to its role: the key that tells it from other calls of the run, and its number for the trace.

    `workers` says whether the call needs the live workers: `required` waits until one is alive.
    """

    _: KW_ONLY
    key: str
    trace: str
    number: tuple[str | int, ...]
    workers: Literal["unused", "seen", "required"]
    streams_answer: bool
    ask: Callable[[Situation], Coroutine[Any, Any, Event]]


@dataclass(frozen=True)
class Preview:
    """What a role would send for an example: its system prompt, the schema of its answer, and a user message."""

    _: KW_ONLY
    role: str
    trace: str
    version: int
    model: str
    effort: str
    system: str
    schema: Schema | None
    user: str


class AnyRole(Protocol):
    """A role of any kind of decision, as the registry holds it."""

    @property
    def decision(self) -> type[ModelCall]:
        """The kind of decision that it carries out."""
        ...

    def bind(self, decision: ModelCall, state: RunState) -> PendingCall:
        """The decision as a call that can be started."""
        ...

    def preview(self, example: Situation) -> Preview:
        """What it would send for an example."""
        ...


class Role(ABC, Generic[D]):
    """One role. `name` is that of its prompt file and its calls; `trace` is the name of its spans."""

    name: str
    trace: str
    decision: type[D]
    tokens = 32_000
    workers: Literal["unused", "seen", "required"] = "unused"
    streams_answer = False

    def __init__(self, kit: RoleKit) -> None:
        settings = kit.settings
        self._kit = kit
        self.model = RoleModel(
            model=kit.model,
            role=self.name,
            name=self.model_name(settings),
            address=settings.anthropic_base_url,
            effort=self.effort(settings),
            tokens=self.tokens,
            limit=settings.max_tokens,
            ways=kit.ways,
        )

    @abstractmethod
    def model_name(self, settings: Settings) -> str:
        """The model that plays this role."""

    @abstractmethod
    def effort(self, settings: Settings) -> str:
        """How much effort the model is asked for; empty for its default."""

    @abstractmethod
    async def ask(self, decision: D, situation: Situation) -> Event:
        """Ask the model; the Event says what came of it, also if the model failed."""

    @abstractmethod
    def example(self, situation: Situation) -> tuple[Schema | None, str]:
        """The schema, if there is one, and the user message for an example."""

    def key(self, decision: D) -> str:
        """What tells the call from the other calls of the run."""
        del decision
        return self.trace

    def number(self, decision: D, state: RunState) -> tuple[str | int, ...]:
        """Which of its kind the call is in the run, as the trace numbers them: one more than the Events so far."""
        del decision
        return (state.thoughts[self.trace] + 1,)

    def bind(self, decision: ModelCall, state: RunState) -> PendingCall:
        """The decision as a call that can be started."""
        if not isinstance(decision, self.decision):
            raise TypeError(f"the role {self.name} cannot carry out {type(decision).__name__}")
        own = decision
        return PendingCall(
            key=self.key(own),
            trace=self.trace,
            number=self.number(own, state),
            workers=self.workers,
            streams_answer=self.streams_answer,
            ask=lambda situation: self.ask(own, situation),
        )

    def preview(self, example: Situation) -> Preview:
        """What it would send for an example."""
        schema, user = self.example(example)
        prompt = read_prompt(__package__ or "", self.name)
        return Preview(
            role=self.name,
            trace=self.trace,
            version=prompt.version,
            model=self.model.name,
            effort=self.model.effort,
            system=self.system(example.now),
            schema=schema,
            user=user,
        )

    def system(self, now: float) -> str:
        """The system prompt. It is the same in every call of a day."""
        del now
        return read_prompt(__package__ or "", self.name).text

    def prompt(self, situation: Situation, text: str) -> Ask:
        """The prompt of one call."""
        return Ask(
            run=situation.request.id,
            system=self.system(situation.now),
            text=text,
            said=situation.said,
            ready=situation.ready,
            patience_s=_patience_s(situation),
        )


def today(now: float) -> str:
    """The date as a sentence, for a system prompt."""
    return f"Today is {datetime.fromtimestamp(now, UTC).date().isoformat()}."


def _patience_s(situation: Situation) -> float:
    """A call may wait for a busy provider until the deadline of the run, and a little longer after it."""
    state = situation.state
    if state.request is None or state.expired:
        return LAST_CALL_S
    return max(1.0, state.deadline - situation.now)
