"""Looking things up: what to search for, and which of the documents that were found to read."""

import re

from actors.model_server.offline.intent import about, main_intent, names_before, plain_intent
from actors.model_server.offline.job import Job
from actors.model_server.offline.listing import files, is_empty, names, passages
from actors.model_server.offline.shape import Offer
from actors.model_server.offline.turn import ToolCall
from actors.model_server.offline.words import overlap, shortened, stems, subject_words

MOST_READ = 2
MOST_QUERIES = 3
LITTLE = 0.05


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


def _wanted(job: Job) -> set[str]:
    """The stems to look for: those of the intent, and the names that the results before it came to."""
    return stems(subject_words(plain_intent(job))) | stems(" ".join(names_before(job)))


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
    beside = [*names_before(job), *about(job)[:6]]
    return [" ".join([query, *beside]) for query in queries(main_intent(job))]


def queries(intent: str) -> list[str]:
    """What to search for: one query for each subject that has at least two words of its own, or one for all."""
    subjects = [subject_words(part) for part in re.split(r",|;|\band\b|\bas well as\b", intent)]
    subjects = [subject for subject in subjects if subject]
    if 1 < len(subjects) <= MOST_QUERIES and all(len(subject) >= 2 for subject in subjects):
        return list(dict.fromkeys(" ".join(subject[:8]) for subject in subjects))
    return [" ".join(subject_words(intent)[:12]) or shortened(intent, 100)]


def spelled(name: str) -> str:
    """The words in the name of a document."""
    return re.sub(r"[-_./]", " ", name)


def _ranked(job: Job) -> list[str]:
    """The names that may be read, the most promising first."""
    wanted = _wanted(job)
    scores: dict[str, float] = dict.fromkeys(files(plain_intent(job)), 100.0)
    for use in job.done("search") + job.done("list"):
        if is_empty(use.output):
            continue
        for rank, passage in enumerate(passages(use.output)):
            likely = overlap(passage.text, wanted) + overlap(spelled(passage.name), wanted) - rank / 10
            # Whoever searched had a reason to give it, even if it shares no word.
            scores[passage.name] = max(scores.get(passage.name, 0), likely, LITTLE)
        # What a passage mentions is not always there to be read; what a listing names is.
        for name in names(use.output) if not passages(use.output) else []:
            scores.setdefault(name, overlap(spelled(name), wanted) / 2)
    return sorted((name for name, score in scores.items() if score > 0), key=lambda name: -scores[name])
