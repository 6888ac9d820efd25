"""The list of runs as a page. Everything in it is escaped, and its policy lets nothing act."""

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from actors.run_index import Summary
from observability.page.markup import Markup, element, join
from observability.wording import age, seconds

HEADERS = ("run", "status", "age", "took", "done", "team", "request")
SHORT = 8
LONGEST = 300
REFRESH_S = 5


def style() -> str:
    """What the page looks like."""
    return files("actors.web").joinpath("web.css").read_text(encoding="utf-8")


def policy() -> str:
    """What a browser may do with the page: use exactly this style, and follow links."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def runs_page(runs: Sequence[Summary], now: float) -> str:
    """The newest runs; it asks again by itself every few seconds."""
    if not runs:
        return _page("runs", element("p", 'No runs yet: begin with handoff ask "…"', class_="note"))
    head = element("tr", [element("th", name) for name in HEADERS])
    return _page("runs", element("table", element("thead", head), element("tbody", [_row(run, now) for run in runs])))


def message_page(title: str, text: str) -> str:
    """A page with one thing to say."""
    return _page(title, element("p", text))


def _row(run: Summary, now: float) -> Markup:
    text = run.text if len(run.text) <= LONGEST else run.text[:LONGEST] + " …"
    name: str | Markup = run.run[:SHORT]
    if run.status != "waiting":  # nobody has begun with it: there is nothing to show yet
        name = element("a", name, href=f"/runs/{run.run}")
    cells = [
        name,
        element("span", run.status, class_=f"status {run.status}"),
        age(now - run.began),
        "" if run.seconds is None else seconds(run.seconds),
        f"{run.done}/{run.tasks}" if run.tasks else "",
        run.team,
        text,
    ]
    return element("tr", [element("td", cell) for cell in cells])


def _page(title: str, body: Markup) -> str:
    refresh = f'<meta http-equiv="refresh" content="{REFRESH_S}">'
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">{refresh}'
    return join(
        Markup(f'<!doctype html><html lang="en"><head>{head}'),
        element("title", f"handoff · {title}"),
        Markup(f"<style>{style()}</style></head><body>"),
        element("h1", f"handoff · {title}"),
        body,
        Markup("</body></html>"),
    )
