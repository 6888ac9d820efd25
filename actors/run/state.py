"""The state of a run: a fold over its messages, in the order in which they were stored.

What always holds: a message that was folded before, comes late, or speaks of something unknown changes nothing.
"""

from collections import Counter

from actors.run.board import Board, TaskState
from actors.run.limits import Limits
from actors.run.plan_review import PlanReview
from actors.run.texts import Texts
from protocol.controls import Approve, Cancel, Control, Edit, Reject
from protocol.events import (
    Approved,
    Cancelled,
    Condensed,
    Cut,
    Event,
    Expired,
    Finished,
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
from protocol.messages import Answer, Handoff, Plan, Request, Result, Usage
from protocol.steps import Step

LONGEST_FINDING = 4000
"""What is found goes into the record once more, with the plan that comes of it."""


class RunState:
    """Everything that is known of a run."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.board = Board()
        self.court = Board()
        self.request: Request | None = None
        self.epoch = 0
        self.started_at = 0.0
        self.review_began: float | None = None
        self.waited_s = 0.0
        self.plan: Plan | None = None
        self.plans: list[Plan] = []
        self.review = PlanReview()
        self.rejections: list[PlanRejected] = []
        self.why_replan: list[str] = []
        self.replan_failed = False
        self.waits: dict[str, None] = {}  # in the order in which they were stored
        self.cancel_asked: Cancel | None = None
        self.cancelled: Cancelled | None = None
        self.expired: Expired | None = None
        self.expired_at = 0.0
        self.texts = Texts()
        self.unplanned = ""
        self.asked_for_more = False
        self.answer: Answer | None = None
        self.spending: dict[str, Usage] = {}
        self.request_seq = 0
        self.thoughts: Counter[str] = Counter()
        self._early: list[Handoff | Result] = []

    @property
    def tasks(self) -> dict[str, TaskState]:
        """The tasks of the plan, in its order."""
        return self.board.tasks

    def find(self, name: str) -> TaskState | None:
        """A task of the plan, or the one of a judge beside it."""
        return self.board.tasks.get(name) or self.court.tasks.get(name)

    @property
    def deadline(self) -> float:
        """The moment (Unix time) after which only what is there counts; the time a person takes is not counted."""
        if self.review_began is not None:
            return self.review_began + self.limits.review_s
        return self.started_at + self.waited_s + self.limits.run_seconds(self.request)

    @property
    def handed(self) -> list[TaskState]:
        """The tasks that are with a worker, a judge's included."""
        return [*self.board.having("handed"), *self.court.having("handed")]

    @property
    def may_think(self) -> bool:
        """Whether the run may ask a model at all: one with its own plan and no synthesis costs no call."""
        return self.request is not None and (self.request.plan is None or self.request.synthesis)

    @property
    def proposed(self) -> Planned | None:
        """The plan that was proposed last, unless a person rejected it."""
        return self.review.proposed

    @property
    def under_review(self) -> Planned | None:
        """The plan that waits for a person; None once a person has decided about it."""
        if self.request is None or not self.request.review or self.plan or self.is_over or self.review.is_decided:
            return None
        return self.proposed

    @property
    def is_over(self) -> bool:
        """True once nothing more of the run is wanted."""
        return bool(self.cancel_asked or self.cancelled or self.expired or self.answer)

    @property
    def revision(self) -> int:
        """Which revision of the plan is being run."""
        return len(self.plans)

    def fold(self, message: Event | Handoff | Result | Control | Step, at: float, seq: int = 0) -> None:
        """Take in one message that was stored at that moment, with its sequence where it is known."""
        match message:
            case Result() | Handoff():
                self._work(message)
            case Cancel():
                self.cancel_asked = self.cancel_asked or message
            case Approve(task="") | Reject(task="") | Edit():
                self.review.hear(message, seq, is_open=self.plan is None)
            case _ if isinstance(message, Event):
                self._event(message, at, seq)
            case _:
                pass  # steps belong to the worker, and so does what a person says about its tools

    def _event(self, message: Event, at: float, seq: int) -> None:
        """Take in an Event. Each kind has its case: the type checker finds a kind that has none."""
        match message:
            case Started():
                self._started(message, at)
            case Planned() | PlanRejected() | Approved() | Replanned() | ReplanFailed():
                self._review_clock(message, at)
                self._plan_event(message, seq)
                self._catch_up()
            case Retrying() | Refined() | Rerouted() | GaveUp() | Skipped():
                self._task_event(message)
                self._catch_up()
            case Condensed() | Synthesized() | Reported() | Cut() | Judged():
                self._written(message)
            case Finished():
                self.answer = self.answer or message.answer
            case Judging():
                if not self.court.tasks:
                    self.court.lay_out(Plan(tasks=(message.task,)))
                    self._catch_up()
            case Cancelled():
                self.cancelled = self.cancelled or message
            case Expired():
                if self.expired is None:
                    self.expired, self.expired_at = message, at
            case Waiting():
                self.waits.setdefault(message.reason)
                self.review.refuse(message.control)
            case RunGivenBack():
                pass  # the next `started` says who goes on

    def _started(self, message: Started, at: float) -> None:
        if self.request is None:
            self.request = message.request
            self.request_seq = message.request_seq
            self.started_at = at
        self.epoch = max(self.epoch, message.epoch)

    def _work(self, message: Handoff | Result) -> None:
        """What is sent without waiting may be stored in another order: what comes early is kept until it fits."""
        board = self.court if message.task in self.court.tasks else self.board
        if board.is_early(message):
            self._early.append(message)
        elif isinstance(message, Handoff):
            board.hand_out(message)
        else:
            self._result(message, board)

    def _catch_up(self) -> None:
        early, self._early = self._early, []
        for message in early:
            self._work(message)

    def _result(self, message: Result, board: Board) -> None:
        if self.expired or self.cancelled:
            return
        if board.report(message):
            self._spend(message.worker, message.usage)
        if not board.take_back(message):
            return
        self._spend(message.worker, message.usage)
        if message.status == "completed" and message.findings and board is self.board:
            found = "; ".join(message.findings)[:LONGEST_FINDING]
            self.why_replan.append(f"{message.task} ({message.worker}) found: {found}")

    def _review_clock(self, message: Planned | PlanRejected | Approved | Replanned | ReplanFailed, at: float) -> None:
        """How long a person was waited for: from a plan to what was said about it, by the times these were stored."""
        if isinstance(message, Planned) and self.plan is None and self.proposed is None:
            self.review_began = at if self.request is not None and self.request.review else None
        refused = isinstance(message, PlanRejected) and message.reviewed
        if self.review_began is not None and (refused or isinstance(message, Approved)):
            self.waited_s += max(0.0, at - self.review_began)
            self.review_began = None

    def _plan_event(self, message: Planned | PlanRejected | Approved | Replanned | ReplanFailed, seq: int) -> None:
        if isinstance(message, Replanned | ReplanFailed):
            self.thoughts["replan"] += 1
        match message:
            case Planned():
                if self.plan is None and self.proposed is None:
                    self._spend("planner", message.usage)
                    self.review.propose(message, seq)
                    self.unplanned = message.unplanned
                    if self.request is not None and not self.request.review:
                        self._begin(message.plan)
            case Approved():
                self.review.approve(message.control)
                if self.plan is None and self.proposed is not None:
                    self._begin(message.plan or self.proposed.plan)
            case PlanRejected():
                self.rejections.append(message)
                self._spend("planner", message.usage)
                if message.reviewed:
                    self.review.reject()
            case Replanned():
                if message.plan.revision == self.revision + 1:
                    self._spend("planner", message.usage)
                    self._replace(message)
            case ReplanFailed():
                self._spend("planner", message.usage)
                self.why_replan.clear()
                self.asked_for_more = self.replan_failed = True

    def _replace(self, message: Replanned) -> None:
        """Go on with the new plan, unless it came too late; what was found while it was made is still news."""
        if self.expired:
            return
        news = [reason for reason in self.why_replan if reason not in message.reasons]
        self._begin(message.plan)
        self.why_replan += news

    def _begin(self, plan: Plan) -> None:
        if self.synthesis is not None and self.synthesis.more:
            self.asked_for_more = True
        self.plan = plan
        self.plans.append(plan)
        self.why_replan.clear()
        self.texts.begin_plan()
        self.board.lay_out(plan)

    def _task_event(self, message: Retrying | Refined | Rerouted | GaveUp | Skipped) -> None:
        match message:
            case Retrying():
                self.board.try_again(message.task, message.attempt, message.not_before)
            case Refined():
                self._spend("refiner", message.usage)
                if state := self.board.try_again(message.task, message.attempt, message.not_before):
                    state.intent = message.intent
            case Rerouted():
                self.board.reroute(message.task, message.attempt, message.worker)
            case GaveUp():
                self.board.fail(message.task, message.reason)
            case Skipped():
                self.board.skip(message.task, message.cause)

    def _written(self, message: Condensed | Synthesized | Reported | Cut | Judged) -> None:
        role = self.texts.fold(message, self.thoughts)
        if role and not isinstance(message, Cut):
            self._spend(role, message.usage)

    @property
    def synthesis(self) -> Synthesized | None:
        """The text of the answer for the plan that is being run, with its report."""
        return self.texts.synthesis

    @property
    def judgement(self) -> Judged | None:
        """What the judge said about that text's contradictions."""
        return self.texts.judgement

    def _spend(self, who: str, usage: Usage) -> None:
        self.spending[who] = self.spending[who] + usage if who in self.spending else usage

    @property
    def spent(self) -> Usage:
        """What the run has cost so far."""
        return sum(self.spending.values(), Usage())
