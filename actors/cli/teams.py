"""`handoff teams`: the teams that come with the package, and those that are alive on the bus."""

import click
import msgspec

from actors import teams as shipped
from actors.cli.interrupt import Interrupt, interruptible
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import table, write, write_json
from actors.launcher.session import open_bus
from actors.settings import Settings
from actors.supervisor.roster import read_cards
from protocol import streams
from protocol.errors import UnreachableError


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One worker of a team."""

    name: str
    summary: str
    tools: tuple[str, ...] = ()
    alive: int = 0


class TeamFacts(msgspec.Struct, kw_only=True):
    """One team. `supervised` is whether somebody takes its requests at this moment."""

    name: str
    summary: str = ""
    supervised: bool = False
    workers: list[Member] = []
    samples: tuple[str, ...] = ()


@click.command()
@json_option
@placed
def teams(place: Place, *, as_json: bool) -> int:
    """The teams there are, who is in them, and requests to try."""
    settings = place.settings()

    async def work(interrupt: Interrupt) -> int:
        found = _shipped()
        try:
            await interrupt.guard(_add_live(found, settings, place.patience_s))
        except UnreachableError:
            if settings.nats_url:
                raise
        if as_json:
            write_json(list(found.values()))
        else:
            for team in found.values():
                _tell(team)
        return 0

    return interruptible(work)


def _shipped() -> dict[str, TeamFacts]:
    found: dict[str, TeamFacts] = {}
    for name in shipped.names():
        team = shipped.find(name)
        members = [
            Member(name=worker.name, summary=worker.summary, tools=tuple(tool.name for tool in worker.tools))
            for worker in team.workers
        ]
        found[name] = TeamFacts(name=name, summary=team.summary, workers=members, samples=team.samples)
    return found


async def _add_live(found: dict[str, TeamFacts], settings: Settings, timeout_s: float) -> None:
    async with open_bus(settings, timeout_s=timeout_s) as bus:
        for name, queue in (await bus.queues(streams.REQUESTS)).items():
            found.setdefault(name, TeamFacts(name=name)).supervised = queue.waiting > 0
        for name, card in await read_cards(bus):
            team = found.setdefault(name, TeamFacts(name=name))
            known = next((member for member in team.workers if member.name == card.worker), None)
            if known is None:
                team.workers.append(Member(name=card.worker, summary=card.summary, tools=card.tools, alive=1))
            else:
                team.workers[team.workers.index(known)] = msgspec.structs.replace(known, alive=known.alive + 1)


def _tell(team: TeamFacts) -> None:
    write(f"{team.name}: {team.summary or 'a team on this bus'} ({'running' if team.supervised else 'not running'})\n")
    rows = [[m.name, str(m.alive or ""), ", ".join(m.tools), m.summary] for m in team.workers]
    table(["worker", "alive", "tools", "summary"], rows)
    if team.samples:
        write("\nto try:")
    for sample in team.samples:
        write(f'  handoff ask "{sample}"')
