"""The home of the embedded bus: a directory with its store, its password and where it listens."""

import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from protocol.errors import InvalidError

STORE_BYTES = 10 * 1000**3
"""The most that the store may grow to, on a disk that has more than that."""


class BusAddress(msgspec.Struct, frozen=True, kw_only=True):
    """Where an embedded bus listens. The url holds the password; `started` is a Unix time; `owner` is a pid."""

    url: str
    pid: int
    port: int
    started: float
    owner: int = 0


class Home:
    """The files of one embedded bus. What can be secret is readable by its owner only."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.store = self.root / "jetstream"
        self.config = self.root / "nats-server.conf"
        self.log = self.root / "nats-server.log"
        self.state = self.root / "bus.json"
        self.secret = self.root / "password"
        self.lock = self.root / "lock"
        self.users = self.root / "users"

    @property
    def server_name(self) -> str:
        """What the server of this home calls itself, so that another one on its port is not mistaken for it."""
        return "handoff-" + hashlib.sha256(str(self.root.resolve()).encode()).hexdigest()[:16]

    def prepare(self) -> None:
        """Make the directories; InvalidError if they cannot be used, or if another user can use them."""
        for folder in (self.root, self.store):
            with self.told(folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if fault := privacy_fault(folder):
                    raise InvalidError([fault])
                if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
                    raise PermissionError(13, "no permission to write")

    def password(self) -> str:
        """The password of this home, made the first time it is asked for. Only the holder of the lock may ask."""
        with self.told(self.secret):
            if not self.secret.exists():
                _write_private(self.secret, secrets.token_hex(24))
            return self.secret.read_text(encoding="utf-8").strip()

    def write_config(self, text: str) -> None:
        """Replace the configuration of the server."""
        with self.told(self.config):
            _write_private(self.config, text)

    def write_address(self, address: BusAddress) -> None:
        """Let others find the bus."""
        with self.told(self.state):
            _write_private(self.state, msgspec.json.encode(address).decode())

    def address(self) -> BusAddress | None:
        """Where the bus was last, whether it still lives or not."""
        try:
            return msgspec.json.decode(self.state.read_bytes(), type=BusAddress)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def store_limit(self) -> int:
        """How many bytes the store may hold: less than the disk, as a full disk stops the server without a word."""
        with self.told(self.store):
            used = sum(file.stat().st_size for file in self.store.rglob("*") if file.is_file())
            return min(STORE_BYTES, used + shutil.disk_usage(self.store).free * 9 // 10)

    def last_log_lines(self, count: int = 8) -> str:
        """The end of the server's log, for a person."""
        try:
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])
        except OSError:
            return ""

    @contextmanager
    def told(self, path: Path) -> Generator[None]:
        """Turn a refusal of the file system into an InvalidError that says what to do."""
        try:
            yield
        except OSError as error:
            fault = (
                f"the embedded bus cannot use {path}: {error.strerror or type(error).__name__}; "
                "make it writable, or set HANDOFF_HOME to a directory that is"
            )
            raise InvalidError([fault]) from error


def privacy_fault(folder: Path) -> str | None:
    """Why a folder is not private to this user; None if it is, or if there is no such folder."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return None
    other = "set HANDOFF_HOME to a folder of your own"
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to user {found.st_uid}, and this process runs as user {os.geteuid()}: {other}"
    if mode := stat.S_IMODE(found.st_mode) & 0o077:
        return f"{folder} is open to other users (mode {mode | 0o700:04o}): run `chmod 700 {folder}`, or {other}"
    return None


def _write_private(path: Path, text: str) -> None:
    # By renaming, so that a reader finds the old text or the new one, and never a file that others may read.
    draft = path.with_name(path.name + ".new")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        os.fchmod(fd, 0o600)
        file.write(text)
    draft.replace(path)
