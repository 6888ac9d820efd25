"""Fitness: how well a worker suits what is asked, by what it says of itself beside what the others say."""

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from actors.model_server.offline.concepts import VERBS, WorkKind, affirmed, concepts, denied, groups_of, kind_of_worker

SUBJECT = 3.0
"""What a shared subject counts; a shared verb, or a word of the same group of meaning, counts one."""

DENIED = 0.5
"""How much of that is taken off for what a worker says it does not do."""

_GENERAL = re.compile(r"\b(?:everything|anything|whatever|all (?:kinds|sorts|other)|general(?:ist)?)\b", re.IGNORECASE)


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that may be given a task: what it speaks of, and what it says it does not do."""

    name: str
    kind: WorkKind
    concepts: set[str]
    denied: set[str] = set()
    general: bool = False


def candidate(name: str, told: str) -> Candidate:
    """A worker by its name and by what is told of it: its summary and the names of its tools."""
    text = f"{name.replace('-', ' ')} . {told}"
    offered = concepts(text)
    return Candidate(
        name=name,
        kind=kind_of_worker(told),
        concepts=offered,
        denied=denied(text) - offered,
        general=_GENERAL.search(affirmed(text)) is not None,
    )


class Fitness:
    """Compares workers with each other: what few of them speak of says more than what all do."""

    def __init__(self, workers: Sequence[Candidate]) -> None:
        self.workers = list(workers)
        self._speak = Counter(concept for worker in workers for concept in worker.concepts)

    def best(self, wanted: set[str]) -> Candidate:
        """The worker that suits best; of equals the first that is there for something special."""
        return max(self.workers, key=lambda worker: (self.score(wanted, worker), not worker.general))

    def score(self, wanted: set[str], worker: Candidate) -> float:
        """How well a worker suits what is wanted; 0 or less if nothing speaks for it."""
        shared = wanted & worker.concepts
        # A word that is shared itself says all that its group would say.
        shared -= groups_of(shared)
        found = sum(_weight(one) * self._rarity(one) for one in shared)
        return found - DENIED * sum(_weight(one) for one in wanted & worker.denied)

    def sure(self, wanted: set[str], worker: Candidate) -> bool:
        """Whether the worker speaks of a subject that is wanted and of which nobody else speaks."""
        return any(self._speak[one] == 1 and _weight(one) == SUBJECT for one in wanted & worker.concepts)

    def _rarity(self, concept: str) -> float:
        return 1 - (self._speak[concept] - 1) / len(self.workers)


def _weight(concept: str) -> float:
    return 1.0 if concept.startswith("~") or concept in VERBS else SUBJECT
