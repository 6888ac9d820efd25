"""Figures: numbers in texts, what they are numbers of, and the expressions that a question makes of them."""

import re

import msgspec

from actors.model_server.offline.words import overlap, sentences, stems, word_set, words

_NUMBER = re.compile(
    r"(?:(?<![\w.:/])(?P<sign>-)|(?<![\w.:/-]))[$€£]?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<scale>\s*(?:thousand|million|billion|[kmb]n?)\b)?(?P<percent>\s*(?:%|percent\b))?(?![\w]|-\w)",
    re.IGNORECASE,
)
_SCALES = {"t": 1_000, "k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# Bounded, so that a long row of numbers without a sign costs no time.
_INLINE = re.compile(r"[\d(][\d\s.,()]{0,60}(?:(?:\*\*|[-+*/^%×÷])[\d\s.,()]{1,60})+")  # noqa: RUF001 - signs as people type them
_WORDY = (
    (re.compile(r"\bplus\b", re.IGNORECASE), "+"),
    (re.compile(r"\bminus\b", re.IGNORECASE), "-"),
    (re.compile(r"\btimes\b|\bmultiplied by\b", re.IGNORECASE), "*"),
    (re.compile(r"\bdivided by\b|\bover\b(?=\s*\d)", re.IGNORECASE), "/"),
)
OPERATIONS = {
    "growth": word_set(
        "growth grow grew grown increase increased rise rose change changed decline declined fell faster fastest"
    ),
    "ratio": word_set("ratio share proportion"),
    "difference": word_set("difference differ gap compare comparison versus cheaper dearer"),
    "average": word_set("average mean"),
    "sum": word_set("sum total altogether combined overall"),
}


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number with the sentence it stands in and the word behind it; `year` if the sentence ties it to one."""

    value: float
    percent: bool
    unit: str
    year: int | None
    label: str


def numbers(text: str) -> list[float]:
    """The numbers of a text, in order, years included."""
    return [_value(match) for match in _NUMBER.finditer(text)]


def figures(text: str) -> list[Figure]:
    """The numbers of a text that are not years, each with its sentence and the year nearest to it."""
    found: list[Figure] = []
    for sentence in sentences(text):
        years = list(_YEAR.finditer(sentence))
        matches = [match for match in _NUMBER.finditer(sentence) if not _YEAR.fullmatch(match.group())]
        for at, match in enumerate(matches):
            # As many years as figures: they are told in pairs.
            year = years[at] if len(years) == len(matches) else _nearest(years, match)
            unit = next(iter(words(sentence[match.end() :].partition(",")[0])), "")
            found.append(
                Figure(
                    value=_value(match),
                    percent=match.group("percent") is not None,
                    unit=unit,
                    year=int(year.group()) if year else None,
                    label=sentence,
                )
            )
    return found


def _nearest(years: list[re.Match[str]], to: re.Match[str]) -> re.Match[str] | None:
    return min(years, key=lambda year: abs(year.start() - to.start()), default=None)


def operation(text: str) -> str | None:
    """What a question wants done with figures."""
    found = set(words(text))
    return next((name for name, signs in OPERATIONS.items() if signs & found), None)


def expressions(text: str) -> list[str]:
    """The calculations that a text spells out itself."""
    plain = text
    for pattern, sign in _WORDY:
        plain = pattern.sub(f" {sign} ", plain)
    inline = [_tidy(match.group()) for match in _INLINE.finditer(plain)]
    found = [one for one in inline if _worth(one)]
    if found:
        return list(dict.fromkeys(found))
    spoken = _percent_of(text) or _from_to(text) or _of_list(text)
    return [spoken] if spoken else []


def from_figures(wanted: str, found: list[Figure]) -> str | None:
    """The calculation a question asks for, made of figures that were found; None if they do not suffice."""
    how = operation(wanted)
    if how is None:
        return None
    relevant = _relevant(wanted, found)
    # Only what is measured alike can be added or compared.
    chosen = [figure for figure in relevant if figure.unit == relevant[0].unit]
    if len(chosen) < 2:
        return None
    values = [figure.value for figure in chosen]
    if how in ("sum", "average"):
        return combined(how, values[:20])
    if how == "growth":
        dated = sorted((figure for figure in chosen if figure.year), key=lambda figure: figure.year or 0)
        several = len({figure.year for figure in dated}) > 1
        return combined(how, [dated[0].value, dated[-1].value]) if several else None
    return combined(how, values) if len(values) == 2 else None


def combined(how: str, values: list[float]) -> str | None:
    """An expression over values."""
    first, last = shown(values[0]), shown(values[-1])
    match how:
        case "growth":
            return f"({last} - {first}) / {first} * 100" if values[0] else None
        case "difference":
            return f"{first} - {last}"
        case "ratio":
            return f"{first} / {last}" if values[-1] else None
        case "average":
            return f"({' + '.join(map(shown, values))}) / {len(values)}"
        case _:
            return " + ".join(map(shown, values))


def shown(value: float) -> str:
    """A number as it stands in an expression."""
    text = f"{value:.10g}"
    text = f"{value:.0f}" if "e" in text else text
    return f"({text})" if value < 0 else text


def _value(match: re.Match[str]) -> float:
    scale = _SCALES.get((match.group("scale") or " ").strip()[:1].lower(), 1)
    value = float(match.group("digits").replace(",", "")) * scale
    return -value if match.group("sign") else value


def _relevant(wanted: str, found: list[Figure]) -> list[Figure]:
    """The figures whose sentences speak best of what is wanted; percentages only if there is nothing else."""
    usable = [figure for figure in found if not figure.percent] or found
    asked = stems(wanted)
    years = {int(year) for year in _YEAR.findall(wanted)}
    scored = [(overlap(figure.label, asked) + (figure.year in years), figure) for figure in usable]
    best = max((score for score, _ in scored), default=0)
    return [figure for score, figure in scored if score and score >= best - 1]


def _tidy(text: str) -> str:
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text).strip(" .,")
    plain = plain.replace("^", "**").replace("×", "*").replace("÷", "/")  # noqa: RUF001 - signs as people type them
    while plain.count("(") > plain.count(")") and plain.startswith("("):
        plain = plain[1:]
    while plain.count(")") > plain.count("(") and plain.endswith(")"):
        plain = plain[:-1]
    return " ".join(plain.split())


def _worth(text: str) -> bool:
    """Whether it is a calculation, not a date, a range of years or the like."""
    parts = re.findall(r"\d+(?:\.\d+)?", text)
    spaced = re.search(r"\s(?:\*\*|[-+*/%])\s|[*/()]", text)
    dated = re.fullmatch(r"\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?", text)
    return len(parts) > 1 and bool(spaced) and not dated and text.count("(") == text.count(")")


def _percent_of(text: str) -> str | None:
    match = re.search(r"(\d+(?:\.\d+)?)\s*(?:%|percent|per cent)\s+of\s+[$€£]?([\d,]+(?:\.\d+)?)", text, re.IGNORECASE)
    return f"{match.group(2).replace(',', '').rstrip('.')} * {match.group(1)} / 100" if match else None


def _from_to(text: str) -> str | None:
    how = operation(text)
    match = re.search(rf"\b(?:from|between)\s+({_NUMBER.pattern})\s+(?:to|and)\s+", text, re.IGNORECASE)
    values = numbers(text[match.start() :])[:2] if match and how in ("growth", "difference", "ratio") else []
    if len(values) < 2 or all(_YEAR.fullmatch(shown(value)) for value in values):
        return None
    return combined(how or "", values)


def _of_list(text: str) -> str | None:
    how = operation(text)
    match = re.search(r"\b(?:of|add|between)\s+(?=[$€£]?\d)", text, re.IGNORECASE)
    values = numbers(text[match.end() :]) if match and how in ("sum", "average", "ratio", "difference") else []
    return combined(how or "", values) if len(values) > 1 else None
