"""The whole page: a template, a style and a script from files beside this one, and what the run has to tell.

The policy in it allows exactly this style and this script, by their digests, and nothing from anywhere else.
"""

import base64
import hashlib
from importlib.resources import files
from string import Template

from observability.page.graph import drawing
from observability.page.markup import element, escaped, join
from observability.page.summary import summary
from observability.page.task_card import card
from observability.page.waterfall import waterfall
from observability.run_view import RunView

FILES = files("observability.page")


def page_of(view: RunView, *, content: bool = True) -> str:
    """The run as a page; without `content`, no word of what was asked and said is in it."""
    style, script = _file("page.css"), _file("page.js")
    policy = f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; base-uri 'none'"
    tasks = [card(task, content=content) for task in view.tasks]
    return Template(_file("page.html")).substitute(
        title=escaped(f"run {view.record.run[:8]} · {view.status}"),
        policy=policy,
        style=style,
        script=script,
        summary=summary(view, content=content),
        waterfall=waterfall(view),
        graph=drawing(view.tasks) if view.tasks else element("p", "There is no plan yet.", class_="note"),
        tasks=join(tasks),
    )


def digest(text: str) -> str:
    """What a policy calls a text by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _file(name: str) -> str:
    return FILES.joinpath(name).read_text(encoding="utf-8")
