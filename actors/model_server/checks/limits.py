"""Limits: sampling, the length of the answer, the number of messages and the size of the context."""

import math
from collections.abc import Iterator

import msgspec

from actors.model_server.conversation import Block, Body, dict_of, list_of, plain, system_blocks, turns_of
from actors.model_server.profiles import Profile

LARGEST_BODY = 32 * 1024 * 1024
MOST_MESSAGES = 100_000
FILE_TOKENS = 1_600
PAGE_CHARACTERS = 60_000
_DEFAULTS = {"temperature": 1, "top_p": 0.99}


def faults(body: Body, profile: Profile, *, counting: bool) -> Iterator[str]:
    """What goes beyond a limit."""
    if not body.get("model"):
        yield "model: String should have at least 1 character"
    if not counting:
        yield from _output_faults(body.get("max_tokens"), profile)
    if not profile.sampling:
        for name in ("temperature", "top_p", "top_k"):
            if name in body and body[name] != _DEFAULTS.get(name):
                yield f"`{name}` is not supported for this model."
    if len(list_of(body.get("messages"))) > MOST_MESSAGES:
        yield f"messages: at most {MOST_MESSAGES} messages are allowed"
    if not counting and (tokens := input_tokens(body, profile)) > profile.context_tokens:
        yield f"prompt is too long: {tokens} tokens > {profile.context_tokens} maximum"


def input_tokens(body: Body, profile: Profile) -> int:
    """About how many tokens a request has, by the characters of everything that the model reads, and by its files."""
    read = (
        [plain(block) for block in list_of(body.get("tools"))],
        [plain(block) for block in system_blocks(body)],
        [[turn.role, [plain(_without_data(block)) for block in turn.blocks]] for turn in turns_of(body)],
    )
    files = sum(_file_tokens(block) for turn in turns_of(body) for block in turn.blocks)
    return tokens_of(msgspec.json.encode(read).decode(), profile) + files


def _without_data(block: Block) -> Block:
    """A block without the bytes of an image or a document: the model reads a picture, not base64."""
    source = dict_of(block.get("source"))
    return {**block, "source": {**source, "data": ""}} if "data" in source else block


def _file_tokens(block: Block) -> int:
    """About how many tokens a file has: 1,600 an image; the pages of a PDF are guessed from its size."""
    source = dict_of(block.get("source"))
    if source.get("type") != "base64":
        return 0
    pages = 1 if block.get("type") == "image" else 1 + len(str(source.get("data"))) // PAGE_CHARACTERS
    return pages * FILE_TOKENS


def tokens_of(text: str, profile: Profile) -> int:
    """About how many tokens a text has."""
    return math.ceil(len(text) / profile.characters_per_token)


def _output_faults(asked: object, profile: Profile) -> Iterator[str]:
    if not isinstance(asked, int):
        return
    if asked < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    elif asked > profile.output_tokens:
        yield (
            f"max_tokens: {asked} > {profile.output_tokens}, which is the maximum allowed number of output tokens for "
            "this model"
        )
