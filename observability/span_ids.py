"""Ids of spans, derived from what they stand for.

So a span can be named before it is written, by a process that may not live to write it, and whoever writes it in the
end gives it the same id.
"""

from functools import lru_cache

from protocol.ids import span_id


def client(run: str) -> str:
    """The client's request: the root of the trace."""
    return span_id(run, "client")


@lru_cache(maxsize=4096)
def root(run: str) -> str:
    """The whole run, as the supervisors see it."""
    return span_id(run, "run")


def thought(run: str, role: str, *which: str | int) -> str:
    """A decision of the supervisor: which plan, which refinement of which task, and so on."""
    return span_id(run, role, *which)


@lru_cache(maxsize=4096)
def dispatch(run: str, task: str, attempt: int) -> str:
    """One handoff. It travels in the `traceparent` of the message."""
    return span_id(run, "dispatch", task, attempt)


@lru_cache(maxsize=4096)
def execution(run: str, task: str, attempt: int, number: int) -> str:
    """One worker at one attempt; `number` counts those who took it before."""
    return span_id(run, "execution", task, attempt, number)


def tool(execution: str, turn: int, call: str, number: int = 0) -> str:
    """One call of a tool, answering one turn of the model; `number` counts those that the model called the same."""
    return span_id(execution, "tool", turn, call, *((number,) if number else ()))


def chat(parent: str, epoch_or_turn: int, number: int) -> str:
    """One call to a model under a span; `number` counts those before it in the same turn, or the same thought."""
    return span_id(parent, "chat", epoch_or_turn, number)


def vain_chat(parent: str, epoch_or_turn: int, number: int, tried: int) -> str:
    """A call to a model that failed and was made again; only who made it knows of it."""
    return span_id(parent, "vain chat", epoch_or_turn, number, tried)
