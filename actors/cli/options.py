"""Options that commands have in common, and the settings that follow from them."""

import contextlib
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

import click

from actors.cli.terminal import tell
from actors.launcher.team_settings import read_team_settings
from actors.launcher.trust import open_config
from actors.settings import ConfigFile, Settings
from observability.logs import configure_logs
from protocol.errors import InvalidError

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

CONFIG = Path("./handoff.toml")
POSITIVE = click.FloatRange(min=0, min_open=True)


class Place:
    """Where a command works: which bus, which home, which team. `timeout_s` is None unless it was given."""

    def __init__(self, flags: dict[str, Any], timeout_s: float | None, *, verbose: bool) -> None:
        self._flags = {name: value for name, value in flags.items() if value is not None}
        self.timeout_s = timeout_s
        self.verbose = verbose

    @property
    def patience_s(self) -> float:
        """How long to wait for a bus that is not there."""
        return 5.0 if self.timeout_s is None else self.timeout_s

    def given(self, name: str) -> bool:
        """Whether a setting was given as a flag."""
        return name in self._flags

    def settings(self, **more: Any) -> Settings:
        """All settings: flags, environment, team, then a trusted `handoff.toml`; InvalidError with every fault."""
        return self._read(more, imports=True)

    def reading_settings(self) -> Settings:
        """The settings of a command that only reads or controls runs: no code of a team is imported for it."""
        return self._read({}, imports=False)

    @functools.cached_property
    def trust_home(self) -> Path:
        """The home whose trusted files count; a configuration file has no say in it."""
        return Settings(home=str(self._flags.get("home") or os.environ.get("HANDOFF_HOME", ""))).home_dir

    def _read(self, more: dict[str, Any], *, imports: bool) -> Settings:
        settings = read_team_settings(os.environ, file=self._config, flags=self._flags | more, imports=imports)
        for url in settings.nats_url.split(","):
            if not _is_address(url):
                raise InvalidError(["the address of the bus is not one: use nats://host:port (NATS_URL, --nats)"])
        context = click.get_current_context()
        context.find_root().ensure_object(dict)["home"] = settings.home_dir
        return settings

    @functools.cached_property
    def _config(self) -> ConfigFile | None:
        """The file in the current folder; says once which of its settings do not count."""
        file = open_config(CONFIG, os.environ, self.trust_home)
        with contextlib.suppress(InvalidError):  # what is wrong with the file is said with all other faults
            if file and (ignored := file.ignored()):
                tell(f"handoff: {CONFIG} is not trusted, ignored: {', '.join(ignored)}. To trust it: handoff trust")
        return file


def _is_address(url: str) -> bool:
    """Whether it can be an address; none at all is one, too."""
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        return not url or (bool(parts.hostname) and parts.port != 0)
    except ValueError:
        return False


def placed(command: Callable[Concatenate[Place, P], int]) -> Callable[P, int]:
    """Give a command the options that say where, as one Place in front of its own."""

    @click.option("--nats", metavar="URL", help="Address of the bus (NATS_URL).")
    @click.option("--home", metavar="DIR", help="Where the embedded bus lives (HANDOFF_HOME).")
    @click.option("--team", metavar="TEAM", help="A name, a team file or its folder, or module:team (HANDOFF_TEAM).")
    @click.option("--timeout", type=POSITIVE, metavar="S", help="How long to wait for the bus.")
    @click.option("--verbose", is_flag=True, help="Show what goes on inside.")
    @functools.wraps(command)
    def call(*args: P.args, **kwargs: P.kwargs) -> int:
        flags = {"nats_url": kwargs.pop("nats"), "home": kwargs.pop("home"), "team": kwargs.pop("team")}
        timeout, verbose = kwargs.pop("timeout"), kwargs.pop("verbose")
        configure_logs("debug" if verbose else "error")
        place = Place(flags, timeout if isinstance(timeout, float) else None, verbose=bool(verbose))
        return command(place, *args, **kwargs)

    return call


def json_option(command: F) -> F:
    """Let a reading command print data instead of words."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)
