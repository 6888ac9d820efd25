"""The roster: who is alive, and who has ever been."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from actors.bus.port import Bus
from actors.clock import Clock
from actors.run.offline import OFFLINE, is_mixed, reason_in
from protocol import codec, streams, subjects
from protocol.errors import UndecodableError
from protocol.ids import is_token
from protocol.messages import Card

FRESH_S = 0.5


async def read_cards(bus: Bus, team: str = "") -> list[tuple[str, Card]]:
    """All live cards, with their team; those that cannot be read are passed over.

    The key says whose card it is: it was checked against the writer's rights, the card was not.
    """
    found: list[tuple[str, Card]] = []
    for key, stored in (await bus.cards(f"{team}." if team else "")).items():
        worker = subjects.card_worker(key)
        try:
            card = codec.decode(stored.data, Card)
        except UndecodableError:
            continue
        if is_token(worker):
            found.append((subjects.card_team(key), msgspec.structs.replace(card, worker=worker)))
    return found


def troubles(cards: Iterable[tuple[str, Card]]) -> list[str]:
    """What the workers say they lack, a line for each kind and lack."""
    cards = list(cards)
    told = [f"{card.worker} (team {team!r}): {card.trouble}" for team, card in cards if card.trouble]
    told += [
        f"{card.worker} (team {team!r}): the offline model answers: {reason}"
        for team, card in cards
        if (reason := reason_in(card.model))
    ]
    for team in dict.fromkeys(team for team, _ in cards):
        own = [card for other, card in cards if other == team]
        if is_mixed(card.model for card in own):
            names = sorted({card.worker for card in own if card.model.startswith(OFFLINE)})
            told.append(f"team {team!r}: {', '.join(names)} have no key and ask the offline model, others have one")
    return list(dict.fromkeys(told))


def calls_model(card: Card) -> bool:
    """True if a task at this worker costs a model call. For a card without a kind its model tells."""
    return card.kind not in ("function", "person") if card.kind else bool(card.model)


def modelless(workers: Mapping[str, Sequence[Card]]) -> frozenset[str]:
    """The kinds whose tasks cost no model call."""
    return frozenset(name for name, cards in workers.items() if not any(calls_model(card) for card in cards))


class Roster:
    """The workers of one team. A kind whose queue exists is known even while none of its instances is alive."""

    def __init__(self, bus: Bus, clock: Clock, team: str) -> None:
        self._bus = bus
        self._clock = clock
        self._team = team
        self._cards: list[Card] = []
        self._read_at = float("-inf")
        self._known: set[str] = set()
        self._people: set[str] = set()
        self._models: dict[str, str] = {}

    async def live(self, *, fresh: bool = False) -> dict[str, list[Card]]:
        """The live cards of each kind of worker: as they are now with `fresh`, else hardly older than a moment."""
        if fresh or self._clock.monotonic() - self._read_at > FRESH_S:
            self._cards = [card for _, card in await read_cards(self._bus, self._team)]
            self._read_at = self._clock.monotonic()
            self._known |= {card.worker for card in self._cards}
            self._people |= {card.worker for card in self._cards if card.person}
            self._note_models()
        kinds: dict[str, list[Card]] = {}
        for card in sorted(self._cards, key=lambda card: (card.worker, card.instance)):
            kinds.setdefault(card.worker, []).append(card)
        return kinds

    async def unknown(self, names: Iterable[str]) -> list[str]:
        """Those of the names that nobody answers to, and nobody ever has."""
        names = set(names)
        if names <= self._known:
            return []
        await self.live()
        if not names <= self._known:
            queues = await self._bus.queues(streams.RUNS)
            self._known |= {name for name in names if subjects.durable(self._team, name) in queues}
        return sorted(names - self._known)

    @property
    def counts(self) -> dict[str, float]:
        """How many of each kind were alive at the last look."""
        return {name: sum(card.worker == name for card in self._cards) for name in self._known}

    @property
    def models(self) -> dict[str, str]:
        """The model of each kind by its last card. Of instances that differ, one that asks the offline model counts."""
        return dict(self._models)

    def _note_models(self) -> None:
        self._models |= {card.worker: card.model for card in self._cards}
        self._models |= {card.worker: card.model for card in self._cards if card.model.startswith(OFFLINE)}

    @property
    def people(self) -> frozenset[str]:
        """The kinds that said of themselves that a person answers."""
        return frozenset(self._people)

    @property
    def known(self) -> set[str]:
        """Every kind seen so far."""
        return set(self._known)
