"""The paper that a talk is written on: lines on standard output; on a terminal, a prompt that stays below them."""

import shutil
import sys

from actors.cli.terminal import clean, one_line, wrapped, write

CLEAR = "\r\x1b[K"


class Paper:
    """Puts lines above the prompt, and keeps them while somebody else has the terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        self._is_terminal = is_terminal
        self._prompt = ""
        self._away = False
        self._kept: list[str] = []

    def say(self, text: str) -> None:
        """Write one or several lines."""
        if self._away:
            self._kept.append(text)
            return
        if self._prompt:
            sys.stdout.write(CLEAR)
        write(wrapped(clean(text), self._width) if self._is_terminal else text)
        sys.stdout.write(self._prompt)
        sys.stdout.flush()

    def say_briefly(self, text: str) -> None:
        """Write one line, cut where a terminal ends."""
        self.say(one_line(text, self._width - 1) if self._is_terminal else text)

    @property
    def _width(self) -> int:
        return shutil.get_terminal_size().columns

    def prompt(self, text: str) -> None:
        """Show that a line is waited for; empty: not any more."""
        self._prompt = text if self._is_terminal else ""
        sys.stdout.write(self._prompt)
        sys.stdout.flush()

    def end(self) -> None:
        """Leave the line of the prompt, if there is one."""
        if self._prompt:
            sys.stdout.write("\n")
        self._prompt = ""

    def put_away(self) -> None:
        """Leave the terminal to somebody else."""
        self._away = True

    def bring_back(self) -> None:
        """Take it back, with what was said meanwhile."""
        self._away = False
        kept, self._kept = self._kept, []
        for text in kept:
            self.say(text)
