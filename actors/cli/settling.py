"""Settling a call of a tool that waits, from another terminal: the word is given, and what came of it is told."""

import asyncio
from collections.abc import Sequence

import msgspec

from actors.cli.confirm import control_for, described, how_to_confirm
from actors.cli.failure import CommandError
from actors.cli.sent_control import SentControl
from actors.cli.terminal import tell
from actors.people.waits import OpenCall, Waits
from actors.remote_run import Run
from protocol import subjects
from protocol.errors import InvalidError
from protocol.events import Finished
from protocol.steps import Confirmed


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says about a call; `denied` is None for yes, else the comment.

    `asked` is the sequence of the Step that they saw, None if they did not say it.
    """

    task: str
    call: str | None
    denied: str | None
    by: str
    asked: int | None = None


async def settle(run: Run, word: Word, within_s: float) -> SentControl:
    """Give the word for the call that is meant, and wait for what comes of it; CommandError if it did not count."""
    waits = Waits()
    for entry in await run.past():
        waits.take(entry)
    call = meant(waits.calls(run.now()), word, run.id)
    tell(described(call, run.now()))
    control = control_for(call, word.by, word.denied)
    sent = SentControl.of(run.id, control, await run.control(control))
    try:
        async with asyncio.timeout(within_s):
            outcome = await _outcome(run, call)
    except TimeoutError:
        tell(f"{call.ref} was told; nothing has come of it yet: its worker may be away, and hears it when it is back")
        return sent
    if outcome is None:
        raise CommandError([f"{call.ref}: the run has ended"])
    said = f"{'allowed' if outcome.granted else 'denied'} by {outcome.by or 'default'}"
    if outcome.granted != (word.denied is None):
        raise CommandError([f"{call.ref}: {outcome.tool} {said}, who was first"])
    tell(f"{call.ref}: {outcome.tool} {said}")
    return msgspec.structs.replace(sent, outcome=said)


def meant(waiting: Sequence[OpenCall], word: Word, run: str) -> OpenCall:
    """The one call that is meant, or InvalidError with those that wait."""
    found = [
        one
        for one in waiting
        if one.address.task == word.task and (word.call is None or one.question.asked.call == word.call)
    ]
    if len(found) == 1:
        _check_seen(found[0], word, run)
        return found[0]
    listed = "".join(f"\n  {how_to_confirm(one)}" for one in waiting) or " none"
    why = "several calls wait, say which" if found else f"no such call of task {word.task} waits"
    raise InvalidError([f"run {run[:8]}: {why}. Waiting:{listed}"])


def _check_seen(call: OpenCall, word: Word, run: str) -> None:
    """InvalidError if the person saw another question than the one that waits."""
    if word.asked not in (None, call.question.seq):
        raise InvalidError(
            [f"run {run[:8]}: the call at {word.asked} does not wait any more. Waiting:\n  {how_to_confirm(call)}"]
        )


async def _outcome(run: Run, call: OpenCall) -> Confirmed | None:
    """What the worker made of it; None if the run ended without a word."""
    async for entry in run.record():
        match entry.message:
            case Confirmed() if entry.seq > call.question.seq and entry.message.call == call.question.asked.call:
                if subjects.address_of(entry.subject) == call.address:
                    return entry.message
            case Finished():
                return None
            case _:
                pass
    return None
