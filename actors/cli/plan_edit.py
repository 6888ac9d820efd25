"""A plan in the hands of an editor: the text that a person wrote is kept until it is a plan that can run."""

from collections.abc import Awaitable, Callable

import msgspec

from actors.cli.plan_text import parse_plan
from actors.cli.terminal import tell
from actors.run.limits import Limits
from actors.run.plan_check import plan_faults
from protocol.errors import InvalidError
from protocol.messages import Plan

KEPT = "your text is kept: edit again to go on with it (empty the file to begin anew)"

Change = Callable[[bytes], Awaitable[bytes]]
"""Lets a person change a text."""


class PlanEditor:
    """Lets a person change one proposed plan, as often as it takes."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._text = b""

    async def edit(self, plan: Plan) -> Plan | None:
        """The plan as the person changed it. None, with the faults shown, if it is the same or cannot run."""
        try:
            self._text = await self._change(self._text or msgspec.json.format(msgspec.json.encode(plan), indent=2))
        except InvalidError as error:
            return _refused(error.faults)
        if not self._text.strip():
            self._text = b""
            return _refused(["the text is empty: nothing was changed"])
        try:
            edited = parse_plan(self._text, "the edited plan")
            faults = plan_faults(edited, Limits().request_tasks)
        except InvalidError as error:
            return _refused([*error.faults, KEPT])
        if edited == plan:
            self._text = b""
            return _refused(["nothing was changed"])
        return _refused([*faults, KEPT]) if faults else edited


def _refused(faults: list[str] | tuple[str, ...]) -> None:
    for fault in faults:
        tell(fault)
