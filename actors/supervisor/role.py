"""A role: one prompt of its own on one model, asked for text or for a filled-in tool."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from actors.model.port import Call, Model, Reply, ToolSpec, Turn
from actors.model.structured import structured
from observability.redaction import redacted
from protocol.errors import ModelError
from protocol.messages import Usage


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """What came back for a tool that had to be used: its input, or the reason why there is none."""

    found: dict[str, Any] | None
    fault: str = ""
    said: str = ""
    usage: Usage = Usage()
    model: str = ""


class Role:
    """Planner, refiner, synthesizer, condenser or judge."""

    def __init__(self, model: Model, *, name: str, model_name: str, system: str, max_tokens: int) -> None:
        self.name = name
        self._model = model
        self.model_name = model_name
        self._system = system
        self._max_tokens = max_tokens or 4096

    async def fill(self, run: str, text: str, tool: ToolSpec) -> Filled:
        """Have a tool filled in. Some servers ignore that a tool is forced: JSON in the text is taken too."""
        call = self._call(run, text, [tool], tool.name)
        try:
            reply = await self._model.call(call)
        except ModelError as error:
            fault = redacted(f"the model gave no answer: {error}")
            return Filled(found=None, fault=fault, usage=Usage(model_calls=1), model=self.model_name)
        found = structured(reply, tool.name)
        fault = "" if found is not None else f"the reply does not use the tool {tool.name}"
        return Filled(found=found, fault=fault, said=reply.text[:500], usage=reply.usage, model=self.model_name)

    async def write(
        self, run: str, text: str, tools: Sequence[ToolSpec] = (), said: Callable[[str], None] | None = None
    ) -> Reply:
        """Have a text written, or raise ModelError."""
        return await self._model.call(self._call(run, text, tools, None), said=said)

    def _call(self, run: str, text: str, tools: Sequence[ToolSpec], force: str | None) -> Call:
        return Call(
            run=run,
            role=self.name,
            system=self._system,
            turns=[Turn(role="user", content=text)],
            tools=tools,
            force=force,
            model=self.model_name,
            max_tokens=self._max_tokens,
        )
