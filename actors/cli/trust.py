"""`handoff trust`: let a configuration file set addresses, paths and teams."""

from pathlib import Path

import click
import msgspec

from actors.cli.options import CONFIG, Place, json_option, placed
from actors.cli.terminal import tell, write_json
from actors.launcher.trust import TrustStore, open_config
from actors.settings import read_settings
from protocol.errors import InvalidError

SECRETS = {"anthropic_api_key"}


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=CONFIG)
@click.option("--revoke", is_flag=True, help="Trust it no longer.")
@json_option
@placed
def trust(place: Place, file: Path, *, revoke: bool, as_json: bool) -> int:
    """Trust FILE (handoff.toml) as it is now: its addresses, paths and teams count. After a change, trust it again.

    Without trust only its limits count. In containers and CI, HANDOFF_TRUST=1 does the same.
    """
    config = open_config(file, {}, place.trust_home)
    if config is None:
        raise InvalidError([f"there is no file {file}"])
    store = TrustStore(place.trust_home)
    if revoke:
        store.remove(config)
    else:
        read_settings({}, file=msgspec.structs.replace(config, trusted=True))  # a file with faults is not worth trust
        store.add(config)
    names = [] if revoke else config.sensitive()
    if as_json:
        write_json({"file": str(file.absolute()), "trusted": not revoke, "settings": names})
    elif revoke:
        tell(f"{file} is not trusted any more")
    else:
        tell(f"{file} is trusted until it changes; it sets:")
        for name in names:
            tell(f"  {name} = {_shown(name, config.values()[name])}")
    return 0


def _shown(name: str, value: object) -> str:
    """A value for a person to check; secrets in it are left out."""
    if name in SECRETS:
        return "(a key)"
    if isinstance(value, str) and "@" in value:
        from actors.bus.jetstream.connection import shown

        return shown(value)
    return repr(value)
