"""Quoting: results and other texts of other programs as data in a prompt."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from actors.run.state import RunState
from protocol.messages import Result


def section(name: str, body: str) -> str:
    """A text of another program between tags. Characters that could end the tag are escaped."""
    return f"<{name}>\n{escape(body)}\n</{name}>"


def listed(lines: Iterable[str]) -> str:
    """One line for each, as a list."""
    return "\n".join(f"- {line}" for line in lines)


def request_of(state: RunState) -> str:
    """The request of the run, quoted."""
    return section("request", state.request.text if state.request else "")


def quoted(state: RunState, results: Sequence[Result]) -> str:
    """Results as data, each with where it comes from."""
    rows: list[str] = []
    for result in results:
        known = state.tasks.get(result.task)
        named = {
            "task": result.task,
            "worker": result.worker,
            "status": result.status,
            "builds_on": " ".join(known.task.depends_on) if known else "",
        }
        attributes = " ".join(f"{name}={quoteattr(value)}" for name, value in named.items())
        rows.append(f"<result {attributes}>\n{escape(result.output)}\n</result>")
    return "\n".join(rows)
