"""How figures are said to a person."""

from protocol.messages import Answer, Contradiction, Usage

MINUTE, HOUR, DAY = 60, 3600, 86400


def seconds(value: float) -> str:
    """A duration: exact where it is short, rounded where it is long."""
    if value < 10:
        return f"{value:.2f}s"
    if value < MINUTE:
        return f"{value:.1f}s"
    whole = int(value)
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE:02}s"
    return f"{whole // HOUR}h{whole % HOUR // MINUTE:02}m"


def age(value: float) -> str:
    """How long ago something was, in its biggest unit."""
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        if value >= size:
            return f"{value // size:.0f}{unit}"
    return f"{max(0.0, value):.0f}s"


def count(number: int, noun: str) -> str:
    """A number of things: `1 task`, `3 tasks`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def cost(usd: float | None) -> str:
    """A price; unknown is never 0."""
    if usd is None:
        return "cost unknown"
    if usd == 0:
        return "free"
    return f"${usd:.4f}" if usd < 1 else f"${usd:.2f}"


def spent(usage: Usage) -> str:
    """Everything that was spent, on one line."""
    if not usage.model_calls:
        return f"no model calls · {cost(usage.usd)}"
    parts = [
        f"{count(usage.tokens, 'token')} ({usage.input_tokens:,} in, {usage.output_tokens:,} out)",
        count(usage.model_calls, "model call"),
        count(usage.tool_calls, "tool call"),
        cost(usage.usd),
    ]
    return " · ".join(parts)


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
    """Wall time against the time that the tasks take one after the other, on one line."""
    timing = answer.timing
    return " · ".join(
        [
            f"{answer.status} in {seconds(timing.wall_s)}",
            f"sequential {seconds(timing.sequential_s)}",
            f"speed-up {timing.speedup:.2f}x",
            f"critical path {seconds(timing.critical_path_s)}",
        ]
    )


def team_flag(team: str) -> str:
    """What a command needs to mean that team: nothing for the default one."""
    return "" if team == "default" else f" --team {team}"
