"""The price of a call, against the documented prices of each model."""

import pytest

from actors.model.price import price_usd
from protocol.messages import Usage

MILLION = 1_000_000

DOCUMENTED = {
    # model: dollars for a million tokens of input, cache read, cache write (5 minutes), output
    "claude-sonnet-5-5": (2.0, 0.10, 2.50, 10.0),
    "claude-opus-5-5": (4.0, 0.20, 5.0, 20.0),
    "claude-haiku-5-5": (0.10, 0.01, 0.125, 0.50),
}
"""From the provider's pages on the three models, but for opus's prices for the cache, which genai-prices has."""

STEP = 100_000
"""Prompt tokens above which a call of haiku-5-5 costs five times as much."""


def dollars(model: str, usage: Usage) -> float:
    usd = price_usd(model, usage)
    assert usd is not None
    return usd


@pytest.mark.parametrize("model", DOCUMENTED)
def test_each_kind_of_token_has_the_documented_price(model: str) -> None:
    each = [
        dollars(model, usage) * MILLION / 1_000
        for usage in (
            Usage(input_tokens=1_000),
            Usage(cache_read_tokens=1_000),
            Usage(cache_write_tokens=1_000),
            Usage(output_tokens=1_000),
        )
    ]
    assert each == pytest.approx(DOCUMENTED[model])


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "claude-opus-5-5"])
def test_a_million_prompt_tokens_have_the_same_price_each_as_a_thousand(model: str) -> None:
    into, read, write, out = DOCUMENTED[model]
    usage = Usage(input_tokens=MILLION, output_tokens=MILLION)
    assert dollars(model, usage) == pytest.approx(into + out)
    assert dollars(model, Usage(cache_read_tokens=MILLION)) == pytest.approx(read)
    assert dollars(model, Usage(cache_write_tokens=MILLION)) == pytest.approx(write)


@pytest.mark.parametrize(
    "prompt",
    [
        Usage(input_tokens=STEP),
        Usage(cache_read_tokens=STEP),
        Usage(cache_write_tokens=STEP),
        Usage(input_tokens=10_000, cache_read_tokens=60_000, cache_write_tokens=30_000),
    ],
    ids=["fresh", "read from the cache", "written to the cache", "mixed"],
)
def test_haiku_costs_five_times_as_much_above_100_000_prompt_tokens_cached_or_not(prompt: Usage) -> None:
    into, read, write, out = DOCUMENTED["claude-haiku-5-5"]
    least = (prompt.input_tokens * into + prompt.cache_read_tokens * read + prompt.cache_write_tokens * write) / MILLION
    answer = Usage(output_tokens=1_000)
    below = dollars("claude-haiku-5-5", prompt + answer)
    above = dollars("claude-haiku-5-5", prompt + answer + Usage(input_tokens=1))
    assert below == pytest.approx(least + 1_000 * out / MILLION)
    assert above == pytest.approx(5 * (least + (into + 1_000 * out) / MILLION))


def test_output_alone_does_not_reach_the_step_of_the_prompt() -> None:
    assert dollars("claude-haiku-5-5", Usage(output_tokens=128_000)) == pytest.approx(128_000 * 0.5 / MILLION)
