"""What an agent worker is told about a task. Results of others are quoted as data."""

import functools
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from xml.sax.saxutils import escape, quoteattr

from protocol.messages import Handoff


@functools.cache
def shared_rules() -> str:
    """The rules that all workers share, from `worker.md`, without its first line, which names the version."""
    return files("actors.worker").joinpath("worker.md").read_text("utf-8").partition("\n")[2].strip()


def system_prompt(prompt: str, now: float) -> str:
    """The system prompt of a worker: its own words, the rules all workers share, and the date (UTC) at `now`."""
    today = f"Today is {datetime.fromtimestamp(now, UTC):%A, %Y-%m-%d}."
    return f"{prompt.strip()}\n\n{shared_rules()}\n\n{today}".strip()


def task_prompt(handoff: Handoff, files: Sequence[str] = ()) -> str:
    """The text of the first user message of a task. `files` has a line for each of its images and PDFs."""
    parts = [f"<task>\n{handoff.intent}\n</task>"]
    if handoff.success:
        parts.append(f"<success>\n{handoff.success}\n</success>")
    if handoff.context:
        quoted = "\n".join(
            f"<result task={quoteattr(part.task)} worker={quoteattr(part.worker)}>\n{escape(part.output)}\n</result>"
            for part in handoff.context
        )
        parts.append(f"<context>\n{quoted}\n</context>")
    if files:
        listed = "\n".join(escape(line) for line in files)
        parts.append(f"<files>\n{listed}\n</files>")
    return "\n\n".join(parts)
