"""The review of a plan: which plan waits, and what was said about it. A part of the state of a run.

What always holds: a control that names another proposal than the one that waits decides nothing.
"""

from typing import Literal

from protocol.controls import Approve, Edit, Reject
from protocol.events import Planned

LONGEST_NAME = 100

PlanControl = Approve | Reject | Edit

Effect = Literal["applied", "refused", "ignored"]
"""`applied`: it decided about the plan. `refused`: a Waiting says why not. `ignored`: no plan waited for it."""


class PlanReview:
    """The proposal and its controls, in the order of the stream.

    `proposed_seq` is the sequence of the `planned` Event, 0 if unknown. `done` counts the controls that were answered.
    `effects` says by sequence what a control came to; one that is not there is not answered yet.
    """

    def __init__(self) -> None:
        self.proposed: Planned | None = None
        self.proposed_seq = 0
        self.controls: list[PlanControl] = []
        self.done = 0
        self.effects: dict[int, Effect] = {}
        self._seqs: list[int] = []

    def propose(self, planned: Planned, seq: int) -> None:
        """Open the review of this plan."""
        self.proposed, self.proposed_seq = planned, seq

    def hear(self, control: PlanControl, seq: int, *, is_open: bool) -> None:
        """Take in a control. Without a proposal it has no effect."""
        if not is_open or self.proposed is None:
            self._note(seq, "ignored")
            return
        self.controls.append(control)
        self._seqs.append(seq)

    def next(self) -> PlanControl | None:
        """The oldest control that is not answered."""
        return self.controls[self.done] if len(self.controls) > self.done else None

    def is_stale(self, control: PlanControl) -> bool:
        """True if the control names another proposal than the one that waits."""
        return control.asked not in (0, self.proposed_seq)

    @property
    def is_decided(self) -> bool:
        """True if a control about this very proposal waits to be answered."""
        return not all(self.is_stale(control) for control in self.controls[self.done :])

    def refuse(self, count: int) -> None:
        """Note that these many controls are answered, the last of them with a refusal."""
        self._answer(count, "refused")

    def approve(self, count: int) -> None:
        """Note that the last of these many controls approved a plan. Later ones come too late."""
        self._answer(count, "applied")
        self._ignore_rest()

    def reject(self) -> None:
        """Close the review: the oldest open control rejected the plan. The next plan is a new question."""
        self._answer(self.done + 1, "applied")
        self._ignore_rest()
        self.controls.clear()
        self._seqs.clear()
        self.done = self.proposed_seq = 0
        self.proposed = None

    def _answer(self, count: int, effect: Effect) -> None:
        if count > self.done and count <= len(self._seqs):
            self._note(self._seqs[count - 1], effect)
        self.done = max(self.done, count)

    def _ignore_rest(self) -> None:
        for seq in self._seqs[self.done :]:
            self._note(seq, "ignored")

    def _note(self, seq: int, effect: Effect) -> None:
        if seq:
            self.effects.setdefault(seq, effect)


def stale_reason(control: PlanControl, proposed_seq: int) -> str:
    """Why a stale control decides nothing."""
    kind, by = str(control.__struct_config__.tag), signature(control.by)
    return (
        f"{kind}{f' by {by}' if by else ''} is about the plan at {control.asked}, and the plan at {proposed_seq} waits:"
        " it decided nothing"
    )


def signature(by: str) -> str:
    """The name that a control carries, on one line and not too long."""
    return " ".join(by.split())[:LONGEST_NAME]
