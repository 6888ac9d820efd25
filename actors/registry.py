"""The registry of supervisors: which teams are served, and by which processes."""

import contextlib

import msgspec

from actors.bus.port import Bus
from protocol import codec, streams, subjects
from protocol.errors import UndecodableError
from protocol.messages import SupervisorCard


async def read_supervisors(bus: Bus, team: str = "") -> list[SupervisorCard]:
    """The cards of the live supervisors, of one team or of all, in order; unreadable cards are ignored.

    Team and instance come from the key: the server checked it against the rights of the writer.
    """
    found: list[SupervisorCard] = []
    cards = await bus.cards(f"{team}." if team else "", bucket=streams.SUPERVISORS)
    for key, stored in sorted(cards.items()):
        with contextlib.suppress(UndecodableError):
            card = codec.decode(stored.data, SupervisorCard)
            name, instance = subjects.supervisor_of(key)
            found.append(msgspec.structs.replace(card, team=name, instance=instance))
    return found


async def is_served(bus: Bus, team: str) -> bool:
    """True if a supervisor of the team is alive, however busy it is."""
    return team in await served_teams(bus)


async def knows_team(bus: Bus, team: str) -> bool:
    """True if a supervisor of the team is alive, or was here before: then its queue keeps requests for the next one."""
    return bool(await read_supervisors(bus, team)) or team in await bus.queues(streams.REQUESTS)


async def served_teams(bus: Bus) -> set[str]:
    """The teams that have a live supervisor.

    Supervisors of older versions have no card: they count as alive while one of their pulls waits.
    """
    announced = {card.team for card in await read_supervisors(bus)}
    queues = await bus.queues(streams.REQUESTS)
    return announced | {team for team, queue in queues.items() if queue.waiting > 0}
