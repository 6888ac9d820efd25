"""Events: what the supervisor decided, one after the other, on the log of the run.

A call to a model ends in exactly one Event, so that a resumed run never asks again for what it already knows. Dispatch
and return are not here: they are the Handoff and the Result themselves.
"""

from protocol.messages import Answer, Message, Plan, Request, Usage


class Started(Message, frozen=True, kw_only=True, tag="started", tag_field="type"):
    """A supervisor took the run; every takeover has a higher epoch than the one before."""

    epoch: int
    supervisor: str
    request: Request


class Planned(Message, frozen=True, kw_only=True, tag="planned", tag_field="type"):
    """The plan that will be run. `usage` is what the planner spent on it."""

    plan: Plan
    usage: Usage = Usage()


class PlanRejected(Message, frozen=True, kw_only=True, tag="plan_rejected", tag_field="type"):
    """What came as a plan is not one that may run; the reasons go back to the planner."""

    faults: tuple[str, ...]
    usage: Usage = Usage()
    reply: str = ""


class Waiting(Message, frozen=True, kw_only=True, tag="waiting", tag_field="type"):
    """Nothing can be done at the moment, and why."""

    reason: str


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
    """Somebody asked for the end of the run."""

    reason: str = ""


class Expired(Message, frozen=True, kw_only=True, tag="expired", tag_field="type"):
    """The deadline has passed; what is still running no longer counts."""

    deadline: float


class Synthesized(Message, frozen=True, kw_only=True, tag="synthesized", tag_field="type"):
    """The text of the answer, made of the results."""

    text: str
    gaps: tuple[str, ...] = ()
    confidence: float | None = None
    usage: Usage = Usage()
    failed: str = ""


class Finished(Message, frozen=True, kw_only=True, tag="finished", tag_field="type"):
    """The end of the run, with its answer. Nothing follows it."""

    answer: Answer


Event = Started | Planned | PlanRejected | Waiting | Retrying | Skipped | Cancelled | Expired | Synthesized | Finished


def kind(event: Event) -> str:
    """The tag of an event, as it stands on the wire."""
    return str(event.__struct_config__.tag)
