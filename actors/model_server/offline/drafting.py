"""Drafting: which worker does what part of a request, and what has to be there before."""

import re
from collections.abc import Sequence

import msgspec

from actors.model_server.offline.claims import FIGURES_OF
from actors.model_server.offline.clauses import (
    asks_for_one,
    begins_sentence,
    clauses,
    comes_after,
    is_question,
    reference,
)
from actors.model_server.offline.concepts import VERBS, WorkKind, concepts, kind_of_clause, likeness
from actors.model_server.offline.figures import expressions
from actors.model_server.offline.fitness import Candidate, Fitness
from actors.model_server.offline.words import keywords, stem, subject_words, words

WEAK = 3
"""A match of no more than this is a guess: somebody who finds things is asked as well."""

SHORT = 3

_CLAIM = re.compile(r"\b(?:whether|that|if)\b|[\"“:]", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:on|about|regarding|of)\s+(.+)", re.IGNORECASE | re.DOTALL)
_AGAINST = re.compile(r"\s+(?:against|with the|and (?:say|tell|report))\b.*$", re.IGNORECASE | re.DOTALL)
_FINDER = concepts("find search research read documents sources facts")
_WORKS_ON_RESULTS = {stem(verb) for verb in ("compare", "calculate", "compute", "work", "rank", "sum", "count")}


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A task that has no id yet.

    `after` are the places of the drafts it depends on, `about` what it refers to, `joined` whether
    it is made of several parts that need the rest of the request to be understood.
    """

    worker: str
    kind: WorkKind
    clause: str
    after: tuple[int, ...] = ()
    about: str = ""
    joined: bool = False


def draft(request: str, workers: Sequence[Candidate], most: int) -> list[Draft]:
    """The tasks of a request: gathering side by side, writing after it, checking last."""
    asked: list[tuple[str, WorkKind]] = [(clause, kind_of_clause(clause)) for clause in clauses(request)]
    drafts = _one_question(request, asked, _gathering(request, _gathered(request, asked, workers), workers))
    for kind in ("produce", "check"):
        after = tuple(at for at, made in enumerate(drafts) if made.kind != kind)
        if kind == "check":
            after = tuple(at for at, made in enumerate(drafts) if made.kind == "produce") or after
        clause = ", and ".join(clause for clause, wanted in asked if wanted == kind)
        if clause:
            drafts.append(Draft(worker=_of_kind(clause, workers, kind).name, kind=kind, clause=clause, after=after))
    return drafts if len(drafts) <= most else _fewer(drafts, most)


def _gathered(request: str, asked: Sequence[tuple[str, WorkKind]], workers: Sequence[Candidate]) -> list[str]:
    """The clauses to gather for; where only writing or checking is asked for, what there is to write about or check."""
    found = [clause for clause, kind in asked if kind == "gather"]
    if found or not any(worker.kind == "gather" for worker in workers):
        return found
    checks = [clause for clause, kind in asked if kind == "check"]
    if not checks:
        subject = _SUBJECT.search(request)
        named = subject.group(1).strip(" .!?") if subject else ""
        return [f"Find out what is known about {named}" if keywords(named) else request]
    # A claim that is spelled out can be checked as it stands; a document has to be found first.
    spelled_out = any(_CLAIM.search(clause) and not FIGURES_OF.search(clause) for clause in checks)
    return [] if spelled_out else [_as_search(clause) for clause in checks]


def _as_search(clause: str) -> str:
    """What has to be found before it can be checked; what to check it against is for who checks."""
    first, _, rest = _AGAINST.sub("", clause).partition(" ")
    if (match := FIGURES_OF.search(clause)) and _CLAIM.search(clause):
        return f"Find every figure in {match.group(1).strip()}"
    return f"Find {rest}" if stem(first.lower()) in VERBS else f"Find {clause}"


def _gathering(request: str, asked: Sequence[str], workers: Sequence[Candidate]) -> list[Draft]:
    drafts: list[Draft] = []
    for at, clause in enumerate(asked):
        refers = reference(clause) if at else "none"
        needs = refers == "results" or (refers == "subject" and _works_on(clause, asked[at - 1]))
        # A part of so few words can only be understood from what was asked before it in its sentence.
        short = at and len(subject_words(clause)) < SHORT and not begins_sentence(clause, request)
        about = asked[at - 1] if refers != "none" else asked[0] if short and not _names(clause) else ""
        before = drafts[-1].worker if drafts and about and refers != "results" else ""
        best = _best(clause, (about, before), workers)
        if needs and refers == "subject" and [one.name for one in best] == [drafts[-1].worker]:
            drafts[-1] = msgspec.structs.replace(drafts[-1], clause=f"{drafts[-1].clause} {clause}", joined=True)
            continue
        after = tuple(range(len(drafts))) if needs or comes_after(clause, request) else ()
        drafts += [Draft(worker=one.name, kind="gather", clause=clause, after=after, about=about) for one in best]
    return drafts


def _works_on(clause: str, before: str) -> bool:
    """Whether a clause does something with what the one before it finds: calculates with it, or deals with that one."""
    first = next(iter(words(clause)), "")
    return stem(first) in _WORKS_ON_RESULTS or (asks_for_one(before) and not is_question(clause))


def _names(clause: str) -> bool:
    """Whether a clause names somebody or something, so that it can be understood by itself."""
    return re.search(r"\s[A-Z]\w", clause) is not None


def _one_question(request: str, asked: Sequence[tuple[str, WorkKind]], drafts: list[Draft]) -> list[Draft]:
    """A question of two parts that one worker would get one after the other is one question."""
    if len(asked) != 2 or len(drafts) != 2 or drafts[0].worker != drafts[1].worker:
        return drafts
    if any(kind != "gather" for _, kind in asked) or drafts[1].after:
        return drafts
    return [Draft(worker=drafts[0].worker, kind="gather", clause=" ".join(request.split()))]


def _best(clause: str, said: tuple[str, str], workers: Sequence[Candidate]) -> list[Candidate]:
    """The worker that suits best, and a finder as well where that is only a guess; `said` is what came before."""
    about, before = said
    among = [worker for worker in workers if worker.kind == "gather"] or list(workers)
    fitness = Fitness(among)
    finder = max(among, key=lambda worker: (worker.general, likeness(_FINDER, worker.concepts)))
    spelled_out = expressions(clause)
    wanted = concepts("calculate numbers" if spelled_out else clause)
    best = fitness.best(wanted)
    score, sure = fitness.score(wanted, best), fitness.sure(wanted, best)
    if score <= 0 or (about and score <= WEAK and not sure):
        return [next((worker for worker in among if worker.name == before), finder)]
    guess = score <= WEAK and not sure and not spelled_out and likeness(_FINDER, finder.concepts) > 0
    return [best, finder] if guess and finder is not best else [best]


def _of_kind(clause: str, workers: Sequence[Candidate], kind: WorkKind) -> Candidate:
    among = [worker for worker in workers if worker.kind == kind] or list(workers)
    return Fitness(among).best(concepts(clause))


def _fewer(drafts: Sequence[Draft], most: int) -> list[Draft]:
    """The last tasks kept, the gathering ones of each worker joined until they are few enough."""
    last = [one for one in drafts if one.kind != "gather"][: max(0, most - 1)]
    room = most - len(last)
    joined: dict[str, str] = {}
    for one in (one for one in drafts if one.kind == "gather"):
        worker = one.worker if one.worker in joined or len(joined) < room else next(iter(joined))
        joined[worker] = f"{joined[worker]}; {one.clause}" if worker in joined else one.clause
    gather = [Draft(worker=worker, kind="gather", clause=clause) for worker, clause in joined.items()]
    after = tuple(range(len(gather)))
    return gather + [Draft(worker=one.worker, kind=one.kind, clause=one.clause, after=after) for one in last]
