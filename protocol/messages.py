"""The messages: what clients, supervisors and workers say to each other.

Fields are only ever added, with a default; unknown fields are ignored. Every field is written out, so that a reader in
any language finds it.
"""

from typing import Literal

import msgspec

from protocol.base import Message

Strategy = Literal["merge", "select", "reduce"]
NOTHING = msgspec.Raw(b"null")
"""No data: what a Result carries that is not text is any JSON, passed on as it is."""

ResultStatus = Literal["completed", "failed", "declined"]
AnswerStatus = Literal["complete", "partial", "failed", "cancelled"]


class Budget(Message, frozen=True, kw_only=True):
    """What may be spent; None means no limit of its own."""

    tokens: int | None = None
    steps: int | None = None
    usd: float | None = None
    seconds: float | None = None


class Usage(Message, frozen=True, kw_only=True):
    """What was spent. `usd` is None when the price of a model is not known: unknown is never 0."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            model_calls=self.model_calls + other.model_calls,
            tool_calls=self.tool_calls + other.tool_calls,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
            seconds=self.seconds + other.seconds,
        )

    @property
    def tokens(self) -> int:
        """All tokens, in and out, cached or not."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


class Artifact(Message, frozen=True, kw_only=True):
    """Something too big for a message, kept in the object store and named by its digest."""

    name: str
    digest: str
    size: int
    media_type: str = "text/plain"


DEADLINE = "deadline"
"""The kind of a Fault that says: the deadline of the task passed before it was done."""


class Fault(Message, frozen=True, kw_only=True):
    """Why something failed, and whether trying again can help.

    `refinable` says whether asking in other words could help: not against a full queue or a lost connection.
    """

    kind: str
    message: str
    retryable: bool = False
    refinable: bool = True


class Task(Message, frozen=True, kw_only=True):
    """One piece of work for one worker; runs as soon as everything in `depends_on` is there.

    `optional` names those of `depends_on` without which the task is still worth doing; `fallback` names who else could
    do it.
    """

    id: str
    worker: str
    intent: str
    success: str = ""
    depends_on: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    fallback: str | None = None
    budget: Budget | None = None
    artifacts: tuple[Artifact, ...] = ()


class Plan(Message, frozen=True, kw_only=True):
    """A DAG of tasks, and how their results become one answer."""

    goal: str = ""
    tasks: tuple[Task, ...]
    strategy: Strategy = "merge"
    instruction: str = ""
    revision: int = 1
    rationale: str = ""


class Estimate(Message, frozen=True, kw_only=True):
    """What a plan will come to before it runs; the price is None where no price is known."""

    tasks: int
    critical_path: int
    widest: int
    model_calls: int
    usd_low: float | None = None
    usd_high: float | None = None


class Request(Message, frozen=True, kw_only=True):
    """What a client wants. `{"text": "..."}` alone is a whole request."""

    id: str = ""
    text: str = ""
    team: str = ""
    plan: Plan | None = None
    synthesis: bool = True
    budget: Budget = Budget()
    deadline_s: float | None = None
    artifacts: tuple[Artifact, ...] = ()
    review: bool = False
    parent: str | None = None
    metadata: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class Context(Message, frozen=True, kw_only=True):
    """What a task is told of one task it depends on."""

    task: str
    worker: str
    output: str
    confidence: float | None = None
    artifacts: tuple[Artifact, ...] = ()


class Handoff(Message, frozen=True, kw_only=True):
    """One task handed to one worker. `deadline` is a Unix time; `return_to` is the subject for the Result."""

    run: str
    task: str
    attempt: int
    from_agent: str
    to_agent: str
    intent: str
    success: str = ""
    context: tuple[Context, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    budget: Budget = Budget()
    deadline: float | None = None
    return_to: str = ""
    depth: int = 0


class Source(Message, frozen=True, kw_only=True):
    """What a result rests on: an address or the name of a file, and the words that were cited, if any."""

    ref: str
    title: str = ""
    quote: str = ""


class Result(Message, frozen=True, kw_only=True):
    """What a worker gives back. An empty output that meets the success criterion is a success."""

    run: str
    task: str
    attempt: int
    worker: str
    instance: str = ""
    status: ResultStatus
    output: str = ""
    data: msgspec.Raw = NOTHING
    artifacts: tuple[Artifact, ...] = ()
    confidence: float | None = None
    findings: tuple[str, ...] = ()
    error: Fault | None = None
    usage: Usage = Usage()
    sources: tuple[Source, ...] = ()


class Timing(Message, frozen=True, kw_only=True):
    """How long the run took, how long its tasks take one after the other, and the longest chain among them."""

    wall_s: float = 0.0
    sequential_s: float = 0.0
    critical_path_s: float = 0.0
    speedup: float = 1.0


class Contradiction(Message, frozen=True, kw_only=True):
    """Results that cannot both be true, and how that was settled; `resolution` is empty while it is open."""

    tasks: tuple[str, ...]
    claim: str
    resolution: str = ""


class Answer(Message, frozen=True, kw_only=True):
    """The end of a run. `spending` is what each role and each worker spent."""

    run: str
    status: AnswerStatus
    text: str = ""
    gaps: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    confidence: float | None = None
    usage: Usage = Usage()
    timing: Timing = Timing()
    revisions: int = 0
    artifacts: tuple[Artifact, ...] = ()
    spending: dict[str, Usage] = msgspec.field(default_factory=dict[str, Usage])


class RunEntry(Message, frozen=True, kw_only=True):
    """One line about a run, for lists of runs. The log of the run is the truth; the entry may be seconds behind it.

    `status` is planning, review, running, or the status of the answer. `waiting` counts what a person has to decide or
    to do before the run can go on; `usd` is None if a price is unknown. `parent` names the task that a nested run does.
    """

    run: str
    team: str
    status: str
    text: str = ""
    started: float = 0.0
    finished: float | None = None
    tasks: int = 0
    done: int = 0
    usd: float | None = 0.0
    waiting: int = 0
    parent: str | None = None


class Card(Message, frozen=True, kw_only=True):
    """What a live worker says of itself, again and again while it lives. `person` says that a human answers.

    `kind` is agent, function, person, team or factory; older versions leave it empty. `trouble` is what it lacks.
    """

    worker: str
    instance: str
    summary: str = ""
    tools: tuple[str, ...] = ()
    model: str = ""
    capacity: int = 1
    inflight: int = 0
    queue: int = 0
    p50_s: float = 0.0
    fallback: str | None = None
    version: str = ""
    person: bool = False
    trouble: str = ""
    kind: str = ""


class SupervisorCard(Message, frozen=True, kw_only=True):
    """What a live supervisor publishes about itself: it holds `runs` runs at the moment, at most `slots`.

    `trouble` says which requests it gives back again and again, and why; empty if none.
    """

    team: str
    instance: str
    version: str = ""
    slots: int = 0
    runs: int = 0
    trouble: str = ""


class Breaker(Message, frozen=True, kw_only=True):
    """Whether a kind of worker is trusted at the moment, since when, and after how many failures in a row."""

    state: Literal["closed", "open", "half_open"] = "closed"
    failures: int = 0
    since: float = 0.0


class Stop(Message, frozen=True, kw_only=True):
    """Nobody wants these tasks of a run any more; of all its tasks, if none is named."""

    tasks: tuple[str, ...] = ()
