"""Binding: thinking comes back unchanged, behind the same prefix, and without a hole in its chain."""

from collections.abc import Iterator

from actors.model_server.checks.thinking import BINDING_BETA
from actors.model_server.conversation import THINKING, Body, dict_of, turns_of
from actors.model_server.profiles import Profile
from actors.model_server.signature import (
    Met,
    Seal,
    digest,
    latest_assistant,
    prefix_before,
    read_signature,
    thinking_before,
    thinking_in,
)

INVALID = "Invalid `signature` in `thinking` block"
BOUND = (
    f"{INVALID}. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires the '
    f"`{BINDING_BETA}` value in the `anthropic-beta` header."
)
MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must "
    "remain as they were in the original response."
)


def faults(body: Body, profile: Profile) -> Iterator[str]:
    """What is wrong with the thinking that came back."""
    latest = latest_assistant(turns_of(body))
    last = ""
    for met in thinking_in(body):
        signature = str(met.block.get("signature"))
        seal = read_signature(signature)
        if seal is None or seal.text != digest(str(met.block.get("thinking"))):
            yield f"{met.place}: {MODIFIED if met.turn == latest else INVALID}"
            return
        if not readable(seal, profile):
            continue
        if profile.binds_thinking and not drops_blocks(body) and not is_bound(met, seal, last):
            yield f"{met.place}: {BOUND}"
            return
        last = digest(signature)
    if latest is not None:
        yield from _removed(body, latest)


def readable(seal: Seal, profile: Profile) -> bool:
    """Whether a model reads a block. What it does not read is dropped without an error."""
    return seal.profile == profile.name or seal.profile in profile.reads_thinking_of


def is_bound(met: Met, seal: Seal, last: str) -> bool:
    """Whether a block stands behind its prefix, and behind the thinking that came before it, if any is left."""
    return seal.prefix == met.prefix and (not last or seal.before == last)


def drops_blocks(body: Body) -> bool:
    """Whether the request asks to drop what fails the check; `checks.thinking` refuses that without its beta header."""
    binding = dict_of(dict_of(body.get("thinking")).get("block_binding"))
    return binding.get("prefix_mismatch_behavior") == "drop_block"


def last_thinking(body: Body, profile: Profile) -> str:
    """The end of the chain of thinking that the model reads in a request: the next block is bound to it."""
    last = ""
    for met in thinking_in(body):
        signature = str(met.block.get("signature"))
        seal = read_signature(signature)
        if seal is not None and readable(seal, profile) and (not profile.binds_thinking or is_bound(met, seal, last)):
            last = digest(signature)
    return last


def _removed(body: Body, latest: int) -> Iterator[str]:
    """The latest turn lacks thinking that it was answered with, although nothing before it changed."""
    turn = turns_of(body)[latest]
    left = sum(block.get("type") in THINKING for block in turn.blocks)
    before = prefix_before(body, latest)
    for place, block in zip(turn.places, turn.blocks, strict=True):
        if block.get("type") == "tool_use" and thinking_before(block, before) not in (None, left):
            yield f"{place}: {MODIFIED}"
            return
