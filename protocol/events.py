"""Events: what the supervisor decided, one after the other, on the log of the run.

A call to a model ends in exactly one Event, so that a resumed run never asks again for what it already knows; `usage`
is what it cost and `model` who was asked. Dispatch and return are not here: they are the Handoff and the Result.
"""

from protocol.messages import Answer, Contradiction, Estimate, Message, Plan, Request, Task, Usage


class Started(Message, frozen=True, kw_only=True, tag="started", tag_field="type"):
    """A supervisor took the run; every takeover has a higher epoch than the one before.

    `request_seq` is the place of the request in its stream; `nonce` tells two takeovers by one supervisor apart.
    `asked_at` is when the request was stored (Unix time); `traceparent` is what it was sent under, if that is known.
    `prices` says how far the prices of the models are known: known, partly, unknown or free; empty if that is not said.
    """

    epoch: int
    supervisor: str
    request: Request
    request_seq: int = 0
    nonce: str = ""
    asked_at: float = 0.0
    traceparent: str = ""
    prices: str = ""


class RunGivenBack(Message, frozen=True, kw_only=True, tag="given_back", tag_field="type"):
    """The supervisor returned the run on purpose, for example because its process stops. Another one may take it.

    A `started` that follows an earlier one with no `given_back` between them means that a supervisor was lost.
    """

    supervisor: str
    reason: str = ""


class Planned(Message, frozen=True, kw_only=True, tag="planned", tag_field="type"):
    """The plan that will be run. `usage` is what the planner spent on it.

    `unplanned` says why the plan is one task for one worker that no planner chose: the model cannot write plans.
    """

    plan: Plan
    usage: Usage = Usage()
    estimate: Estimate | None = None
    model: str = ""
    unplanned: str = ""


class PlanRejected(Message, frozen=True, kw_only=True, tag="plan_rejected", tag_field="type"):
    """What came as a plan is not one that may run; the reasons go back to the planner.

    `reviewed` tells that a person refused it, and `by` who; `hopeless` that nobody here can do what is asked.
    """

    faults: tuple[str, ...]
    usage: Usage = Usage()
    reply: str = ""
    reviewed: bool = False
    hopeless: bool = False
    model: str = ""
    by: str = ""


class Approved(Message, frozen=True, kw_only=True, tag="approved", tag_field="type"):
    """A person agreed to the plan, or put another in its place. `by` is who."""

    plan: Plan | None = None
    control: int = 0
    by: str = ""


class Replanned(Message, frozen=True, kw_only=True, tag="replanned", tag_field="type"):
    """A new revision of the plan. Tasks that keep their id keep their result; the rest of the old is dropped."""

    plan: Plan
    reasons: tuple[str, ...]
    usage: Usage = Usage()
    model: str = ""


class ReplanFailed(Message, frozen=True, kw_only=True, tag="replan_failed", tag_field="type"):
    """No new revision came of it: the run goes on with the plan it has."""

    reasons: tuple[str, ...]
    faults: tuple[str, ...]
    usage: Usage = Usage()
    model: str = ""


class Refined(Message, frozen=True, kw_only=True, tag="refined", tag_field="type"):
    """A failed task will be handed out again in other words, after `not_before` (Unix time)."""

    task: str
    attempt: int
    intent: str
    not_before: float
    reason: str
    usage: Usage = Usage()
    model: str = ""


class Rerouted(Message, frozen=True, kw_only=True, tag="rerouted", tag_field="type"):
    """A task goes to another worker."""

    task: str
    attempt: int
    worker: str
    reason: str


class GaveUp(Message, frozen=True, kw_only=True, tag="gave_up", tag_field="type"):
    """A task failed for good."""

    task: str
    reason: str


class Condensed(Message, frozen=True, kw_only=True, tag="condensed", tag_field="type"):
    """Results that were too much for one reading, made shorter; `key` tells which, `tasks` whose.

    `cut` says why the text is not whole; a `cut` Event follows then.
    """

    key: str
    text: str
    usage: Usage = Usage()
    model: str = ""
    cut: str = ""
    tasks: tuple[str, ...] = ()


class Judging(Message, frozen=True, kw_only=True, tag="judging", tag_field="type"):
    """A worker will decide about results that contradict each other; its task stands beside the plan."""

    task: Task


class Judged(Message, frozen=True, kw_only=True, tag="judged", tag_field="type"):
    """What the judge says about results that contradict each other; an open one has no resolution."""

    contradictions: tuple[Contradiction, ...]
    usage: Usage = Usage()
    model: str = ""


class Waiting(Message, frozen=True, kw_only=True, tag="waiting", tag_field="type"):
    """Nothing can be done at the moment, and why. `control` counts the controls that were heard about the plan."""

    reason: str
    control: int = 0


class Retrying(Message, frozen=True, kw_only=True, tag="retrying", tag_field="type"):
    """A task failed in a way that may pass; it is handed out again after `not_before` (Unix time)."""

    task: str
    attempt: int
    not_before: float
    reason: str


class Skipped(Message, frozen=True, kw_only=True, tag="skipped", tag_field="type"):
    """A task that will not run, because of `cause`."""

    task: str
    cause: str


class Cancelled(Message, frozen=True, kw_only=True, tag="cancelled", tag_field="type"):
    """A person asked for the end of the run. `by` is who."""

    reason: str = ""
    by: str = ""


class Expired(Message, frozen=True, kw_only=True, tag="expired", tag_field="type"):
    """The deadline has passed; what is still running no longer counts."""

    deadline: float


class Synthesized(Message, frozen=True, kw_only=True, tag="synthesized", tag_field="type"):
    """The text of the answer, made of the results. `cut` says why it is not whole; a `cut` Event follows then.

    `gaps`, `contradictions`, `confidence` and `more` stand in the `reported` Event that follows; older versions wrote
    them here.
    """

    text: str
    gaps: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    confidence: float | None = None
    more: tuple[str, ...] = ()
    usage: Usage = Usage()
    failed: str = ""
    model: str = ""
    cut: str = ""


class Reported(Message, frozen=True, kw_only=True, tag="reported", tag_field="type"):
    """What a model says of the text of the answer: how sure it is, what contradicts, what is missing.

    `more` asks for further work, once. `failed` says why there is no report.
    """

    gaps: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    confidence: float | None = None
    more: tuple[str, ...] = ()
    usage: Usage = Usage()
    failed: str = ""
    model: str = ""


class Cut(Message, frozen=True, kw_only=True, tag="cut", tag_field="type"):
    """Something was cut and is not whole. `what` is `answer` or `condensed`; `key` tells several of a kind apart.

    `task` is the task it belongs to, or several joined by `+`; empty for the answer.
    """

    what: str
    key: str = ""
    task: str = ""
    reason: str = ""


class Finished(Message, frozen=True, kw_only=True, tag="finished", tag_field="type"):
    """The end of the run, with its answer. Nothing follows it."""

    answer: Answer


Event = (
    Started
    | RunGivenBack
    | Planned
    | PlanRejected
    | Approved
    | Waiting
    | Retrying
    | Refined
    | Rerouted
    | GaveUp
    | Replanned
    | ReplanFailed
    | Skipped
    | Cancelled
    | Expired
    | Condensed
    | Synthesized
    | Reported
    | Cut
    | Judging
    | Judged
    | Finished
)


def kind(event: Event) -> str:
    """The tag of an event, as it stands on the wire."""
    return str(event.__struct_config__.tag)
