"""Locks on files, which the kernel lets go when their holder dies, however it dies."""

import fcntl
import os
from pathlib import Path


class FileLock:
    """An advisory lock on a file; a process that inherits its descriptor holds it as well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds it."""
        return self._fd is not None

    def fileno(self) -> int:
        """The descriptor of a lock that is held."""
        if self._fd is None:
            raise ValueError(f"{self._path} is not locked")
        return self._fd

    def take(self, *, shared: bool = False) -> bool:
        """Take it if that is possible at once; whether it is held now."""
        if self._fd is not None:
            return True
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return True

    def release(self) -> None:
        """Let go of it. Only closes: to unlock would take it from a process that inherited it, too."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
