"""Clauses: cutting a request of several parts into what is asked, one thing at a time."""

import re
from typing import Literal

from actors.model_server.offline.concepts import VERBS
from actors.model_server.offline.words import STOP_WORDS, keywords, stem, word_set, words

Reference = Literal["none", "subject", "results"]
"""What a clause speaks of: itself, the subject of an earlier clause, or what an earlier task will find."""

_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+|;\s*|\s+(?=\bthen\b)|,\s+(?=then\b|and\b|finally\b)|,\s+|\s+(?=and\b)")
_LEADING = re.compile(
    r"^(?:[-*•]|\d+[.)]|(?:and|then|finally|after that|also|next|please|lastly|can you|could you)\b|,)+\s*",
    re.IGNORECASE,
)
_QUESTION_WORDS = word_set("who what when where which why how whose is are does did")
_OWN = re.compile(r"\s[A-Z]\w.*\s(?:its|their)\s")
"""A clause that names somebody before it says whose: it speaks of its own subject."""
_ONE = word_set("who which where")
_BETWEEN = re.compile(r"(?:\s*\b(?:and|then|finally|after that|also|next|please|lastly)\b,?)+\s*$", re.IGNORECASE)
_THEN = re.compile(r"\b(?:then|after that|afterwards|next|finally|lastly)\b,?\s*(?:please\s+)?$", re.IGNORECASE)
_WISHES = word_set("give make tell show send provide")
_RESULTS = word_set("them these those both there results result findings above they")
_SUBJECTS = word_set("it its this that their")


def clauses(request: str) -> list[str]:
    """The parts of a request, each with its own verb or question; a part without one stays with the part before."""
    found: list[str] = []
    for separator, piece in _pieces(request):
        begins = (found and found[-1].rstrip()[-1:] in ".!?;") or "\n" in separator
        if found and not begins and not _stands_alone(piece):
            found[-1] += separator + piece
        else:
            found.append(_without_leading(piece))
    return [_trimmed(clause) for clause in found if keywords(clause) or _QUESTION_WORDS & set(words(clause))] or [
        " ".join(request.split())
    ]


def reference(clause: str) -> Reference:
    """What a clause that is not the first speaks of."""
    found = words(clause)
    if set(found) & _RESULTS:
        return "results"
    if _OWN.search(clause):
        return "none"
    pointed = [word for at, word in enumerate(found) if word in _SUBJECTS and not _relative(found, at)]
    return "subject" if pointed else "none"


def _relative(found: list[str], at: int) -> bool:
    """Whether a word only joins what follows to the noun before it: the function that handles it."""
    return found[at] == "that" and at > 1 and found[at - 1] not in STOP_WORDS and stem(found[at - 1]) not in VERBS


def begins_sentence(clause: str, request: str) -> bool:
    """Whether a clause of the request is the first of its sentence, so that it was meant to stand by itself."""
    before = " ".join(request.split()).partition(clause.rstrip("?"))[0]
    return not _BETWEEN.sub("", before).rstrip() or _BETWEEN.sub("", before).rstrip()[-1:] in ".!?;"


def comes_after(clause: str, request: str) -> bool:
    """Whether the request says that a clause comes after what stands before it: `do this, then that`."""
    before = " ".join(request.split()).partition(clause.rstrip("?"))[0]
    return _THEN.search(before) is not None


def asks_for_one(clause: str) -> bool:
    """Whether a clause asks who or which it is, so that another can speak of that one."""
    return next(iter(words(clause)), "") in _ONE


def is_question(clause: str) -> bool:
    """Whether a clause begins as a question does."""
    return next(iter(words(clause)), "") in _QUESTION_WORDS


def _trimmed(clause: str) -> str:
    asked = clause.rstrip().endswith("?")
    return clause.strip(" ,.;!?\n\t") + ("?" if asked else "")


def _pieces(request: str) -> list[tuple[str, str]]:
    """The pieces between possible breaks, each with what separated it from the piece before."""
    pieces: list[tuple[str, str]] = []
    start, separator = 0, ""
    for match in _BREAK.finditer(request):
        pieces.append((separator, request[start : match.start()]))
        start, separator = match.end(), match.group() or " "
    pieces.append((separator, request[start:]))
    return [(separator, piece) for separator, piece in pieces if piece.strip()]


def _stands_alone(piece: str) -> bool:
    found = words(_without_leading(piece))
    if not found:
        return False
    wish = found[0] in _WISHES or found[:2] in (["i", "want"], ["i", "need"])
    return wish or found[0] in _QUESTION_WORDS or stem(found[0]) in VERBS


def _without_leading(piece: str) -> str:
    text = piece.strip()
    while (shorter := _LEADING.sub("", text)) != text:
        text = shorter
    return text
