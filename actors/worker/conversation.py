"""The conversation of one task with a model: how it begins, and the next call that follows from its Steps."""

import hashlib
from collections.abc import Sequence

import msgspec

from actors.bus.port import Bus
from actors.model.port import Block, Call, ToolSpec, Turn
from actors.model.profiles import SERVER_TOOLS, profile_of
from actors.settings import Settings
from actors.worker.answers import SPECS
from actors.worker.definition import Worker
from actors.worker.files import Files, can_read, is_file
from actors.worker.prompts import system_prompt, task_prompt
from protocol.messages import Handoff
from protocol.steps import Begun, OfferedTool

ROOM = 32_000
"""The `max_tokens` of a turn where the settings name none: room for thinking and an answer."""

_encode = msgspec.json.encode
_schema = msgspec.json.Decoder(dict[str, object])


class Conversations:
    """Begins the conversations of one worker, and makes its calls."""

    def __init__(self, worker: Worker, bus: Bus, settings: Settings) -> None:
        self._worker = worker
        self._bus = bus
        self._settings = settings

    @property
    def model(self) -> str:
        """The model of a new conversation."""
        return self._worker.model or self._settings.model_worker

    async def begin(self, handoff: Handoff, files: Files) -> Begun:
        """The beginning of a new conversation, with the tools that the worker has now.

        Raises ArtifactError if a file of the handoff cannot be given to the model.
        """
        system = system_prompt(self._worker.prompt, self._bus.now())
        model = self.model
        own = [ToolSpec(name=t.name, description=t.description, schema=t.schema) for t in self._worker.tools]
        tools = tuple(
            OfferedTool(name=t.name, description=t.description, schema=msgspec.Raw(_encode(t.schema)))
            for t in [*own, *SPECS]
        )
        server_tools = tuple(msgspec.Raw(_encode(SERVER_TOOLS[name])) for name in self._worker.server_tools)
        effort = self._settings.effort_worker
        return Begun(
            system=system,
            prompt=msgspec.Raw(_encode(await self._prompt(handoff, files))),
            tools=tools,
            model=model,
            effort=effort if effort in profile_of(model).efforts else "",
            system_digest=_digest(system.encode()),
            tools_digest=_digest(_encode((*tools, *server_tools))),
            server_tools=server_tools,
        )

    async def _prompt(self, handoff: Handoff, files: Files) -> str | list[Block]:
        """The first user message: its files, then the text, which names those that the model cannot read, too."""
        profile = profile_of(self.model)
        found = [artifact for artifact in dict.fromkeys(handoff.artifacts) if is_file(artifact)]
        readable = [artifact for artifact in found if can_read(profile, artifact)]
        lines = [
            f"{one.name} ({one.media_type}): "
            + (
                f"file {readable.index(one) + 1} above"
                if one in readable
                else "this model cannot read files of this kind"
            )
            for one in found
        ]
        text = task_prompt(handoff, lines)
        return [*await files.blocks(readable), {"type": "text", "text": text}] if readable else text

    def call(self, handoff: Handoff, begun: Begun, turns: Sequence[Turn], *, empty: int = 0) -> Call:
        """The next call. After a reply without text it has more room, as far as the model allows."""
        deadline = handoff.deadline
        most = profile_of(begun.model).output_tokens
        return Call(
            run=handoff.run,
            role=self._worker.name,
            system=begun.system,
            turns=turns,
            tools=[
                ToolSpec(name=t.name, description=t.description, schema=_schema.decode(t.schema)) for t in begun.tools
            ],
            model=begun.model,
            effort=begun.effort,
            max_tokens=min(most, (self._settings.max_tokens or ROOM) * 2**empty),
            patience_s=None if deadline is None else max(0.0, deadline - self._bus.now()),
            server_tools=[_schema.decode(tool) for tool in begun.server_tools],
        )

    def context_tokens(self, begun: Begun) -> int:
        """How many tokens the model holds, its answer included."""
        return self._settings.context_tokens or profile_of(begun.model).context_tokens


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
