"""Texts of a role, written by a model: continued where a reply was cut off, and known to be whole or not."""

import msgspec

from actors.model.ending import Ending, ending_of, refusal_of, sendable
from actors.model.failure import account_sentence
from actors.model.port import Reply, Turn
from actors.model.profiles import Profile
from actors.model.role_model import Ask, Extra, RoleModel
from observability.redaction import redacted
from protocol.errors import ModelError
from protocol.messages import Usage

MOST_PARTS = 4
MOST_EMPTY = 2
MOST_PAUSES = 3

GO_ON = "Your reply was cut off by its length. Go on exactly where you stopped; repeat nothing, write no introduction."


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A text. `cut` says why it is not whole; empty if its last part ended by itself. `failed`: there is no text."""

    text: str = ""
    cut: str = ""
    failed: str = ""
    usage: Usage = Usage()
    model: str = ""


async def write(model: RoleModel, ask: Ask) -> Written:
    """Have a text written. A ModelError becomes the reason why the text is cut or missing."""
    return await _Text(model, ask, await model.profile()).written()


class _Text:
    """One text on its way: its parts so far, and what was spent on it."""

    def __init__(self, model: RoleModel, ask: Ask, profile: Profile) -> None:
        self._model = model
        self._ask = ask
        self._profile = profile
        self._tokens = model.first_tokens(profile)
        self._turns = [Turn(role="user", content=ask.text)]
        self._parts: list[str] = []
        self._usage = Usage()
        self._cuts = self._empty = self._pauses = 0

    async def written(self) -> Written:
        """The text, after a bounded number of calls."""
        while True:
            extra = Extra(turns=list(self._turns), tokens=self._tokens)
            try:
                reply = await self._model.send(self._ask, extra, self._profile)
            except ModelError as error:
                self._usage += Usage(model_calls=1)
                return self._ended(account_sentence(error, self._model.name))
            self._usage += reply.usage
            if (outcome := self._read(reply)) is not None:
                return outcome

    def _read(self, reply: Reply) -> Written | None:
        """The outcome after one reply; None to ask for more."""
        match ending_of(reply):
            case "refused":
                return self._ended(refusal_of(reply))  # what came with a refusal does not count
            case "empty":
                return self._again(reply)
            case "whole" if reply.stop_reason != "tool_use":
                self._parts.append(reply.text)
                return self._ended("")
            case "cut" if self._cuts < MOST_PARTS - 1:
                self._cuts += 1
                return self._continued(reply, GO_ON)
            case "paused" if self._pauses < MOST_PAUSES and reply.content:
                self._pauses += 1
                return self._continued(reply, "")
            case ending:
                self._parts.append(reply.text)
                return self._ended(_reason(ending, reply))

    def _continued(self, reply: Reply, instruction: str) -> Written | None:
        self._parts.append(reply.text)
        content = sendable(reply)
        if not content:
            return self._ended(_reason("empty", reply))
        self._turns.append(Turn(role="assistant", content=content))
        if instruction:
            self._turns.append(Turn(role="user", content=instruction))
        return None

    def _again(self, reply: Reply) -> Written | None:
        """A reply of thinking only is not sent back: the same turns are sent once more, with more room."""
        self._empty += 1
        if self._empty > MOST_EMPTY:
            return self._ended(_reason("empty", reply))
        self._tokens = min(2 * self._tokens, self._model.most_tokens(self._profile))
        return None

    def _ended(self, reason: str) -> Written:
        """The text so far; `reason` says why it is not whole, or why there is none."""
        text = "".join(self._parts).strip()
        reason = redacted(reason)
        if not text:
            return Written(failed=reason or "the model wrote nothing", usage=self._usage, model=self._model.name)
        return Written(text=text, cut=reason, usage=self._usage, model=self._model.name)


def _reason(ending: Ending, reply: Reply) -> str:
    match ending:
        case "cut":
            return f"the text was cut off after {MOST_PARTS} replies of the greatest length"
        case "empty":
            return f"the model thought and wrote nothing ({reply.stop_reason})"
        case "window":
            return "the context of the model was full"
        case "paused":
            return "the model paused its turn and did not go on"
        case _:
            return f"the model stopped in a way that is not an end ({reply.stop_reason})"
