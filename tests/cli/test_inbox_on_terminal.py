"""What a person sees who types an answer at a terminal while a handoff arrives."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import LIMIT_S

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "tests.cli.inbox_on_terminal")
STYLES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")

pytestmark = pytest.mark.process


class Terminal:
    """A pseudo-terminal of 80 columns with the program on it; `shown` is all that it wrote, without styles."""

    def __init__(self) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
        environment = os.environ | {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "PYTHONPATH": path}
        self.process = subprocess.Popen(
            PROGRAM, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=ROOT, start_new_session=True
        )
        os.close(slave)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until_shown(self, pattern: str, after: int = 0) -> int:
        """Read until the pattern appears behind that place; the value is where it ends."""
        ends = time.monotonic() + LIMIT_S
        while not (found := re.compile(pattern).search(self.shown, after)):
            assert time.monotonic() < ends, f"{pattern!r} was not shown:\n{self.shown}"
            if select.select([self._master], [], [], 1.0)[0]:
                data = os.read(self._master, 65536).decode(errors="replace")
                self.shown += STYLES.sub("", data)
        return found.end()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


def test_an_arriving_handoff_leaves_the_half_typed_answer_in_sight(terminal: Terminal) -> None:
    terminal.until_shown(">")
    terminal.type("a 1 half a sent")
    typed = terminal.until_shown("sent")
    terminal.process.send_signal(signal.SIGUSR1)
    arrived = terminal.until_shown("new: 1 ", after=typed)
    terminal.until_shown("> a 1 half a sent", after=arrived)
    terminal.type("ence\r")
    terminal.until_shown("report: completed")
    terminal.type("q\r")
    terminal.until_shown(re.escape("outcome: ('completed', 'half a sentence', 'ada')"))
    assert terminal.process.wait(LIMIT_S) == 0


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_ctrl_c_and_ctrl_d_leave_the_prompt(terminal: Terminal, key: str) -> None:
    terminal.until_shown(">")
    terminal.process.send_signal(signal.SIGUSR1)
    arrived = terminal.until_shown("new: 1 ")
    # While a line is written above the prompt, the terminal itself turns Ctrl-C into a signal; not behind the prompt.
    terminal.until_shown(">", after=arrived)
    terminal.type(key)
    terminal.until_shown("outcome: None")
    assert terminal.process.wait(LIMIT_S) == 0


def test_the_library_of_the_prompt_is_loaded_by_the_inbox_on_a_terminal_alone() -> None:
    code = "import sys; import actors.cli.app, actors.cli.inbox; sys.exit('prompt_toolkit' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
