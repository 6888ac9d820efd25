"""The condenser: makes results shorter that are too long for one reading."""

from collections.abc import Sequence

import msgspec

from actors.model.writing import Written, write
from actors.run.decisions import CallCondenser
from actors.run.reading import to_read
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor.roles.quoting import quoted, request_of
from actors.supervisor.roles.role import Role, Schema, Situation
from protocol.events import Condensed, Event
from protocol.messages import Result

LEAST_ROOM = 200
CUT = "\n[cut]"


class Condenser(Role[CallCondenser]):
    """Ends in a shorter text; in the beginning of the results if the model wrote none, and says that it is cut."""

    name = "condenser"
    trace = "condense"
    decision = CallCondenser

    def model_name(self, settings: Settings) -> str:
        """The synthesizer's model, which reads the text."""
        return settings.model_synthesizer

    def effort(self, settings: Settings) -> str:
        """It is a small role."""
        return settings.effort_condenser

    def key(self, decision: CallCondenser) -> str:
        """Several portions are condensed at a time."""
        return f"condenser {decision.key}"

    def number(self, decision: CallCondenser, state: RunState) -> tuple[str | int, ...]:
        """The key of the portion."""
        return (decision.key,)

    async def ask(self, decision: CallCondenser, situation: Situation) -> Event:
        """One text, of one reply or several."""
        asked = condensing(situation.state, decision.results)
        written = await write(self.model, self.prompt(situation, asked))
        room = max(LEAST_ROOM, situation.state.limits.reading // 8)
        written = _within(written, decision.results, room)
        return Condensed(
            key=decision.key,
            text=written.text,
            cut=written.cut,
            tasks=tuple(result.task for result in decision.results),
            usage=written.usage,
            model=written.model,
        )

    def example(self, situation: Situation) -> tuple[Schema | None, str]:
        """The results of the example."""
        return None, condensing(situation.state, to_read(situation.state))


def condensing(state: RunState, results: Sequence[Result]) -> str:
    """What the condenser is asked."""
    return f"{request_of(state)}\n\n<results>\n{quoted(state, results)}\n</results>"


def _within(written: Written, results: Sequence[Result], room: int) -> Written:
    """The text within its room, with the reason if some of it is lost."""
    text, cut = written.text, written.cut
    if not text:
        text, cut = "\n".join(result.output for result in results), f"not condensed: {written.failed}"
    if len(text) > room:
        text, cut = text[:room] + CUT, cut or f"the condensed text has {len(text):,} characters; {room:,} fit"
    return msgspec.structs.replace(written, text=text, cut=cut)
