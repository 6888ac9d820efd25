"""A run shrunk to its messages, for tests of the pure core."""

from actors.run.decide import decide
from actors.run.decisions import Append, Dispatch
from actors.run.limits import Limits
from actors.run.react import View
from actors.run.state import RunState
from protocol.events import Event, Planned, Started
from protocol.messages import Handoff, Plan, Request, Result, ResultStatus, Task, Usage

RUN = "b" * 32


def a_task(name: str, *needs: str, worker: str = "w") -> Task:
    return Task(id=name, worker=worker, intent=f"do {name}", depends_on=needs)


def begun(request: Request, limits: Limits | None = None) -> RunState:
    state = RunState(limits or Limits())
    state.fold(Started(epoch=1, supervisor="s", request=request), 100.0)
    return state


def running(*tasks: Task) -> RunState:
    plan = Plan(tasks=tasks)
    state = begun(Request(id=RUN, text="t", plan=plan))
    state.fold(Planned(plan=plan), 100.0)
    return state


def followed(state: RunState, now: float = 103.0, view: View | None = None) -> list[Event]:
    """Fold everything that follows from the state alone, and say what it was."""
    events = [d.event for d in decide(state, now, view or View()) if isinstance(d, Append)]
    for event in events:
        state.fold(event, now)
    return events


def handed_out(state: RunState, now: float = 101.0, view: View | None = None) -> list[Dispatch]:
    due = [decision for decision in decide(state, now, view or View()) if isinstance(decision, Dispatch)]
    for d in due:
        handoff = Handoff(
            run=RUN, task=d.task.id, attempt=d.attempt, from_agent="s", to_agent=d.worker, intent="x", budget=d.budget
        )
        state.fold(handoff, now)
    return due


def result_of(name: str, output: str = "", *, status: ResultStatus = "completed", tokens: int = 0) -> Result:
    usage = Usage(output_tokens=tokens, seconds=1.0)
    return Result(run=RUN, task=name, attempt=1, worker="w", status=status, output=output, usage=usage)
