"""`handoff plan`: what the planner would do with a request, and nothing more."""

import click

from actors.bus.jetstream import JetStreamBus
from actors.cli.failure import CommandError
from actors.cli.given import read_request
from actors.cli.interrupt import Interrupt, interruptible
from actors.cli.opening import Wanted, opened
from actors.cli.options import Place, json_option, placed
from actors.cli.review import estimated
from actors.cli.terminal import tell, write_json
from actors.client import checked
from actors.clock import SystemClock
from actors.launcher.roles import model_for
from actors.model.price import price_usd
from actors.run.limits import Limits
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor.pricing import Pricing
from actors.supervisor.roles.planner import Planner
from actors.supervisor.roles.role import Choice, RoleKit, Situation
from actors.supervisor.roster import Roster
from protocol.events import Planned, PlanRejected
from protocol.messages import Request


@click.command()
@click.argument("text", required=False)
@json_option
@placed
def plan(place: Place, text: str | None, *, as_json: bool) -> int:
    """Print the plan for TEXT as JSON, --json or not. `handoff ask --plan FILE` runs it.

    TEXT comes from standard input if it is - or left out.

    Plans with the workers that are alive; starts a bus and the team for it if none is running. What the plan will come
    to is told on standard error.
    """
    del as_json  # a plan has no other form
    settings = place.settings()
    request = Request(text=read_request(text))
    if not request.text.strip():
        raise click.UsageError('Say what you want: handoff plan "Which region grew fastest?"')
    request = checked(request, settings)
    wanted = Wanted(settings=settings, timeout_s=place.patience_s)
    return interruptible(lambda interrupt: _plan(wanted, request, interrupt))


async def _plan(wanted: Wanted, request: Request, interrupt: Interrupt) -> int:
    async with opened(wanted, interrupt) as (bus, settings):
        outcome = await interrupt.guard(_planned(bus, settings, request))
    if isinstance(outcome, Planned):
        write_json(outcome.plan)
        tell(estimated(outcome))
        return 0
    raise CommandError([f"no plan: {fault.removeprefix('there is no plan: ')}" for fault in outcome.faults])


async def _planned(bus: JetStreamBus, settings: Settings, request: Request) -> Planned | PlanRejected:
    """As many tries as a run would have, each told what was wrong before."""
    workers = await Roster(bus, SystemClock(), settings.team).live()
    if not workers:
        return PlanRejected(faults=(f"no worker of team {settings.team!r} is alive",))
    faults: tuple[str, ...] = ()
    async with model_for(settings) as model:
        planner = Planner(RoleKit(model=model, settings=settings, pricing=Pricing(price_usd, settings)))
        for _ in range(settings.plan_tries):
            now = SystemClock().now()
            situation = Situation(request=request, state=RunState(Limits()), now=now, choice=Choice(workers=workers))
            outcome = await planner.plan(situation, faults)
            if isinstance(outcome, Planned) or outcome.hopeless:
                return outcome
            faults = outcome.faults
    return PlanRejected(faults=faults)
