"""Owning: a tool has one worker of a team, also where workers are started one by one."""

from collections.abc import Sequence

from actors.bus.port import Bus
from actors.supervisor.roster import read_cards
from actors.teams.team import shared_tools
from actors.worker.definition import Worker
from protocol.errors import InvalidError


async def require_own_tools(bus: Bus, team: str, workers: Sequence[Worker]) -> None:
    """InvalidError if a worker that starts here has a tool of another one, which starts here too or is alive."""
    starting = [(worker.name, [tool.name for tool in worker.tools]) for worker in workers]
    ours = {name for _, names in starting for name in names}
    alive = [(card.worker, ours.intersection(card.tools)) for _, card in await read_cards(bus, team)]
    if faults := shared_tools(team, [*alive, *starting]):
        raise InvalidError(faults)
