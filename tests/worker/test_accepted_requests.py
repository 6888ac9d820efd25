"""Whatever happens in a task, the provider accepts every request of the worker, also of one that takes over."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from actors.clock import SystemClock
from actors.model_server.offline.turn import Spoken, ToolCall
from actors.model_server.profiles import PROFILES, Profile
from actors.settings import Settings
from actors.tools.server import ToolServer
from actors.tools.tool import Tool, tool
from actors.toolservers.keeper import Keeper
from actors.toolservers.naming import public_name
from actors.toolservers.offer import Offer, taken
from actors.toolservers.toolbox import lent
from actors.worker.definition import Worker
from tests.model.checked_model import CheckedModel
from tests.worker.at_work import SETTINGS, Desk

MODELS = ("sonnet-5-5", "haiku-5-5", "opus-5-5", "sonnet-4-6")
SERVER = ToolServer(name="lender", command=("none",))
LONG_PAGE = 5
OUTPUTS = ("", " ", "short", "\x00\x01", "größer ", "word " * 4_000, "𝄞" * 3_000)
ARGUMENTS: list[dict[str, Any]] = [{}, {"page": 5}, {"page": 6}, {"items": []}, {"items": "x"}]
TEXTS = ("", "  ", "Short.", "One. Two. Three. Four. Five.", "a long text " * 300, '{"json": true}')


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One of the options of an order."""

    city: str
    floor: int | None = None


@tool
def look_up(page: int, mode: Literal["short", "long"] = "short") -> str:
    """Look up a page."""
    return OUTPUTS[page % len(OUTPUTS)]


@tool
def order(items: list[Place], notes: dict[str, str] | None = None) -> str:
    """Order things."""
    return OUTPUTS[len(items) % len(OUTPUTS)]


NAMES = st.text(st.sampled_from("ab.$ /_-ö9"), max_size=70)
PARTS = st.sampled_from([{"type": "string"}, {}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "array"}])
OFFERS = st.builds(
    Offer,
    name=NAMES,
    description=st.sampled_from(["", "Does something.", "x" * 5_000]),
    schema=st.fixed_dictionaries(
        {"type": st.sampled_from(["object", "object", "object", "string"])},
        optional={
            "properties": st.dictionaries(NAMES, PARTS, max_size=3),
            "required": st.lists(st.sampled_from(["a", "b"]), unique=True, max_size=2),
            "anyOf": st.just([{"required": ["a"]}, {"required": ["b"]}]),
            "additionalProperties": st.booleans(),
        },
    ),
)


def tools_of(own: Sequence[Tool], offers: Sequence[Offer]) -> list[Tool]:
    """The tools of a worker and those that a server lends it, which answer here."""
    keeper = Keeper(SERVER, SystemClock(), lambda: None)
    found = {one.name: one for one in own}
    for offer in taken(SERVER.name, offers):
        name = public_name(SERVER.name, offer.name, set(found))

        async def answer(**arguments: object) -> str:
            return OUTPUTS[len(arguments) % len(OUTPUTS)]

        found[name] = replace(lent(keeper, offer, name), function=answer)
    return list(found.values())


@st.composite
def workers(draw: st.DrawFn, model: str) -> Worker:
    prompt = draw(st.sampled_from(["Work.", "", "Work otherwise. " * 200]))
    if model != "sonnet-4-6" and draw(st.integers(0, 4)) == 0:
        return Worker("agent", summary="Works.", prompt=prompt, model=f"claude-{model}", server_tools=["web_search"])
    own = [look_up, *draw(st.sampled_from([[], [order]]))]
    tools = tools_of(own, draw(st.lists(OFFERS, max_size=4)))
    return Worker("agent", summary="Works.", prompt=prompt, model=f"claude-{model}", tools=tools)


def replies(worker: Worker) -> st.SearchStrategy[list[Spoken]]:
    """What the model says: tool calls, also of tools that do not exist, texts, and every unusual ending."""
    names = [*(one.name for one in worker.tools), "LOOK_UP", "nothing"]
    arguments = st.sampled_from(ARGUMENTS)
    calls = st.lists(st.builds(ToolCall, name=st.sampled_from(names), input=arguments), min_size=1, max_size=3)
    ends = st.sampled_from(["", "", "", "max_tokens"])
    thinking = st.sampled_from([None, None, 0, 700, 50_000])
    texts = st.sampled_from(TEXTS)
    called = st.builds(Spoken, text=texts, calls=calls, stop_reason=ends, thinking_tokens=thinking)
    broken = st.builds(Spoken, text=texts, stop_reason=st.just("max_tokens"), thinking_tokens=thinking)
    told = st.builds(Spoken, text=texts, thinking_tokens=thinking)
    refused = st.builds(Spoken, text=texts, stop_reason=st.sampled_from(["refusal", "model_context_window_exceeded"]))
    paused = st.builds(Spoken, text=texts, stop_reason=st.just("pause_turn"), thinking_tokens=thinking)
    reading = st.builds(Spoken, calls=st.just([ToolCall("look_up", {"page": LONG_PAGE})]), thinking_tokens=thinking)
    if worker.server_tools:
        return st.lists(st.one_of(broken, told, refused, paused), max_size=6)
    working = st.lists(st.one_of(reading, reading, called), max_size=6)
    ending = st.lists(st.one_of(called, broken, told, refused), max_size=3)
    return st.tuples(working, ending).map(lambda both: [*both[0], *both[1]])


@given(st.data(), st.sampled_from(MODELS))
def test_the_provider_accepts_every_request_of_a_task_and_of_its_takeover(data: st.DataObject, model: str) -> None:
    context = data.draw(st.sampled_from([0, 9_000, 30_000, 60_000]), "context")
    settings = msgspec.structs.replace(
        SETTINGS,
        context_tokens=context,
        max_tokens=data.draw(st.sampled_from([0, 600, 500_000]), "max_tokens"),
        effort_worker=data.draw(st.sampled_from(["low", "medium", "xhigh"]), "effort"),
        max_turns=12,
    )
    profile = PROFILES[model]
    profile = msgspec.structs.replace(profile, context_tokens=context or profile.context_tokens)
    first = data.draw(workers(model), "worker")
    asyncio.run(accepted(data, first, settings, profile))


async def accepted(data: st.DataObject, first: Worker, settings: Settings, profile: Profile) -> None:
    """Let a worker do a task, and another one go on with it after any number of its Steps."""
    model = CheckedModel(profile, data.draw(replies(first), "replies"))
    done = await Desk(first, settings).do_with(model)
    assert model.refused == []
    stored = done.steps[: data.draw(st.integers(0, len(done.steps)), "stored steps")]
    other = data.draw(workers(profile.name), "successor")
    model = CheckedModel(profile, data.draw(replies(first), "later replies"))
    await Desk(other, settings).do_with(model, stored)
    assert model.refused == []
