"""A model that holds every request against the checks of the strict server, without a server."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from actors.model.port import Call, Reply
from actors.model.wire import content_of, wire_of
from actors.model_server import reply
from actors.model_server.checks.limits import input_tokens
from actors.model_server.checks.validation import fault
from actors.model_server.format_requests import for_rules
from actors.model_server.intake import Incoming
from actors.model_server.offline.turn import Spoken
from actors.model_server.profiles import Profile
from actors.model_server.prompt_cache import Counted
from protocol.errors import ModelError
from protocol.messages import Usage


class CheckedModel:
    """Answers as the strict server does, with real signatures, and notes what that server would refuse."""

    def __init__(self, profile: Profile, replies: Sequence[Spoken]) -> None:
        self.calls: list[Call] = []
        self.refused: list[str] = []
        self._profile = profile
        self._replies = list(replies)

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls.append(call)
        body = self._checked(wire_of(call, ""), counting=False)
        spoken = self._replies.pop(0) if self._replies else Spoken(text="done")
        if not call.server_tools and spoken.stop_reason == "pause_turn":
            spoken = Spoken(text="done")  # only a turn with tools of the provider is ever paused
        told = reply.message(spoken, Incoming(body=body, asked=for_rules(body), profile=self._profile), Counted())
        return Reply(
            model=call.model,
            content=content_of(msgspec.json.decode(msgspec.json.encode(told["content"]))),
            stop_reason=told["stop_reason"],
            usage=Usage(model_calls=1, output_tokens=told["usage"]["output_tokens"]),
        )

    async def count(self, call: Call) -> int:
        body = wire_of(call, "")
        del body["max_tokens"]
        return input_tokens(self._checked(body, counting=True), self._profile)

    async def close(self) -> None:
        pass

    def _checked(self, asked: dict[str, Any], *, counting: bool) -> dict[str, Any]:
        body = msgspec.json.decode(msgspec.json.encode(asked))
        if found := fault(body, self._profile, counting=counting):
            self.refused.append(found)
            raise ModelError("invalid_request_error", found, retryable=False)
        return body
