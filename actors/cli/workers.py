"""`handoff workers`: who is alive, and whom the supervisors trust."""

import click
import msgspec

from actors.bus.jetstream import JetStreamBus
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import listing, tell, write_json
from actors.cli.wording import age, seconds
from actors.registry import served_teams
from actors.supervisor.breakers import read_breakers
from actors.supervisor.roster import read_cards, troubles
from protocol import streams
from protocol.messages import Breaker, Card

HEADERS = ["team", "worker", "instance", "busy", "queue", "p50", "breaker", "tools", "summary"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One worker with its breaker; of a kind that nobody is of, a card without an instance."""

    team: str
    card: Card
    breaker: Breaker


@click.command()
@json_option
@placed
def workers(place: Place, *, as_json: bool) -> int:
    """The workers that are alive, by team; --team limits it to one.

    The instance holds host and pid. `busy` is what it works on, of how much it can at once; `queue` is what waits for
    any instance of its kind. A kind whose `breaker` is open failed too often lately and gets nothing for a while.
    """
    team = place.settings().team if place.given("team") else ""

    async def work(bus: JetStreamBus) -> int:
        found = await _found(bus, team)
        if as_json:
            write_json([{"team": one.team} | msgspec.to_builtins(one.card) | {"breaker": one.breaker} for one in found])
        elif found:
            now = bus.now()
            listing(HEADERS, [row(one, now) for one in found], below=2)
            for line in troubles([(one.team, one.card) for one in found]):
                tell(line)
        else:
            tell("no worker is alive" + (f" in team {team!r}" if team else "") + ": start some with `handoff up`")
        for name in sorted({one.team for one in found} - await served_teams(bus)):
            tell(f"team {name!r} has no supervisor, so its requests wait: start `handoff supervisor --team {name}`")
        return 0

    return look(place, work)


async def _found(bus: JetStreamBus, team: str) -> list[Found]:
    cards = await read_cards(bus, team)
    teams = {team} if team else {name for name, _ in cards} | set(await bus.queues(streams.REQUESTS))
    breakers = {name: await read_breakers(bus, name) for name in teams}
    return listed(cards, breakers)


def listed(cards: list[tuple[str, Card]], breakers: dict[str, dict[str, Breaker]]) -> list[Found]:
    """Everybody who is alive, and every kind that is not trusted even if nobody is of it, in order."""
    found = [
        Found(team=team, card=card, breaker=breakers.get(team, {}).get(card.worker, Breaker())) for team, card in cards
    ]
    alive = {(one.team, one.card.worker) for one in found}
    found += [
        Found(team=team, card=Card(worker=worker, instance="", capacity=0), breaker=breaker)
        for team, kinds in breakers.items()
        for worker, breaker in kinds.items()
        if breaker.state != "closed" and (team, worker) not in alive
    ]
    return sorted(found, key=lambda one: (one.team, one.card.worker, one.card.instance))


def row(one: Found, now: float) -> list[str]:
    """A worker as a row of the table."""
    card = one.card
    return [
        one.team,
        card.worker,
        card.instance or "nobody alive",
        f"{card.inflight}/{card.capacity}" if card.instance else "",
        str(card.queue) if card.instance else "",
        seconds(card.p50_s) if card.p50_s else "",
        _trust(one.breaker, now),
        ", ".join(card.tools) or ("person" if card.person else "function" if card.instance and not card.model else ""),
        card.summary,
    ]


def _trust(breaker: Breaker, now: float) -> str:
    if breaker.state == "closed":
        return "closed"
    return f"{breaker.state.replace('_', ' ')} since {age(now - breaker.since)}"
