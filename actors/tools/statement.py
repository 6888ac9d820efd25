"""A statement: what a sentence says, as far as a program can compare it: words, times and codes, quantities."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from actors.tools.passages import words

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONEY = "money"
PERCENT = "%"

_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_SPELLED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_MONEY_WORDS = ("euro", "euros", "eur", "dollar", "dollars", "usd", "pound", "pounds", "gbp")
_NOT = re.compile(r"\b(?:not|never|no|none|neither|nor|cannot|without)\b|n't\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:grew|grow[ns]?|growth|rose|ris(?:e[ns]?|ing)|fell|falls?|decline[ds]?|increase[ds]?|decrease[ds]?|drop\w*"
    r"|change[ds]?|up|down|more|less|fewer|higher|lower|gain\w*|lost|cut)\b",
    re.IGNORECASE,
)

_DATE = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?(?!\d)")
_QUARTER = re.compile(r"\b(first|second|third|fourth) quarter\b|\bq([1-4])\b", re.IGNORECASE)
_DAY = re.compile(rf"\b(\d{{1,2}})\s{_MONTH}\b|\b{_MONTH}\s(\d{{1,2}})\b", re.IGNORECASE)
_FIRST_DAY = re.compile(rf"\b(\d{{1,2}})(?:\s(?:and|to)\s|\s?[-–]\s?)(?=\d{{1,2}}\s{_MONTH}\b)", re.IGNORECASE)  # noqa: RUF001
_YEAR = re.compile(r"(?<![\w.,€$£])(?:19|20)\d\d(?![\d%]|[.,]\d)(?!\s(?:euros?|eur|dollars?|usd)\b)")
_CODE = re.compile(r"\b[A-Za-z]+-?\d+\w*\b")
_FIGURE = re.compile(
    r"([€$£]?)\s?(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?!\d)"
    r"(?:\s?(%)|\s(per\s?cent)\b|\s?(k|m|mn|bn|thousand|million|billion)\b)?"
    r"\s?([€$£]?)(?:\s?([A-Za-z]+))?",
    re.IGNORECASE,
)
_SPELLED_FIGURE = re.compile(rf"\b({'|'.join(_SPELLED)})\s([A-Za-z]+)", re.IGNORECASE)


class Quantity(NamedTuple):
    """A figure. `step` is the last place it was written to; `unit` is %, money, a stem such as `robot`, or empty."""

    value: float
    step: float
    unit: str = ""

    def agrees(self, other: "Quantity") -> bool:
        """Whether both can be one figure, perhaps rounded in one of them, perhaps counted by another noun."""
        same_kind = not self.unit or not other.unit or (self.unit in _KINDS and self.unit == other.unit)
        counts = self.unit not in _KINDS and other.unit not in _KINDS
        near = abs(self.value - other.value) <= max(self.step, other.step) / 2 * (1 + 1e-9)
        return near and (same_kind or counts)

    def rivals(self, other: "Quantity") -> bool:
        """Whether both say how much of the same, so that at most one is right unless they agree."""
        return self.unit == other.unit or {self.unit, other.unit} == {"", MONEY}


_KINDS = (MONEY, PERCENT)


class Statement(NamedTuple):
    """What a sentence says. `marks` are times and codes: what it speaks of, apart from what it says of it."""

    stems: frozenset[str]
    marks: frozenset[str]
    quantities: tuple[Quantity, ...]
    negated: bool
    change: bool


def read(text: str) -> Statement:
    """Read a sentence, or a name, such as that of a column."""
    marks: set[str] = set()
    rest = _take_marks(text.replace("_", " "), marks)
    found = (stem(word) for word in words(_FIGURE.sub(r" \8 ", rest)) if word not in _MONEY_WORDS)
    return Statement(
        stems=frozenset(word for word in found if not word.isdigit()),
        marks=frozenset(marks),
        quantities=tuple(_figures(rest)),
        negated=bool(_NOT.search(text)),
        change=bool(_CHANGE.search(text)),
    )


def stem(word: str) -> str:
    """The word without its ending, roughly: price, prices, priced and pricing are one."""
    word = word.lower()
    for ending in ("ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _take_marks(text: str, marks: set[str]) -> str:
    """Collect times and codes into `marks`; the figures that are left are quantities."""
    for pattern, marked in _MARKS:
        kept = 0
        parts: list[str] = []
        for found in pattern.finditer(text):
            marks.update(marked(found))
            parts.append(text[kept : found.start()])
            kept = found.end()
        text = " ".join([*parts, text[kept:]])
    return text


def _date(found: re.Match[str]) -> list[str]:
    month = MONTHS[(int(found[2]) - 1) % 12]
    return [found[1], month, *([f"day{int(found[3])}"] if found[3] else [])]


def _quarter(found: re.Match[str]) -> list[str]:
    return [f"q{found[2] or _QUARTERS[found[1].lower()]}"]


def _day(found: re.Match[str]) -> list[str]:
    return [f"day{int(found[1] or found[4])}", (found[2] or found[3])[:3].lower()]


_MARKS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[str]]], ...] = (
    (_DATE, _date),
    (_QUARTER, _quarter),
    (_FIRST_DAY, lambda found: [f"day{int(found[1])}"]),
    (_DAY, _day),
    # With a capital only: "may" and "march" are verbs, too.
    (re.compile(rf"\b(?=[A-Z])(?i:{_MONTH})\b"), lambda found: [found[0][:3].lower()]),
    (_YEAR, lambda found: [found[0]]),
    (_CODE, lambda found: [found[0].lower()]),
)


def _figures(text: str) -> Iterator[Quantity]:
    for found in _FIGURE.finditer(text):
        before, whole, decimals, sign, percent, scale, after, noun = found.groups(default="")
        factor = _SCALES.get(scale.lower(), 1.0)
        # Longer figures are no quantities of anything and would overflow.
        if len(whole) <= 24:
            value = float(whole.replace(",", "") + decimals) * factor
            step = factor * 10.0 ** -max(len(decimals) - 1, 0)
            yield Quantity(value, step, PERCENT if sign or percent else _unit(before + after, noun))
    for found in _SPELLED_FIGURE.finditer(text):
        yield Quantity(_SPELLED.index(found[1].lower()) + 2.0, 1.0, stem(found[2]))


def _unit(symbol: str, noun: str) -> str:
    if symbol or noun.lower() in _MONEY_WORDS:
        return MONEY
    return stem(noun) if words(noun) else ""
