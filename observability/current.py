"""Where we are: which run, task and worker the code that is running right now works for.

Set once per delivery, which has a context of its own; read by logs and by whatever starts a span.
"""

from contextvars import ContextVar
from typing import NamedTuple

from observability import span_ids


class Place(NamedTuple):
    """A run as a supervisor holds it, or one execution of a task of it; `number` counts the executions before."""

    run: str
    task: str = ""
    worker: str = ""
    attempt: int = 0
    number: int = 0

    @property
    def span(self) -> str:
        """The span of it."""
        if not self.task:
            return span_ids.root(self.run)
        return span_ids.execution(self.run, self.task, self.attempt, self.number)


here: ContextVar[Place | None] = ContextVar("here", default=None)
