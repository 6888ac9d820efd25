"""Messages: their order, their content, and the pairs of tool calls and results."""

from collections import Counter
from collections.abc import Iterator

from actors.model_server.conversation import THINKING, Body, Turn, dict_of, list_of, system_blocks, turns_of
from actors.model_server.profiles import Profile

PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
EMPTY_TEXT = "messages: text content blocks must be non-empty"
BLANK_TEXT = "messages: text content blocks must contain non-whitespace text"


def faults(body: Body, profile: Profile) -> Iterator[str]:
    """What is wrong with the messages."""
    messages = [dict_of(message) for message in list_of(body.get("messages"))]
    if not messages:
        yield "messages: at least one message is required"
        return
    for at, message in enumerate(messages):
        if not message.get("content"):
            yield f"messages.{at}: messages must have non-empty content"
    if any(block.get("type") == "text" and not block.get("text") for block in system_blocks(body)):
        yield "system: text content blocks must be non-empty"
    turns = turns_of(body)
    yield from _role_faults([str(message.get("role")) for message in messages], profile)
    if turns[-1].role == "assistant" and not profile.prefill and not _is_paused(turns[-1]):
        yield PREFILL
    yield from _server_tool_faults([turn for turn in turns if turn.role == "assistant"], turns[-1])
    for turn in turns:
        yield from _block_faults(turn)
    yield from _pairing_faults([turn for turn in turns if turn.role != "system"])


def _role_faults(roles: list[str], profile: Profile) -> Iterator[str]:
    if roles[0] == "assistant":
        yield "messages: first message must use the user role"
    for at, role in enumerate(roles):
        before, after = roles[at - 1] if at else "", roles[at + 1] if at + 1 < len(roles) else ""
        if role != "system":
            continue
        if not profile.system_messages:
            yield f"messages.{at}: role 'system' is not supported on this model"
        elif before not in ("user", "system"):
            yield f"messages.{at}: a system message must come after a user message"
        elif after == "user":
            yield f"messages.{at}: a system message must not come directly before a user message"


def _is_paused(turn: Turn) -> bool:
    """True for a turn that may have been paused while a tool of the provider ran: the client sends it back as it is."""
    return any(block.get("type") == "server_tool_use" for block in turn.blocks)


def _server_tool_faults(turns: list[Turn], last: Turn) -> Iterator[str]:
    """Calls of tools of the provider without their result; only a paused turn at the end may have one."""
    for turn in turns:
        answered = {block.get("tool_use_id") for block in turn.blocks}
        for block in turn.blocks:
            if block.get("type") == "server_tool_use" and block.get("id") not in answered and turn is not last:
                name = block.get("name")
                yield (
                    f"{_message(turn)}: `{name}` tool use with id `{block.get('id')}` was found without a "
                    f"corresponding `{name}_tool_result` block"
                )


def _block_faults(turn: Turn) -> Iterator[str]:
    for place, block in zip(turn.places, turn.blocks, strict=True):
        kind = block.get("type")
        inner = [dict_of(one) for one in list_of(block.get("content"))] if kind == "tool_result" else []
        for one in [block, *inner]:
            if one.get("type") == "text":
                yield from _text_faults(one.get("text"))
        if kind in ("tool_use", *THINKING) and turn.role != "assistant":
            yield f"{place}: `{kind}` blocks can only be in `assistant` messages"
        if kind == "tool_result" and turn.role != "user":
            yield f"{place}: `tool_result` blocks can only be in `user` messages"
    if turn.blocks and turn.role == "assistant" and turn.blocks[-1].get("type") in THINKING:
        at = turn.places[-1].rpartition(".content")[0]
        yield f"{at}: The final block in an assistant message cannot be `thinking`."


def _text_faults(text: object) -> Iterator[str]:
    if text == "":
        yield EMPTY_TEXT
    elif isinstance(text, str) and not text.strip():
        yield BLANK_TEXT


def _pairing_faults(turns: list[Turn]) -> Iterator[str]:
    every = Counter(use for turn in turns for use in _uses(turn))
    if repeated := [use for use, times in every.items() if times > 1]:
        yield f"messages: `tool_use` ids must be unique: {', '.join(repeated)}"
    for at, turn in enumerate(turns):
        uses = set(_uses(turns[at - 1])) if at else set[str]()
        given = _results(turn)
        if repeated := [one for one, times in Counter(given).items() if times > 1]:
            yield (
                f"{_message(turn)}: each tool_use must have a single result. Found multiple `tool_result` blocks with "
                f"id: {', '.join(repeated)}"
            )
        if unknown := [one for one in given if one not in uses]:
            yield (
                f"{_message(turn)}: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(unknown)}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if missing := sorted(uses - set(_leading_results(turn))):
            yield _unanswered(turns[at - 1], missing)
    if turns and (left := _uses(turns[-1])):
        yield _unanswered(turns[-1], left)


def _unanswered(turn: Turn, ids: list[str]) -> str:
    return (
        f"{_message(turn)}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def _message(turn: Turn) -> str:
    return turn.places[0].rpartition(".content")[0] if turn.places else "messages"


def _uses(turn: Turn) -> list[str]:
    return [str(block.get("id")) for block in turn.blocks if block.get("type") == "tool_use"]


def _results(turn: Turn) -> list[str]:
    return [str(block.get("tool_use_id")) for block in turn.blocks if block.get("type") == "tool_result"]


def _leading_results(turn: Turn) -> list[str]:
    """The results that stand before everything else of the message."""
    found: list[str] = []
    for block in turn.blocks:
        if block.get("type") != "tool_result":
            break
        found.append(str(block.get("tool_use_id")))
    return found
