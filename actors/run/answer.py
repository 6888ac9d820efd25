"""The answer: what a finished run says, put together from its state."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from actors.run.board import TaskState
from actors.run.plan_check import few
from actors.run.state import RunState
from protocol.errors import TooLargeError
from protocol.messages import DEADLINE, Answer, AnswerStatus, Artifact, Contradiction, Request, Result, Timing

GAP_COST = 0.1
OPEN_COST = 0.15
NONE_CUT: Mapping[str, str] = MappingProxyType({})


def answer_of(state: RunState, now: float) -> Answer:
    """The Answer of a run that ends now, whatever the reason."""
    request = state.request
    return Answer(
        run=request.id if request else "",
        status=_status(state),
        text=_text(state),
        gaps=tuple(gaps_of(state)),
        contradictions=contradictions_of(state),
        confidence=_confidence(state),
        usage=state.spent,
        timing=timing_of(state, now),
        revisions=state.revision,
        spending=dict(state.spending),
    )


def too_large(state: RunState, error: TooLargeError, now: float) -> Answer:
    """The end of a run that has outgrown what a message can hold: short, and with the reason."""
    return Answer(
        run=state.request.id if state.request else "",
        status="partial" if completed(state) else "failed",
        text=f"The run had to end: a message of it is too large ({error}). Its results are kept: see the record.",
        gaps=(f"a message is too large: {error}",),
        usage=state.spent,
        timing=timing_of(state, now),
        revisions=state.revision,
    )


def failed_answer(request: Request, reason: str) -> Answer:
    """The end of a run whose messages cannot be folded: made of the request alone, with the reason."""
    return Answer(run=request.id, status="failed", text=f"The run had to end: {reason}", gaps=(reason,))


def cut_outputs(state: RunState) -> dict[str, Artifact]:
    """The outputs of which the text of the answer shows only the beginning: by task, where each is kept whole."""
    if state.synthesis and not state.synthesis.failed:
        return {}
    named = {result.task: f"{result.run}.{result.task}.{result.attempt}.output" for result in _shown(state)}
    return {
        result.task: artifact
        for result in _shown(state)
        for artifact in result.artifacts
        if artifact.name == named[result.task]
    }


def with_outputs(state: RunState, answer: Answer, whole: Mapping[str, str]) -> Answer:
    """The answer with these outputs in its text, by task. A cut output that is not among them is a gap."""
    cut = cut_outputs(state)
    if not cut:
        return answer
    missing = {task: artifact for task, artifact in cut.items() if task not in whole}
    gaps = [
        f"the output of {task} is cut: the whole text, {artifact.size:,} bytes, is the artifact {artifact.name}"
        for task, artifact in missing.items()
    ]
    return msgspec.structs.replace(
        answer,
        text=_text(state, whole),
        gaps=(*answer.gaps, *gaps),
        artifacts=(*answer.artifacts, *missing.values()),
        status="partial" if missing and answer.status == "complete" else answer.status,
    )


def completed(state: RunState) -> list[Result]:
    """The results that count, in the order of the plan."""
    return [task.result for task in state.board.having("completed") if task.result]


def gaps_of(state: RunState) -> list[str]:
    """What is missing, and why, a sentence each."""
    if state.plan is None:
        if state.expired and state.proposed:
            return [f"nobody approved the plan within {state.limits.review_s:g} s"]
        faults = few(state.rejections[-1].faults) if state.rejections else []
        return faults or (["the deadline passed before there was a plan"] if state.expired else [])
    gaps = [gap for task in state.tasks.values() if (gap := _gap(state, task))]
    if state.unplanned:
        gaps.append(state.unplanned)
    if state.synthesis:
        gaps += [gap for gap in (*state.synthesis.gaps, *state.synthesis.more) if gap not in gaps]
        if state.synthesis.failed:
            gaps.append(f"the results stand side by side: {state.synthesis.failed}")
    return few(gaps)


def contradictions_of(state: RunState) -> tuple[Contradiction, ...]:
    """What the results disagree about, with what the judge said."""
    if state.judgement is not None:
        return state.judgement.contradictions
    return state.synthesis.contradictions if state.synthesis else ()


def open_contradictions(state: RunState) -> list[Contradiction]:
    """Those that nobody has settled."""
    return [contradiction for contradiction in contradictions_of(state) if not contradiction.resolution]


def joined(state: RunState, whole: Mapping[str, str] = NONE_CUT) -> str:
    """The results as they are, without those that went into a result at the end of the plan.

    `whole` has the outputs, by task, that are too long for a Result.
    """
    shown = _shown(state)
    outputs = [whole.get(result.task, result.output) for result in shown]
    if len(shown) == 1:
        return outputs[0]
    headed = zip(shown, outputs, strict=True)
    return "\n\n".join(f"## {result.task} ({result.worker})\n\n{output}" for result, output in headed)


def _shown(state: RunState) -> list[Result]:
    results = completed(state)
    used = _used(state, [result.task for result in results if _is_end(state, result.task)])
    return [result for result in results if result.task not in used]


def _is_end(state: RunState, name: str) -> bool:
    """Whether the plan builds nothing on a task; what it has dropped does not count."""
    return all(state.tasks[follower].status == "dropped" for follower in state.tasks[name].dependents)


def _used(state: RunState, ends: list[str]) -> set[str]:
    """Everything that these are built on, near and far."""
    used: set[str] = set()
    while ends:
        new = set(state.tasks[ends.pop()].task.depends_on) - used
        used |= new
        ends += new
    return used


def timing_of(state: RunState, now: float) -> Timing:
    """Wall time against the time that the tasks take one after the other."""
    wall = max(0.0, now - state.started_at)
    busy = wall - state.waited_s  # what a person takes to approve a plan is nobody's speed
    sequential = sum(task.result.usage.seconds for task in state.tasks.values() if task.result)
    return Timing(
        wall_s=round(wall, 6),
        sequential_s=round(sequential, 6),
        critical_path_s=round(_critical_path_s(state), 6),
        speedup=round(sequential / busy, 3) if busy > 0 and sequential > 0 else 1.0,
    )


def _status(state: RunState) -> AnswerStatus:
    if state.cancelled:
        return "cancelled"
    done = len(completed(state))
    if not done:
        return "failed"
    wanted = sum(task.status != "dropped" for task in state.tasks.values())
    whole = done == wanted and not (state.synthesis and (state.synthesis.failed or state.synthesis.more))
    return "complete" if whole else "partial"


def _text(state: RunState, whole: Mapping[str, str] = NONE_CUT) -> str:
    text = state.synthesis.text if state.synthesis and not state.synthesis.failed else joined(state, whole)
    if text:
        return text + _verdicts(state)
    if state.cancelled:
        return "The run was cancelled before there was a result."
    gaps = gaps_of(state)
    if state.plan is None:
        return _without_plan(state) + "; ".join(gaps)
    return "" if completed(state) else "No task was completed: " + "; ".join(gaps)


def _without_plan(state: RunState) -> str:
    """How the text of a run begins that never had an approved plan."""
    if state.rejections and state.rejections[-1].hopeless:
        return ""
    if state.proposed is not None:
        return "Nothing was done: "
    brought = state.request is not None and state.request.plan is not None
    if brought and not any(rejection.reviewed for rejection in state.rejections):
        return "Your plan cannot run: "
    return "No plan could be made: "


def _verdicts(state: RunState) -> str:
    """What the judge said stays visible in the text; so does what is still open."""
    if state.judgement is None:
        return ""
    lines = [
        f"- {c.claim} ({', '.join(c.tasks)}): {c.resolution or 'undecided'}" for c in state.judgement.contradictions
    ]
    return "\n\n**Where the results disagreed**\n" + "\n".join(lines)


def _gap(state: RunState, task: TaskState) -> str:
    who = f"{task.task.id} ({task.worker})"
    match task.status:
        case "completed" | "dropped":
            return ""
        case "failed" if _is_late(task):
            return f"{who} was not finished before the deadline"
        case "failed":
            return f"{who} failed after {task.attempt} attempt{'s' if task.attempt > 1 else ''}: {task.cause}"
        case "skipped":
            return f"{who} was skipped: {task.cause}"
        case _:
            why = "the run was cancelled" if state.cancelled else "the deadline"
            return f"{who} was not finished before {why}"


def _is_late(task: TaskState) -> bool:
    error = task.result.error if task.result else None
    return error is not None and error.kind == DEADLINE


def _confidence(state: RunState) -> float | None:
    """From the results' own, lowered by what is missing and by what is in dispute."""
    known = [result.confidence for result in completed(state) if result.confidence is not None]
    if state.synthesis and state.synthesis.confidence is not None:
        known.append(state.synthesis.confidence)
    if not known:
        return None
    lowered = sum(min(1.0, max(0.0, sure)) for sure in known) / len(known)
    lowered *= (1 - GAP_COST) ** len(gaps_of(state)) * (1 - OPEN_COST) ** len(open_contradictions(state))
    return round(lowered, 3)


def _critical_path_s(state: RunState) -> float:
    """The longest chain of tasks, by the time each took; the plan has no circles."""
    longest: dict[str, float] = {}
    stack = list(state.tasks)
    while stack:
        name = stack[-1]
        task = state.tasks[name]
        missing = [needed for needed in task.task.depends_on if needed not in longest]
        if missing:
            stack += missing
            continue
        stack.pop()
        own = task.result.usage.seconds if task.result else 0.0
        longest[name] = own + max((longest[needed] for needed in task.task.depends_on), default=0.0)
    return max(longest.values(), default=0.0)
