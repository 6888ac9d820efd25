"""A refusal: what the planner is told about a plan that was not accepted, and what it can do about it."""

import re

import msgspec

from actors.model_server.offline.request import Asked
from actors.model_server.offline.schema import planner_worker
from actors.model_server.offline.sections import section

_UNFIT = re.compile(
    r"unknown|no such|not alive|no live|unavailable|not available|not exist|open.circuit", re.IGNORECASE
)
_ALLOWED = re.compile(r"at most (\d+) tasks", re.IGNORECASE)
_ASIDE = re.compile(r"\([^)]*\)")
_TOO_MANY = re.compile(r"too many|over the (?:cap|limit)|fan-?out|at most|more than|exceed", re.IGNORECASE)
_VAGUE = re.compile(r"vague|too short|unclear|specific", re.IGNORECASE)


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """What to do differently: workers to leave out, how many tasks at most, and whether to say more in each."""

    dropped: tuple[str, ...] = ()
    most: int | None = None
    wordy: bool = False


def refusal(asked: Asked) -> Refusal:
    """What is said about earlier plans, in the first turn or in later ones."""
    reasons = "\n".join([section(asked.user_texts[0], "refused") or "", *asked.user_texts[1:]])
    allowed = _ALLOWED.search(asked.user_texts[0])
    if not reasons.strip():
        return Refusal(most=int(allowed.group(1)) if allowed else None)
    worker = planner_worker(asked.forced.input_schema) if asked.forced else None
    lines = [allowed.group()] if allowed else []
    lines += [line for line in re.split(r"[\n;]", reasons) if line.strip()]
    names: list[str] = list((worker or {}).get("enum") or [])
    # What stands in brackets is a list of those who may be used.
    unfit = "\n".join(_ASIDE.sub("", line) for line in lines if _UNFIT.search(line))
    return Refusal(
        dropped=tuple(name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", unfit)),
        most=_most(lines),
        wordy=bool(_VAGUE.search(reasons)),
    )


def _most(lines: list[str]) -> int | None:
    """The smallest number in a reason that speaks of too many tasks."""
    numbers = [int(n) for line in lines if _TOO_MANY.search(line) for n in re.findall(r"\d+", line)]
    return min(numbers) if numbers else None
