"""The synthesizer: one text made of the results. Its outcome is one Event, and never nothing."""

from collections.abc import Callable

from actors.model.port import Call, Model, Turn
from actors.run.state import RunState
from actors.supervisor.prompts import SYNTHESIZER, synthesis
from protocol.errors import ModelError
from protocol.events import Synthesized
from protocol.messages import Usage


class Synthesizer:
    """A role of its own: it sees results only, never how they came about."""

    def __init__(self, model: Model, *, name: str, max_tokens: int) -> None:
        self._model = model
        self._name = name
        self._max_tokens = max_tokens

    async def synthesize(self, run: str, state: RunState, said: Callable[[str], None]) -> Synthesized:
        """The text, or the reason why there is none."""
        call = Call(
            run=run,
            role="synthesizer",
            system=SYNTHESIZER,
            turns=[Turn(role="user", content=synthesis(state))],
            model=self._name,
            max_tokens=self._max_tokens,
        )
        try:
            reply = await self._model.call(call, said=said)
        except ModelError as error:
            return Synthesized(text="", failed=f"the synthesizer failed: {error}", usage=Usage(model_calls=1))
        if not reply.text.strip():
            return Synthesized(
                text="", failed=f"the synthesizer wrote nothing ({reply.stop_reason})", usage=reply.usage
            )
        return Synthesized(text=reply.text, usage=reply.usage)
