"""A call of a tool that waits for a person: shown exactly as it would run, and allowed or denied."""

import asyncio
import unicodedata

import msgspec

from actors.cli.review import Ask, Stage, chosen
from actors.cli.terminal import tell
from actors.cli.wording import seconds
from actors.people.waits import OpenCall, Waits
from actors.record import Recorded
from actors.remote_run import Run
from protocol import subjects
from protocol.controls import Approve, Control, Reject
from protocol.steps import ConfirmAsked, Confirmed
from protocol.subjects import TaskAddress

CHOICES = "may it run? [y]es, [n]o with a comment: "
LONGEST = 4000


class Confirming:
    """Asks the person who follows a run about each call that waits, one after the other."""

    def __init__(self, run: Run, stage: Stage, ask: Ask, by: str) -> None:
        self._run = run
        self._stage = stage
        self._ask = ask
        self._by = by
        self._waits = Waits()
        self._asked: int | None = None
        self._done: set[int] = set()
        self._talk: asyncio.Task[None] | None = None

    async def take(self, entry: Recorded) -> None:
        """Take in one message of the record: it may be a reason to ask, or to stop asking."""
        self._waits.take(entry)
        waiting = [call for call in self._waits.calls(0.0) if call.question.seq not in self._done]
        if self._asked is not None and all(call.question.seq != self._asked for call in waiting):
            if self._talk and not self._talk.done():
                tell(f"\n{_settled(entry)}")
            await self.close()
        if self._asked is None and waiting:
            self._asked = waiting[0].question.seq
            self._talk = asyncio.create_task(self._confirm(waiting[0]))

    async def close(self) -> None:
        """Ask no more; whatever went wrong while asking is raised."""
        talk, self._talk, self._asked = self._talk, None, None
        if talk is not None:
            talk.cancel()
            await asyncio.wait({talk})
            if not talk.cancelled():
                talk.result()

    async def _confirm(self, call: OpenCall) -> None:
        self._stage.pause()
        try:
            tell("\n" + described(call, self._run.now()))
            await self._run.control(await decision(call, self._ask, self._by))
        except EOFError:
            self._done.add(call.question.seq)
            tell(f"\nit waits: {how_to_confirm(call)}")
        finally:
            self._stage.resume()


def _settled(entry: Recorded) -> str:
    """Why a question need not be answered any more."""
    match entry.message:
        case Approve(by=by):
            return f"{by or 'somebody'} has said yes"
        case Reject(by=by, comment=comment):
            return f"{by or 'somebody'} has said no" + (f": {comment}" if comment else "")
        case _:
            return told(entry) or "it is not asked any more"


async def decision(call: OpenCall, ask: Ask, by: str) -> Control:
    """What a person wants done about a call; asked again until it is clear."""
    while True:
        word, text = chosen(await ask(CHOICES), ("yes", "no"), with_text="no")
        if word == "yes":
            return control_for(call, by, None)
        if word == "no":
            return control_for(call, by, text or (await ask("why not? ")).strip())


def control_for(call: OpenCall, by: str, denied: str | None) -> Approve | Reject:
    """The control that allows the call that was seen and no other, or denies it with a comment."""
    task, name, seq = call.address.task, call.question.asked.call, call.question.seq
    if denied is None:
        return Approve(task=task, call=name, asked=seq, by=by)
    return Reject(task=task, call=name, asked=seq, by=by, comment=denied)


def described(call: OpenCall, now: float) -> str:
    """Who wants to run what, with exactly which arguments, and how long there is to say so."""
    asked = call.question.asked
    time_left = seconds(max(0.0, asked.deadline - now))
    who = f"{call.address.task} ({call.address.worker})"
    return f"{who} wants to run {asked.tool}; without a word it is denied in {time_left}:\n{shown(asked.arguments)}"


def shown(arguments: msgspec.Raw) -> str:
    """The arguments as JSON, every character that cannot be seen spelled out."""
    text = exact(msgspec.json.format(bytes(arguments), indent=2).decode())
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST] + f"\n[{len(text) - LONGEST:,} more characters: handoff inbox --json shows all]"


def exact(text: str) -> str:
    """The text with what a terminal would hide or obey written as an escape."""
    return "".join(
        char if char == "\n" or unicodedata.category(char)[0] != "C" else f"\\u{ord(char):04x}" for char in text
    )


def how_to_confirm(call: OpenCall) -> str:
    """What to type in another terminal."""
    return how(call.address, call.question.asked.call, call.question.seq)


def how(address: TaskAddress, call: str, asked: int) -> str:
    """What to type to allow or deny the call that a Step with this sequence asked about."""
    return f"handoff approve {address.run[:8]} --task {address.task} --call {call} --asked {asked} (or --deny COMMENT)"


def told(entry: Recorded) -> str | None:
    """A step about a call that waits, on one line; None for everything else."""
    message = entry.message
    if not isinstance(message, ConfirmAsked | Confirmed):
        return None
    address = subjects.address_of(entry.subject)
    if isinstance(message, ConfirmAsked):
        return f"{address.task} waits to run {message.tool}: {how(address, message.call, entry.seq)}"
    said = f"{'allowed' if message.granted else 'denied'} by {message.by or 'default'}"
    return f"{address.task}: {message.tool} {said}" + (f": {message.comment}" if message.comment else "")
