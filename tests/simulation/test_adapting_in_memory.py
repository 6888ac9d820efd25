"""Refined, rerouted, planned anew, reviewed and judged, while everybody is killed at any moment: it ends the same."""

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from model_replies import decided, wrote
from simulation.world import SEEDS, SETTINGS, World

from actors.bus.memory import VirtualClock
from actors.model.port import Call, Reply
from actors.record import understand
from actors.run.limits import Limits
from actors.run.state import RunState
from actors.worker.definition import Outcome, Worker
from protocol import codec, streams, subjects
from protocol.controls import Approve, Reject
from protocol.errors import DeclinedError
from protocol.events import (
    Approved,
    Event,
    Judged,
    Planned,
    PlanRejected,
    Refined,
    ReplanFailed,
    Replanned,
    Reported,
    Rerouted,
    Synthesized,
)
from protocol.ids import RunId
from protocol.messages import Fault, Handoff, Request

TRYING = msgspec.structs.replace(SETTINGS, plan_tries=50)
DISPUTE = {"contradictions": [{"tasks": ["p", "l"], "claim": "seven or eight"}], "confidence": 0.9}


async def _works(handoff: Handoff) -> str:
    return f"{handoff.task} is done"


async def _picky(handoff: Handoff) -> Outcome:
    if "per" in handoff.intent:
        return Outcome(output="seven per crate")
    return Outcome(error=Fault(kind="unclear", message="say per what", retryable=True))


async def _broken(handoff: Handoff) -> Outcome:
    return Outcome(error=Fault(kind="broken", message="it is broken"))


async def _declines(handoff: Handoff) -> str:
    raise DeclinedError("a config issue, no bug")


async def _judges(handoff: Handoff) -> str:
    return "1: eight, it is newer"


WORKERS = {
    "picky": Worker("picky", summary="Counts.", run=_picky),
    "weak": Worker("weak", summary="Cannot.", run=_broken),
    "strong": Worker("strong", summary="Can.", run=_works),
    "bugs": Worker("bugs", summary="Fixes bugs.", run=_declines),
}
JUDGE = {"judge": Worker("judge", summary="Judges.", run=_judges)}


def a_task(name: str, worker: str, intent: str, *needs: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "worker": worker, "intent": intent, "success": "it is so", "depends_on": needs, **more}


KEPT = [
    a_task("p", "picky", "count the apples"),
    a_task("w", "weak", "lift the crate", fallback="strong"),
    a_task("l", "strong", "list apples and crates", "p", "w"),
]
FIRST = {"tasks": [*KEPT, a_task("b", "bugs", "fix the bug in billing")]}


class Roles:
    """Plays every role; notes each call whose outcome had been stored before it was made."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._clock: VirtualClock = world.clock
        self._luck: random.Random = world.luck
        self.paid_again: list[str] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        text = str(call.turns[0].content)
        if self._is_known(call, text, self._world.log(call.run)):
            self.paid_again.append(f"{call.role} of {call.run}")
        await self._clock.sleep(self._luck.uniform(0.05, 1.5))
        return wrote("Seven or eight.") if call.role == "synthesizer" else decided(self._said(call, text))

    async def close(self) -> None:
        pass

    def _said(self, call: Call, text: str) -> dict[str, Any]:
        match call.role:
            case "planner":
                assert call.format is not None
                names = call.format.schema["properties"]["tasks"]["items"]["properties"]["worker"]["enum"]
                return self._plan(set(names), anew="<why>" in text)
            case "refiner":
                return {"intent": "count the apples per crate"}
            case "report":
                return DISPUTE
            case _:
                return {"verdicts": [{"number": 1, "resolution": "eight, it is newer"}]}

    def _plan(self, present: set[str], *, anew: bool) -> dict[str, Any]:
        """A planner can only choose from those who are listed; after an outage they come back one by one."""
        if not anew:
            return FIRST if set(WORKERS) <= present else {"tasks": []}
        able = [name for name in ("strong", "picky") if name in present]
        return {"tasks": [*KEPT, a_task("o", able[0], "set the config per host")]} if able else {"tasks": []}

    def _is_known(self, call: Call, text: str, log: list[Event]) -> bool:
        match call.role:
            case "planner" if "<why>" in text:
                return any(isinstance(event, Replanned | ReplanFailed) for event in log)
            case "planner":
                plans = [e for e in log if isinstance(e, Planned) or (isinstance(e, PlanRejected) and e.reviewed)]
                return bool(plans) and isinstance(plans[-1], Planned)
            case "refiner":
                return any(isinstance(event, Refined) for event in log)
            case "synthesizer":
                return any(isinstance(event, Synthesized) for event in log)
            case "report":
                return any(isinstance(event, Reported) for event in log)
            case _:
                return any(isinstance(event, Judged) for event in log)


async def review(world: World, run: str) -> None:
    """A person who refuses the first plan and approves the second."""
    state = RunState(Limits())
    for stored in world.server.stream(streams.RUNS).read(subjects.run_tree(run), 0):
        if entry := understand(stored):
            state.fold(entry.message, entry.time, entry.seq)
    if state.under_review is None:
        return
    refused = any(rejection.reviewed for rejection in state.rejections)
    await world.tell(run, Approve() if refused else Reject(comment="again"))


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_decision_survives_a_kill_between_any_two_steps(seed: int) -> None:
    world = World(seed, WORKERS | (JUDGE if seed % 2 else {}), TRYING)
    world.model = roles = Roles(world)
    await world.start_all()
    runs: list[RunId] = []
    for number in range(24):
        if number < 4:
            runs.append(world.run_id())
            await world.submit(Request(id=runs[-1], text="How many apples?", review=number % 2 == 1))
        await world.mischief()
        for run in runs[1::2]:
            await review(world, run)
    world.quiet()
    for _ in range(40):
        if all(world.ends(run) for run in runs):
            break
        await world.clock.advance(2.0)
        for run in runs[1::2]:
            await review(world, run)
    await world.calm(runs)
    for number, run in enumerate(runs):
        assert_adapted(world, run, reviewed=number % 2 == 1)
    assert roles.paid_again == []
    assert world.server.stream(streams.REQUESTS).read(subjects.REQUESTS, 0) == [], "every request was acknowledged"
    await world.end()


def assert_adapted(world: World, run: str, *, reviewed: bool) -> None:
    (end,) = world.ends(run)
    log = world.log(run)
    answer = end.answer
    assert (answer.status, answer.gaps, answer.revisions) == ("complete", (), 2), log
    assert answer.contradictions[0].resolution == "eight, it is newer"
    for kind in (Refined, Rerouted, Replanned, Synthesized, Reported, Judged):
        assert sum(isinstance(event, kind) for event in log) == 1, kind
    assert sum(isinstance(event, Approved) for event in log) == reviewed
    assert sum(isinstance(event, PlanRejected) and event.reviewed for event in log) == reviewed
    tasks = world.server.stream(streams.RUNS).read(subjects.run_work(run, "task"), 0)
    handed = [codec.decode(stored.data, Handoff) for stored in tasks]
    assert len({(h.task, h.attempt) for h in handed}) == len(handed)
    assert {result.task for result in world.results(run)} - {"verdict"} == {"p", "w", "l", "b", "o"}
