"""How figures are said to a person."""

from protocol.messages import Plan, Request, Usage

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


def cache_hit_rate(usage: Usage) -> float | None:
    """The part of the input that was read from the provider's cache, 0 to 1; None if no cache was used."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return usage.cache_read_tokens / (usage.input_tokens + cached) if cached else None


def spent(usage: Usage) -> str:
    """Everything that was spent, on one line."""
    if not usage.model_calls:
        return f"no model calls · {cost(usage.usd)}"
    parts = [
        f"{count(usage.tokens, 'token')} ({_kinds(usage)})",
        count(usage.model_calls, "model call"),
        count(usage.tool_calls, "tool call"),
        cost(usage.usd),
    ]
    return " · ".join(parts)


def _kinds(usage: Usage) -> str:
    """What the tokens were; those of the cache are named only where a cache was used."""
    asked = usage.input_tokens + usage.cache_write_tokens
    rate = cache_hit_rate(usage)
    cached = "" if rate is None else f"{usage.cache_read_tokens:,} cached ({rate:.0%} hit rate), "
    return f"{asked:,} in, {cached}{usage.output_tokens:,} out"


def about(request: Request, plan: Plan | None) -> str:
    """What a run is about: its text, else the goal of its plan, else what its first task is to do."""
    plan = plan or request.plan
    return request.text or (plan.goal or next((task.intent for task in plan.tasks), "") if plan else "")
