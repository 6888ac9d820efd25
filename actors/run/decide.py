"""What to do next: a pure function of the state of a run and the time.

A decision is data. Carrying it out ends in a message, and folding that message is what makes the decision go away; so
a run that is taken up again after a crash decides the same, and repeats nothing that was stored.
"""

import hashlib
from collections.abc import Sequence

from actors.run import purse
from actors.run.answer import answer_of, open_contradictions
from actors.run.board import TaskState
from actors.run.breaking import stuck_tasks
from actors.run.court import judge
from actors.run.decisions import (
    Append,
    CallCondenser,
    CallPlanner,
    CallRefiner,
    CallReplanner,
    CallReport,
    CallSynthesizer,
    Decision,
    Dispatch,
    Finish,
    WakeAt,
)
from actors.run.estimate import own_estimate
from actors.run.plan_check import plan_faults, request_faults
from actors.run.plan_review import PlanControl, signature, stale_reason
from actors.run.react import View, can_replan, fallback_of, react, reason_of
from actors.run.reading import portions
from actors.run.state import RunState
from protocol.controls import Approve, Edit, Reject
from protocol.events import (
    Approved,
    Cancelled,
    Expired,
    GaveUp,
    Planned,
    PlanRejected,
    Rerouted,
    Retrying,
    Skipped,
    Synthesized,
    Waiting,
)
from protocol.messages import Budget, Context, Plan, Request, Task

BACKOFF_S = 0.5
BACKOFF_CEILING_S = 30.0
LAST_WORDS_S = 60.0
ALONE = View()


def decide(state: RunState, now: float, view: View = ALONE) -> list[Decision]:
    """Everything that is due now, in the order in which it should be done."""
    if state.answer is not None or state.request is None:
        return []
    if state.cancel_asked and not state.cancelled:
        return [Append(Cancelled(reason=state.cancel_asked.reason, by=signature(state.cancel_asked.by)))]
    if state.cancelled:
        return [Finish(answer_of(state, now))]
    if now >= state.deadline and not state.expired:
        return [Append(Expired(deadline=state.deadline))]
    wake: list[Decision] = [] if state.expired else [WakeAt(state.deadline)]
    if state.plan is None:
        return _towards_a_plan(state, state.request, now, view) + wake
    unsettled = state.board.open or (state.why_replan and can_replan(state))
    if unsettled and not state.expired:
        return _work(state, now, view) + wake
    return _towards_an_end(state, state.request, now, view) + wake


def _towards_a_plan(state: RunState, request: Request, now: float, view: View) -> list[Decision]:
    if state.expired:
        return [Finish(answer_of(state, now))]
    if state.proposed is not None:
        return _reviewed(state, state.proposed)
    hopeless = bool(state.rejections) and state.rejections[-1].hopeless
    if faults := request_faults(request) + state.limits.keep_faults(request):
        return [_refuse(faults)] if not state.rejections else [Finish(answer_of(state, now))]
    tries = sum(not rejection.reviewed for rejection in state.rejections)
    if request.plan is not None and not any(rejection.reviewed for rejection in state.rejections):
        if state.rejections:
            return [Finish(answer_of(state, now))]
        faults = plan_faults(request.plan, state.limits.request_tasks)
        if faults:
            return [_refuse(faults)]
        estimate = own_estimate(request, request.plan, view.costs, view.modelless)
        return [Append(Planned(plan=request.plan, estimate=estimate))]
    if hopeless or tries >= state.limits.plan_tries:
        return [Finish(answer_of(state, now))]
    return [CallPlanner(state.rejections[-1].faults if state.rejections else ())]


def _refuse(faults: list[str]) -> Append:
    return Append(PlanRejected(faults=tuple(faults)))


def _reviewed(state: RunState, proposed: Planned) -> list[Decision]:
    """A plan waits for a person; the controls about it are answered in their order."""
    control = state.review.next()
    if control is not None:
        return [Append(_answer_to(state, control))]
    tries = len(state.rejections) + 1
    reason = f"plan {tries}, with {len(proposed.plan.tasks)} task(s), waits for approval"
    return [] if reason in state.waits else [Append(Waiting(reason=reason))]


def _answer_to(state: RunState, control: PlanControl) -> Approved | PlanRejected | Waiting:
    """What a control about the plan leads to. One that names another proposal leads to nothing but a note."""
    number, by = state.review.done + 1, signature(control.by)
    if state.review.is_stale(control):
        return Waiting(reason=stale_reason(control, state.review.proposed_seq), control=number)
    match control:
        case Approve():
            return Approved(control=number, by=by)
        case Reject(comment=comment):
            fault = "the reviewer refused the plan" + (f": {comment}" if comment.strip() else " and did not say why")
            return PlanRejected(faults=(fault,), reviewed=True, by=by)
        case Edit(plan=plan):
            if faults := plan_faults(plan, state.limits.request_tasks):
                return Waiting(reason=edit_refusal(faults), control=number)
            return Approved(plan=plan, control=number, by=by)


def answered_edit(state: RunState, answer: Approved | Waiting) -> Plan | None:
    """The edited plan that this answers; None if it answers something else."""
    control = state.review.next()
    answers = answer.control == state.review.done + 1 and control is not None and not state.review.is_stale(control)
    return control.plan if answers and isinstance(control, Edit) else None


def edit_refusal(faults: Sequence[str]) -> str:
    """Why an edited plan does not run: all its faults."""
    return "the edited plan cannot run: " + "; ".join(faults)


def _work(state: RunState, now: float, view: View) -> list[Decision]:
    board = state.board
    # Skipped only when all it waited for has come to its end: the cause then names them all, in whatever order.
    gone = [name for name in board.lost if not board.tasks[name].unmet]
    decisions: list[Decision] = [Append(Skipped(task=name, cause=_cause(state, name))) for name in gone]
    replan = list(state.why_replan) if can_replan(state) else []
    for name in board.returned:
        task = board.tasks[name]
        if (reaction := _reaction(state, task, now, view)) is None:
            replan.append(f"{name} ({task.worker}) {reason_of(task)}")
        else:
            decisions.append(reaction)
    if replan:
        return [*decisions, CallReplanner(tuple(replan))]
    return decisions + _hand_out(state, now, view)


def _hand_out(state: RunState, now: float, view: View) -> list[Decision]:
    """Everything whose turn it is, each with its share of what is left after those before it."""
    board = state.board
    decisions: list[Decision] = [WakeAt(t.not_before) for n in board.resting if (t := board.tasks[n]).not_before > now]
    due = [*board.ready, *(name for name in board.resting if board.tasks[name].not_before <= now)]
    rest = purse.left(state)
    parts = purse.parts(state) if due and rest != Budget() else 1
    waits = purse.waits_for_returns(state)
    stuck = stuck_tasks(state, view) if due and view.shunned else frozenset[str]()
    for name in due:
        task = board.tasks[name]
        own, least = purse.for_task(rest, task.worker, view)
        if name in stuck:
            decisions.append(Append(GaveUp(task=name, reason=f"{task.worker} has failed too often lately")))
        elif not purse.is_empty(own, least if waits else 0.0):
            decisions.append(_next_for(state, task, view, purse.share(own, task.task, parts, least)))
        elif waits:
            decisions.append(WakeAt(state.deadline))  # what is reserved may yet be given back
        else:
            decisions.append(Append(Skipped(task=name, cause=purse.spent_reason(own))))
        if isinstance(last := decisions[-1], Dispatch):
            rest, parts = purse.less(rest, last.budget), parts - 1
            waits = waits or last.budget != Budget()
    return decisions


def _reaction(state: RunState, task: TaskState, now: float, view: View) -> Decision | None:
    """What is done about a returned task; None if it takes a new plan."""
    name, attempt, reason = task.task.id, task.attempt + 1, reason_of(task)
    match react(state, task, view):
        case "replan":
            return None
        case "reroute":
            worker = fallback_of(task, view) or task.worker
            return Append(Rerouted(task=name, attempt=attempt, worker=worker, reason=reason))
        case "refine":
            return CallRefiner(name, now + _rest_s(state, task))
        case "retry":
            rest = now + _rest_s(state, task)
            return Append(Retrying(task=name, attempt=attempt, not_before=rest, reason=reason))
        case "give_up":
            return Append(GaveUp(task=name, reason=reason))


def _next_for(state: RunState, task: TaskState, view: View, budget: Budget) -> Decision:
    """A task whose turn it is: handed out, or sent to somebody else."""
    if task.worker in view.shunned and (other := fallback_of(task, view)):
        reason = f"{task.worker} has failed too often lately"
        return Append(Rerouted(task=task.task.id, attempt=task.attempt, worker=other, reason=reason))
    return Dispatch(task.task, task.attempt, task.worker, task.intent, context_of(state, task.task), budget)


def _towards_an_end(state: RunState, request: Request, now: float, view: View) -> list[Decision]:
    something = any(True for _ in state.board.having("completed"))
    if not request.synthesis or not something:
        return [Finish(answer_of(state, now))]
    if state.texts.cuts_due:
        return [Append(cut) for cut in state.texts.cuts_due]
    if state.synthesis is None:
        return _last_words(state, now)
    if not state.texts.reported and not state.synthesis.failed and not state.expired:
        return [CallReport()]
    if state.synthesis.more and not state.asked_for_more and can_replan(state):
        return [CallReplanner(tuple(f"the answer lacks: {more}" for more in state.synthesis.more))]
    if open_contradictions(state) and state.judgement is None and not state.expired:
        return judge(state, view)
    return [Finish(answer_of(state, now))]


def _last_words(state: RunState, now: float) -> list[Decision]:
    """The text of the answer; after the deadline it is not waited for long, since there are the results as they are."""
    until = state.expired_at + LAST_WORDS_S
    if state.expired and now >= until:
        return [Append(Synthesized(text="", failed=f"nobody put them together within {LAST_WORDS_S:g} s"))]
    calls = [CallCondenser(key, results) for key, results in portions(state)]
    wake = [WakeAt(until)] if state.expired else []
    return [*(calls or [CallSynthesizer()]), *wake]


def context_of(state: RunState, task: Task) -> tuple[Context, ...]:
    """The results of the tasks this one depends on, in the order of the plan's own list, and nothing else."""
    found: list[Context] = []
    for name in task.depends_on:
        needed = state.tasks[name]
        if needed.status == "completed" and needed.result:
            result = needed.result
            found.append(
                Context(
                    task=name,
                    worker=result.worker,
                    output=result.output,
                    confidence=result.confidence,
                    artifacts=result.artifacts,
                )
            )
    return tuple(found)


def backoff_s(key: str, attempt: int) -> float:
    """Exponential, with a jitter that is chance to everybody else and the same to whoever resumes the run."""
    jitter = int.from_bytes(hashlib.sha256(f"{key}/{attempt}".encode()).digest()[:4], "big") / 2**32
    return min(BACKOFF_CEILING_S, BACKOFF_S * 2 ** (attempt - 1)) * (0.5 + jitter)


def _rest_s(state: RunState, task: TaskState) -> float:
    return backoff_s(f"{state.request and state.request.id}/{task.task.id}", task.attempt)


def _cause(state: RunState, name: str) -> str:
    task = state.tasks[name].task
    gone = [
        needed
        for needed in task.depends_on
        if state.tasks[needed].status in ("failed", "skipped", "dropped") and needed not in task.optional
    ]
    return "needs " + ", ".join(f"{needed} ({state.tasks[needed].status})" for needed in gone)
