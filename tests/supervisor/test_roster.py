from datetime import timedelta

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.settings import Settings
from actors.supervisor.roster import Roster, read_cards
from protocol import codec, streams, subjects
from protocol.messages import Card


def card(worker: str, instance: str = "i1") -> bytes:
    return codec.encode(Card(worker=worker, instance=instance, summary=f"Does {worker}."))


def stage() -> tuple[VirtualClock, MemoryBus, Roster]:
    clock = VirtualClock()
    bus = MemoryBus(MemoryServer(Settings(card_ttl_s=3.0), clock), "s")
    return clock, bus, Roster(bus, clock, "default")


async def test_a_worker_is_seen_at_once_and_not_named_any_more_once_it_stopped() -> None:
    _, bus, roster = stage()
    key = subjects.card("default", "echo", "i1")
    await bus.put_card(key, card("echo"))
    assert list(await roster.live(fresh=True)) == ["echo"]
    await bus.drop_card(key)
    assert await roster.live(fresh=True) == {}


async def test_a_worker_that_died_fades() -> None:
    clock, bus, roster = stage()
    await bus.put_card(subjects.card("default", "echo", "i1"), card("echo"))
    await clock.advance(3.5)
    assert await roster.live() == {}


async def test_instances_of_one_kind_stand_together_and_other_teams_apart() -> None:
    _, bus, roster = stage()
    for instance in ("b", "a"):
        await bus.put_card(subjects.card("default", "echo", instance), card("echo", instance))
    await bus.put_card(subjects.card("other", "spy", "i1"), card("spy"))
    await bus.put_card(subjects.card("default", "broken", "i1"), b"no card")
    live = await roster.live()
    assert {name: [c.instance for c in cards] for name, cards in live.items()} == {"echo": ["a", "b"]}
    assert [team for team, _ in await read_cards(bus)].count("other") == 1


async def test_a_kind_whose_queue_exists_is_known_even_while_nobody_is_alive() -> None:
    _, bus, roster = stage()
    assert await roster.unknown(["echo", "ghost"]) == ["echo", "ghost"]
    await bus.pull(streams.task_queue("default", "echo", timedelta(seconds=5)), 1, lambda _: None)
    assert await roster.unknown(["echo", "ghost"]) == ["ghost"]


async def test_a_card_stands_for_the_worker_in_its_key_whatever_it_says() -> None:
    _, bus, roster = stage()
    await bus.put_card(subjects.card("default", "echo", "i1"), card("admin.>"))
    await bus.put_card("default.not=one.i1", card("echo"))
    assert list(await roster.live(fresh=True)) == ["echo"]
    assert roster.known == {"echo"}
