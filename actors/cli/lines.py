"""Progress as plain lines, one fact each, with the seconds since the start: for a pipe, a log, a dumb terminal."""

import time

from actors.cli.progress import Progress
from actors.cli.terminal import one_line, tell
from actors.cli.wording import count, seconds
from actors.record import Entry, Recorded
from protocol.controls import Cancel
from protocol.events import Cancelled, Expired, Planned, PlanRejected, Retrying, Skipped, Started, Synthesized, Waiting
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
            return [f"taken {'over ' if epoch > 1 else ''}by {supervisor}"]
        case Planned(plan=plan):
            return [f"planned {count(len(plan.tasks), 'task')}"]
        case PlanRejected(faults=faults):
            return [f"plan refused: {one_line(fault)}" for fault in faults]
        case Waiting(reason=reason):
            return [f"waiting: {one_line(reason)}"]
        case Handoff(task=task, to_agent=worker, attempt=attempt):
            again = f" (attempt {attempt})" if attempt > 1 else ""
            return [f"{task} → {worker}{again}: {one_line(message.intent, WIDE)}"]
        case Result():
            return [_result(message, progress)]
        case Retrying(task=task, attempt=attempt, reason=reason):
            return [f"{task} is tried again (attempt {attempt}): {one_line(reason, WIDE)}"]
        case Skipped(task=task, cause=cause):
            return [f"{task} skipped: {one_line(cause, WIDE)}"]
        case Synthesized(failed=failed):
            return [f"no answer could be written: {one_line(failed)}" if failed else "answer written"]
        case Cancel() | Cancelled() | Expired():
            return [_end(message)]
        case _:
            return []


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
            return "asked to cancel" + (f": {one_line(message.reason)}" if message.reason else "")
        case Cancelled():
            return "cancelled"
        case Expired():
            return "the deadline has passed"
