"""`handoff cancel`: end a run."""

import asyncio

import click

from actors.bus.jetstream import JetStreamBus
from actors.cli.answer import SHORT
from actors.cli.looking import look
from actors.cli.options import Place, placed
from actors.cli.terminal import tell
from actors.cli.who import who
from actors.client import Client
from actors.run_index import answer_of, find_run

WAIT_S = 5.0


@click.command()
@click.argument("run")
@click.option("--reason", default="", help="Why, for the record.")
@click.option("--by", metavar="NAME", help="Who cancels it, if not the user of this process.")
@placed
def cancel(place: Place, run: str, reason: str, by: str | None) -> int:
    """End RUN (its id, the first 4 digits or more, or `last`); what is done so far stays in its answer."""
    settings = place.reading_settings()

    async def work(bus: JetStreamBus) -> int:
        name = await find_run(bus, run)
        if ended := await answer_of(bus, name):
            tell(f"run {name[:SHORT]} had ended already: {ended.status}")
            return 0
        async with Client(bus, settings=settings) as client:
            found = client.run(name)
            await found.cancel(reason, by=who(by))
            try:
                async with asyncio.timeout(WAIT_S):
                    answer = await found.answer()
            except TimeoutError:
                tell(f"run {name[:SHORT]} was asked to end; nobody has taken it up yet")
            else:
                tell(f"run {name[:SHORT]} has ended: {answer.status}")
        return 0

    return look(place, work)
