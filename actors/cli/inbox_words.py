"""What is said in an inbox: the lines a person types, and how a handoff is shown to them."""

from typing import Any, Literal

import msgspec

from actors.cli.terminal import BAR, one_line
from actors.cli.wording import age, seconds
from actors.people.waits import OpenHandoff

Verb = Literal["list", "show", "answer", "edit", "decline", "ask", "help", "quit"]

HELP = """\
N             read handoff number N
a N TEXT      answer it; without TEXT, type several lines and end with a line of one dot
e N           answer it in $EDITOR
d N REASON    decline it: the planner is told the reason
m N QUESTION  ask for more: it is given back, and planned anew with your question
Enter         the list of what is open
q             leave; what is open stays open, and waits for whoever comes next"""

_VERBS: dict[str, Verb] = {
    "a": "answer",
    "answer": "answer",
    "e": "edit",
    "edit": "edit",
    "d": "decline",
    "decline": "decline",
    "m": "ask",
    "more": "ask",
    "ask": "ask",
}
_ALONE: dict[str, Verb] = {
    "": "list",
    "l": "list",
    "list": "list",
    "q": "quit",
    "quit": "quit",
    "?": "help",
    "h": "help",
    "help": "help",
}


class Typed(msgspec.Struct, frozen=True, kw_only=True):
    """A line that was understood; `item` is a number or `run/task`."""

    verb: Verb
    item: str = ""
    text: str = ""


def understand(line: str) -> Typed | None:
    """What a line asks for; None if it makes no sense."""
    first, _, rest = line.strip().partition(" ")
    item, _, text = rest.strip().partition(" ")
    word = first.lower()
    if not rest and word in _ALONE:
        return Typed(verb=_ALONE[word])
    if not rest and (first.isdecimal() or "/" in first):
        return Typed(verb="show", item=first)
    if word not in _VERBS or not item:
        return None
    verb, text = _VERBS[word], text.strip()
    if not text and verb in ("decline", "ask"):
        return None
    return Typed(verb=verb, item=item, text=text)


def left(item: OpenHandoff, now: float) -> str:
    """How much time is left for it."""
    return "" if item.handoff.deadline is None else seconds(max(0.0, item.handoff.deadline - now))


def row(number: int, item: OpenHandoff, now: float) -> list[str]:
    """A handoff on one line of a list."""
    return [str(number), item.ref, age(now - item.since), left(item, now), one_line(item.handoff.intent)]


def news(number: int, item: OpenHandoff, now: float) -> str:
    """A handoff that has just come, on one line."""
    return " · ".join(filter(None, [f"new: {number}", item.ref, _left(item, now), one_line(item.handoff.intent)]))


def whole(item: OpenHandoff, now: float) -> str:
    """Everything that a person must know to answer."""
    handoff = item.handoff
    attempt = f", attempt {handoff.attempt}" if handoff.attempt > 1 else ""
    parts = [
        f"── {item.ref} · from {handoff.from_agent}{attempt} · {_left(item, now) or 'no deadline'}",
        handoff.intent,
    ]
    if handoff.success:
        parts.append(f"done when: {handoff.success}")
    parts += [f"┌ {one.task} ({one.worker}) found:\n{_indented(one.output)}" for one in handoff.context]
    artifacts = [*handoff.artifacts, *(one for context in handoff.context for one in context.artifacts)]
    parts += [f"artifact: {one.name} ({one.size:,} bytes)" for one in artifacts]
    return "\n".join(parts)


def as_data(item: OpenHandoff, now: float) -> dict[str, Any]:
    """A handoff for a program."""
    ends = item.handoff.deadline
    return {
        "ref": item.ref,
        "team": item.address.team,
        "worker": item.address.worker,
        "since": item.since,
        "left_s": None if ends is None else round(ends - now, 3),
        "handoff": item.handoff,
    }


def _left(item: OpenHandoff, now: float) -> str:
    return f"{left(item, now)} left" if left(item, now) else ""


def _indented(text: str) -> str:
    return "\n".join(f"{BAR}{line}" for line in text.splitlines()) or BAR
