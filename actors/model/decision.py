"""Structured decisions: an object by a JSON schema, asked for by the best way that the model and its server take."""

import json
from typing import Any, Literal

import msgspec

from actors.model.ending import ending_of, refusal_of, sendable
from actors.model.failure import ACCOUNT_KINDS, account_sentence
from actors.model.port import Format, Reply, ToolSpec, Turn
from actors.model.profiles import Profile
from actors.model.role_model import Ask, Extra, RoleModel
from actors.model.structured import structured, with_enum_case
from actors.model.ways import Way, is_refusal, is_too_complex
from observability.redaction import redacted
from protocol.errors import ModelError
from protocol.messages import Usage

Kind = Literal["", "failed", "final", "refused", "cut", "prose"]
Schema = dict[str, Any]

MOST_CALLS = 10
MOST_PROSE = 3
MOST_EMPTY = 2
MOST_PAUSES = 3
LONGEST_QUOTE = 500

_TOOL = "\n\nGive your decision by calling the tool `{name}` once. Write no text."
_JSON = """

Reply with one JSON object and nothing else: no explanation, no code fence. The object must satisfy this JSON schema:

{schema}"""
_AGAIN = "\n\nYour last reply was not the JSON object that was asked for."


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """The object, or the reason why there is none. `kind` tells the reasons apart.

    `final`: key, credit, access or address is wrong. `prose`: every reply was text without the object. `said` is the
    beginning of the last reply.
    """

    found: dict[str, Any] | None = None
    kind: Kind = ""
    fault: str = ""
    said: str = ""
    usage: Usage = Usage()
    model: str = ""


async def decide(model: RoleModel, ask: Ask, schema: Schema, simpler: Schema | None = None) -> Decided:
    """Ask for an object by a schema, or by `simpler` if the provider finds the schema too complex.

    The title of the schema names the decision. A ModelError becomes the fault of the outcome.
    """
    return await _Decision(model, ask, await model.profile(), [schema, *([simpler] if simpler else [])]).made()


class _Decision:
    """One decision on its way: how it is asked, and what was spent on it."""

    def __init__(self, model: RoleModel, ask: Ask, profile: Profile, schemas: list[Schema]) -> None:
        self._model = model
        self._ask = ask
        self._profile = profile
        self._schemas = schemas
        self._name = str(schemas[0]["title"])
        self._tokens = model.first_tokens(profile)
        self._turns: list[Turn] = []
        self._usage = Usage()
        self._said = ""
        self._widened = False
        self._empty = self._prose = self._pauses = 0

    async def made(self) -> Decided:
        """The outcome, after a bounded number of calls."""
        for _ in range(MOST_CALLS):
            way = self._model.ways.way(self._model.address, self._profile, self._model.name)
            try:
                reply = await self._model.send(self._ask, self._extra(way), self._profile)
            except ModelError as error:
                if self._goes_on_after(error, way):
                    continue
                self._usage += Usage(model_calls=1)
                if error.kind in ACCOUNT_KINDS or (error.kind == "unreachable" and not error.retryable):
                    return self._failed("final", account_sentence(error, self._model.name))
                return self._failed("failed", f"the model gave no answer: {error}")
            self._usage += reply.usage
            self._said = reply.text[:LONGEST_QUOTE]
            if (outcome := self._read(reply)) is not None:
                return outcome
        return self._failed("failed", f"the model gave no decision in {MOST_CALLS} calls")

    def _extra(self, way: Way) -> Extra:
        """The call by this way. What the reply must look like stands in the user's turn: the system prompt stays."""
        schema, text = self._schemas[0], self._ask.text
        tools: list[ToolSpec] = []
        if way == "tool":
            text += _TOOL.format(name=self._name)
            told = f"Take the decision of the {self._model.role}."
            strict = self._profile.strict_tools
            tools = [ToolSpec(name=self._name, description=told, schema=schema, strict=strict)]
        if self._prose:
            text += _AGAIN
        if way == "text" or self._prose:
            text += _JSON.format(schema=json.dumps(schema, ensure_ascii=False))
        return Extra(
            turns=[Turn(role="user", content=text), *self._turns],
            tokens=self._tokens,
            format=Format(name=self._name, schema=schema) if way == "format" else None,
            tools=tools,
        )

    def _goes_on_after(self, error: ModelError, way: Way) -> bool:
        """Whether another schema or another way may help; the refused call cost nothing."""
        if is_too_complex(error) and len(self._schemas) > 1:
            del self._schemas[0]
            return True
        if way == "text" or not is_refusal(error, way):
            return False
        self._model.ways.refuse(self._model.address, self._model.name, way)
        return True

    def _read(self, reply: Reply) -> Decided | None:
        """The outcome of one reply; None to ask again."""
        match ending_of(reply):
            case "refused":
                return self._failed("refused", refusal_of(reply))
            case "window":
                return self._failed("failed", "the prompt and the reply do not fit into the context of the model")
            case "paused":
                return self._paused(reply)
            case "cut":
                return self._more_room()
            case "empty":
                self._empty += 1
                if reply.stop_reason == "max_tokens" or self._empty > MOST_EMPTY:
                    return self._more_room()
                self._tokens = self._doubled()
                return None
            case "whole" | "other":
                return self._found(reply)

    def _found(self, reply: Reply) -> Decided | None:
        ways, address, name = self._model.ways, self._model.address, self._model.name
        found = structured(reply, self._name)
        if found is not None:
            ways.note(address, name, prose=False)
            return Decided(
                found=with_enum_case(found, self._schemas[0]), said=self._said, usage=self._usage, model=name
            )
        self._prose += 1
        self._turns.clear()
        if self._prose < MOST_PROSE and not ways.writes_prose(address, name):
            return None
        ways.note(address, name, prose=True)
        return self._failed("prose", f"the model wrote prose instead of JSON, {self._prose} time(s)")

    def _paused(self, reply: Reply) -> Decided | None:
        self._pauses += 1
        content = sendable(reply)
        if self._pauses > MOST_PAUSES or not content:
            return self._failed("failed", "the model paused its turn and did not go on")
        self._turns.append(Turn(role="assistant", content=content))
        return None

    def _more_room(self) -> Decided | None:
        """Ask once more with twice the tokens, if the model takes more."""
        wider = self._doubled()
        if self._widened or wider <= self._tokens:
            return self._failed("cut", f"the reply was cut off: {self._tokens:,} tokens were not enough")
        self._widened = True
        self._tokens = wider
        self._turns.clear()
        return None

    def _doubled(self) -> int:
        return min(2 * self._tokens, self._model.most_tokens(self._profile))

    def _failed(self, kind: Kind, fault: str) -> Decided:
        return Decided(kind=kind, fault=redacted(fault), said=self._said, usage=self._usage, model=self._model.name)
