"""How figures and findings are said to a person."""

from observability.wording import MINUTE, about, age, cache_hit_rate, cost, count, seconds, spent
from protocol.messages import Answer, Contradiction

__all__ = [
    "MINUTE",
    "about",
    "age",
    "cache_hit_rate",
    "ceiling",
    "cost",
    "count",
    "disputed",
    "judged",
    "said_by",
    "seconds",
    "spent",
    "timed",
]


def disputed(found: Contradiction) -> str:
    """What results disagree about, and how that was settled, on one line."""
    return f"contradiction ({', '.join(found.tasks)}): {found.claim}: {found.resolution or 'open'}"


def judged(answer: Answer) -> str:
    """How far the answer can be trusted, as far as that is known, on one line."""
    parts = [f"confidence {answer.confidence:.0%}"] if answer.confidence is not None else []
    if answer.revisions > 1:
        parts.append(f"{answer.revisions} revisions of the plan")
    return " · ".join(parts)


def timed(answer: Answer) -> str:
    """Wall time on one line, and if tasks ran in parallel, the time that they take one after the other."""
    timing = answer.timing
    took = f"{answer.status} in {seconds(timing.wall_s)}"
    if timing.sequential_s <= timing.critical_path_s:
        return took
    return " · ".join(
        [
            took,
            f"sequential {seconds(timing.sequential_s)}",
            f"speed-up {timing.speedup:.2f}x",
            f"critical path {seconds(timing.critical_path_s)}",
        ]
    )


def ceiling(usd: float | None, prices: str) -> str:
    """The ceiling of a run in dollars, and whether it binds; empty where nothing costs anything."""
    if prices in ("", "free"):
        return ""
    if prices == "unknown":
        return "price unknown, no ceiling in dollars"
    if usd is None:
        return "no ceiling in dollars"
    amount = f"{usd:,.2f}" if round(usd, 2) == usd else f"{usd:g}"
    return f"ceiling ${amount}" + (" where the price is known" if prices == "partly" else "")


def team_flag(team: str) -> str:
    """What a command needs to mean that team: nothing for the default one."""
    return "" if team == "default" else f" --team {team}"


def said_by(by: str) -> str:
    """Who said it, to be put behind a sentence; nothing where that is unknown."""
    return f" (by {' '.join(by.split())})" if by.strip() else ""
