"""Thinking and effort: which types a model takes, and what may stand beside them."""

from collections.abc import Collection, Iterator
from typing import Any

from actors.model_server.conversation import Body, dict_of
from actors.model_server.profiles import Effort, Profile

BINDING_BETA = "thinking-binding-controls-2026-08-01"
_BEST_ADVICE = {
    "sonnet-5-5": 'Use "thinking.type.between_tools" to turn off thinking before the answer.',
    "haiku-5-5": 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    "opus-5-5": 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    "sonnet-4-6": 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
}
_FIELDS: dict[str, set[str]] = {
    "adaptive": {"type", "display"},
    "enabled": {"type", "display", "budget_tokens"},
    "disabled": {"type"},
    "between_tools": {"type"},
}
_LEAST_BUDGET = 1024


def effort_of(body: Body, profile: Profile) -> Effort:
    """The effort of a request."""
    asked = dict_of(body.get("output_config")).get("effort")
    found: list[Effort] = [effort for effort in profile.efforts if effort == asked]
    return found[0] if found else profile.default_effort


def faults(body: Body, profile: Profile, betas: Collection[str]) -> Iterator[str]:
    """What is wrong with `thinking` and `effort`."""
    effort = dict_of(body.get("output_config")).get("effort")
    if effort is not None and effort not in profile.efforts:
        allowed = ", ".join(f"'{one}'" for one in profile.efforts)
        yield f"output_config.effort: Input should be {allowed} for this model."
    if "thinking" not in body:
        return
    config = dict_of(body["thinking"])
    kind = config.get("type")
    if kind not in _FIELDS:
        yield f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags"
    elif kind not in profile.thinking_types:
        yield f'"thinking.type.{kind}" is not supported for this model. {_BEST_ADVICE[profile.name]}'
    else:
        yield from _field_faults(config, str(kind), betas)
        yield from _setting_faults(body, config, profile)


def _field_faults(config: dict[str, Any], kind: str, betas: Collection[str]) -> Iterator[str]:
    known = set(_FIELDS[kind])
    if kind == "adaptive" and BINDING_BETA in betas:
        known.add("block_binding")
    for name in config:
        if name not in known:
            yield f"thinking.{kind}.{name}: Extra inputs are not permitted"
    if config.get("display") not in (None, "omitted", "summarized"):
        yield f"thinking.{kind}.display: Input should be 'summarized' or 'omitted'"


def _setting_faults(body: Body, config: dict[str, Any], profile: Profile) -> Iterator[str]:
    kind = config["type"]
    effort = effort_of(body, profile)
    if kind in ("disabled", "between_tools") and effort not in profile.efforts_without_thinking:
        yield f'"thinking.type.{kind}" is not supported at effort "{effort}" for this model.'
    if kind == "enabled":
        budget, most = config.get("budget_tokens"), body.get("max_tokens")
        if not isinstance(budget, int):
            yield "thinking.enabled.budget_tokens: Field required"
        elif budget < _LEAST_BUDGET:
            yield f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_LEAST_BUDGET}"
        elif isinstance(most, int) and budget >= most:
            yield "`max_tokens` must be greater than `thinking.budget_tokens`."
