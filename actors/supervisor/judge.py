"""The judge: decides between results that contradict each other. Its outcome is one Event."""

from typing import Any

import msgspec

from actors.run.answer import contradictions_of
from actors.run.state import RunState
from actors.supervisor import prompts
from actors.supervisor.role import Role
from protocol.events import Judged
from protocol.messages import Contradiction


class Judge:
    """A role of its own, on a model of its own if that is set."""

    def __init__(self, role: Role) -> None:
        self._role = role

    async def judge(self, run: str, state: RunState) -> Judged:
        """A verdict for each contradiction; one that is not decided stays open, and is flagged."""
        disputed = contradictions_of(state)
        filled = await self._role.fill(run, prompts.judging(state, disputed), prompts.verdict_tool())
        verdicts = _verdicts(filled.found or {})
        settled = [_with(contradiction, verdicts.get(n, "")) for n, contradiction in enumerate(disputed, 1)]
        return Judged(contradictions=tuple(settled), usage=filled.usage, model=filled.model)


def _with(contradiction: Contradiction, resolution: str) -> Contradiction:
    return msgspec.structs.replace(contradiction, resolution=resolution.strip())


def _verdicts(found: dict[str, Any]) -> dict[int, str]:
    try:
        rows = msgspec.convert(found.get("verdicts", []), list[dict[str, int | str]])
    except msgspec.ValidationError:
        return {}
    return {
        number: resolution
        for row in rows
        if isinstance(number := row.get("number"), int) and isinstance(resolution := row.get("resolution"), str)
    }
