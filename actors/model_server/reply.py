"""A reply: the message that a model of a profile makes of what the rules or the script say."""

import hashlib
import re
from typing import Any

import msgspec

from actors.model_server.checks.binding import last_thinking
from actors.model_server.checks.limits import input_tokens, tokens_of
from actors.model_server.checks.schemas import format_of
from actors.model_server.checks.thinking import effort_of
from actors.model_server.checks.tools import server_tools
from actors.model_server.conversation import Block, Body, dict_of, list_of, system_blocks, turns_of
from actors.model_server.intake import Incoming
from actors.model_server.offline.turn import Spoken
from actors.model_server.profiles import Effort, Profile
from actors.model_server.prompt_cache import Counted
from actors.model_server.signature import Seal, digest, prefix_before, sign, tool_use_id

THINKING_TOKENS: dict[Effort, int] = {"low": 20, "medium": 50, "high": 100, "xhigh": 200, "max": 400}
"""How many tokens the stand-in thinks at each effort, unless a script says otherwise."""

SHORT_REMARK = 2
"""Text next to tool calls stays text up to so many sentences."""

_SENTENCE = re.compile(r"[.!?]+(?:\s|$)")
_THINK_LINE = "think the problem through"
_SUMMARY = "The model considered the request."


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What a reply consists of, before it is cut to the limits."""

    thoughts: tuple[str, ...]
    thinking_tokens: int
    text: str
    calls: tuple[Block, ...]


def message(spoken: Spoken, incoming: Incoming, counted: Counted) -> dict[str, Any]:
    """The message as the Messages API gives it; the same for the same request, but for what was cached."""
    body, profile = incoming.body, incoming.profile
    parts = _parts(spoken, incoming)
    room, limit = _room(body, profile)
    left = room - parts.thinking_tokens
    text, stop, sequence = _until_sequence(parts.text, list_of(body.get("stop_sequences")))
    text, cut = _within(text, left, profile)
    calls = _fitting(parts.calls, left - tokens_of(text, profile), profile) if not cut else []
    if left <= 0 or cut or len(calls) < len(parts.calls):
        stop = limit
    visible: list[Block] = ([{"type": "text", "text": text}] if text else []) + calls
    content = _thinking_blocks(parts.thoughts, incoming) + _late_results(body) + (visible if left > 0 else [])
    stop = spoken.stop_reason or stop or ("tool_use" if calls else "end_turn")
    if stop == "pause_turn":
        content += _unfinished_call(incoming)
    spent = min(room, parts.thinking_tokens + tokens_of(msgspec.json.encode(visible).decode(), profile))
    return {
        "id": f"msg_{_short_hash(incoming.asked.key)}",
        "type": "message",
        "role": "assistant",
        "model": spoken.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": sequence if stop == "stop_sequence" else None,
        "stop_details": _stop_details(spoken) if stop == "refusal" else None,
        "usage": _usage(incoming, counted, spent, min(spent, parts.thinking_tokens)),
    }


def thinks(body: Body, profile: Profile) -> bool:
    """Whether the model thinks before it answers."""
    kind = dict_of(body.get("thinking")).get("type")
    if kind in ("disabled", "between_tools") or (kind is None and not profile.thinks_by_default):
        return False
    if not profile.thinking_types or dict_of(body.get("tool_choice")).get("type") in ("any", "tool"):
        return False
    system = " ".join(str(block.get("text", "")) for block in system_blocks(body)).lower()
    return not (profile.skips_thinking_with_format and format_of(body)) or _THINK_LINE in system


def _parts(spoken: Spoken, incoming: Incoming) -> Parts:
    body, profile = incoming.body, incoming.profile
    thoughts: list[str] = []
    tokens = 0
    if thinks(body, profile) or spoken.thinking_tokens is not None:
        display = dict_of(body.get("thinking")).get("display") or profile.display
        thoughts.append((spoken.thinking or _SUMMARY) if display == "summarized" else "")
        tokens = THINKING_TOKENS[effort_of(body, profile)] if spoken.thinking_tokens is None else spoken.thinking_tokens
    text = spoken.text
    if spoken.calls and profile.hides_text_between_tools and len(_SENTENCE.findall(text)) > SHORT_REMARK:
        config = dict_of(body.get("thinking"))
        shown = config.get("type") == "between_tools" or config.get("display") == "summarized"
        thoughts.append(text if shown else "")
        tokens += tokens_of(text, profile)
        text = ""
    prefix = prefix_before(body, len(turns_of(body)))
    calls = [
        {
            "type": "tool_use",
            "id": tool_use_id(f"{incoming.asked.key}/{at}", prefix, len(thoughts)),
            "name": call.name,
            "input": dict(call.input),
        }
        for at, call in enumerate(spoken.calls)
    ]
    return Parts(thoughts=tuple(thoughts), thinking_tokens=tokens, text=text, calls=tuple(calls))


def _thinking_blocks(thoughts: tuple[str, ...], incoming: Incoming) -> list[Block]:
    """The blocks, each signed over the whole request and the thinking before it."""
    body, profile = incoming.body, incoming.profile
    prefix = prefix_before(body, len(turns_of(body)))
    last = last_thinking(body, profile)
    blocks: list[Block] = []
    for thought in thoughts:
        signature = sign(Seal(profile=profile.name, prefix=prefix, before=last, text=digest(thought)))
        blocks.append({"type": "thinking", "thinking": thought, "signature": signature})
        last = digest(signature)
    return blocks


def _unfinished_call(incoming: Incoming) -> list[Block]:
    """The call of a tool of the provider in which the turn was paused, if the request offers one."""
    offered = [str(tool.get("name")) for _, tool in server_tools(incoming.body)]
    ident = f"srvtoolu_{_short_hash(incoming.asked.key)}"
    return [{"type": "server_tool_use", "id": ident, "name": offered[0], "input": {}}] if offered else []


def _late_results(body: Body) -> list[Block]:
    """The results of the calls in which the last turn was paused."""
    turns = turns_of(body)
    last = turns[-1].blocks if turns and turns[-1].role == "assistant" else []
    answered = {block.get("tool_use_id") for block in last}
    return [
        {"type": f"{block['name']}_tool_result", "tool_use_id": block["id"], "content": []}
        for block in last
        if block.get("type") == "server_tool_use" and block["id"] not in answered
    ]


def _room(body: Body, profile: Profile) -> tuple[int, str]:
    """How many tokens the answer may have, and the stop reason if it needs more."""
    asked = int(body.get("max_tokens") or profile.output_tokens)
    context = profile.context_tokens - input_tokens(body, profile)
    return (asked, "max_tokens") if asked <= context else (max(0, context), "model_context_window_exceeded")


def _until_sequence(text: str, sequences: list[Any]) -> tuple[str, str, str | None]:
    found = [(text.find(one), str(one)) for one in sequences if one and one in text]
    if not found:
        return text, "", None
    at, sequence = min(found)
    return text[:at], "stop_sequence", sequence


def _within(text: str, tokens: int, profile: Profile) -> tuple[str, bool]:
    limit = max(0, int(tokens * profile.characters_per_token))
    return (text, False) if len(text) <= limit else (text[:limit], True)


def _fitting(calls: tuple[Block, ...], tokens: int, profile: Profile) -> list[Block]:
    """The calls that fit; one that is cut off in the middle is no call."""
    kept: list[Block] = []
    for call in calls:
        tokens -= tokens_of(msgspec.json.encode(call["input"]).decode(), profile)
        if tokens < 0:
            break
        kept.append(call)
    return kept


def _stop_details(spoken: Spoken) -> Block:
    explanation = "The stand-in was told to refuse." if spoken.refusal_category else None
    return {"type": "refusal", "category": spoken.refusal_category, "explanation": explanation}


def _usage(incoming: Incoming, counted: Counted, output: int, thinking: int) -> Block:
    tokens = max(1, input_tokens(incoming.body, incoming.profile) - counted.read - counted.written)
    if not incoming.profile.checks_requests:
        return {"input_tokens": tokens, "output_tokens": output}
    return {
        "input_tokens": tokens,
        "output_tokens": output,
        "cache_creation_input_tokens": counted.written,
        "cache_read_input_tokens": counted.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": counted.written - counted.written_1h,
            "ephemeral_1h_input_tokens": counted.written_1h,
        },
        "output_tokens_details": {"thinking_tokens": thinking},
        "service_tier": "standard",
    }


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
