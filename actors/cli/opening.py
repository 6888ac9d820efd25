"""Opening: the bus and the team that a request needs, found or started; nothing is started for a bad request."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import msgspec

from actors import teams
from actors.bus.jetstream import JetStreamBus
from actors.bus.jetstream.connection import shown
from actors.cli.interrupt import Interrupt, InterruptedByUser
from actors.cli.terminal import tell
from actors.cli.wording import ceiling, count
from actors.clock import SystemClock
from actors.launcher.embedded import find
from actors.launcher.finding import find_team, is_defined
from actors.launcher.session import SETTLE_S, Crew, Session, becomes_served, open_bus
from actors.model.price import price_usd
from actors.registry import knows_team, served_teams
from actors.run.offline import empty_variables
from actors.run.plan_check import named, unknown_workers
from actors.settings import Settings
from actors.supervisor.pricing import Pricing
from actors.supervisor.roster import Roster, read_cards, troubles
from protocol.errors import InvalidError, UnservedError
from protocol.messages import Budget, Plan

LOOK_S = 0.2


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a command needs: `start` whether a team may be started, `own_data` whether it must be one of our own.

    On a bus that was named (NATS_URL) no team is ever started: it belongs to others.
    """

    settings: Settings
    plan: Plan | None = None
    budget: Budget = Budget()
    start: bool = True
    own_data: bool = False
    timeout_s: float = 5.0


@asynccontextmanager
async def opened(wanted: Wanted, interrupt: Interrupt) -> AsyncGenerator[tuple[JetStreamBus, Settings]]:
    """The bus, with a team that serves it as far as `wanted` allows, and the settings to reach it by."""
    settings = wanted.settings
    check_before(wanted)
    async with AsyncExitStack() as stack:
        if not wanted.start or settings.nats_url:
            bus = await interrupt.guard(
                stack.enter_async_context(open_bus(settings, timeout_s=wanted.timeout_s, waiting=tell))
            )
            await interrupt.guard(_check_served(bus, settings))
            await _check_running(bus, wanted)
            await tell_troubles(bus, settings.team)
            yield bus, settings
            return
        session = Session(settings, timeout_s=wanted.timeout_s, waiting=tell)
        await interrupt.guard(stack.enter_async_context(session))
        await interrupt.guard(_check_known(session.bus, settings))
        if await interrupt.guard(session.team_is_there()):
            await _check_running(session.bus, wanted)
        else:
            await _check_startable(session.bus, wanted)
            tell(_starting(session, wanted.budget))
            tell_if_offline(settings)
            await interrupt.guard(session.start_team(Crew()))
        await tell_troubles(session.bus, settings.team)
        yield session.bus, session.settings
        await _until_unused(session, interrupt)


def tell_if_offline(settings: Settings) -> None:
    """Say that the offline model answers, if a key was meant."""
    if settings.offline and (reason := empty_variables(os.environ)):
        tell(f"the offline model answers: {reason}. Set a key, or unset the variable.")


async def tell_troubles(bus: JetStreamBus, team: str) -> None:
    """Say what workers of the team lack, which may be the reason for a poor answer."""
    for line in troubles(await read_cards(bus, team)):
        tell(line)


def check_before(wanted: Wanted) -> None:
    """Everything that can be said before there is a bus."""
    settings = wanted.settings
    defined = is_defined(settings)
    if defined:
        find_team(settings)
    if settings.nats_url or find(settings.home_dir):
        return
    if wanted.start and not defined:
        raise InvalidError([teams.unknown(settings.team, teams.names())])
    if wanted.start and wanted.plan:
        _refuse(unknown_workers(wanted.plan, _names(settings)))


async def _check_served(bus: JetStreamBus, settings: Settings) -> None:
    """Refuse before anything is stored if no supervisor would take the request."""
    team = settings.team
    await _check_known(bus, settings)
    if await becomes_served(bus, team, SETTLE_S):
        return
    raise UnservedError(team, shown(settings.nats_url) if settings.nats_url else str(settings.home_dir))


async def _check_known(bus: JetStreamBus, settings: Settings) -> None:
    """Refuse a team that is neither defined here nor known on the bus: no supervisor of it can be starting."""
    if not is_defined(settings) and not await knows_team(bus, settings.team):
        await _refuse_unknown(bus, settings.team)


async def _refuse_unknown(bus: JetStreamBus, team: str) -> None:
    _refuse([teams.unknown(team, sorted(await served_teams(bus) | set(teams.names())))])


async def _check_running(bus: JetStreamBus, wanted: Wanted) -> None:
    if wanted.own_data:
        fault = (
            f"a team {wanted.settings.team!r} is running already, on data of its own: leave --data out, or stop it, "
            "or use another --home for a team of your own"
        )
        raise InvalidError([fault])
    if wanted.plan:
        roster = Roster(bus, SystemClock(), wanted.settings.team)
        unknown = set(await roster.unknown(named(wanted.plan)))
        _refuse(unknown_workers(wanted.plan, roster.known) if unknown else [])


async def _check_startable(bus: JetStreamBus, wanted: Wanted) -> None:
    settings = wanted.settings
    if not is_defined(settings):
        await _refuse_unknown(bus, settings.team)
    if wanted.plan:
        live = await Roster(bus, SystemClock(), settings.team).live()
        _refuse(unknown_workers(wanted.plan, _names(settings) | set(live)))


def _refuse(faults: list[str]) -> None:
    if faults:
        raise InvalidError(faults)


def _names(settings: Settings) -> set[str]:
    return {worker.name for worker in find_team(settings).workers}


def _starting(session: Session, budget: Budget) -> str:
    settings = session.settings
    workers = count(len(_names(settings)), "worker")
    bus = "an embedded bus and " if session.owns_bus else ""
    model = "offline model" if settings.offline else _ceiling(settings, budget)
    return f"starting {bus}team {settings.team!r} ({workers}, {model})"


def _ceiling(settings: Settings, budget: Budget) -> str:
    """What the first line says about the dollars of the run that follows."""
    agents = [worker for worker in find_team(settings).workers if worker.run is None and not worker.person]
    prices = Pricing(price_usd, settings).known(worker.model or settings.model_worker for worker in agents)
    return ceiling(settings.budget.usd if budget.usd is None else budget.usd, prices) or "at no cost"


async def _until_unused(session: Session, interrupt: Interrupt) -> None:
    """A bus of our own that another command still uses stays until that one has ended, or somebody is impatient."""
    if session.let_nobody_in():
        return
    tell("another command still uses the bus that this one started: it stays until that one ends (Ctrl-C to stop now)")

    async def free() -> None:
        while not session.let_nobody_in():
            await asyncio.sleep(LOOK_S)

    if interrupt.wished:
        await free()
    with suppress(InterruptedByUser):
        await interrupt.guard(free())
