"""Model profiles: what each model of the Messages API takes, and how much.

The facts are from the provider's documentation of November 2026 and were not tried against the live service;
docs/MODELS.md names the pages. A model that is not in the table gets `CAUTIOUS`: nothing is sent to it that an older or
foreign server may refuse, except a format, whose refusal is documented and handled.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

import msgspec

Thinking = Literal["adaptive", "between_tools", "disabled", "enabled"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]

ALL_EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")
WEB_AND_CODE = ("web_search", "web_fetch", "code_execution")
SERVER_TOOLS: Mapping[str, dict[str, Any]] = {
    # Called by the model directly, never from code that it runs: each result stands in the turn, and has a known price.
    "web_search": {"type": "web_search_20260318", "name": "web_search", "allowed_callers": ["direct"]},
    "web_fetch": {
        "type": "web_fetch_20260318",
        "name": "web_fetch",
        "allowed_callers": ["direct"],
        "citations": {"enabled": True},
    },
    "code_execution": {"type": "code_execution_20260521", "name": "code_execution"},
}
"""The tools that run at the provider, each as a request offers it, in the newest version of the SDK that we use."""

CHARACTERS_A_TOKEN = 2.5
"""Characters a token of the tokenizer that the 5.5 models share."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What one model takes. An empty `efforts` means: send no effort.

    `output_tokens` is the largest `max_tokens`; thinking counts into it. `cache_minimum` is the shortest prefix, in
    tokens, that the provider caches.
    """

    name: str
    forced_tools: bool = False
    thinking: tuple[Thinking, ...] = ()
    efforts: tuple[Effort, ...] = ()
    default_effort: Effort | Literal[""] = ""
    formats: bool = True
    strict_tools: bool = True
    server_tools: tuple[str, ...] = ()
    images: bool = True
    pdfs: bool = True
    context_tokens: int = 1_000_000
    output_tokens: int = 128_000
    cache_minimum: int = 512
    characters_a_token: float = CHARACTERS_A_TOKEN
    known: bool = True


CAUTIOUS = Profile(
    name="unknown",
    strict_tools=False,
    images=False,
    pdfs=False,
    context_tokens=200_000,
    output_tokens=8_192,
    cache_minimum=4_096,
    known=False,
)

PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="claude-sonnet-5-5",
            thinking=("adaptive", "between_tools"),
            efforts=ALL_EFFORTS,
            default_effort="high",
            server_tools=WEB_AND_CODE,
        ),
        Profile(
            name="claude-haiku-5-5",
            forced_tools=True,
            thinking=("adaptive", "disabled"),
            efforts=ALL_EFFORTS,
            default_effort="medium",
            server_tools=WEB_AND_CODE,
        ),
        Profile(
            name="claude-opus-5-5",
            thinking=("adaptive",),
            efforts=ALL_EFFORTS,
            default_effort="medium",
            server_tools=WEB_AND_CODE,
        ),
        Profile(
            name="claude-sonnet-4-6",
            forced_tools=True,
            thinking=("adaptive", "enabled", "disabled"),
            efforts=("low", "medium", "high"),
            default_effort="high",
            output_tokens=64_000,
            cache_minimum=2_048,
            characters_a_token=3.5,
        ),
    )
}


def profile_of(model: str) -> Profile:
    """The profile of a model by its name, which may end in a date; CAUTIOUS if the table has none."""
    matching = [name for name in PROFILES if model == name or model.startswith(f"{name}-")]
    return PROFILES[max(matching, key=len)] if matching else CAUTIOUS


def reply_tokens(profile: Profile, wanted: int, limit: int = 0) -> int:
    """The `max_tokens` of a call: `limit` if it is set, else what is wanted, and never more than the model takes."""
    return min(limit or wanted, profile.output_tokens)


def refined(profile: Profile, told: Mapping[str, Any]) -> Profile:
    """The profile with what `models.retrieve` says of the model. What it does not say, or says strangely, stays.

    The Models API says nothing of forced tools, strict tools, the tokenizer and the cache.
    """
    capabilities = _part(told, "capabilities")
    changes: dict[str, Any] = {}
    for field, name in (("context_tokens", "max_input_tokens"), ("output_tokens", "max_tokens")):
        value = told.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            changes[field] = value
    if (formats := _supported(capabilities, "structured_outputs")) is not None:
        changes["formats"] = formats
    if (images := _supported(capabilities, "image_input")) is not None:
        changes["images"] = images
    changes |= _choices(_part(capabilities, "effort"), "efforts", ALL_EFFORTS)
    changes |= _choices(_part(capabilities, "server_tools"), "server_tools", WEB_AND_CODE)
    types = _part(_part(capabilities, "thinking"), "types")
    changes |= _choices(types, "thinking", ("adaptive", "between_tools", "disabled", "enabled"))
    return msgspec.structs.replace(profile, **changes)


def _choices(told: Mapping[str, Any], field: str, names: tuple[str, ...]) -> dict[str, Any]:
    """A change of `field` to the supported names; no change if the server marks none of them."""
    said = {name: flag for name in names if (flag := _supported(told, name)) is not None}
    return {field: tuple(name for name in names if said.get(name))} if said else {}


def _supported(told: Mapping[str, Any], name: str) -> bool | None:
    found = _part(told, name).get("supported")
    return found if isinstance(found, bool) else None


def _part(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = told.get(name)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
