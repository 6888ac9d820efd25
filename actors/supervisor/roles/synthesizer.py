"""The synthesizer: writes one text made of the results, and nothing else."""

from xml.sax.saxutils import escape

from actors.model.writing import write
from actors.run.answer import gaps_of
from actors.run.decisions import CallSynthesizer
from actors.run.reading import to_read
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor.roles.plan_schema import STRATEGIES
from actors.supervisor.roles.quoting import listed, quoted, request_of, section
from actors.supervisor.roles.role import Role, Schema, Situation
from protocol.events import Event, Synthesized


class Synthesizer(Role[CallSynthesizer]):
    """Ends in the text, or in the reason why there is none. It sees results only, never how they came about."""

    name = "synthesizer"
    trace = "synthesize"
    decision = CallSynthesizer
    tokens = 64_000
    streams_answer = True

    def model_name(self, settings: Settings) -> str:
        """The synthesizer has a setting of its own."""
        return settings.model_synthesizer

    def effort(self, settings: Settings) -> str:
        """As the settings have it."""
        return settings.effort_synthesizer

    async def ask(self, decision: CallSynthesizer, situation: Situation) -> Event:
        """One text, of one reply or several."""
        written = await write(self.model, self.prompt(situation, synthesis(situation.state)))
        failed = f"the synthesizer failed: {written.failed}" if written.failed else ""
        return Synthesized(text=written.text, cut=written.cut, failed=failed, usage=written.usage, model=written.model)

    def example(self, situation: Situation) -> tuple[Schema | None, str]:
        """The results of the example."""
        return None, synthesis(situation.state)


def synthesis(state: RunState) -> str:
    """What the synthesizer is asked: the same text in whatever order the results came in."""
    parts = [request_of(state), f"<results>\n{quoted(state, to_read(state))}\n</results>"]
    if gaps := gaps_of(state):
        parts.append(section("gaps", listed(gaps)))
    if plan := state.plan:
        instruction = " ".join([STRATEGIES[plan.strategy], plan.instruction]).strip()
        parts.append(f"<instruction>\n{escape(instruction)}\n</instruction>")
    return "\n\n".join(parts)
