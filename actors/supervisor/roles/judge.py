"""The judge: decides between results that contradict each other."""

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

import msgspec

from actors.model.decision import decide
from actors.run.answer import contradictions_of
from actors.run.decisions import CallJudge
from actors.run.reading import to_read
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor.roles.quoting import quoted
from actors.supervisor.roles.role import Role, Schema, Situation
from actors.supervisor.roles.schema import integer, many, structure, text
from protocol.events import Event, Judged
from protocol.messages import Contradiction


class Judge(Role[CallJudge]):
    """Ends in a verdict for each contradiction; one that is not decided stays open, and is flagged."""

    name = "judge"
    trace = "judge"
    decision = CallJudge

    def model_name(self, settings: Settings) -> str:
        """A model of its own if that is set, else the synthesizer's."""
        return settings.model_judge or settings.model_synthesizer

    def effort(self, settings: Settings) -> str:
        """It is a small role."""
        return settings.effort_judge

    async def ask(self, decision: CallJudge, situation: Situation) -> Event:
        """One call for all contradictions."""
        disputed = contradictions_of(situation.state)
        asked = judging(situation.state, disputed)
        decided = await decide(self.model, self.prompt(situation, asked), RULING)
        verdicts = _verdicts(decided.found or {})
        settled = [_with(contradiction, verdicts.get(n, "")) for n, contradiction in enumerate(disputed, 1)]
        return Judged(contradictions=tuple(settled), usage=decided.usage, model=decided.model)

    def example(self, situation: Situation) -> tuple[Schema | None, str]:
        """The contradictions of the example."""
        return RULING, judging(situation.state, contradictions_of(situation.state))


RULING = structure(
    {
        "verdicts": many(
            structure(
                {
                    "number": integer("The number of the contradiction."),
                    "resolution": text("Which side is right and why; empty if the results do not settle it."),
                }
            ),
            "One verdict for each contradiction, in their order.",
        )
    },
    title="ruling",
)


def judging(state: RunState, contradictions: Sequence[Contradiction]) -> str:
    """What the judge is asked: the disputed results only."""
    disputed = {name for contradiction in contradictions for name in contradiction.tasks}
    results = [result for result in to_read(state) if result.task in disputed] or to_read(state)
    rows = "\n".join(f"{n}. {escape(c.claim)} (tasks: {', '.join(c.tasks)})" for n, c in enumerate(contradictions, 1))
    return (
        f"<disputed>\n{quoted(state, results)}\n</disputed>\n\n<contradictions>\n{rows}\n</contradictions>\n\n"
        f"Give {len(contradictions)} verdicts, in that order."
    )


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
