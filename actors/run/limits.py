"""What a run may do, by the settings of its supervisor."""

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

    def run_seconds(self, request: Request | None) -> float:
        """How long a run may take, without the time that a person takes to review its plan."""
        own = request.deadline_s if request else None
        seconds = own if own is not None and own > 0 else self.deadline_s
        most = request.budget.seconds if request else None
        return seconds if most is None or most <= 0 else min(seconds, most)
