"""Where we are: which run, task and worker the code that is running right now works for.

Set once per delivery, which has a context of its own; read by logs and by whatever starts a span.
"""

from contextvars import ContextVar

from observability import span_ids


class Place:
    """A run as a supervisor holds it, or one execution of a task of it; `number` counts the executions before."""

    __slots__ = ("_span", "attempt", "number", "run", "task", "worker")

    def __init__(self, run: str, task: str = "", worker: str = "", attempt: int = 0, number: int = 0) -> None:
        self.run = run
        self.task = task
        self.worker = worker
        self.attempt = attempt
        self.number = number
        self._span = ""

    @property
    def span(self) -> str:
        """The span of it."""
        return self.own_span()

    def own_span(self) -> str:
        """The span of it; worked out only if somebody asks, because it is on the way of every task."""
        if not self._span:
            self._span = (
                span_ids.execution(self.run, self.task, self.attempt, self.number)
                if self.task
                else span_ids.root(self.run)
            )
        return self._span


here: ContextVar[Place | None] = ContextVar("here", default=None)
