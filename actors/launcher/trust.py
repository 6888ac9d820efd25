"""Which configuration files a person trusts. Anyone may have put the `handoff.toml` of the current folder there.

The store is a folder in the home of Handoff. Each file in it is named after the digest of a path and its content, so a
file that was changed or copied is not trusted until a person trusts it again.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from actors.launcher.home import Home, privacy_fault
from actors.setting_rules import TRUST
from actors.settings import ConfigFile
from protocol.errors import InvalidError

MAX_BYTES = 1_000_000


def open_config(path: Path, environment: Mapping[str, str], home: Path) -> ConfigFile | None:
    """The configuration file at a path, trusted or not; None if there is none."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidError([f"{path}: {error.strerror}"]) from error
    if len(data) > MAX_BYTES:
        raise InvalidError([f"{path} has more than {MAX_BYTES:,} bytes"])
    file = ConfigFile(path=path, data=data)
    trusted = _by_environment(environment) or TrustStore(home).holds(file)
    return msgspec.structs.replace(file, trusted=trusted)


class TrustStore:
    """The digests of the trusted files of one home."""

    def __init__(self, home: Path) -> None:
        self._home = Home(home)
        self._folder = self._home.root / "trusted"

    def holds(self, file: ConfigFile) -> bool:
        """Whether a person trusted this path with this content. A store that others can write to holds nothing."""
        entry = self._entry(file)
        return entry.is_file() and not any(privacy_fault(folder) for folder in (self._home.root, self._folder))

    def add(self, file: ConfigFile) -> None:
        """Trust a file as it is now."""
        self._home.prepare()
        with self._home.told(self._folder):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if fault := privacy_fault(self._folder):
                raise InvalidError([fault])
            self._entry(file).write_text(f"{file.path.resolve()}\n", encoding="utf-8")

    def remove(self, file: ConfigFile) -> None:
        """Trust a file no longer, whatever it contained when it was trusted."""
        path = f"{file.path.resolve()}\n"
        with self._home.told(self._folder):
            for entry in self._folder.glob("*"):
                if entry.read_text(encoding="utf-8") == path:
                    entry.unlink()

    def _entry(self, file: ConfigFile) -> Path:
        digest = hashlib.sha256(str(file.path.resolve()).encode(errors="surrogateescape") + b"\0" + file.data)
        return self._folder / digest.hexdigest()


def _by_environment(environment: Mapping[str, str]) -> bool:
    try:
        return msgspec.convert(environment.get(TRUST) or "0", bool, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidError([f"{TRUST}: must be 1 or 0 (got {environment[TRUST]!r})"]) from error
