"""`handoff runs`: the newest runs, one line each."""

import time

import click

from actors.bus.jetstream import JetStreamBus
from actors.cli.answer import SHORT
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import table, tell, write_json
from actors.cli.wording import age, seconds
from actors.run_index import Summary, newest

HEADERS = ["run", "status", "age", "took", "done", "team", "request"]


@click.command()
@click.option("--limit", type=click.IntRange(min=1, max=1000), default=20, show_default=True, help="How many.")
@json_option
@placed
def runs(place: Place, limit: int, *, as_json: bool) -> int:
    """The newest runs, those under way and those that wait included; --team limits them to one team."""
    team = place.settings().team if place.given("team") else ""

    async def work(bus: JetStreamBus) -> int:
        found = await newest(bus, limit, team)
        if as_json:
            write_json(found)
        elif found:
            now = time.time()
            table(HEADERS, [_row(summary, now) for summary in found])
        else:
            tell('no runs yet: begin with handoff ask "..."')
        return 0

    return look(place, work)


def _row(summary: Summary, now: float) -> list[str]:
    return [
        summary.run[:SHORT],
        summary.status,
        age(now - summary.began),
        "" if summary.seconds is None else seconds(summary.seconds),
        f"{summary.done}/{summary.tasks}" if summary.tasks else "",
        summary.team,
        summary.text[:300],
    ]
