"""`handoff workers`: who is alive."""

import click
import msgspec

from actors.bus.jetstream import JetStreamBus
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import table, tell, write_json
from actors.cli.wording import seconds
from actors.supervisor.roster import read_cards
from protocol.messages import Card

HEADERS = ["team", "worker", "instance", "busy", "queue", "p50", "tools", "summary"]


@click.command()
@json_option
@placed
def workers(place: Place, *, as_json: bool) -> int:
    """The workers that are alive, by team; --team limits it to one.

    The instance holds host and pid. `busy` is what it works on, of how much it can at once; `queue` is what waits for
    any instance of its kind.
    """
    team = place.settings().team if place.given("team") else ""

    async def work(bus: JetStreamBus) -> int:
        cards = sorted(await read_cards(bus, team), key=lambda found: (found[0], found[1].worker, found[1].instance))
        if as_json:
            write_json([{"team": name} | msgspec.to_builtins(card) for name, card in cards])
        elif cards:
            table(HEADERS, [_row(name, card) for name, card in cards])
        else:
            tell("no worker is alive" + (f" in team {team!r}" if team else "") + ": start some with `handoff up`")
        return 0

    return look(place, work)


def _row(team: str, card: Card) -> list[str]:
    return [
        team,
        card.worker,
        card.instance,
        f"{card.inflight}/{card.capacity}",
        str(card.queue),
        seconds(card.p50_s) if card.p50_s else "",
        ", ".join(card.tools) or ("function" if not card.model else ""),
        card.summary,
    ]
