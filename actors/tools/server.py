"""A tool server: a program that speaks the Model Context Protocol and lends its tools to a worker."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from urllib.parse import urlsplit

from protocol.errors import InvalidError
from protocol.ids import token_fault

TIMEOUT_S = 30.0
ALL = "*"

_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class ToolServer:
    """Either a command that is started and spoken to through its pipes, or the URL of one that runs already.

    `tools` names the only ones that are taken; empty takes all. `env` is for a command, `headers` for a URL; neither
    is ever shown. `timeout_s` is how long one call may take. `cwd` is the folder that a command is started in, empty:
    where we are. `confirm` names those that a person must allow before each call, `*` all.
    """

    name: str
    _: KW_ONLY
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=lambda: _NOTHING, repr=False)
    headers: Mapping[str, str] = field(default_factory=lambda: _NOTHING, repr=False)
    tools: tuple[str, ...] = ()
    timeout_s: float = TIMEOUT_S
    cwd: str = ""
    confirm: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # A list is what people write.
        object.__setattr__(self, "command", _words(self.command))
        object.__setattr__(self, "tools", _words(self.tools))
        object.__setattr__(self, "confirm", _words(self.confirm))
        if faults := _faults(self):
            raise InvalidError(faults)

    def wants(self, tool: str) -> bool:
        """Whether the tool of that name is one of those that are taken."""
        return not self.tools or tool in self.tools

    def asks_before(self, tool: str) -> bool:
        """Whether a person must allow each call of that tool."""
        return ALL in self.confirm or tool in self.confirm


def _words(given: tuple[str, ...]) -> tuple[str, ...]:
    # A lone string would fall apart into letters; it is told as a fault instead.
    return given if isinstance(given, str) else tuple(given)


def _faults(server: ToolServer) -> list[str]:
    named = f"tool server {server.name!r}"
    faults = [fault for fault in [token_fault("tool server", server.name)] if fault]
    faults += [
        f"{named}: {what} must be a list of words, such as [{example}]"
        for what, given, example in (
            ("command", server.command, '"python", "-m", "my_server"'),
            ("tools", server.tools, '"read_file"'),
            ("confirm", server.confirm, '"write_file"'),
        )
        if isinstance(given, str)
    ]
    if bool(server.command) == bool(server.url):
        faults.append(f"{named} needs either a command to start or the url of one that runs, and not both")
    if server.url and not _is_http(server.url):
        faults.append(f"{named}: {server.url!r} is no address of a server; write http://… or https://…")
    if server.env and not server.command:
        faults.append(f"{named}: env is for a command; a server behind a url takes headers")
    if server.headers and not server.url:
        faults.append(f"{named}: headers are for a url; a command takes env")
    if server.cwd and not server.command:
        faults.append(f"{named}: cwd is for a command; a server behind a url has its own folder")
    if not 0 < server.timeout_s < math.inf:
        faults.append(f"{named}: timeout_s must be above 0 (got {server.timeout_s:g})")
    return faults


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
