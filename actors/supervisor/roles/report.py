"""The report: says of the text of the answer how sure it is, what contradicts, and what is missing."""

from typing import Any

import msgspec

from actors.model.decision import decide
from actors.run.decisions import CallReport
from actors.run.plan_check import few
from actors.run.reading import to_read
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor.roles.quoting import quoted, request_of, section
from actors.supervisor.roles.role import Role, Schema, Situation
from actors.supervisor.roles.schema import many, number_or_none, structure, text, texts
from protocol.events import Event, Reported
from protocol.messages import Contradiction


class Reporter(Role[CallReport]):
    """Ends in the report, or in the reason why there is none."""

    name = "report"
    trace = "report"
    decision = CallReport

    def model_name(self, settings: Settings) -> str:
        """The synthesizer's model."""
        return settings.model_synthesizer

    def effort(self, settings: Settings) -> str:
        """It is a small role."""
        return settings.effort_report

    async def ask(self, decision: CallReport, situation: Situation) -> Event:
        """One call."""
        state = situation.state
        decided = await decide(self.model, self.prompt(situation, reporting(state)), REPORT)
        report = read_report(decided.found, set(state.tasks)) if decided.found is not None else None
        if report is None:
            failed = decided.fault or "the report does not fit its schema"
            return Reported(failed=failed, usage=decided.usage, model=decided.model)
        return msgspec.structs.replace(report, usage=decided.usage, model=decided.model)

    def example(self, situation: Situation) -> tuple[Schema | None, str]:
        """The text of the example."""
        return REPORT, reporting(situation.state)


REPORT = structure(
    {
        "confidence": number_or_none("How sure the answer is, from 0 to 1; null if the results do not let you tell."),
        "contradictions": many(
            structure(
                {
                    "tasks": texts("The tasks whose results contradict each other."),
                    "claim": text("What they disagree about, with both sides, in one sentence."),
                }
            ),
            "Where results contradict each other on a point that matters; usually none.",
        ),
        "gaps": texts("What the request asks for and the answer does not give; empty if nothing is missing."),
        "more": texts("Further work without which the request is not answered; usually none."),
    },
    title="report",
)


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    """The report as the model wrote it."""

    confidence: float | None = None
    contradictions: tuple[Contradiction, ...] = ()
    gaps: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


def reporting(state: RunState) -> str:
    """What the report is asked: request, results and text."""
    answer = state.synthesis.text if state.synthesis else ""
    results = f"<results>\n{quoted(state, to_read(state))}\n</results>"
    return "\n\n".join([request_of(state), results, section("answer", answer)])


def read_report(found: dict[str, Any], tasks: set[str]) -> Reported | None:
    """The report, with contradictions of known tasks only; None if it does not fit its schema."""
    try:
        said = msgspec.convert(found, _Said)
    except msgspec.ValidationError:
        return None
    known = [c for c in said.contradictions if c.claim.strip() and set(c.tasks) & tasks]
    return Reported(
        confidence=None if said.confidence is None else min(1.0, max(0.0, said.confidence)),
        contradictions=tuple(msgspec.structs.replace(c, resolution="") for c in known),
        gaps=tuple(few([gap for gap in said.gaps if gap.strip()])),
        more=tuple(few([more for more in said.more if more.strip()])),
    )
