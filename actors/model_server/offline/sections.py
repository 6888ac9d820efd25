"""Sections: the parts of a prompt that are marked by tags, such as <task>…</task>."""

import re
from xml.sax.saxutils import unescape

import msgspec

from actors.model_server.offline import NOTE

_RESULT = re.compile(r"<result\b([^>]*)>(.*?)</result>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one task, as a prompt shows it."""

    task: str
    worker: str
    status: str
    builds_on: tuple[str, ...]
    text: str


def section(text: str, tag: str) -> str | None:
    """What stands between the first opening tag of that name and the next closing one."""
    match = re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", text, re.DOTALL)
    return match.group(1).strip() if match else None


def parts(text: str) -> list[Part]:
    """Every <result> of a prompt, as it was before it was quoted, without the note that it was written offline."""
    found: list[Part] = []
    for match in _RESULT.finditer(text):
        facts = {name: unescape(one or other) for name, one, other in _ATTRIBUTE.findall(match.group(1))}
        found.append(
            Part(
                task=facts.get("task", ""),
                worker=facts.get("worker", ""),
                status=facts.get("status", "completed"),
                builds_on=tuple(facts.get("builds_on", "").split()),
                text=without_note(unescape(match.group(2))),
            )
        )
    return found


def without_note(text: str) -> str:
    """The text without the lines that say that it was written offline."""
    return "\n".join(line for line in text.splitlines() if line.strip() != NOTE).strip()


def with_note(text: str) -> str:
    """The text with that line, once, at the end."""
    return f"{without_note(text)}\n\n{NOTE}"
