"""`handoff supervisor`, `handoff worker` and `handoff model`: one actor, in the foreground."""

from pathlib import Path
from typing import Unpack

import click

from actors.cli.options import Place, placed
from actors.launcher import port as ports
from actors.launcher import roles
from protocol.errors import InvalidError


@click.command()
@placed
def supervisor(place: Place) -> int:
    """Be a supervisor of the team. Without NATS_URL it works on the embedded bus, and waits until that is there."""
    return roles.supervisor(place.settings(), place.timeout_s)


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--data", type=click.Path(path_type=Path), help="Folder that the tools work on.")
@placed
def worker(place: Place, names: tuple[str, ...], data: Path | None) -> int:
    """Be one worker or several: names of the team, module:worker, or path/to/file.py:worker.

    Any number of processes may be the same worker: they share its tasks. Without NATS_URL it works on the embedded bus,
    and waits until that is there.
    """
    settings = place.settings(data=str(data.absolute()) if data else None)
    return roles.worker(settings, names, place.timeout_s)


@click.command()
@click.option("--host", default=ports.HOST, show_default=True, help="Address to listen on; it asks nobody for a key.")
@click.option("--port", type=int, default=0, help="Where to listen; a free port without it.")
@click.option("--script", type=click.Path(path_type=Path), help="Answer by this script before the rules.")
@click.option("--requests", type=click.Path(path_type=Path), help="Write every request to this file.")
@click.option("--profile", default="", help="Play this model for every request: sonnet-5-5, haiku-5-5, unknown ...")
@placed
def model(place: Place, **options: Unpack[roles.ModelOptions]) -> int:
    """Be the offline model: a local server that speaks the Messages API. Prints its address."""
    port, host = options["port"], options["host"]
    if fault := ports.fault(port, host):
        raise InvalidError([f"port {port} of {host} {fault}: choose another one, or leave it out"])
    return roles.model(place.reading_settings(), options)
