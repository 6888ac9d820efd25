"""The answer: what a finished run says, put together from its state."""

from actors.run.state import RunState, TaskState
from protocol.messages import Answer, AnswerStatus, Result, Timing


def answer_of(state: RunState, now: float) -> Answer:
    """The Answer of a run that ends now, whatever the reason."""
    request = state.request
    return Answer(
        run=request.id if request else "",
        status=_status(state),
        text=_text(state),
        gaps=tuple(gaps_of(state)),
        confidence=_confidence(state),
        usage=state.spent,
        timing=timing_of(state, now),
        revisions=state.plan.revision if state.plan else 0,
    )


def completed(state: RunState) -> list[Result]:
    """The results that count, in the order of the plan."""
    return [task.result for task in state.tasks.values() if task.status == "completed" and task.result]


def gaps_of(state: RunState) -> list[str]:
    """What is missing, and why, a sentence each."""
    if state.plan is None:
        faults = list(state.rejections[-1].faults) if state.rejections else []
        return faults or (["the deadline passed before there was a plan"] if state.expired else [])
    gaps = [gap for task in state.tasks.values() if (gap := _gap(state, task))]
    if state.synthesis:
        gaps += state.synthesis.gaps
        if state.synthesis.failed:
            gaps.append(f"the results stand side by side: {state.synthesis.failed}")
    return gaps


def joined(state: RunState) -> str:
    """The results as they are: those that nothing else was built on, or all if these are lost."""
    results = completed(state)
    last = [result for result in results if not state.tasks[result.task].dependents] or results
    if len(last) == 1:
        return last[0].output
    return "\n\n".join(f"## {result.task} ({result.worker})\n\n{result.output}" for result in last)


def timing_of(state: RunState, now: float) -> Timing:
    """Wall time against the time that the tasks take one after the other."""
    wall = max(0.0, now - state.started_at)
    sequential = sum(task.result.usage.seconds for task in state.tasks.values() if task.result)
    return Timing(
        wall_s=round(wall, 6),
        sequential_s=round(sequential, 6),
        critical_path_s=round(_critical_path_s(state), 6),
        speedup=round(sequential / wall, 3) if wall > 0 and sequential > 0 else 1.0,
    )


def _status(state: RunState) -> AnswerStatus:
    if state.cancelled:
        return "cancelled"
    done = len(completed(state))
    if not done:
        return "failed"
    whole = done == len(state.tasks) and not (state.synthesis and state.synthesis.failed)
    return "complete" if whole else "partial"


def _text(state: RunState) -> str:
    if state.synthesis and not state.synthesis.failed:
        return state.synthesis.text
    if text := joined(state):
        return text
    if state.cancelled:
        return "The run was cancelled before there was a result."
    gaps = gaps_of(state)
    if state.plan is None:
        return "No plan could be made: " + "; ".join(gaps)
    return "" if completed(state) else "No task was completed: " + "; ".join(gaps)


def _gap(state: RunState, task: TaskState) -> str:
    who = f"{task.task.id} ({task.task.worker})"
    match task.status:
        case "completed":
            return ""
        case "failed":
            return f"{who} failed after {task.attempt} attempt{'s' if task.attempt > 1 else ''}: {task.cause}"
        case "skipped":
            return f"{who} was skipped: {task.cause}"
        case _:
            why = "the run was cancelled" if state.cancelled else "the deadline"
            return f"{who} was not finished before {why}"


def _confidence(state: RunState) -> float | None:
    known = [result.confidence for result in completed(state) if result.confidence is not None]
    if not known:
        return None
    return round(sum(known) / len(known) * len(completed(state)) / len(state.tasks), 3)


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
