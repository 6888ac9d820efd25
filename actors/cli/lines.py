"""Progress as plain lines, one fact each, with the seconds since the start: for a pipe, a log, a dumb terminal."""

import time

from actors.cli.confirm import told
from actors.cli.progress import Progress
from actors.cli.review import estimated, how_to_approve
from actors.cli.terminal import one_line, tell
from actors.cli.wording import ceiling, count, said_by, seconds
from actors.record import Entry, Recorded
from actors.run.revision import changes
from protocol.controls import Cancel
from protocol.events import (
    Approved,
    Cancelled,
    Condensed,
    Cut,
    Expired,
    GaveUp,
    Judged,
    Judging,
    Planned,
    PlanRejected,
    Refined,
    ReplanFailed,
    Replanned,
    Reported,
    Rerouted,
    Retrying,
    RunGivenBack,
    Skipped,
    Started,
    Synthesized,
    Waiting,
)
from protocol.messages import Handoff, Result

WIDE = 100


class Lines:
    """Tells each fact when it comes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._began = time.monotonic()

    def open(self) -> None:
        """Begin."""

    def close(self) -> None:
        """End."""

    def take(self, entry: Recorded) -> None:
        """Tell one message of the record."""
        now = time.monotonic()
        self._progress.take(entry, now)
        for fact in facts(entry.message, self._progress):
            self.note(fact)
        if fact := told(entry):
            self.note(fact)

    def hear(self, text: str) -> None:
        """An answer that is being written is told when it is whole."""

    def pause(self) -> None:
        """Nothing stands in the way."""

    def resume(self) -> None:
        """Go on."""

    def note(self, text: str) -> None:
        """Tell something that is not in the record."""
        tell(f"{time.monotonic() - self._began:.2f}s {text}")

    def away(self, is_away: bool) -> None:
        """Tell that the bus is away, or back."""
        self.note("the bus is away: waiting for it" if is_away else "the bus is back")

    def tick(self) -> None:
        """Nothing to say while nothing happens."""


def facts(message: Entry, progress: Progress) -> list[str]:
    """What a message says, after it was taken in; most steps of a worker are nobody's business."""
    match message:
        case Started(epoch=epoch, supervisor=supervisor):
            limit = ceiling(message.request.budget.usd, message.prices)
            return [f"taken {'over ' if epoch > 1 else ''}by {supervisor}" + (f" · {limit}" if limit else "")]
        case RunGivenBack(supervisor=supervisor, reason=reason):
            return [f"given back by {supervisor}: {one_line(reason)}"]
        case Planned() | PlanRejected() | Approved() | Replanned() | ReplanFailed():
            return _plan(message, progress)
        case Waiting(reason=reason, control=control):
            # That a plan waits for approval was told with the plan.
            return [] if progress.proposed and not control else [f"waiting: {one_line(reason)}"]
        case Handoff(task=task, to_agent=worker, attempt=attempt):
            again = f" (attempt {attempt})" if attempt > 1 else ""
            return [f"{task} → {worker}{again}: {one_line(message.intent, WIDE)}"]
        case Result():
            return [_result(message, progress)]
        case Retrying() | Refined() | Rerouted() | GaveUp() | Skipped():
            return [_turn(message)]
        case Condensed() | Synthesized() | Reported() | Cut() | Judging() | Judged():
            return _ending(message)
        case Cancel() | Cancelled() | Expired():
            return [_end(message)]
        case _:
            return []


def _plan(message: Planned | PlanRejected | Approved | Replanned | ReplanFailed, progress: Progress) -> list[str]:
    match message:
        case Planned():
            request = progress.state.request
            waits = (
                [f"waits for approval: {how_to_approve(request.id, progress.state.review.proposed_seq)}"]
                if request and progress.proposed
                else []
            )
            return [f"planned {estimated(message)}", *waits]
        case PlanRejected(faults=faults, by=by):
            return [f"plan refused: {one_line(fault)}{said_by(by)}" for fault in faults]
        case Approved(plan=plan, by=by):
            approved = f"approved another plan of {count(len(plan.tasks), 'task')}" if plan else "plan approved"
            return [approved + said_by(by)]
        case Replanned(plan=plan, reasons=reasons):
            plans = progress.state.plans
            if len(plans) < 2 or plans[-1] != plan:
                return []  # of a revision that does not count nothing follows
            lines = [f"  {one_line(line, WIDE)}" for line in changes(plans[-2], plan)]
            return [f"revision {plan.revision} of the plan: {one_line('; '.join(reasons))}", *lines]
        case ReplanFailed(faults=faults):
            return [f"no new plan: {one_line(fault)}" for fault in faults] or ["no new plan"]


def _turn(message: Retrying | Refined | Rerouted | GaveUp | Skipped) -> str:
    match message:
        case Retrying(task=task, attempt=attempt, reason=reason):
            return f"{task} is tried again (attempt {attempt}): {one_line(reason, WIDE)}"
        case Refined(task=task, attempt=attempt, intent=intent):
            return f"{task} is asked in other words (attempt {attempt}): {one_line(intent, WIDE)}"
        case Rerouted(task=task, worker=worker, reason=reason):
            return f"{task} goes to {worker} instead: {one_line(reason, WIDE)}"
        case GaveUp(task=task, reason=reason):
            return f"{task} given up: {one_line(reason, WIDE)}"
        case Skipped(task=task, cause=cause):
            return f"{task} skipped: {one_line(cause, WIDE)}"


def _ending(message: Condensed | Synthesized | Reported | Cut | Judging | Judged) -> list[str]:
    match message:
        case Condensed():
            return ["long results were condensed for the answer"]
        case Synthesized(failed=failed):
            return [f"no answer could be written: {one_line(failed)}" if failed else "answer written"]
        case Reported(failed=failed):
            return [f"the answer was not reviewed: {one_line(failed)}"] if failed else []
        case Cut(what=what, reason=reason):
            return [f"the text of the {what} is cut: {one_line(reason)}"]
        case Judging(task=task):
            return [f"the results contradict each other: {task.worker} decides"]
        case Judged(contradictions=found):
            return [f"judged: {one_line(each.claim, WIDE)}: {one_line(each.resolution) or 'open'}" for each in found]


def _result(result: Result, progress: Progress) -> str:
    who = f"{result.worker}-{result.instance}" if result.instance else result.worker
    took = progress.took_s(result.task)
    within = f" in {seconds(took)}" if took is not None else ""
    if result.status == "completed":
        return f"{result.task} done by {who}{within}"
    why = result.error.message if result.error else result.output
    return f"{result.task} {result.status} by {who}{within}: {one_line(why, WIDE)}"


def _end(message: Cancel | Cancelled | Expired) -> str:
    match message:
        case Cancel():
            reason = f": {one_line(message.reason)}" if message.reason else ""
            return f"asked to cancel{reason}{said_by(message.by)}"
        case Cancelled():
            return "cancelled"
        case Expired():
            return "the deadline has passed"
