"""`handoff cancel`: end a run."""

import asyncio

import click

from actors.bus.jetstream import JetStreamBus
from actors.cli.answer import SHORT
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import tell, write_json
from actors.cli.who import who
from actors.client import Client
from actors.remote_run import Run
from actors.run_index import answer_of, find_run
from protocol.controls import Cancel


@click.command()
@click.argument("run")
@click.option("--reason", default="", help="Why, for the record.")
@click.option("--by", metavar="NAME", help="Who cancels it, if not the user of this process.")
@json_option
@placed
def cancel(place: Place, run: str, reason: str, by: str | None, *, as_json: bool) -> int:
    """End RUN (its id, the first 4 digits or more, or `last`); what is done so far stays in its answer.

    Waits for the end of the run as long as for the bus (--timeout).
    """
    settings = place.reading_settings()

    async def work(bus: JetStreamBus) -> int:
        name = await find_run(bus, run)
        if ended := await answer_of(bus, name):
            sequence, status = None, ended.status
            told = f"had ended already: {status}"
        else:
            async with Client(bus, settings=settings) as client:
                found = client.run(name)
                sequence = await found.control(Cancel(reason=reason, by=who(by)))
                status = await _status(found, place.patience_s)
            told = f"has ended: {status}" if status else "was asked to end; no supervisor has acted on it yet"
        tell(f"run {name[:SHORT]} {told}")
        if as_json:
            write_json({"run": name, "sent": sequence and "cancel", "sequence": sequence, "status": status})
        return 0

    return look(place, work)


async def _status(run: Run, within_s: float) -> str | None:
    """The status of the run's answer; None if it has not ended within this time."""
    try:
        async with asyncio.timeout(within_s):
            return (await run.answer()).status
    except TimeoutError:
        return None
