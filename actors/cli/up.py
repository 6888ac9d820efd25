"""`handoff up`: a bus and a team as processes of their own, looked after until somebody ends it."""

import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypedDict, Unpack

import click

from actors.cli.address import write_address
from actors.cli.interrupt import Interrupt, InterruptedByUser, interruptible
from actors.cli.opening import tell_if_offline, tell_troubles
from actors.cli.options import Place, placed
from actors.cli.terminal import table, tell
from actors.cli.wording import seconds, team_flag
from actors.launcher.embedded import find
from actors.launcher.event import Kind
from actors.launcher.finding import find_team
from actors.launcher.session import Crew, Session
from actors.settings import Settings
from protocol.errors import InvalidError

WORDS: dict[Kind, str] = {
    "died": "died",
    "restarted": "is back",
    "failed": "cannot be started",
    "gave_up": "has given up",
}


class Options(TypedDict):
    """What can be said about the team."""

    data: Path | None
    port: int | None
    supervisors: int
    instances: int
    show_address: bool


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder that the team's tools work on.")
@click.option("--port", type=int, help="Port of the embedded bus; a free one without it.")
@click.option("--supervisors", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option("--instances", type=click.IntRange(1, 64), default=1, show_default=True, help="Of each worker.")
@click.option("--show-address", is_flag=True, help="Print the address of the bus, which holds its password.")
@placed
def up(place: Place, **options: Unpack[Options]) -> int:
    """Run a bus and a team until Ctrl-C: each actor a process of its own, restarted when it dies.

    With NATS_URL (or --nats) the team works on that bus and none is started. With --show-address the line for other
    shells goes to standard output; everything else goes to standard error.
    """
    data = options["data"]
    settings = place.settings(data=str(data.absolute()) if data else None, port=options["port"])
    find_team(settings)
    crew = Crew(supervisors=options["supervisors"], instances=options["instances"])
    show = options["show_address"]
    return interruptible(lambda interrupt: _up(settings, crew, interrupt, place.patience_s, show_address=show))


async def _up(settings: Settings, crew: Crew, interrupt: Interrupt, timeout_s: float, *, show_address: bool) -> int:
    began = time.monotonic()
    events = Events()
    try:
        async with AsyncExitStack() as stack:
            session = Session(settings, on_event=events.told, timeout_s=timeout_s, waiting=tell)
            await interrupt.guard(stack.enter_async_context(session))
            if not settings.nats_url and not session.owns_bus and await interrupt.guard(session.team_is_there()):
                raise InvalidError([_already(session.settings)])
            tell(f"starting team {settings.team!r}" + (" with the offline model" if settings.offline else ""))
            tell_if_offline(settings)
            fleet = await interrupt.guard(session.start_team(crew))
            _tell_ready(session, events.pids | fleet.pids(), time.monotonic() - began)
            if show_address:
                write_address(session.settings.nats_url)
            await interrupt.guard(tell_troubles(session.bus, settings.team))
            events.tell = True
            await interrupt.comes()
            events.tell = False
            tell("stopping (Ctrl-C again to stop now)")
    except InterruptedByUser:
        pass
    tell("stopped")
    return 0


class Events:
    """Tells what happens to the actors, once they are all there."""

    def __init__(self) -> None:
        self.tell = False
        self.pids: dict[str, int] = {}

    def told(self, kind: Kind, name: str, pid: int, detail: str) -> None:
        """Take note of one event."""
        if kind in ("started", "restarted"):
            self.pids[name] = pid
        if kind in WORDS and (self.tell or kind in ("failed", "gave_up")):
            number = f" (pid {pid})" if pid else ""
            reason = f": {detail}" if detail else ""
            tell(f"{time.strftime('%H:%M:%S')} {name}{number} {WORDS[kind]}{reason}")


def _tell_ready(session: Session, pids: dict[str, int], took_s: float) -> None:
    table(["actor", "pid"], [[name, str(pid)] for name, pid in pids.items()], sys.stderr)
    tell(f"\nready after {seconds(took_s)}; logs in {session.settings.home_dir / 'logs'}")
    tell(f'ask from another terminal:  handoff ask{team_flag(session.settings.team)} "..."')
    tell("address for other programs, with its password:  handoff doctor --show-address")


def _already(settings: Settings) -> str:
    found = find(settings.home_dir)
    owner = f" by process {found.owner}" if found else ""
    return (
        f"team {settings.team!r} is running here already, started{owner}: ask it with `handoff ask`, add to it with "
        "`handoff worker NAME`, or set HANDOFF_HOME to another directory"
    )
