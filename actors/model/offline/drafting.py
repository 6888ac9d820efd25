"""Drafting: which worker does what part of a request, and what has to be there before."""

import re
from collections.abc import Sequence

import msgspec

from actors.model.offline.clauses import Reference, clauses, reference
from actors.model.offline.concepts import VERBS, WorkKind, concepts, kind_of_clause, likeness
from actors.model.offline.figures import expressions
from actors.model.offline.words import stem, subject_words, words

WEAK = 3
"""A match of no more than this is a guess: somebody who finds things is asked as well."""

SHORT = 3

_CLAIM = re.compile(r"\b(?:whether|that|if)\b|[\"“:]", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:on|about|regarding|of)\s+(.+)", re.IGNORECASE | re.DOTALL)
_FINDER = concepts("find search research read documents sources facts")
_WORKS_ON_RESULTS = {stem(verb) for verb in ("compare", "calculate", "compute", "work", "rank", "sum", "count")}


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that may be given a task."""

    name: str
    kind: WorkKind
    concepts: set[str]


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A task that has no id yet; `after` are the places of the drafts it depends on, `about` what it refers to."""

    worker: str
    kind: WorkKind
    clause: str
    after: tuple[int, ...] = ()
    about: str = ""


def draft(request: str, workers: Sequence[Candidate], most: int) -> list[Draft]:
    """The tasks of a request: gathering side by side, writing after it, checking last."""
    asked: list[tuple[str, WorkKind]] = [(clause, kind_of_clause(clause)) for clause in clauses(request)]
    drafts = _gathering(_gathered(request, asked, workers), workers)
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
        return [f"Find out what is known about {subject.group(1).strip(' .!?')}" if subject else request]
    # A claim that is spelled out can be checked as it stands; a document has to be found first.
    return [] if any(_CLAIM.search(clause) for clause in checks) else [_as_search(clause) for clause in checks]


def _as_search(clause: str) -> str:
    first, _, rest = clause.partition(" ")
    return f"Find {rest}" if stem(first.lower()) in VERBS else f"Find {clause}"


def _gathering(asked: Sequence[str], workers: Sequence[Candidate]) -> list[Draft]:
    drafts: list[Draft] = []
    for at, clause in enumerate(asked):
        refers: Reference = reference(clause) if at else "none"
        first = next(iter(words(clause)), "")
        needs = refers == "results" or (refers == "subject" and stem(first) in _WORKS_ON_RESULTS)
        after = tuple(range(len(drafts))) if needs else ()
        # A part of so few words can only be understood from what was asked before it.
        short = at and len(subject_words(clause)) < SHORT
        about = asked[at - 1] if refers != "none" else asked[0] if short else ""
        drafts += [
            Draft(worker=one.name, kind="gather", clause=clause, after=after, about=about)
            for one in _best(clause, about, workers)
        ]
    return drafts


def _best(clause: str, about: str, workers: Sequence[Candidate]) -> list[Candidate]:
    """The worker whose description matches best, and a finder as well where that is only a guess."""
    among = [worker for worker in workers if worker.kind == "gather"] or list(workers)
    finder = max(among, key=lambda worker: likeness(_FINDER, worker.concepts))
    spelled_out = expressions(clause)
    wanted = concepts("calculate numbers" if spelled_out else clause) or concepts(about)
    best = max(among, key=lambda worker: likeness(wanted, worker.concepts))
    score = likeness(wanted, best.concepts)
    if not score or (about and score <= WEAK):
        return [finder]
    guess = score <= WEAK and not spelled_out and likeness(_FINDER, finder.concepts) > 0
    return [best, finder] if guess and finder is not best else [best]


def _of_kind(clause: str, workers: Sequence[Candidate], kind: WorkKind) -> Candidate:
    among = [worker for worker in workers if worker.kind == kind] or list(workers)
    return max(among, key=lambda worker: likeness(concepts(clause), worker.concepts))


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
