"""Choosing: which of the tools that know something special suit a task, and what to ask them."""

import re
from collections import Counter

from actors.model_server.offline.acting import act, has_effect, name_verb
from actors.model_server.offline.arguments import arguments, proposed, unknown
from actors.model_server.offline.concepts import VERBS, concepts, groups_of
from actors.model_server.offline.intent import main_intent
from actors.model_server.offline.job import Job, Use
from actors.model_server.offline.schema import properties, required, resolved
from actors.model_server.offline.shape import Offer
from actors.model_server.offline.turn import ToolCall
from actors.model_server.offline.words import sentences, stem, words

MOST_TOOLS = 3
SUBJECT = 3.0
_COMMON = {stem(verb) for verb in ("find", "search", "look", "get", "read", "show", "work")}
"""Verbs that say nothing of what a tool does: most of them find something."""

_VAGUE = groups_of(_COMMON)
_PART = re.compile(r"[:;,]\s|\band\b")


def other_calls(job: Job) -> list[ToolCall]:
    """The tools of no known shape that suit the task, once each; where the worker has no others, all that may."""
    offers = [one for one in job.of_shape("other") if not _used(job, one) and not _acts(one)]
    chosen = _suitable(job, offers)
    if not chosen and not job.uses and len(job.of_shape("other")) == len(job.offers):
        chosen = _related(job, offers)
    return [] if _all_known(job) else _calls(job, chosen)


def spare_calls(job: Job) -> list[ToolCall]:
    """What is left of them that may help, where nothing else has given anything."""
    offers = [one for one in job.of_shape("other") if not _used(job, one) and not _acts(one)]
    return [] if _all_known(job) else _calls(job, _related(job, offers))


def acting_calls(job: Job) -> list[ToolCall]:
    """The tools that do something, if the task asks for just that; after all else was found."""
    return _calls(job, [one for one in _asked_for(job) if not _used(job, one)])


def lacking(job: Job) -> dict[str, list[str]]:
    """What is not known to use a tool that the task asks for, by the name of the tool."""
    found = {one.tool.name: unknown(job, one) for one in _asked_for(job) if not _used(job, one)}
    return {name: parameters for name, parameters in found.items() if parameters}


def second_calls(job: Job) -> list[ToolCall]:
    """Another try, once, with a value that the tool itself has named."""
    found: list[ToolCall] = []
    for one in job.of_shape("other"):
        uses = [use for use in job.uses if use.tool == one.tool.name]
        names = required(one.tool.input_schema)
        if len(uses) == 1 and len(names) == 1:
            found += [ToolCall(one.tool.name, {names[0]: value}) for value in proposed(job, uses[0].output)]
    return found


def unanswered(job: Job, use: Use) -> bool:
    """Whether a tool only said what else it could be asked."""
    return bool(proposed(job, use.output))


def suits(job: Job) -> bool:
    """Whether one of these tools suits the task by a subject, so that no table needs to be searched for it."""
    return bool(_suitable(job, [one for one in job.of_shape("other") if not _acts(one)]))


def _asked_for(job: Job) -> list[Offer]:
    """The tools that act and that the task asks for: by their verb, or as the only one there is for its subject."""
    intent = main_intent(job)
    said = {stem(word) for word in words(intent)}
    found: list[Offer] = []
    for one in (one for one in job.of_shape("other") if _acts(one)):
        only = len(job.offers) == 1 and bool(_concepts(one) & concepts(intent))
        if act(one.tool, intent) or (not has_effect(one.tool) and (only or stem(name_verb(one.tool)) in said)):
            found.append(one)
    return found


def _all_known(job: Job) -> bool:
    """Whether the task is an act alone, for which nothing has to be looked up."""
    first = stem(next(iter(words(main_intent(job))), ""))
    meant = [one for one in _asked_for(job) if stem(name_verb(one.tool)) == first]
    return len(sentences(main_intent(job))) == 1 and any(not unknown(job, one) for one in meant)


def _related(job: Job, offers: list[Offer]) -> list[Offer]:
    """The tools that have anything in common with the task; a worker's only tool is what the worker is there for."""
    wanted = concepts(main_intent(job)) - _COMMON - _VAGUE
    return [one for one in offers if len(job.offers) == 1 or wanted & _concepts(one)]


def _calls(job: Job, chosen: list[Offer]) -> list[ToolCall]:
    return [ToolCall(one.tool.name, given) for one in chosen[:MOST_TOOLS] for given in arguments(job, one)]


def _suitable(job: Job, offers: list[Offer]) -> list[Offer]:
    """The tools that suit best, for each part of what is asked; the one alone whose own verb the task begins with."""
    every = [one for one in job.of_shape("other") if not _acts(one)]
    told = {one.tool.name: _concepts(one) for one in every}
    intent = main_intent(job)
    first = stem(next(iter(words(intent)), ""))
    if own := [one for one in every if stem(name_verb(one.tool)) == first and first not in _COMMON]:
        return [one for one in own[:1] if one in offers]
    chosen = {name for part in _PART.split(intent) for name in _best(concepts(part), told)}
    return [one for one in offers if one.tool.name in chosen]


def _best(wanted: set[str], told: dict[str, set[str]]) -> list[str]:
    """The tools that share most with what is wanted, what few tools speak of counting most; none without a subject."""
    spoken = Counter(concept for one in told.values() for concept in one)
    shared = {name: wanted & one for name, one in told.items()}
    scores = {name: sum(_weight(concept) / spoken[concept] for concept in one) for name, one in shared.items()}
    best = max(scores.values(), default=0)
    return [name for name, score in scores.items() if score == best and _meant(wanted, shared[name])]


def _meant(wanted: set[str], shared: set[str]) -> bool:
    """Whether a tool is meant: it shares a subject, or its words mean the same as every subject that is wanted."""
    subjects = {concept for concept in wanted if _weight(concept) == SUBJECT}
    if subjects & shared:
        return True
    return bool(subjects) and all(groups_of({one}) & shared - _VAGUE for one in subjects)


def _concepts(one: Offer) -> set[str]:
    schema = one.tool.input_schema
    told = [str(resolved(part, schema).get("description", "")) for part in properties(schema).values()]
    return concepts(" . ".join([one.tool.name, one.tool.description, *properties(schema), *told]))


def _weight(concept: str) -> float:
    return 1.0 if concept.startswith("~") or concept in VERBS else SUBJECT


def _acts(one: Offer) -> bool:
    """Whether a tool does something: its verb says so, or it needs more to be known than what to look up."""
    return len(required(one.tool.input_schema)) > 1 or has_effect(one.tool)


def _used(job: Job, one: Offer) -> bool:
    return any(use.tool == one.tool.name for use in job.uses)
