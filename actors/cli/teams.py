"""`handoff teams`: the teams that come with the package, those that are alive on the bus, and one of one's own."""

import shlex
from pathlib import Path

import click
import msgspec

from actors import teams as shipped
from actors.cli.interrupt import Interrupt, interruptible
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import table, tell, write, write_json
from actors.cli.wording import team_flag
from actors.launcher.finding import find_team, is_defined
from actors.launcher.session import open_bus
from actors.registry import served_teams
from actors.settings import Settings
from actors.supervisor.roster import read_cards
from actors.teams.team import Team
from actors.worker.definition import Worker
from protocol import streams
from protocol.errors import InvalidError, UnreachableError


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One worker of a team; `kind` is agent, function, person, or empty for one that is known from the bus alone."""

    name: str
    summary: str
    tools: tuple[str, ...] = ()
    alive: int = 0
    kind: str = ""
    fallback: str | None = None


class TeamFacts(msgspec.Struct, kw_only=True):
    """One team. `source` is its file or import path; `supervised`, whether somebody takes its requests right now."""

    name: str
    summary: str = ""
    source: str = ""
    supervised: bool = False
    workers: list[Member] = []
    samples: tuple[str, ...] = ()


@click.command()
@click.argument("name", required=False)
@json_option
@placed
def teams(place: Place, name: str | None, *, as_json: bool) -> int:
    """The teams there are; with NAME (or a path, or module:team) one of them: workers, tools, requests to try."""
    settings = place.settings(team=name) if name else place.reading_settings()
    found = {settings.team: _facts(settings)} if name and is_defined(settings) else {}
    if not name:
        found = {one: _facts(msgspec.structs.replace(settings, team=one, team_source="")) for one in shipped.names()}

    async def work(interrupt: Interrupt) -> int:
        try:
            await interrupt.guard(_add_live(found, settings, place.patience_s))
        except UnreachableError:
            if settings.nats_url:
                raise
        if name and settings.team not in found:
            raise InvalidError([shipped.unknown(settings.team, sorted({*found, *shipped.names()}))])
        if name:
            _tell_one(found[settings.team], as_json=as_json)
        else:
            _tell_all(list(found.values()), as_json=as_json)
        return 0

    return interruptible(work)


def _facts(settings: Settings) -> TeamFacts:
    # What a team that comes along works on is its own affair: --data is for those who run it.
    team: Team = find_team(msgspec.structs.replace(settings, data=""))
    return TeamFacts(
        name=team.name,
        summary=team.summary,
        source=settings.team_source or str(shipped.file_of(team.name)),
        workers=[_member(worker) for worker in team.workers],
        samples=team.samples,
    )


def _member(worker: Worker) -> Member:
    lent = [f"mcp:{server.name}{f'/{tool}' if tool else ''}" for server in worker.mcp for tool in server.tools or ("",)]
    return Member(
        name=worker.name,
        summary=worker.summary,
        tools=(*(tool.name for tool in worker.tools), *lent, *worker.server_tools),
        kind="person" if worker.person else "function" if worker.run else "agent",
        fallback=worker.fallback,
    )


async def _add_live(found: dict[str, TeamFacts], settings: Settings, timeout_s: float) -> None:
    async with open_bus(settings, timeout_s=timeout_s) as bus:
        served = await served_teams(bus)
        for name in served | set(await bus.queues(streams.REQUESTS)):
            found.setdefault(name, TeamFacts(name=name)).supervised = name in served
        for name, card in await read_cards(bus):
            team = found.setdefault(name, TeamFacts(name=name))
            known = next((member for member in team.workers if member.name == card.worker), None)
            if known is None:
                team.workers.append(Member(name=card.worker, summary=card.summary, tools=card.tools, alive=1))
            else:
                team.workers[team.workers.index(known)] = msgspec.structs.replace(known, alive=known.alive + 1)


def _tell_all(found: list[TeamFacts], *, as_json: bool) -> None:
    if as_json:
        write_json(found)
        return
    rows = [[team.name, _state(team), ", ".join(m.name for m in team.workers), _summary(team)] for team in found]
    table(["team", "state", "workers", "summary"], rows)
    tell("\nmore about one: handoff teams NAME; one of your own: handoff init FOLDER")


def _tell_one(team: TeamFacts, *, as_json: bool) -> None:
    if as_json:
        write_json(team)
        return
    write(f"{team.name}: {_summary(team)} ({_state(team) or 'not running'})\n")
    rows = [[m.name, str(m.alive or ""), m.kind, ", ".join(m.tools), m.summary] for m in team.workers]
    table(["worker", "alive", "kind", "tools", "summary"], rows, whole=True)
    if team.samples:
        write("\nto try:")
    for sample in team.samples:
        write(f"  handoff ask{_flag(team)} {shlex.quote(sample)}")


def _summary(team: TeamFacts) -> str:
    return team.summary or "a team on this bus"


def _state(team: TeamFacts) -> str:
    return "running" if team.supervised else ""


def _flag(team: TeamFacts) -> str:
    """How the team is meant on the command line: one of one's own that does not run is found by its place."""
    own = team.source and not (team.supervised or team.name in shipped.names())
    return team_flag(shlex.quote(_short(team.source)) if own else team.name)


def _short(source: str) -> str:
    """A place as one would type it here."""
    path = Path(source)
    path = path.parent if path.name == shipped.FILE else path
    return f"./{path.relative_to(Path.cwd())}" if path.is_relative_to(Path.cwd()) else str(path)
