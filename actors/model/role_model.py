"""The model of one role: which model is asked, with how much effort, and how long a reply may be."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from actors.model.port import Call, Format, KnowsProfiles, Model, Ready, Reply, ToolSpec, Turn
from actors.model.profiles import Profile, profile_of, reply_tokens
from actors.model.ways import Ways


@dataclass(frozen=True)
class Ask:
    """One prompt of a role: the system prompt and what the user says.

    `said` gets the text while it is written. `ready` runs before each paid attempt. `patience_s` is how long the call
    may wait in all for a provider that is busy or away.
    """

    _: KW_ONLY
    run: str
    system: str
    text: str
    said: Callable[[str], None] | None = None
    ready: Ready | None = None
    patience_s: float | None = None


@dataclass(frozen=True)
class Extra:
    """What a call carries beside the prompt."""

    _: KW_ONLY
    turns: Sequence[Turn]
    tokens: int
    format: Format | None = None
    tools: Sequence[ToolSpec] = ()


@dataclass(frozen=True)
class RoleModel:
    """The model of one role. `limit` is the setting `max_tokens`; 0 means: as much as the profile takes."""

    _: KW_ONLY
    model: Model
    role: str
    name: str
    address: str = ""
    effort: str = ""
    tokens: int = 32_000
    limit: int = 0
    ways: Ways = field(default_factory=Ways)

    async def profile(self) -> Profile:
        """The profile of the model, refined by the server where it can say more."""
        if isinstance(self.model, KnowsProfiles):
            return await self.model.profile(self.name)
        return profile_of(self.name)

    def first_tokens(self, profile: Profile) -> int:
        """The `max_tokens` of the first call."""
        return reply_tokens(profile, self.tokens, self.limit)

    def most_tokens(self, profile: Profile) -> int:
        """The largest `max_tokens` of a later call."""
        return reply_tokens(profile, profile.output_tokens, self.limit)

    async def send(self, ask: Ask, extra: Extra, profile: Profile) -> Reply:
        """Ask once, streamed: a model that thinks for minutes is not silent."""
        call = Call(
            run=ask.run,
            role=self.role,
            system=ask.system,
            turns=extra.turns,
            tools=extra.tools,
            model=self.name,
            max_tokens=extra.tokens,
            format=extra.format,
            effort=self.effort if self.effort in profile.efforts else "",
            patience_s=ask.patience_s,
        )
        return await self.model.call(call, said=ask.said or _ignore, ready=ask.ready)


def _ignore(text: str) -> None:
    """Drop the text: this role streams it to no reader."""
    del text
