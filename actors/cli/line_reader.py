"""Lines from standard input, read only while somebody waits for one: in between it may belong to an editor."""

import asyncio
import os
import stat

SIZE = 65536


class LineReader:
    """Gives one line after the other; EOFError at the end."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._held = b""
        mode = os.fstat(file).st_mode
        self._can_wait = os.isatty(file) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)

    async def line(self, prompt: str = "") -> str:  # noqa: ARG002  a pipe shows no prompt
        """The next line, without its end."""
        while b"\n" not in self._held:
            data = await self._read()
            if not data and not self._held:
                raise EOFError
            self._held += data or b"\n"
        line, _, self._held = self._held.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    async def _read(self) -> bytes:
        if self._can_wait:
            loop, ready = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(self._file, ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_reader(self._file)
        return os.read(self._file, SIZE)
