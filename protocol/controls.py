"""Controls: what a person may tell a run while it goes on."""

from protocol.messages import Message, Plan


class Cancel(Message, frozen=True, kw_only=True, tag="cancel", tag_field="type"):
    """End the run."""

    reason: str = ""


class Approve(Message, frozen=True, kw_only=True, tag="approve", tag_field="type"):
    """Run the plan as it is."""

    revision: int = 0


class Reject(Message, frozen=True, kw_only=True, tag="reject", tag_field="type"):
    """Plan anew, minding the comment."""

    comment: str = ""


class Edit(Message, frozen=True, kw_only=True, tag="edit", tag_field="type"):
    """Run this plan instead."""

    plan: Plan


Control = Cancel | Approve | Reject | Edit
