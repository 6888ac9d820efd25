"""Titles: plain headings for documents and parts of an answer, in the words of the request."""

import re

from actors.model_server.offline.clauses import clauses, is_question
from actors.model_server.offline.concepts import VERBS, kind_of_clause
from actors.model_server.offline.naming import names
from actors.model_server.offline.words import sentences, shortened, stem, subject_words, words

LONGEST = 100
_ABOUT = re.compile(r"\b(?:on|about|regarding|concerning|of)\s+(?:the\s+|our\s+)?(.+)", re.IGNORECASE)
_LOOKING = re.compile(
    r"^(?:find out|find|look up|look for|look into|work out|calculate|determine|search for|search|list|get|tell me"
    r"|give me)\s+(?:the\s+)?",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:an?|the|our|me)\s+", re.IGNORECASE)
_AND_MORE = re.compile(r"\band \w+ (?:an?|the|its|our|which|what)\b", re.IGNORECASE)
_STATEMENT = re.compile(r"^(.{12,}?):\s+(\S.*)$", re.DOTALL)


def place(task: str, request: str) -> int | None:
    """Which clause of the request a task stands for, told by the words in its id; None if none of them fits."""
    own = {word for word in re.split(r"[-_]", task.lower()) if word}
    shared = [len(own & {part for word in words(clause) for part in word.split("-")}) for clause in clauses(request)]
    best = max(shared, default=0)
    return shared.index(best) if best * 2 >= max(2, len(own)) else None


def heading(task: str, request: str) -> str:
    """A heading for what a task found: the part of the request it stands for, or else the words of its id."""
    at = place(task, request)
    return _plain(clauses(request)[at]) if at is not None else readable(task)


def title(intent: str, request: str = "") -> str:
    """A title for what is to be written: what it is about, or what it is and whom or what the request is about."""
    if match := _ABOUT.search(intent):
        return _capital(match.group(1))
    verb, _, rest = intent.strip().partition(" ")
    first = clauses(request)[0] if request else ""
    if stem(verb.lower()) not in VERBS or not rest:
        return _capital(sentences(request)[0]) if first else _capital(" ".join(subject_words(intent)[:8])) or "Report"
    text = _capital(_ARTICLE.sub("", rest))
    subject = _subject(first, request)
    return f"{text}: {subject}" if subject and subject.lower() not in text.lower() else text


def readable(name: str) -> str:
    """The name of a task or a tool as a person would write it, without the verb of the tool."""
    first, _, rest = re.sub(r"[-_]+", " ", name).strip().partition(" ")
    return _capital(rest if rest and stem(first.lower()) in VERBS else f"{first} {rest}") or "Findings"


def _subject(first: str, request: str) -> str:
    """What a request is about: what it states before it asks, or else the first name in it."""
    if match := _STATEMENT.match(first):
        return shortened(match.group(1)[:1].lower() + match.group(1)[1:], 60)
    found = [name for name in names(request) if name.split()[0].lower() not in VERBS]
    return found[0] if found else ""


def _plain(clause: str) -> str:
    """A clause as a heading: what is looked for, without the wish to look for it."""
    match = _STATEMENT.match(clause)
    asked = match.group(2) if match and kind_of_clause(match.group(2)) == "gather" else clause
    # Where a second verb follows, the first one has to stay.
    shown = asked if _AND_MORE.search(asked) else _LOOKING.sub("", asked)
    return _capital(shown) + ("?" if is_question(asked) else "")


def _capital(text: str) -> str:
    line = shortened(text.strip(" .?!\"'"), LONGEST)
    return line[:1].upper() + line[1:]
