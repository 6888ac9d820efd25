"""The end of a run, told: the answer on standard output, what it took on standard error."""

import sys

from actors.cli.terminal import clean, console, is_screen, tell
from actors.cli.wording import count, disputed, judged, spent, timed
from protocol.messages import Answer

MOST_GAPS = 8
SHORT = 8
"""How much of the id of a run is enough to find it again."""


def write_markdown(text: str) -> None:
    """Write Markdown: drawn on a terminal, as it is otherwise."""
    if not is_screen(sys.stdout):
        sys.stdout.write(f"{text.rstrip()}\n")
        sys.stdout.flush()
        return
    from actors.cli.page import Page

    console(sys.stdout).print(Page(clean(text)))


def tell_summary(answer: Answer, *, ends_with_us: bool = False) -> None:
    """What the run took, what is missing, and how to see more."""
    tell(f"\n{timed(answer)}")
    tell(spent(answer.usage))
    if known := judged(answer):
        tell(known)
    for gap in answer.gaps[:MOST_GAPS]:
        tell(f"gap: {gap}")
    if len(answer.gaps) > MOST_GAPS:
        tell(f"and {count(len(answer.gaps) - MOST_GAPS, 'gap')} more")
    for found in answer.contradictions:
        tell(disputed(found))
    where = " (the bus stops with this command: first start it with `handoff up`)" if ends_with_us else ""
    tell(f"more: handoff show {answer.run[:SHORT]}{where}")
