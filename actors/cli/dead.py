"""`handoff dead`: messages that were refused; list them, look at one, put them back."""

import time

import click
import msgspec

from actors.bus.jetstream import JetStreamBus
from actors.cli.exit_code import COMPLETE, FAILED
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import listing, tell, write, write_json
from actors.cli.wording import count
from actors.dead_letter import DeadLetter, dead_letter, dead_letters, redrive
from protocol.errors import InvalidError

HEADERS = ["number", "time", "stream", "deliveries", "subject", "reason"]
LARGEST = 64 * 1024


@click.group(invoke_without_command=True)
@json_option
@placed
@click.pass_context
def dead(context: click.Context, place: Place, *, as_json: bool) -> int:
    """Messages that were refused, kept whole with the reason. Without a command: list them."""
    if context.invoked_subcommand:
        return 0

    async def work(bus: JetStreamBus) -> int:
        letters = await dead_letters(bus)
        if as_json:
            write_json([_facts(letter) for letter in letters])
        elif letters:
            listing(HEADERS, [_row(letter) for letter in letters], below=2)
            tell("look at one with `handoff dead show NUMBER`, put it back with `handoff dead redrive NUMBER`")
        else:
            tell("no dead letters")
        return 0

    return look(place, work)


@dead.command("show")
@click.argument("number", type=int)
@json_option
@placed
def show_one(place: Place, number: int, *, as_json: bool) -> int:
    """Print the dead letter NUMBER: why it was refused, and what it says."""

    async def work(bus: JetStreamBus) -> int:
        letter = await _found(bus, number)
        if as_json:
            write_json(_facts(letter) | {"body": readable(letter.data), "bytes": len(letter.data)})
            return 0
        for name, value in _facts(letter).items():
            write(f"{name:<11}{value}")
        write(f"bytes      {len(letter.data):,}\n")
        write(readable(letter.data))
        return 0

    return look(place, work)


@dead.command("redrive")
@click.argument("numbers", type=int, nargs=-1, metavar="[NUMBER]...")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@json_option
@placed
def redrive_some(place: Place, numbers: tuple[int, ...], *, everything: bool, as_json: bool) -> int:
    """Publish refused requests and Controls again, and take them out of the list.

    Handoffs stay: the task has a failed Result by then. Exits with 1 if any letter stays.
    """
    if bool(numbers) == everything:
        raise click.UsageError("Name the dead letters to put back by number, or say --all.")

    async def work(bus: JetStreamBus) -> int:
        wanted = [letter.number for letter in await dead_letters(bus)] if everything else list(dict.fromkeys(numbers))
        letters = [await _found(bus, number) for number in wanted]
        faults = {letter.number: fault for letter in letters if (fault := await _redrive(bus, letter))}
        back = [number for number in wanted if number not in faults]
        if everything:
            tell(f"{count(len(back), 'dead letter')} put back")
        if as_json:
            kept = [{"number": number, "reason": fault} for number, fault in faults.items()]
            write_json({"redriven": back, "kept": kept})
        return FAILED if faults else COMPLETE

    return look(place, work)


async def _redrive(bus: JetStreamBus, letter: DeadLetter) -> str:
    """Put one letter back; why it stays, empty if it is back."""
    try:
        await redrive(bus, letter)
    except InvalidError as error:
        tell(f"handoff: {error}")
        return str(error)
    tell(f"dead letter {letter.number} is back on {letter.subject}")
    return ""


async def _found(bus: JetStreamBus, number: int) -> DeadLetter:
    letter = await dead_letter(bus, number) if number > 0 else None
    if letter is None:
        raise InvalidError([f"there is no dead letter {number}: see `handoff dead`"])
    return letter


def _row(letter: DeadLetter) -> list[str]:
    return [
        str(letter.number),
        _time(letter),
        letter.stream,
        str(letter.deliveries),
        letter.subject,
        letter.reason,
    ]


def _facts(letter: DeadLetter) -> dict[str, object]:
    facts: dict[str, object] = msgspec.to_builtins(letter)
    del facts["data"]
    return facts | {"time": _time(letter)}


def _time(letter: DeadLetter) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(letter.time))


def readable(data: bytes) -> str:
    """Bytes for a person: text where it is text, the rest as escapes; cut where it is endless."""
    more = f"\n[{len(data) - LARGEST:,} bytes more]" if len(data) > LARGEST else ""
    return data[:LARGEST].decode(errors="backslashreplace") + more
