"""The court: who decides between results that contradict each other, and what came of it.

A worker called `judge`, if one is alive when it comes to that; else a role of the supervisor. The task of the worker
stands beside the plan: it is handed out and given back like any other, but it is no result of the run. What it does not
decide stays open.
"""

import re

import msgspec

from actors.run import purse
from actors.run.answer import completed, contradictions_of
from actors.run.decisions import Append, CallJudge, Decision, Dispatch
from actors.run.react import View
from actors.run.state import RunState
from protocol.events import Judged, Judging
from protocol.messages import Context, Contradiction, Result, Task

JUDGE = "judge"
TASK = "verdict"
INTENT = """\
Results of other workers contradict each other. For each contradiction decide, from the results alone, which side is
right or how both can be true.

{rows}

Answer with one line for each that you can decide: its number, a colon, who is right, and why. Leave out what the
results do not settle: do not guess."""
SUCCESS = "A line such as `1: the second, because it is newer` for every contradiction that the results settle."

LONGEST_CLAIM = 500

_LINE = re.compile(r"^[^\w\n]{0,16}(\d{1,6})[^\w\n]{0,16}[:.)][^\w\n]*(\w.*)$", re.MULTILINE)
"""Bounded within its line: a judge is a worker like any other, and may write anything."""


class Verdict(msgspec.Struct, frozen=True):
    """What was decided about the contradiction of that number, from 1."""

    number: int
    resolution: str


class Verdicts(msgspec.Struct, frozen=True):
    """What a judge that is a program may give back as the data of its result, instead of lines."""

    verdicts: list[Verdict]


def judge(state: RunState, view: View) -> list[Decision]:
    """What is due while there are contradictions and no judgement."""
    cases = list(state.court.tasks.values())
    if not cases:
        present = JUDGE in view.alive and JUDGE not in view.shunned
        return [Append(Judging(task=_case(state))) if present else CallJudge()]
    case = cases[0]
    if case.result is not None:
        return [Append(Judged(contradictions=_decided(contradictions_of(state), case.result)))]
    if case.status == "handed":
        return []
    budget = purse.share(purse.left(state), case.task)
    return [Dispatch(case.task, case.attempt, case.worker, case.intent, _evidence(state), budget)]


def _case(state: RunState) -> Task:
    """The task for the judge, under an id that no task of the plan has."""
    names = (TASK, *(f"{TASK}-{number}" for number in range(2, len(state.tasks) + 3)))
    rows = [f"{n}. {_line(c.claim)} (tasks: {', '.join(c.tasks)})" for n, c in enumerate(contradictions_of(state), 1)]
    intent = INTENT.format(rows="\n".join(rows))
    return Task(id=next(n for n in names if n not in state.tasks), worker=JUDGE, intent=intent, success=SUCCESS)


def _line(claim: str) -> str:
    """A claim was written by a model that read what others wrote: it stays one line among the rows."""
    return " ".join(claim.split())[:LONGEST_CLAIM]


def _evidence(state: RunState) -> tuple[Context, ...]:
    """The disputed results, in the order of the plan."""
    disputed = {name for contradiction in contradictions_of(state) for name in contradiction.tasks}
    return tuple(
        Context(
            task=result.task,
            worker=result.worker,
            output=result.output,
            confidence=result.confidence,
            artifacts=result.artifacts,
        )
        for result in completed(state)
        if result.task in disputed
    )


def _decided(disputed: tuple[Contradiction, ...], result: Result) -> tuple[Contradiction, ...]:
    found = _verdicts(result) if result.status == "completed" else {}
    return tuple(
        msgspec.structs.replace(contradiction, resolution=found.get(number, "").strip())
        for number, contradiction in enumerate(disputed, 1)
    )


def _verdicts(result: Result) -> dict[int, str]:
    try:
        given = msgspec.json.decode(result.data, type=Verdicts).verdicts
    except msgspec.MsgspecError:
        return {int(number): resolution for number, resolution in _LINE.findall(result.output)}
    return {verdict.number: verdict.resolution for verdict in given}
