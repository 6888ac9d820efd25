"""What a run may do, by the settings of its supervisor."""

from math import inf

import msgspec

from protocol.messages import Request


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a run may do, however the models behave."""

    attempts: int = 3
    plan_tries: int = 3
    revisions: int = 3
    deadline_s: float = 600.0
    review_s: float = 86_400.0
    planner_tasks: int = 32
    request_tasks: int = 1000
    depth: int = 3
    reading: int = 120_000
    keep_s: float = inf
    """How long the bus keeps the messages of a run."""

    def run_seconds(self, request: Request | None) -> float:
        """How long a run may take, without the time that a person takes to review its plan."""
        own = request.deadline_s if request else None
        seconds = own if own is not None and own > 0 else self.deadline_s
        most = request.budget.seconds if request else None
        return seconds if most is None or most <= 0 else min(seconds, most)

    def keep_faults(self, request: Request) -> list[str]:
        """Why the run may outlast its own messages: it would begin again without them, and pay again."""
        needed = self.run_seconds(request) + (self.review_s if request.review else 0.0)
        if needed <= self.keep_s:
            return []
        review = f" and {self.review_s:,.0f} s to review its plan" if request.review else ""
        fault = (
            f"the run may take {self.run_seconds(request):,.0f} s{review}, but its messages are kept for "
            f"{self.keep_s:,.0f} s: give a shorter deadline_s, or keep runs longer (keep_days)"
        )
        return [fault]
