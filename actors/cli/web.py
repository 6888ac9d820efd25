"""`handoff web`: runs and their traces in a browser."""

import click

from actors.cli.options import Place, placed
from actors.launcher import port as ports
from actors.launcher import roles
from protocol.errors import InvalidError

PORT = 8080


@click.command()
@click.option(
    "--host", default=ports.HOST, show_default=True, help="Address to listen on; nobody is asked for a password."
)
@click.option("--port", type=int, default=PORT, show_default=True, help="Where to listen; 0 for a free port.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="A further host name that it answers to.")
@placed
def web(place: Place, host: str, port: int, names: tuple[str, ...]) -> int:
    """Show runs and their traces in a browser. It reads, and changes nothing. Prints its address.

    It answers to 127.0.0.1, localhost, the address it listens on, and every --name; other names are refused.
    """
    if fault := ports.fault(port, host):
        raise InvalidError([f"port {port} of {host} {fault}: choose another one with --port"])
    return roles.web(place.reading_settings(), host, port, (host, *names), place.timeout_s)
