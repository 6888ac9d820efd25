"""Controls: what a person may tell a run while it goes on."""

from protocol.messages import Message, Plan


class Cancel(Message, frozen=True, kw_only=True, tag="cancel", tag_field="type"):
    """End the run."""

    reason: str = ""


class Approve(Message, frozen=True, kw_only=True, tag="approve", tag_field="type"):
    """Run the plan as it is; with a `task`, let a call of its worker's tool run that waits for a person.

    `asked` is the sequence of the step that asked, 0 for whichever waits under that id; `by` is who says so.
    """

    revision: int = 0
    task: str = ""
    call: str = ""
    asked: int = 0
    by: str = ""


class Reject(Message, frozen=True, kw_only=True, tag="reject", tag_field="type"):
    """Plan anew, minding the comment; with a `task`, do not let a call of its worker's tool run."""

    comment: str = ""
    task: str = ""
    call: str = ""
    asked: int = 0
    by: str = ""


class Edit(Message, frozen=True, kw_only=True, tag="edit", tag_field="type"):
    """Run this plan instead."""

    plan: Plan


Control = Cancel | Approve | Reject | Edit
