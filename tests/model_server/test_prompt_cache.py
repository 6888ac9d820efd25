"""What the offline model says it found in its cache, through the real SDK and by itself."""

import msgspec

from actors.model.port import Call, Turn
from actors.model.wire import wire_of
from actors.model_server.profiles import HAIKU_5_5
from actors.model_server.prompt_cache import KEPT_S, Counted, PromptCache
from actors.model_server.scripted import Rule, Script
from actors.model_server.serve import offline_server
from tests.model.asking import RUN, QuickClock, asking, spec

LEAST_TOKENS = HAIKU_5_5.cache_least_tokens
LONG = "Be thorough. " * 1_000


def call(system: str, *turns: str) -> Call:
    said = [Turn(role="assistant" if at % 2 else "user", content=text) for at, text in enumerate(turns)]
    return Call(run=RUN, role="w", system=system, turns=said, tools=[spec("look", page="integer")])


def counted(cache: PromptCache, one: Call, model: str = "claude-haiku-5-5") -> Counted:
    return cache.count(wire_of(one, model), HAIKU_5_5)


async def test_a_second_call_with_the_same_beginning_reads_it_from_the_cache() -> None:
    async with offline_server(script=Script(rules=[Rule(text="ok")])) as url, asking(url) as model:
        first = (await model.call(call(LONG, "one"))).usage
        second = (await model.call(call(LONG, "two"))).usage
    assert first.cache_read_tokens == 0
    assert first.cache_write_tokens > LEAST_TOKENS
    assert second.cache_read_tokens > LEAST_TOKENS
    assert second.cache_write_tokens < 100
    assert abs(first.tokens - second.tokens) < 5


async def test_short_prompts_are_not_cached() -> None:
    async with offline_server(script=Script(rules=[Rule(text="ok")])) as url, asking(url) as model:
        for _ in range(2):
            usage = (await model.call(call("Be brief.", "one"))).usage
            assert (usage.cache_read_tokens, usage.cache_write_tokens) == (0, 0)
            assert usage.input_tokens > 0


def test_a_conversation_that_goes_on_is_read_up_to_where_it_was() -> None:
    cache = PromptCache(QuickClock())
    first = counted(cache, call(LONG, "one " * 2_000))
    second = counted(cache, call(LONG, "one " * 2_000, "two", "three " * 2_000))
    assert first.read == 0
    assert second.read == first.written
    assert second.written > 2_000


def test_what_was_not_used_for_five_minutes_is_forgotten() -> None:
    clock = QuickClock()
    cache = PromptCache(clock)
    written = counted(cache, call(LONG, "one")).written
    clock.waits.append(KEPT_S - 1)
    assert counted(cache, call(LONG, "one")) == Counted(written, 0)
    clock.waits.append(KEPT_S - 1)
    assert counted(cache, call(LONG, "one")) == Counted(written, 0), "each use counts anew"
    clock.waits.append(KEPT_S + 1)
    assert counted(cache, call(LONG, "one")) == Counted(0, written)


def test_another_prompt_or_other_tools_share_nothing() -> None:
    cache = PromptCache(QuickClock())
    counted(cache, call(LONG, "one"))
    assert counted(cache, call("Otherwise. " + LONG, "one")).read == 0
    assert counted(cache, msgspec.structs.replace(call(LONG, "one"), tools=[spec("other")])).read == 0
    assert counted(cache, call(LONG, "one"), "claude-haiku-5-5-20260801").read == 0
