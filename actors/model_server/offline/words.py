"""Words: cutting text into words, stems and sentences, and telling which of them carry the meaning."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+(?:[.'\u2019-][^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[^\W\d_a-z]|\d|[-*•])")
CITED = re.compile(r"\[[^\[\]]+\.[a-z]{2,5}\]$")
"""The end of a line that names the file it comes from."""
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are set apart by spaces."""
    return frozenset(text.split())


STOP_WORDS = word_set(
    """a about above according after again all also am an and any anything are as at be because been before being
    between both but by can could did do does doing done down during each else every for from further get give given
    had has have having he her here hers him his how i if in into is it its itself just know let like made make me more
    most much my need no nor not now of off on once one only or other our out over own per please same say she should
    show so some such than that the their them then there these they thing things this those through to too under
    until up upon us use used using very was we were what when where whether which while who whom whose why will with
    within without would you your task part result results request answer tell
    said says saying happen happened happens regard out about known"""
)

INSTRUCTIONS = word_set(
    """find search look locate gather collect research read list query calculate compute work determine compare write
    draft compose format produce prepare create make check verify review confirm validate summarise summarize explain
    describe report short brief briefly quick detail detailed document documents text source sources"""
)
"""Words that say what to do with a subject, not what the subject is."""

_IRREGULAR = {
    "wrote": "write",
    "written": "write",
    "found": "find",
    "findings": "find",
    "sought": "seek",
    "sold": "sell",
    "sales": "sale",
    "grew": "grow",
    "grown": "grow",
    "growth": "grow",
    "paid": "pay",
    "analysis": "analys",
    "analyses": "analys",
    "analyst": "analys",
    "analyze": "analys",
    "analyse": "analys",
}
_ENDINGS = (
    *("isations", "izations", "isation", "ization", "ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate"),
    *("isons", "ison", "ising", "izing", "ised", "ized", "ises", "izes", "ise", "ize", "ments", "ment"),
    *("ities", "ity", "ings", "ing", "ions", "ion", "ers", "er", "ies", "ied", "ed", "es", "ly", "s", "y", "e"),
)


def words(text: str) -> list[str]:
    """The words of a text in lower case, in order."""
    return [match.group().lower().replace("\u2019", "'").removesuffix("'s") for match in _WORD.finditer(text)]


def stem(word: str) -> str:
    """What is left of a word without its ending, so that its forms compare equal."""
    word = _IRREGULAR.get(word, word)
    for ending in _ENDINGS:
        # A y after a vowel belongs to the word, as in deploy.
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "y" and word[-2] in "aeiou"):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word


def stems(text: str | Iterable[str]) -> set[str]:
    """The stems of the words that carry meaning."""
    found = words(text) if isinstance(text, str) else text
    return {stem(word) for word in found if word not in STOP_WORDS}


def keywords(text: str) -> list[str]:
    """The words that carry meaning, each once, in order."""
    return list(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))


def subject_words(text: str) -> list[str]:
    """The keywords that name the subject, without those that only say what to do with it."""
    found = keywords(text)
    return [word for word in found if word not in INSTRUCTIONS] or found


def sentences(text: str) -> list[str]:
    """The sentences of a text; a line is never joined with the next, headings and rules are left out."""
    found: list[str] = []
    for raw in text.splitlines():
        line = _BULLET.sub("", raw).strip()
        if not line or line.startswith(("#", "---", "|-", "| -", "===", "```")):
            continue
        # What ends with its source is one thing that was found, however many sentences it has.
        if CITED.search(line):
            found.append(line)
        else:
            found += [part.strip() for part in _SENTENCE_END.split(line) if part.strip()]
    return found


def overlap(text: str, wanted: set[str]) -> int:
    """How many of the wanted stems a text has."""
    return len(stems(text) & wanted)


def shortened(text: str, limit: int) -> str:
    """The text on one line, cut at a word if it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rsplit(" ", 1)[0] + "…"
