"""Progress on a terminal: the request, a line of figures and a row for each task, drawn anew a few times a second.

What always holds: it is never taller than the terminal. Where there is no room, rows that are done fold into a count,
then those that wait; what runs and what failed stays to be seen.
"""

import time
from collections import Counter
from collections.abc import Sequence
from textwrap import wrap

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from actors.cli.lines import facts
from actors.cli.progress import Progress, Row, State
from actors.cli.review import price_of
from actors.cli.terminal import clean, one_line
from actors.cli.wording import MINUTE, ceiling, count, seconds
from actors.record import Recorded
from protocol.events import (
    Approved,
    Condensed,
    Cut,
    GaveUp,
    Judged,
    Judging,
    Planned,
    PlanRejected,
    Refined,
    ReplanFailed,
    Replanned,
    Reported,
    Rerouted,
    Started,
    Synthesized,
    Waiting,
)
from protocol.messages import Result

NOTED = (
    Approved
    | Condensed
    | Cut
    | GaveUp
    | Judged
    | Judging
    | Planned
    | PlanRejected
    | Refined
    | ReplanFailed
    | Replanned
    | Reported
    | Rerouted
    | Waiting
)
"""What is told below the rows, until something else is."""

MARKS: dict[State, tuple[str, str]] = {
    "waiting": ("·", "dim"),
    "running": ("●", "cyan"),
    "retrying": ("↻", "yellow"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "skipped": ("-", "yellow"),
    "stopped": ("-", "yellow"),
}
PLAIN = {"·": ".", "●": "*", "↻": "~", "✓": "+", "✗": "x"}
ABOVE: tuple[State, ...] = ("done", "skipped", "stopped", "failed")
BELOW: tuple[State, ...] = ("running", "retrying", "waiting")
AROUND = 6
"""Lines beside the rows: request, figures, note, blank lines, and the cursor."""

WIDEST = 17
TAIL, TAIL_CHARS = 6, 4000
"""How many lines of an answer that is being written are seen, and how much of it is looked at for them."""

FOLDED: tuple[tuple[State, ...], ...] = (
    ("done",),
    ("waiting",),
    ("skipped", "stopped"),
    ("running", "retrying"),
    ("failed",),
)
"""What gives way first where there is no room."""


class Screen:
    """Draws the run on a console."""

    def __init__(self, progress: Progress, text: str, on: Console) -> None:
        self._progress = progress
        self._text = one_line(clean(text))
        self._note = ""
        self._written = ""
        self._ceiling = ""
        self._away = False
        self._wide = 0
        self._began = time.monotonic()
        self._ended: float | None = None
        self._console = on
        self._plain = not (self._console.encoding or "").lower().startswith("utf")
        self._live = self._drawing()

    def open(self) -> None:
        """Begin to draw."""
        self._live.start(refresh=True)

    def close(self) -> None:
        """Draw a last time, and leave it there."""
        self._ended = time.monotonic()
        self._note, self._written, self._away = "", "", False
        self._live.stop()

    def take(self, entry: Recorded) -> None:
        """Take in one message of the record; what it means for the whole run is told below the rows."""
        self._progress.take(entry, time.monotonic())
        if isinstance(entry.message, Started):
            self._ceiling = ceiling(entry.message.request.budget.usd, entry.message.prices)
        if isinstance(entry.message, Started | Synthesized):
            self._written = ""  # it is whole now, or somebody begins anew
        elif isinstance(entry.message, Result) and entry.message.worker in self._note:
            self._note = ""  # whoever was waited for is there
        elif isinstance(entry.message, NOTED):
            told = facts(entry.message, self._progress)
            if isinstance(entry.message, Planned):
                del told[0]  # how many tasks there are is seen
            if told or not self._progress.proposed:
                self._note = "; ".join(told)

    def hear(self, text: str) -> None:
        """Take in a piece of the answer while it is written."""
        self._written = (self._written + text)[-TAIL_CHARS:]

    def pause(self) -> None:
        """Leave the terminal to a person who is asked something."""
        if self._progress.proposed:
            self._note = ""  # how to approve from elsewhere is of no use to whoever is asked here
        self._live.stop()

    def resume(self) -> None:
        """Draw again, below what was said."""
        self._live = self._drawing()  # the old one would draw over it
        self._live.start(refresh=True)

    def note(self, text: str) -> None:
        """Tell something that is not in the record."""
        self._note = text
        self.tick()

    def away(self, is_away: bool) -> None:
        """Tell that the bus is away, until it is back."""
        self._away = is_away
        self.tick()

    def tick(self) -> None:
        """Time has passed."""
        if self._live.is_started:
            self._live.refresh()

    def _drawing(self) -> Live:
        return Live(console=self._console, auto_refresh=False, get_renderable=self.drawn)

    def drawn(self) -> Group:
        """The run as it stands now."""
        now = self._ended or time.monotonic()
        rows = self._progress.rows(now)
        parts: list[Text | Table] = [_line(self._text, "bold"), _line(self._figures(rows, now - self._began), "dim")]
        tail = self._tail()
        if rows:
            shown, folded = fold(rows, max(1, self._console.height - AROUND - len(tail)))
            parts.append(Text())
            parts += [self._count(state, folded[state]) for state in ABOVE if folded[state]]
            parts.append(self._table(rows, shown))
            parts += [self._count(state, folded[state]) for state in BELOW if folded[state]]
        if note := "the bus is away: waiting for it" if self._away else self._note:
            parts.append(_line(clean(note), "yellow"))
        return Group(*parts, *tail, Text())

    def _tail(self) -> list[Text]:
        """The last lines of the answer as far as it is written, where there is room for them."""
        most = min(TAIL, (self._console.height - AROUND) // 2)
        if not self._written or most < 2:
            return []
        wrapped = [line for part in clean(self._written).splitlines() for line in wrap(part, self._console.width - 1)]
        return [Text(), *(_line(line, "") for line in wrapped[-(most - 1) :])]

    def _figures(self, rows: Sequence[Row], elapsed_s: float) -> str:
        if not rows:
            what = "asking" if self._progress.state.request is None else "planning"
            what = "waiting for approval" if self._progress.proposed else what
            what = answer.status if (answer := self._progress.state.answer) else what
            return " · ".join(part for part in (what, self._ceiling, f"{elapsed_s:.1f}s") if part)
        states = Counter(row.state for row in rows)
        parts = [count(len(rows), "task"), *(f"{states[state]} {state}" for state in MARKS if states[state])]
        planned = self._progress.state.proposed
        if planned and planned.estimate and planned.estimate.usd_high:
            parts.append(price_of(planned.estimate))
        if self._ceiling:
            parts.append(self._ceiling)
        if self._progress.state.board.open == 0 and not self._progress.state.answer:
            parts.append("writing the answer")
        return " · ".join([*parts, f"{elapsed_s:.1f}s" if elapsed_s < MINUTE else seconds(elapsed_s)])

    def _table(self, rows: Sequence[Row], shown: Sequence[Row]) -> Table:
        """The rows; columns only ever grow, so that nothing jumps."""
        self._wide = max(self._wide, *(min(WIDEST, len(activity(row))) for row in rows))
        grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
        grid.add_column(width=1)
        grid.add_column(width=min(22, max(len(row.id) for row in rows)), no_wrap=True, overflow="ellipsis")
        grid.add_column(width=min(14, max(len(row.worker) for row in rows)), no_wrap=True, overflow="ellipsis")
        grid.add_column(width=6, justify="right", no_wrap=True)
        if self._wide:
            grid.add_column(width=self._wide, no_wrap=True, overflow="ellipsis")
        grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        for row in shown:
            grid.add_row(*self._cells(row))
        return grid

    def _cells(self, row: Row) -> list[Text]:
        quiet = "" if row.state in ("running", "failed", "retrying") else "dim"
        cells = [
            self._mark(row.state),
            Text(row.id, style="dim" if row.state == "waiting" else ""),
            Text(row.worker, style=quiet),
            Text(_clock(row), style=quiet),
            Text(clean(row.trouble or row.intent), style=MARKS[row.state][1] if row.trouble else "dim"),
        ]
        return [*cells[:4], Text(clean(activity(row)), style=quiet), cells[4]] if self._wide else cells

    def _count(self, state: State, number: int) -> Text:
        return Text.assemble(self._mark(state), (f"  {number} {state}", "dim"))

    def _mark(self, state: State) -> Text:
        mark, style = MARKS[state]
        return Text(PLAIN.get(mark, mark) if self._plain else mark, style=style)


def activity(row: Row) -> str:
    """What a task does at the moment, or what it has done."""
    if row.doing:
        return row.doing
    if row.attempt > 1 and row.state in ("running", "retrying"):
        return f"attempt {row.attempt}"
    return count(row.tools, "tool call") if row.tools else ""


def fold(rows: Sequence[Row], room: int) -> tuple[list[Row], Counter[State]]:
    """The rows that fit, in the order of the plan, and how many of each state do not; each count takes a line too."""
    left, folded = list(rows), Counter[State]()
    for counts in range(room + 1):
        left, folded = _folded(rows, max(0, room - counts))
        if len(left) + len(folded) <= room:
            break
    return left, folded


def _folded(rows: Sequence[Row], room: int) -> tuple[list[Row], Counter[State]]:
    left, folded = list(rows), Counter[State]()
    for states in FOLDED:
        extra = len(left) - room
        if extra <= 0:
            break
        giving = [row for row in left if row.state in states]
        # Of what is done the earliest go, of what waits the last: what stays is next to what runs.
        gone = {row.id for row in (giving[:extra] if states == ("done",) else giving[-extra:])}
        folded.update(row.state for row in giving if row.id in gone)
        left = [row for row in left if row.id not in gone]
    return left, folded


def _clock(row: Row) -> str:
    if row.seconds is None:
        return ""
    return f"{row.seconds:.1f}s" if row.state == "running" and row.seconds < MINUTE else seconds(row.seconds)


def _line(text: str, style: str) -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")
