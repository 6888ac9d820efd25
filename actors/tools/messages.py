"""Sending a message: a file in an outbox, and a post to a webhook if one is set.

What always holds: one call is one message, however often it is made. The file is named by the call's key and is
written first; a post that may or may not have arrived is made again with the same `Idempotency-Key`.
"""

import contextlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Annotated

import msgspec

from actors.tools.given import CallKey, FromSetting
from actors.tools.posting import post
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_CHARACTERS = 100_000
MOST_IN_A_LINE = 200


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message as it lies in the outbox; `posted` says that the webhook has taken it."""

    key: str
    to: str
    subject: str
    text: str
    posted: bool = False


@tool(effect=True)
def send_message(
    to: str,
    subject: str,
    text: str,
    key: CallKey,
    outlet: Annotated[tuple[Path, str], FromSetting("outlet")] = (Path("outbox"), ""),
) -> str:
    """Send a message to a person or a channel; it goes out once, even if this is called again after a crash.

    Args:
        to: who it is for, such as on-call or ann@example.com
        subject: what it is about, in one line
        text: the message
    """
    return send(_message(to, subject, text, key), *outlet)


def build(folder: Path, *, webhook: str = "") -> list[Tool]:
    """`send_message` with an outbox in this folder, whatever the settings say."""

    @tool(name="send_message", effect=True)
    def send_here(to: str, subject: str, text: str, key: CallKey) -> str:
        """Send a message to a person or a channel; it goes out once, even if this is called again after a crash.

        Args:
            to: who it is for, such as on-call or ann@example.com
            subject: what it is about, in one line
            text: the message
        """
        return send(_message(to, subject, text, key), folder / "outbox", webhook)

    return [send_here]


def send(message: Message, outbox: Path, webhook: str) -> str:
    """Put the message into the outbox and post it, unless that was done before."""
    try:
        known = _put(message, outbox)
        if webhook and not known.posted:
            post(webhook, known.key, msgspec.json.encode(known))
            _replace(msgspec.structs.replace(known, posted=True), outbox)
    except OSError as error:
        raise ToolError(f"the message was not sent: {error.strerror or error}") from error
    where = "outbox and webhook" if webhook else "outbox"
    again = " (it had been sent before, and was not sent again)" if known is not message else ""
    return f"sent to {known.to}: {known.subject} [{where}, {known.key}]{again}"


def _message(to: str, subject: str, text: str, key: CallKey) -> Message:
    faults = [
        f"{name} must be one line of 1 to {MOST_IN_A_LINE} characters"
        for name, value in (("to", to), ("subject", subject))
        if not value.strip() or len(value) > MOST_IN_A_LINE or not value.isprintable()
    ]
    if not text.strip() or len(text) > MOST_CHARACTERS:
        faults.append(f"text must have 1 to {MOST_CHARACTERS:,} characters")
    if faults:
        raise ToolError("; ".join(faults))
    return Message(key=key, to=to.strip(), subject=subject.strip(), text=text)


def _path(key: str, outbox: Path) -> Path:
    if not key or not all(letter.isalnum() or letter in "._-" for letter in key) or key.startswith("."):
        raise ToolError(f"{key!r} is no key of a call")
    return outbox / f"{key}.json"


def _put(message: Message, outbox: Path) -> Message:
    """Write the message down, or return the one that is there already under its key."""
    path = _path(message.key, outbox)
    outbox.mkdir(parents=True, exist_ok=True)
    try:
        with _written(message, outbox) as draft:
            os.link(draft, path)  # a link is made whole or not at all, and never over another
    except FileExistsError:
        return msgspec.json.decode(path.read_bytes(), type=Message)
    return message


def _replace(message: Message, outbox: Path) -> None:
    with _written(message, outbox) as draft:
        draft.replace(_path(message.key, outbox))


@contextlib.contextmanager
def _written(message: Message, outbox: Path) -> Generator[Path]:
    handle, name = tempfile.mkstemp(dir=outbox, prefix=".draft-")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(message), indent=2))
            stream.flush()
            os.fsync(stream.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)
