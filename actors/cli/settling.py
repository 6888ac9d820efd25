"""Settling a call of a tool that waits, from another terminal: the word is given, and what came of it is told."""

import asyncio
from collections.abc import Sequence

import msgspec

from actors.cli.confirm import control_for, described, how_to_confirm
from actors.cli.exit_code import COMPLETE, FAILED
from actors.cli.terminal import tell
from actors.people.waits import OpenCall, Waits
from actors.remote_run import Run
from protocol import subjects
from protocol.errors import InvalidError
from protocol.events import Finished
from protocol.steps import Confirmed

WAIT_S = 5.0


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says about a call; `denied` is None for yes, else the comment.

    `asked` is the sequence of the Step that they saw, None if they did not say it.
    """

    task: str
    call: str | None
    denied: str | None
    by: str
    asked: int | None = None


async def settle(run: Run, word: Word) -> int:
    """Give the word for the call that is meant; the exit code says whether it counted."""
    waits = Waits()
    for entry in await run.past():
        waits.take(entry)
    call = meant(waits.calls(run.now()), word, run.id)
    tell(described(call, run.now()))
    await run.control(control_for(call, word.by, word.denied))
    try:
        async with asyncio.timeout(WAIT_S):
            outcome = await _outcome(run, call)
    except TimeoutError:
        tell(f"{call.ref} was told; nothing has come of it yet: its worker may be away, and hears it when it is back")
        return COMPLETE
    if outcome is None:
        tell(f"{call.ref}: the run has ended")
        return FAILED
    said = f"{'allowed' if outcome.granted else 'denied'} by {outcome.by or 'default'}"
    counted = outcome.granted == (word.denied is None)
    tell(f"{call.ref}: {outcome.tool} {said}" + ("" if counted else ", who was first"))
    return COMPLETE if counted else FAILED


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
