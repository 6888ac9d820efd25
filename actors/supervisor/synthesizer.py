"""The synthesizer: one text made of the results. Its outcome is one Event, and never nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from actors.model.port import Reply
from actors.run.plan_check import few
from actors.run.state import RunState
from actors.supervisor import prompts
from actors.supervisor.role import Role
from observability.redaction import redacted
from protocol.errors import ModelError
from protocol.events import Condensed, Synthesized
from protocol.messages import Contradiction, Result, Usage


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What the synthesizer says about its own text."""

    confidence: float | None = None
    contradictions: tuple[Contradiction, ...] = ()
    gaps: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


class Synthesizer:
    """A role of its own: it sees results only, never how they came about."""

    def __init__(self, writer: Role, condenser: Role) -> None:
        self._writer = writer
        self._condenser = condenser

    async def synthesize(self, run: str, state: RunState, said: Callable[[str], None]) -> Synthesized:
        """The text, or the reason why there is none."""
        try:
            reply = await self._writer.write(run, prompts.synthesis(state), [prompts.report_tool()], said)
        except ModelError as error:
            failed = redacted(f"the synthesizer failed: {error}")
            return Synthesized(text="", failed=failed, usage=Usage(model_calls=1), model=self._writer.model_name)
        text = reply.text.strip()
        if not text:
            failed = f"the synthesizer wrote nothing ({reply.stop_reason})"
            return Synthesized(text="", failed=failed, usage=reply.usage, model=self._writer.model_name)
        report = _report(reply, set(state.tasks))
        return Synthesized(
            text=text,
            gaps=report.gaps,
            contradictions=report.contradictions,
            confidence=report.confidence,
            more=report.more,
            usage=reply.usage,
            model=self._writer.model_name,
        )

    async def condense(self, run: str, state: RunState, key: str, results: Sequence[Result]) -> Condensed:
        """A shorter text of some results; cut off where nobody could make it shorter."""
        try:
            reply = await self._condenser.write(run, prompts.condensing(state, results))
            text, usage = reply.text.strip(), reply.usage
        except ModelError as error:
            text, usage = redacted(f"[these results were cut: {error}]"), Usage(model_calls=1)
        room = max(200, state.limits.reading // 8)
        if not text or len(text) > room:
            text = (text or "\n".join(result.output for result in results))[:room] + "\n[cut]"
        return Condensed(key=key, text=text, usage=usage, model=self._condenser.model_name)


def _report(reply: Reply, tasks: set[str]) -> Report:
    """What stands in the tool, if it was used and can be read; contradictions of tasks that exist only."""
    for use in reply.tool_uses:
        if use.get("name") == prompts.REPORT_TOOL:
            report = _read(use.get("input"))
            known = [c for c in report.contradictions if c.claim.strip() and set(c.tasks) & tasks]
            clean = [msgspec.structs.replace(c, resolution="") for c in known]
            return msgspec.structs.replace(report, contradictions=tuple(clean))
    return Report()


def _read(found: Any) -> Report:
    try:
        report = msgspec.convert(found, Report)
    except msgspec.ValidationError:
        return Report()
    sure = report.confidence
    return msgspec.structs.replace(
        report,
        confidence=None if sure is None else min(1.0, max(0.0, sure)),
        gaps=tuple(few([gap for gap in report.gaps if gap.strip()])),
        more=tuple(few([more for more in report.more if more.strip()])),
    )
