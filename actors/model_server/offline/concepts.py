"""Concepts: general words that mean nearly the same, and what kind of work a verb stands for."""

import re
from typing import Literal

from actors.model_server.offline.words import stem, stems, word_set, words

WorkKind = Literal["gather", "produce", "check"]

_VERBS: dict[WorkKind, str] = {
    "gather": """search find research read calculate compute query compare look gather collect list count sum estimate
        measure analyse determine identify fetch retrieve get work rank classify explain describe translate convert open
        investigate explore inspect answer know name tell show""",
    "produce": "write format draft compose summarise summarize produce prepare create edit rewrite publish report",
    "check": "review check verify validate confirm audit proofread test judge",
}
VERBS: dict[str, WorkKind] = {}
"""The kind of work, by the stem of the verb that asks for it."""
for _kind, _text in _VERBS.items():
    VERBS.update(dict.fromkeys(map(stem, _text.split()), _kind))

_WRITTEN = word_set("report summary memo letter article brief briefing email document overview page paragraph text")
_PRODUCTS = {stem(word) for word in _WRITTEN}
"""Things that are written: 'give me a report on …' is a wish for writing."""

_GROUPS = (
    "find search research read document source fact passage information background reason quote",
    """calculate compute sum total average mean growth percent percentage ratio number figure arithmetic count increase
    decrease difference amount rate statistic math numeric quantity fast""",
    "table sql query database data row column record dataset spreadsheet",
    "revenue sale profit cost price budget income turnover margin spend",
    "write draft compose format report summary summarise letter memo brief article email prose",
    "check verify review validate confirm claim true false correct accurate proof support",
    "compare difference versus contrast",
    "policy rule guideline procedure handbook manual",
    "time date day week month hour deadline due late early schedule delay duration milestone calendar",
    "opinion complaint complain praise review star happy unhappy satisfied dislike feedback voice",
    "order sequence prerequisite precede",
    "danger harm hazard safe safety warning risk",
    "person people owner contact colleague",
    "release deploy version change rollout update",
    "rank best worst top highest lowest longest shortest largest biggest smallest",
)
_GROUP_OF: dict[str, set[str]] = {}
for _number, _group in enumerate(_GROUPS):
    for _word in _group.split():
        _GROUP_OF.setdefault(stem(_word), set()).add(f"~{_number}")

_NEGATED = re.compile(r"\b(?:(?:does|do|can|will|has) not?|never|cannot|no access|without)\b[^.;,:]*", re.IGNORECASE)
_TRUTH = re.compile(
    r"\b(?:is|are|was|were) (?:it|this|that|these|they) (?:true|correct|right|accurate)\b", re.IGNORECASE
)
_ASKED = (
    (re.compile(r"\bhow (?:much|many)\b", re.IGNORECASE), "quantity"),
    (re.compile(r"\bwhy\b", re.IGNORECASE), "reason"),
    (re.compile(r"\bwhen\b|\bhow long\b|\buntil\b", re.IGNORECASE), "time"),
    (re.compile(r"\bwhom?\b", re.IGNORECASE), "person"),
    (re.compile(r"\bbefore\b|\bafter\b", re.IGNORECASE), "order"),
)
"""What a question asks for by its question word alone."""


def concepts(text: str) -> set[str]:
    """The stems of a text together with the groups of meaning they belong to; what is denied does not count."""
    plain = affirmed(text)
    found = stems(plain)
    asked = {stem(word) for pattern, word in _ASKED if pattern.search(plain)}
    return found | groups_of(found | asked)


def groups_of(found: set[str]) -> set[str]:
    """The groups of meaning that these stems belong to."""
    return {group for one in found for group in _GROUP_OF.get(one, ())}


def affirmed(text: str) -> str:
    """The text without what it says is not so."""
    return _NEGATED.sub("", text.replace("_", " "))


def denied(text: str) -> set[str]:
    """The stems of what a text says is not so, such as what a worker does not do."""
    return stems(" ".join(match.group() for match in _NEGATED.finditer(text.replace("_", " "))))


def likeness(wanted: set[str], offered: set[str]) -> int:
    """How well two sets of concepts match: a shared subject counts more than a verb or a word of the same group."""
    return sum(1 if one.startswith("~") or one in VERBS else 3 for one in wanted & offered)


def kind_of_worker(summary: str) -> WorkKind:
    """The kind of work a worker does: that of the first verb in its summary."""
    found: list[WorkKind] = [VERBS[stem(word)] for word in words(summary) if stem(word) in VERBS]
    return found[0] if found else "gather"


def kind_of_clause(clause: str) -> WorkKind:
    """The kind of work a clause asks for: that of its first verb, unless it asks for something written."""
    if _TRUTH.search(clause):
        return "check"
    found = words(clause)
    kinds: list[WorkKind] = [VERBS[stem(word)] for word in found if stem(word) in VERBS and word not in _NOT_VERBS]
    kind = kinds[0] if kinds else "gather"
    if kind == "gather" and any(stem(word) in _PRODUCTS for word in found[:6]) and found[0] in _WISHES:
        return "produce"
    return kind


def product(clause: str) -> str | None:
    """The thing that is to be written, if the clause names one."""
    return next((word for word in words(clause) if word in _WRITTEN), None)


_WISHES = word_set("give make i we want need please send get let provide a an one two three show")
_NOT_VERBS = word_set("report reports test tests document documents name names")
