"""`handoff doctor`: whether everything is in place, and what to do where it is not."""

import asyncio
import sys

import click

from actors.cli.address import write_address
from actors.cli.check import Check
from actors.cli.checks import check_all, unreachable
from actors.cli.exit_code import COMPLETE, FAILED, UNREACHABLE
from actors.cli.interrupt import Interrupt, interruptible
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import clean, console, wrapped, write, write_json
from actors.launcher.session import located

STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command()
@click.option("--show-address", is_flag=True, help="Only print the address of the bus, which holds its password.")
@json_option
@placed
def doctor(place: Place, *, show_address: bool, as_json: bool) -> int:
    """Check Python, server, home, bus, streams, storage, workers and model; one line each, with what to do."""
    settings = place.reading_settings()
    if show_address:
        write_address(asyncio.run(located(settings)).nats_url, as_json=as_json)
        return COMPLETE

    async def work(interrupt: Interrupt) -> int:
        checks = await interrupt.guard(check_all(settings, place.patience_s))
        if as_json:
            write_json(checks)
        else:
            for check in checks:
                _tell(check)
        if unreachable(checks) and settings.nats_url:
            return UNREACHABLE
        return FAILED if any(check.state == "fail" for check in checks) else COMPLETE

    return interruptible(work)


def _tell(check: Check) -> None:
    advice = f": {check.advice}" if check.advice else ""
    line = f"{check.state:<5} {check.name:<12} {check.found}{advice}"
    if not sys.stdout.isatty():
        write(line)
        return
    from rich.text import Text

    screen = console(sys.stdout)
    text = Text(wrapped(clean(line), screen.width))
    text.stylize(STYLES[check.state], 0, len(check.state))
    screen.print(text)
