"""`handoff health`: whether the actor beside this command is alive, by its own cards."""

import asyncio

import click

from actors.bus.jetstream.card_age import card_ages
from actors.cli.exit_code import COMPLETE
from actors.cli.failure import CommandError
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import write, write_json
from actors.launcher.card_file import read_card_file
from actors.launcher.session import located
from actors.settings import Settings
from protocol.errors import InvalidError

CARD_FILE = "HANDOFF_CARD_FILE"


@click.command()
@json_option
@placed
def health(place: Place, *, as_json: bool) -> int:
    """Check that the supervisor or worker of this container is alive: exit code 0 if it is.

    The actor names its cards in the file HANDOFF_CARD_FILE. Each must be on the bus, and not older than `card_ttl_s`.
    An actor that hangs, is stopped or has lost the bus writes no cards. Nothing else is read.
    """
    settings = place.reading_settings()
    if not settings.card_file:
        raise InvalidError([f"set {CARD_FILE} to one path, for the actor and for this command"])
    found = asyncio.run(_ages(settings, place.patience_s))
    late = [key for key, age in found.items() if age is None or age > settings.card_ttl_s]
    if late:
        raise CommandError([f"{key}: {_told(found[key])}" for key in late])
    if as_json:
        write_json({"cards": found})
    else:
        for key, age in found.items():
            write(f"{key}: {_told(age)}")
    return COMPLETE


async def _ages(settings: Settings, timeout_s: float) -> dict[str, float | None]:
    cards = read_card_file(settings.card_file)
    places = [(card.bucket, card.key) for card in cards]
    ages = await card_ages(await located(settings), places, timeout_s=timeout_s)
    return {card.key: age for card, age in zip(cards, ages, strict=True)}


def _told(age: float | None) -> str:
    return "no card on the bus" if age is None else f"card written {age:.1f} s ago"
