"""What is said on the cancel subject: a run is over, or some of its tasks are no longer wanted."""

from typing import NamedTuple

from actors.bus.port import Stored
from observability.logger import get_logger
from protocol import codec, subjects
from protocol.errors import UndecodableError
from protocol.messages import DEADLINE, Fault, Stop

DROPPED = Fault(kind="cancelled", message="the plan no longer has this task")
"""Why a task has no result that the run goes on without: it is told so that what it cost is counted."""

LATE = Fault(kind=DEADLINE, message="the deadline passed before the task was done")
"""Why a task has no better result: it came too late, or was still under way at its deadline."""

AT_DEADLINE_S = 0.5
"""So close to its deadline a run ends by the deadline: the supervisor may know the server's time a moment better."""

log = get_logger()


class Unwanted(NamedTuple):
    """Tasks of a run; all of them if none is named."""

    run: str
    tasks: tuple[str, ...]

    def has(self, task: str) -> bool:
        """Whether a task of the run is meant."""
        return not self.tasks or task in self.tasks


def unwanted(stored: Stored) -> Unwanted | None:
    """What is no longer wanted; None for what cannot be read."""
    try:
        tasks = codec.decode(stored.data, Stop).tasks if stored.data else ()
    except UndecodableError as error:
        log.warning("cancel.unreadable", subject=stored.subject, error=str(error))
        return None
    return Unwanted(subjects.run_of(stored.subject), tasks)
