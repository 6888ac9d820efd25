"""Quoting: the sentences of what was found that answer, each with its source, and what nothing says."""

import re

import msgspec

from actors.model_server.offline.intent import about, asked, main_intent, names_before, plain_intent
from actors.model_server.offline.job import Job, Use
from actors.model_server.offline.listing import Passage, is_empty, passages
from actors.model_server.offline.lookup import queries, spelled
from actors.model_server.offline.naming import CODE
from actors.model_server.offline.naming import names as proper_names
from actors.model_server.offline.words import (
    INSTRUCTIONS,
    STOP_WORDS,
    overlap,
    sentences,
    stem,
    stems,
    subject_words,
    words,
)

MOST_QUOTES = 6
MOST_QUOTES_OF_ALL = 16
SHORT_NUMBER = 2
SHORT_WORD = 3
SHORT_HEADING = 4
NEAR = 0.7
"""A sentence that answers less well than this part of the best one is left out."""

NOWHERE = "No document mentions"
MISSING = re.compile(
    r"^(?:No document mentions|No table has|Nothing was found|Not calculated: |\S+ (?:could not be|was not) used: )"
)
_COST = re.compile(r"\bwhat (?:do|does|did|would) .{2,60}\b(?:cost|charge)\b", re.IGNORECASE)
_PRICE = stems("price euros")
_STORY = re.compile(r"\bhappen(?:ed|s)?\b|\bwent wrong\b", re.IGNORECASE)


class Quote(msgspec.Struct, frozen=True):
    """A sentence, the name of what it stands in, and the heading it stands under."""

    text: str
    source: str
    under: str = ""

    def shown(self, wanted: set[str]) -> str:
        """The sentence as it is quoted: with its heading, where only that says what or whom it is about."""
        short = 0 < len(words(self.under)) <= SHORT_HEADING and not stems(self.under) & stems(self.text)
        telling = stems(self.under) & wanted or self.under.istitle()
        return f"{self.under}: {self.text}" if short and telling else self.text


def quotes(job: Job) -> list[Quote]:
    """The sentences that say most of what was asked, for each subject, in the order they stand in."""
    every = _sentences(job)
    said = set(words(plain_intent(job)))
    of_all = bool({"every", "all", "each"} & said)
    figures = of_all and bool({"figure", "figures", "numbers"} & said)
    if figures and (read := job.done("read")):
        every = [quote for quote in every if quote.source == _source(read[0])]
    if _STORY.search(main_intent(job)) and (told := _story(job)):
        return told
    beside = stems(about(job)) | stems(" ".join(names_before(job)))
    chosen: set[int] = set()
    for query in queries(asked(job)):
        wanted = stems(query) | (_PRICE if _COST.search(asked(job)) else set[str]())
        scores = _scores(every, wanted, beside, figures=figures)
        if not any(scores):
            scores = _scores(every, stems(query) | beside, stems(query) | beside, figures=False)
        best = max(scores, default=0)
        ranked = sorted(
            (at for at, score in enumerate(scores) if score and score >= NEAR * best), key=lambda at: -scores[at]
        )
        chosen |= set(ranked[: MOST_QUOTES_OF_ALL if of_all else MOST_QUOTES])
    found = [every[at] for at in sorted(chosen)]
    return [quote for quote in found if _telling(quote, job)] if job.done("other") else found


def _story(job: Job) -> list[Quote]:
    """What happened: the account in the document whose title names it, under its heading for that or from the start."""
    wanted = stems(subject_words(main_intent(job)))
    titled = [(overlap(f"{_source(use)} {use.output.partition(chr(10))[0]}", wanted), use) for use in job.done("read")]
    best = max((score for score, _ in titled), default=0)
    if best * 2 <= len(wanted):
        return []
    use = next(use for score, use in titled if score == best)
    every = [quote for quote in _under_headings(use.output, _source(use)) if quote.under]
    headed = [quote for quote in every if _STORY.search(quote.under)]
    return [msgspec.structs.replace(quote, under="") for quote in (headed or every)[:MOST_QUOTES]]


def shown(job: Job) -> list[str]:
    """The same as they are quoted, each with its source."""
    wanted = stems(main_intent(job))
    return [f"- {quote.shown(wanted)} [{quote.source}]" for quote in quotes(job)]


def _telling(quote: Quote, job: Job) -> bool:
    """Whether a sentence speaks of most of what is asked: less is no help where a tool has answered already."""
    wanted = stems(subject_words(main_intent(job)))
    return overlap(quote.text, wanted) * 2 > len(wanted)


def _scores(every: list[Quote], wanted: set[str], about: set[str], *, figures: bool) -> list[int]:
    return [_score(quote, wanted, about, figures=figures) for quote in every]


def _score(quote: Quote, wanted: set[str], about: set[str], *, figures: bool) -> int:
    """How well a sentence answers: its subject counts most, what it is asked with regard to counts too."""
    if figures:
        return 1 if re.search(r"\d", quote.text) else 0
    subject = overlap(f"{quote.under} {quote.text}", wanted)
    # One shared word is a coincidence, unless there is only one to share.
    enough = subject >= min(1 if about else 2, len(wanted))
    named = overlap(spelled(quote.source), wanted | about)
    return 3 * subject + named + overlap(f"{quote.under} {quote.text}", about) if enough else 0


def missing(job: Job) -> list[str]:
    """The names and figures of the intent that nothing that was found has."""
    if not job.uses_of("search") and not job.uses_of("read"):
        return []
    said = _said(job)
    intent = main_intent(job)
    # A number of one or two digits is no name.
    telling = [word for word in words(intent) if re.search(r"\d", word) and len(word) > SHORT_NUMBER]
    wanted = [word for name in proper_names(intent) for word in words(name) if word[:1].isalnum()] + telling
    return list(dict.fromkeys(word for word in wanted if word not in STOP_WORDS and not spoken_of(word, said)))


def nothing_found(job: Job) -> str:
    """What to say when no sentence answers: that the words are nowhere, or only that nothing answers."""
    wanted = [word for word in subject_words(main_intent(job)) if word not in INSTRUCTIONS][:8]
    if not wanted:
        return "Nothing was found."
    said = _said(job)
    if any(spoken_of(word, said) for word in wanted):
        return f"Nothing was found that answers this: {', '.join(wanted)}."
    return not_mentioned(wanted)


def not_mentioned(lost: list[str]) -> str:
    """The line that says of these words that they are nowhere."""
    return f"{NOWHERE} {', '.join(lost)}."


def still_lost(line: str, said: set[str]) -> str:
    """The same line without the words that somebody else has spoken of; empty if none is left."""
    if not line.startswith(NOWHERE):
        return line
    every = line.removeprefix(NOWHERE).strip(" .").split(", ")
    lost = [word for word in every if not spoken_of(word, said)]
    # A short word that is left over is no subject.
    telling = [word for word in lost if len(word) > SHORT_WORD or re.search(r"\d", word)]
    return line if lost == every else not_mentioned(telling) if telling else ""


def spoken_of(word: str, said: set[str]) -> bool:
    """Whether a word is among these stems; a code is the same with its dash and without."""
    return stem(word) in said or (
        bool(CODE.fullmatch(word)) and word.replace("-", "") in {one.replace("-", "") for one in said}
    )


def _said(job: Job) -> set[str]:
    return stems(" ".join(use.output for use in job.uses if not use.failed and not is_empty(use.output)))


def _sentences(job: Job) -> list[Quote]:
    found: list[Quote] = []
    for use in job.done("read"):
        found += _under_headings(use.output, _source(use))
    for passage in _passages(job.done("search")):
        found += [Quote(text, passage.name) for text in sentences(passage.text)]
    known = {(quote.text, quote.source): quote for quote in reversed(found)}
    return [quote for quote in dict.fromkeys(found) if known[quote.text, quote.source] is quote]


def _under_headings(text: str, source: str) -> list[Quote]:
    """The sentences of a document, each with the nearest heading above it; the title of the whole is none."""
    found: list[Quote] = []
    under = ""
    for line in text.splitlines():
        if line.startswith("##"):
            under = line.lstrip("# ").strip()
        found += [Quote(sentence, source, under) for sentence in sentences(line)]
    return found


def _source(use: Use) -> str:
    return str(next(iter(use.input.values()), use.tool))


def _passages(uses: list[Use]) -> list[Passage]:
    return [passage for use in uses if not is_empty(use.output) for passage in passages(use.output)]
