"""The top of the page: what was asked, what became of it, when, how long and for how much."""

from collections import Counter
from datetime import UTC, datetime

from observability.page.markup import Markup, element, join
from observability.page.task_card import spent, text
from observability.run_view import RunView
from observability.wording import cost, count, seconds
from protocol.messages import Answer

MOST_DOUBTS = 6


def summary(view: RunView, *, content: bool) -> Markup:
    """Request, status, figures, answer."""
    answer = view.record.finished.answer if view.record.finished else None
    asked = view.record.request.text if content else ""
    return element(
        "header",
        element(
            "p", element("span", view.status, class_=f"status {view.status}"), " ", element("code", view.record.run)
        ),
        element("div", asked, class_="request", dir="auto") if asked else element("h1", "One run"),
        element("dl", _figures(view, answer)),
        _moments(view),
        _answer(answer) if answer and content else "",
        _spending(answer) if answer else "",
    )


def _figures(view: RunView, answer: Answer | None) -> list[Markup]:
    states = Counter(task.status for task in view.tasks)
    began = datetime.fromtimestamp(view.client.start_ns / 1e9, UTC)
    retries = sum(max(0, len(task.tries) - 1) for task in view.tasks)
    figures = {
        "team": view.record.request.team or "?",
        "began": f"{began:%Y-%m-%d %H:%M:%S} UTC",
        "took": seconds(view.client.seconds) + ("" if answer else " so far"),
        "tasks": ", ".join(f"{number} {state}" for state, number in states.items()) or "none",
        "retries": str(retries),
        "spent": spent(view.usage) or "nothing",
    }
    if answer and answer.timing.sequential_s:
        figures["speed-up"] = f"{answer.timing.speedup:.2f}x, {seconds(answer.timing.sequential_s)} one after the other"
    if answer and answer.confidence is not None:
        figures["confidence"] = f"{answer.confidence:.0%}"
    return [element("div", element("dt", name), element("dd", value)) for name, value in figures.items()]


def _moments(view: RunView) -> str | Markup:
    """What happened to the run as a whole, with its time."""
    told: list[Markup] = []
    for moment in view.moments:
        at = seconds(max(0.0, (moment.time_ns - view.client.start_ns) / 1e9))
        facts = " · ".join(map(str, moment.attributes.values()))
        kind = moment.name.rpartition(".")[2]
        told.append(element("li", element("b", kind), f" at {at} {facts}"))
    if not told:
        return ""
    return element("details", element("summary", count(len(told), "event")), element("ul", told), class_="fold")


def _answer(answer: Answer) -> Markup:
    gaps = [element("li", f"gap: {gap}") for gap in answer.gaps]
    disputed = [
        element("li", f"contradiction ({', '.join(found.tasks)}): {found.claim}: {found.resolution or 'open'}")
        for found in answer.contradictions
    ]
    return join(element("h2", "Answer"), text(answer.text, folded="answer"), _doubts(gaps + disputed))


def _doubts(doubts: list[Markup]) -> str | Markup:
    """What the answer itself says against it; many are folded away."""
    if not doubts:
        return ""
    told = element("ul", doubts, class_="doubts")
    if len(doubts) <= MOST_DOUBTS:
        return told
    return element("details", element("summary", f"{len(doubts)} gaps and contradictions"), told, class_="fold doubts")


def _spending(answer: Answer) -> str | Markup:
    if not answer.spending:
        return ""
    rows = [
        element(
            "tr",
            (element("td", cell) for cell in (who, f"{usage.tokens:,}", str(usage.model_calls), cost(usage.usd))),
        )
        for who, usage in answer.spending.items()
    ]
    head = element("tr", (element("th", name) for name in ("spent by", "tokens", "model calls", "cost")))
    return element("details", element("summary", "who spent what"), element("table", head, rows), class_="fold")
