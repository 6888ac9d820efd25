"""Where a request is marked for the cache, for any conversation."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from actors.model.port import Block, Call, ToolSpec, Turn
from actors.model.wire import wire_of
from actors.model_server.checks.caching import faults
from tests.model.asking import RUN, spec

MOST_MARKS = 4
MARK = {"type": "ephemeral"}

TEXTS = st.sampled_from(["", " ", "\n", "words", "more words"])
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    TEXTS.map(lambda text: {"type": "text", "text": text}),
    st.just({"type": "thinking", "thinking": "", "signature": "s=="}),
    st.just({"type": "redacted_thinking", "data": "x"}),
    st.just({"type": "tool_use", "id": "1", "name": "one", "input": {}}),
    st.just({"type": "tool_result", "tool_use_id": "1", "content": "found"}),
    st.just({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}),
)
TURNS = st.builds(Turn, role=st.sampled_from(["user", "assistant"]), content=TEXTS | st.lists(BLOCKS, max_size=30))
NO_TOOLS: tuple[ToolSpec, ...] = ()
CALLS = st.builds(
    Call,
    run=st.just(RUN),
    role=st.just("w"),
    system=TEXTS,
    turns=st.lists(TURNS, min_size=1, max_size=8),
    tools=st.sampled_from([NO_TOOLS, (spec("one"),), (spec("one"), spec("two"))]),
    tool_choice=st.sampled_from(["auto", "none"]),
)


def marked(content: str | list[Block] | None) -> list[int]:
    return [at for at, block in enumerate(content or ()) if "cache_control" in block]


def unmarked(content: str | list[Block]) -> list[Block]:
    """The content as blocks, without marks."""
    return [{name: value for name, value in block.items() if name != "cache_control"} for block in blocks_of(content)]


def blocks_of(content: str | list[Block]) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


@given(CALLS)
def test_no_request_has_a_mark_that_the_provider_refuses(call: Call) -> None:
    assert not list(faults(wire_of(call, "m")))


@given(CALLS)
def test_at_most_four_blocks_are_marked_and_each_ends_a_part_that_the_next_call_repeats(call: Call) -> None:
    asked = wire_of(call, "m")
    messages = [marked(message["content"]) for message in asked["messages"]]
    in_tools, in_system = marked(asked.get("tools")), marked(asked.get("system"))
    assert len(in_tools) + len(in_system) + sum(map(len, messages)) <= MOST_MARKS
    assert in_tools == ([len(call.tools) - 1] if call.tools else [])
    assert in_system == ([0] if call.system.strip() else [])
    users = [at for at, turn in enumerate(call.turns[:-1]) if turn.role == "user"]
    may_be = {len(call.turns) - 1, *users[-1:]} if call.tools else set[int]()
    for at, found in enumerate(messages):
        blocks = blocks_of(call.turns[at].content)
        good = [place for place, block in enumerate(blocks) if _takes_a_mark(block)]
        assert found == (good[-1:] if at in may_be else [])


@given(CALLS)
def test_marks_change_nothing_else_in_the_messages(call: Call) -> None:
    sent = [(message["role"], unmarked(message["content"])) for message in wire_of(call, "m")["messages"]]
    assert sent == [(turn.role, blocks_of(turn.content)) for turn in call.turns]


@given(CALLS, st.lists(TURNS, min_size=2, max_size=2))
def test_a_call_that_goes_on_is_marked_where_the_call_before_it_ended(call: Call, more: list[Turn]) -> None:
    assistant, user = (msgspec.structs.replace(t, role=r) for r, t in zip(("assistant", "user"), more, strict=True))
    ended_by_user = [*call.turns, Turn(role="user", content=[{"type": "text", "text": "on"}])]
    old = Call(run=RUN, role="w", system="s", turns=ended_by_user, tools=[spec("one")])
    new = Call(run=RUN, role="w", system="s", turns=[*ended_by_user, assistant, user], tools=[spec("one")])
    end = len(ended_by_user) - 1
    assert wire_of(new, "m")["messages"][end] == wire_of(old, "m")["messages"][end]
    assert marked(wire_of(new, "m")["messages"][end]["content"]) == [0]


def _takes_a_mark(block: Block) -> bool:
    return "thinking" not in block["type"] and (block["type"] != "text" or bool(block["text"].strip()))
