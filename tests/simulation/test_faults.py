"""The simulation really injects each kind of fault that it promises."""

from collections import Counter

from simulation.test_chaos_in_memory import ECHO, READER, PaidModel, a_request
from simulation.world import World

FEW = range(24)
KINDS = {
    "clock jump",
    "crash",
    "early redelivery",
    "lost ack",
    "lost connection",
    "lost republished message",
    "server away",
    "server restart",
    "unknown publish",
    "woken after its ack wait",
}


async def test_a_few_seeds_inject_every_kind_of_fault_while_runs_are_under_way() -> None:
    found: Counter[str] = Counter()
    for seed in FEW:
        world = World(seed, {"reader": READER, "echo": ECHO})
        world.model = PaidModel(world.server, world.clock, world.luck)
        await world.start_all()
        for _ in range(16):
            await world.submit(a_request(world))
            await world.mischief()
        world.quiet()
        await world.end()
        found += world.faults
        if set(found) >= KINDS:
            break
    assert set(found) - {"woken"} == KINDS, found
