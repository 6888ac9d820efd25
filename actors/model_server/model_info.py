"""The Models API: what the stand-in tells of a model. Like the provider, it says nothing of forced tools."""

from typing import Any, get_args

from actors.model_server.profiles import EVERY_EFFORT, Profile, ThinkingType


def model_info(name: str, profile: Profile) -> dict[str, Any]:
    """The description of a model."""
    return {
        "type": "model",
        "id": name,
        "display_name": profile.name,
        "created_at": "2026-08-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": profile.context_tokens,
        "max_tokens": profile.output_tokens,
        "capabilities": _capabilities(profile),
    }


def _capabilities(profile: Profile) -> dict[str, Any]:
    types = {kind: _supported(kind in profile.thinking_types) for kind in get_args(ThinkingType)}
    efforts = {effort: _supported(effort in profile.efforts) for effort in EVERY_EFFORT}
    simple = ("batch", "citations", "code_execution", "image_input", "pdf_input")
    server_tools = {name: _supported(True) for name in ("web_search", "web_fetch", "code_execution")}
    return {
        **{name: _supported(True) for name in simple},
        "structured_outputs": _supported(profile.formats),
        "thinking": {"supported": bool(profile.thinking_types), "types": types},
        "effort": {"supported": bool(profile.efforts), **efforts},
        "server_tools": {"supported": True, **server_tools},
        "context_management": {"supported": True},
    }


def _supported(yes: bool) -> dict[str, bool]:
    return {"supported": yes}
