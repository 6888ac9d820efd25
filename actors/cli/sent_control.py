"""A control that a command has sent to a run, as data."""

from typing import Self

import msgspec

from protocol.controls import Approve, Edit, Reject
from protocol.ids import RunId


class SentControl(msgspec.Struct, frozen=True, kw_only=True):
    """A control about a plan or a tool. `sent` is its type, `sequence` where it is stored, `outcome` what came of it.

    `task` and `call` are empty for a plan; `outcome` is empty if nothing came of it while the command waited.
    """

    run: RunId
    sent: str
    sequence: int
    asked: int
    by: str
    task: str = ""
    call: str = ""
    outcome: str = ""

    @classmethod
    def of(cls, run: RunId, control: Approve | Reject | Edit, sequence: int) -> Self:
        """The control as data, before anything came of it."""
        sent = str(control.__struct_config__.tag)
        found = cls(run=run, sent=sent, sequence=sequence, asked=control.asked, by=control.by)
        if isinstance(control, Edit):
            return found
        return msgspec.structs.replace(found, task=control.task, call=control.call)
