"""Writes the lines of a conversation to standard output, and holds them back while an editor has the terminal."""

import shutil
import sys

from actors.cli.terminal import clean, one_line, wrapped, write


class Paper:
    """Writes lines, fitted to the terminal if there is one."""

    def __init__(self, *, is_terminal: bool) -> None:
        self._is_terminal = is_terminal
        self._away = False
        self._kept: list[str] = []

    def say(self, text: str) -> None:
        """Write one or several lines."""
        if self._away:
            self._kept.append(text)
            return
        write(wrapped(clean(text), self._width) if self._is_terminal else text)
        sys.stdout.flush()

    def say_briefly(self, text: str) -> None:
        """Write one line, cut where a terminal ends."""
        self.say(one_line(text, self._width - 1) if self._is_terminal else text)

    @property
    def _width(self) -> int:
        return shutil.get_terminal_size().columns

    def put_away(self) -> None:
        """Leave the terminal to another program."""
        self._away = True

    def bring_back(self) -> None:
        """Take the terminal back, and write what was said meanwhile."""
        self._away = False
        kept, self._kept = self._kept, []
        for text in kept:
            self.say(text)
