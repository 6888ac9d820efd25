"""Controls: what a person may tell a run while it goes on.

`by` is who says it: a name to remember, not a proof. `asked` is the stream sequence of the message that the person saw:
the `planned` Event, or the Step in which a worker asks to run a tool. 0 means not said: it counts for what waits. A
Control that names something that does not wait any more has no effect.
"""

from protocol.messages import Message, Plan


class Cancel(Message, frozen=True, kw_only=True, tag="cancel", tag_field="type"):
    """End the run."""

    reason: str = ""
    by: str = ""


class Approve(Message, frozen=True, kw_only=True, tag="approve", tag_field="type"):
    """Run the plan as it is; with a `task`, let a call of its worker's tool run that waits for a person."""

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
    asked: int = 0
    by: str = ""


Control = Cancel | Approve | Reject | Edit
