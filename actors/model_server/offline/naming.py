"""Naming: the names, codes, quantities and phrases of a text that may be given to a tool as they stand."""

import re

from actors.model_server.offline.concepts import VERBS
from actors.model_server.offline.words import INSTRUCTIONS, STOP_WORDS, stem, words

MOST_FOLLOWING = 2
MOST_WORDS = 14
NEARBY = 20
LONGEST_NAME = 80
CODE = re.compile(r"\b[A-Za-z]{1,4}-?\d+(?:-\d+)*\b")
"""A letter or a few and a number, such as E-207, R2 or PR-02."""

_QUANTITY = re.compile(r"(?<![\w-])\d[\d,.]*\d?\s?(?:%|[A-Za-z]+)?")
_CAPITAL = re.compile(r"[A-Z][\w'-]*(?: (?:[A-Z][\w'-]*|\d+\b))*")
_TOKEN = re.compile(r"[^\W_]+(?:[.'\u2019-][^\W_]+)*")
_FOLLOWING = re.compile(r"((?: [a-z][\w-]+)+)")


def names(text: str) -> list[str]:
    """The names in a text; a name of one word takes the plain words along that follow it, such as Varga endowment."""
    found: list[str] = []
    for match in _CAPITAL.finditer(text):
        first, _, rest = match.group().partition(" ")
        before = text[max(0, match.start() - NEARBY) : match.start()].rstrip()
        begins = not before or before[-1] in '.?!:;"“'
        name = rest if begins and rest and _is_plain(first) else match.group()
        # The first word of a sentence has a capital letter whatever it is.
        if (begins and not rest) or _is_plain(name):
            continue
        found.append(name if " " in name else name + _following(text[match.end() :]))
    return list(dict.fromkeys(found))


def codes(text: str) -> list[str]:
    """The codes in a text, each once."""
    return list(dict.fromkeys(CODE.findall(text)))


def quantities(text: str) -> list[str]:
    """The numbers in a text, each with the word behind it if that is a unit."""
    found: list[str] = []
    for match in _QUANTITY.finditer(text):
        number, _, unit = match.group().partition(" ")
        found.append(number if unit.lower() in STOP_WORDS else match.group().strip())
    return [one.strip(" ,.") for one in found]


def phrase(text: str) -> str:
    """What a text is about, in its own words and their order, without those that only say what to do."""
    kept = [word for word in _TOKEN.findall(text) if word.lower() not in STOP_WORDS | INSTRUCTIONS]
    return " ".join(list(dict.fromkeys(kept))[:MOST_WORDS])


def _is_plain(word: str) -> bool:
    return word.lower() in STOP_WORDS | INSTRUCTIONS or stem(word.lower()) in VERBS


def _following(rest: str) -> str:
    match = _FOLLOWING.match(rest[:LONGEST_NAME])
    taken: list[str] = []
    for word in words(match.group(1)) if match else []:
        if word in STOP_WORDS or len(taken) == MOST_FOLLOWING:
            break
        taken.append(word)
    return "".join(f" {word}" for word in taken)
