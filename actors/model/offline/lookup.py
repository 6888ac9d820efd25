"""Looking things up: searching, reading what was found, and quoting the sentences that answer."""

import re

import msgspec

from actors.model.offline.job import Job, Use
from actors.model.offline.listing import Passage, files, is_empty, names, passages
from actors.model.offline.naming import names as proper_names
from actors.model.offline.shape import Offer
from actors.model.offline.turn import ToolCall
from actors.model.offline.words import STOP_WORDS, overlap, sentences, shortened, stem, stems, subject_words, words

MOST_READ = 2
MOST_QUERIES = 3
MOST_QUOTES = 6
MOST_QUOTES_OF_ALL = 16
_NAME = re.compile(r"\b[A-Z][\w-]+(?: [A-Z][\w-]+)*")
SHORT_NUMBER = 2
SHORT_HEADING = 4
NEAR = 0.7
"""A sentence that answers less well than this part of the best one is left out."""

CONCLUSION = "Highest of these"
MISSING = re.compile(
    r"^(?:No document mentions|No table has|Nothing was found|Not calculated: |\S+ could not be used: )"
)
_ASIDE = re.compile(r'\s*The whole request: "(.*)"\s*$', re.DOTALL)
_BEFORE = re.compile(r",? from the results of the tasks before this one\.?\s*$")
_STATED = re.compile(r"^(\S+(?: \S+){2,}): (\S+(?: \S+){2,})$", re.DOTALL)
_REGARD = re.compile(r'^(.*), with regard to: "(.*)"\s*$', re.DOTALL)


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


def search_calls(job: Job) -> list[ToolCall]:
    """A first search for each subject; a second, with fewer words, for what was not found."""
    return [call for one in job.of_shape("search") for call in _searches(job, one)]


def read_calls(job: Job) -> list[ToolCall]:
    """The best documents of those that were found, or that the intent names itself."""
    if job.uses_of("read"):
        return []
    known = _ranked(job)
    readers = job.of_shape("read")[:1]
    return [ToolCall(one.tool.name, {one.parameter: name}) for one in readers for name in known[:MOST_READ]]


def quotes(job: Job) -> list[Quote]:
    """The sentences that say most of what was asked, for each subject, in the order they stand in."""
    every = _sentences(job)
    asked = set(words(plain_intent(job)))
    of_all = bool({"every", "all", "each"} & asked)
    figures = of_all and bool({"figure", "figures", "numbers"} & asked)
    if figures and (read := job.done("read")):
        every = [quote for quote in every if quote.source == _source(read[0])]
    about = stems(_about(job)) | stems(" ".join(_names_before(job)))
    chosen: set[int] = set()
    for query in queries(_asked(job)):
        scores = _scores(every, stems(query), about, figures=figures)
        if not any(scores):
            scores = _scores(every, stems(query) | about, stems(query) | about, figures=False)
        best = max(scores, default=0)
        ranked = sorted(
            (at for at, score in enumerate(scores) if score and score >= NEAR * best), key=lambda at: -scores[at]
        )
        chosen |= set(ranked[: MOST_QUOTES_OF_ALL if of_all else MOST_QUOTES])
    found = [every[at] for at in sorted(chosen)]
    return [quote for quote in found if _telling(quote, job)] if job.done("other") else found


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
    return 3 * subject + overlap(f"{quote.under} {quote.text}", about) if enough else 0


def _wanted(job: Job) -> set[str]:
    """The stems to look for: those of the intent, and the names that the results before it came to."""
    return stems(subject_words(plain_intent(job))) | stems(" ".join(_names_before(job)))


def _names_before(job: Job) -> list[str]:
    """The names in the line of each earlier result that sums it up: the one that says what came out on top."""
    found: list[str] = []
    for part in job.context:
        top = [line for line in part.text.splitlines() if line.lstrip("- ").startswith(CONCLUSION)]
        found += [name for line in top for name in _NAME.findall(line.partition(":")[2])]
    return list(dict.fromkeys(found))


def missing(job: Job) -> list[str]:
    """The names and figures of the intent that nothing that was found has."""
    if not job.uses_of("search") and not job.uses_of("read"):
        return []
    said = _said(job)
    intent = main_intent(job)
    # A number of one or two digits is no name.
    telling = [word for word in words(intent) if re.search(r"\d", word) and len(word) > SHORT_NUMBER]
    wanted = [word for name in proper_names(intent) for word in words(name) if word[:1].isalnum()] + telling
    return list(dict.fromkeys(word for word in wanted if word not in STOP_WORDS and stem(word) not in said))


def nothing_found(job: Job) -> str:
    """What to say when no sentence answers: that the words are nowhere, or only that nothing answers."""
    asked = subject_words(main_intent(job))[:8]
    if any(stem(word) in _said(job) for word in asked):
        return f"Nothing was found that answers this: {', '.join(asked)}."
    return f"No document mentions {', '.join(asked)}."


def _said(job: Job) -> set[str]:
    return stems(" ".join(use.output for use in job.uses if not use.failed and not is_empty(use.output)))


def plain_intent(job: Job) -> str:
    """The intent without the request that it may quote for the reader."""
    return _BEFORE.sub("", _ASIDE.sub("", job.intent)) or job.intent


def main_intent(job: Job) -> str:
    """What is asked, without what it is asked with regard to."""
    match = _REGARD.match(plain_intent(job))
    return match.group(1) if match else plain_intent(job)


def _asked(job: Job) -> str:
    """What is asked, without what is stated before it: as in `It broke: why?`."""
    match = _STATED.match(main_intent(job))
    return match.group(2) if match and subject_words(match.group(2)) else main_intent(job)


def _about(job: Job) -> list[str]:
    regard, stated = _REGARD.match(plain_intent(job)), _STATED.match(main_intent(job))
    return [*subject_words(regard.group(2) if regard else ""), *subject_words(stated.group(1) if stated else "")]


def whole_request(job: Job) -> str:
    """The request that the intent quotes for the reader, if it does."""
    match = _ASIDE.search(job.intent)
    return match.group(1) if match else ""


def _searches(job: Job, one: Offer) -> list[ToolCall]:
    before = [use for use in job.uses if use.tool == one.tool.name]
    if not before:
        return [ToolCall(one.tool.name, {one.parameter: query}) for query in _first_queries(job)]
    if len(before) >= MOST_QUERIES or not all(use.failed or is_empty(use.output) for use in before):
        return []
    tried = {str(use.input.get(one.parameter)) for use in before}
    longest = sorted(subject_words(plain_intent(job)), key=len, reverse=True)[:2]
    query = " ".join(longest)
    return [ToolCall(one.tool.name, {one.parameter: query})] if query and query not in tried else []


def _first_queries(job: Job) -> list[str]:
    beside = [*_names_before(job), *_about(job)[:6]]
    return [" ".join([query, *beside]) for query in queries(main_intent(job))]


def queries(intent: str) -> list[str]:
    """What to search for: one query for each subject that has at least two words of its own, or one for all."""
    subjects = [subject_words(part) for part in re.split(r",|;|\band\b|\bas well as\b", intent)]
    subjects = [subject for subject in subjects if subject]
    if 1 < len(subjects) <= MOST_QUERIES and all(len(subject) >= 2 for subject in subjects):
        return list(dict.fromkeys(" ".join(subject[:8]) for subject in subjects))
    return [" ".join(subject_words(intent)[:12]) or shortened(intent, 100)]


def _ranked(job: Job) -> list[str]:
    """The names that may be read, the most promising first."""
    wanted = _wanted(job)
    scores: dict[str, float] = dict.fromkeys(files(plain_intent(job)), 100.0)
    for use in job.done("search") + job.done("list"):
        if is_empty(use.output):
            continue
        for rank, passage in enumerate(passages(use.output)):
            likely = overlap(passage.text, wanted) + overlap(passage.name, wanted) - rank / 10
            scores[passage.name] = max(scores.get(passage.name, 0), likely)
        # What a passage mentions is not always there to be read; what a listing names is.
        for name in names(use.output) if not passages(use.output) else []:
            scores.setdefault(name, overlap(re.sub(r"[-_./]", " ", name), wanted) / 2)
    return sorted((name for name, score in scores.items() if score > 0), key=lambda name: -scores[name])


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
