"""The registry of supervisors: which teams are served, and by which processes."""

import contextlib
from datetime import timedelta

import msgspec

from actors.bus.port import Bus
from actors.clock import Clock
from protocol import codec, streams, subjects
from protocol.errors import UndecodableError
from protocol.messages import SupervisorCard

SETTLE_S = 3.0
"""How long a team that was served before may be without a supervisor, for example while it is deployed."""

LOOK_S = 0.1


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
    """True if a supervisor of the team is alive, however busy it is.

    Supervisors of older versions have no card: they count as alive while one of their pulls waits.
    """
    if await read_supervisors(bus, team):
        return True
    queue = await bus.queue_state(streams.request_queue(team, timedelta()))
    return queue is not None and queue.waiting > 0


async def served_soon(bus: Bus, clock: Clock, team: str, within_s: float = SETTLE_S) -> bool:
    """True once a supervisor of the team is alive. A team that was never here is not waited for."""
    ends = clock.monotonic() + within_s
    while not await is_served(bus, team):
        if clock.monotonic() >= ends or not await knows_team(bus, team):
            return False
        await clock.sleep(LOOK_S)
    return True


async def knows_team(bus: Bus, team: str) -> bool:
    """True if a supervisor of the team is alive, or was here before: then its queue keeps requests for the next one."""
    queue = streams.request_queue(team, timedelta())
    return bool(await read_supervisors(bus, team)) or await bus.queue_state(queue) is not None


async def served_teams(bus: Bus) -> set[str]:
    """The teams that have a live supervisor, counted as in `is_served`."""
    announced = {card.team for card in await read_supervisors(bus)}
    queues = await bus.queues(streams.REQUESTS)
    return announced | {team for team, queue in queues.items() if queue.waiting > 0}
