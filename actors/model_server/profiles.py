"""Model profiles of the stand-in: what each model takes and refuses, written from the provider's documentation.

This table shares nothing with the table of our client, so that an error in one of them shows as a failed test.
Nothing in it was tried against the live service.
"""

from typing import Literal

import msgspec

Effort = Literal["low", "medium", "high", "xhigh", "max"]
ThinkingType = Literal["adaptive", "between_tools", "disabled", "enabled"]
Display = Literal["omitted", "summarized"]

MILLION = 1_000_000
EVERY_EFFORT: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What one model takes. The defaults are those of the 5.5 models."""

    name: str
    # Sends 400, 401 and so on. A server that checks nothing ignores what it does not know.
    checks_requests: bool = True
    tools: bool = True
    formats: bool = True
    # tool_choice `tool` and `any`
    forced_tools: bool = False
    thinking_types: tuple[ThinkingType, ...] = ("adaptive",)
    # What the model does if the request has no `thinking` field.
    thinks_by_default: bool = True
    # The effort levels at which `disabled` and `between_tools` are allowed.
    efforts_without_thinking: tuple[Effort, ...] = ()
    display: Display = "omitted"
    efforts: tuple[Effort, ...] = EVERY_EFFORT
    default_effort: Effort = "high"
    context_tokens: int = MILLION
    output_tokens: int = 128_000
    characters_per_token: float = 2.5
    cache_least_tokens: int = 512
    sampling: bool = False
    prefill: bool = False
    # Messages with the role `system` inside the conversation.
    system_messages: bool = True
    # A thinking block is valid only behind the prefix that it was written for.
    binds_thinking: bool = True
    # The profiles whose thinking this model reads, apart from its own.
    reads_thinking_of: tuple[str, ...] = ()
    # Text of more than two sentences next to tool calls comes back as thinking.
    hides_text_between_tools: bool = False
    # With an output format it often answers without thinking, unless the system prompt asks for it.
    skips_thinking_with_format: bool = False
    # A forced tool is refused if the request sets `thinking`, else the model only does not think.
    refuses_forced_tools_with_thinking: bool = False


SONNET_5_5 = Profile(
    name="sonnet-5-5",
    thinking_types=("adaptive", "between_tools"),
    efforts_without_thinking=("low", "medium", "high"),
    reads_thinking_of=("haiku-5-5", "sonnet-4-6"),
    hides_text_between_tools=True,
    skips_thinking_with_format=True,
)
HAIKU_5_5 = Profile(
    name="haiku-5-5",
    forced_tools=True,
    thinking_types=("adaptive", "disabled"),
    efforts_without_thinking=("low", "medium", "high"),
    default_effort="medium",
    reads_thinking_of=("sonnet-4-6",),
)
OPUS_5_5 = Profile(
    name="opus-5-5",
    default_effort="medium",
    reads_thinking_of=("sonnet-5-5", "haiku-5-5", "sonnet-4-6"),
    hides_text_between_tools=True,
)
SONNET_4_6 = Profile(
    name="sonnet-4-6",
    forced_tools=True,
    thinking_types=("adaptive", "disabled", "enabled"),
    thinks_by_default=False,
    efforts_without_thinking=("low", "medium", "high", "max"),
    efforts=("low", "medium", "high", "max"),
    display="summarized",
    output_tokens=64_000,
    characters_per_token=3.25,
    cache_least_tokens=2048,
    sampling=True,
    system_messages=False,
    binds_thinking=False,
    refuses_forced_tools_with_thinking=True,
)
UNKNOWN = Profile(
    name="unknown",
    checks_requests=False,
    tools=False,
    formats=False,
    forced_tools=False,
    thinking_types=(),
    thinks_by_default=False,
    characters_per_token=4.0,
    context_tokens=32_000,
    output_tokens=32_000,
    binds_thinking=False,
)

PROFILES: dict[str, Profile] = {
    profile.name: profile for profile in (SONNET_5_5, HAIKU_5_5, OPUS_5_5, SONNET_4_6, UNKNOWN)
}
"""Every row by its name, as `handoff model --profile` takes it."""

_PREFIX = "claude-"


def profile_of_model(model: str) -> Profile | None:
    """The row of a model that the provider has, with or without a date behind its name; None for any other."""
    name = model.removeprefix(_PREFIX)
    base, _, date = name.rpartition("-")
    if len(date) == len("20260801") and date.isdigit():
        name = base
    found = PROFILES.get(name)
    return found if found is not None and found.checks_requests and model.startswith(_PREFIX) else None
