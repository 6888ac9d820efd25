"""The real actors on the in-memory bus with a virtual clock, and everything that can go wrong, decided by a seed."""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Mapping

from simulation.processes import Process, SimulatedModel

from actors.bus.memory import Chance, MemoryBus, MemoryServer, VirtualClock, never
from actors.bus.port import Stored
from actors.model.port import Model
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.controls import Control
from protocol.events import Event, Finished
from protocol.ids import RunId
from protocol.messages import Request, Result

SETTINGS = Settings(
    ack_wait_s=2.0,
    poll_s=1.0,
    heartbeat_s=1.0,
    card_ttl_s=3.0,
    grace_s=1.0,
    deadline_s=100_000.0,
    deliveries=10_000,
    breaker_failures=10_000,
)
SEEDS = range(int(os.environ.get("SIMULATION_FROM", "0")), int(os.environ.get("SIMULATION_TO", "30")))
"""Others are tried by `make soak`."""

SUPERVISOR = "supervisor"
CRASH_WITHIN = 60
"""A process that is to die does so at one of so many awaits on the bus, of any process."""


class World:
    """A server, actors, and faults by a seed: each seed has its own mixture of them."""

    def __init__(self, seed: int, workers: Mapping[str, Worker], settings: Settings = SETTINGS) -> None:
        random.seed(seed)  # whatever in the actors asks for luck
        self.luck = random.Random(seed)
        self.clock = VirtualClock()
        self.settings = settings
        self.server = MemoryServer(settings, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.workers = workers
        self.model: Model
        self.names = 0
        self.processes: dict[str, list[Process]] = {kind: [] for kind in (SUPERVISOR, *workers)}
        self._dead: list[Process] = []
        self._events: dict[int, Event] = {}
        self.faults: Counter[str] = Counter()
        self._crash_in = 0
        self._skew_s = self.luck.choice((0.0, 0.0, 2.0, 500.0))
        self._chances = [self.luck.choice(some) for some in ((0.0, 0.1, 0.3), (0.0, 0.05, 0.2), (0.0, 0.2, 0.8))]

    def run_id(self) -> RunId:
        """An id that is the same whenever this seed is tried."""
        return RunId(f"{self.luck.getrandbits(128):032x}")

    def start(self, kind: str) -> None:
        """Start one more process."""
        self.names += 1
        name, process = f"{kind}-{self.names}", Process(self._dies)
        process.join(self.server, self.clock, name, self._skew())
        process.run(self._work(kind, name, process))
        self.processes[kind].append(process)

    async def _work(self, kind: str, name: str, process: Process) -> None:
        model, stop = SimulatedModel(process, self.model), asyncio.Event()
        if kind == SUPERVISOR:
            await Supervisor(process.bus, process.clock, model, self.settings, instance=name).run(stop)
        else:
            worker = WorkerProcess(self.workers[kind], process.bus, process.clock, self.settings, instance=name)
            worker.give_model(model)
            await worker.run(stop)

    async def start_all(self, each: int = 2) -> None:
        """Start all actors; from now on messages get lost."""
        for kind in self.processes:
            for _ in range(each):
                self.start(kind)
        await self.clock.advance(0.5)
        acks, answers, republished = self._chances
        self.server.lose_acks = self._chance("lost ack", acks)
        self.server.unknown_publishes = self._chance("unknown publish", answers)
        self.server.lose_republished = self._chance("lost republished message", republished)

    async def mischief(self) -> None:
        """One fault, and a while until the next."""
        process = self.luck.choice([one for same in self.processes.values() for one in same])
        match self.luck.randrange(16):
            case 0 | 1 | 2 | 3 | 4 | 5 | 6:
                self._crash_in = 1 + self.luck.randrange(CRASH_WITHIN)
            case 7 | 8:
                process.stop()
                self.clock.call_later(self.luck.uniform(0.1, 3 * self.settings.ack_wait_s), lambda: self._wake(process))
            case 9 | 10:
                self.faults["lost connection"] += 1
                process.bus.lost()
                self.clock.call_later(self.luck.uniform(0.1, 3.0), process.bus.back)
            case 11:
                self.faults["server away"] += 1
                self.server.down()
                await self.clock.advance(self.luck.uniform(0.1, 3.0))
                self.server.up()
            case 12:
                self.faults["server restart"] += 1
                self.server.restart()
            case 13 | 14:
                self.server.redeliver_early(self._chance("early redelivery", 0.5))
            case _:
                process.clock.wrong_by_s, before = self._skew(), process.clock.wrong_by_s
                self.faults["clock jump"] += process.clock.wrong_by_s != before
        await self.clock.advance(self.luck.uniform(0.05, 1.5))

    async def submit(self, request: Request) -> None:
        await self._publish(subjects.request("default"), codec.encode(request))

    async def tell(self, run: str, control: Control) -> None:
        await self._publish(subjects.control(run), codec.encode(control))

    async def _publish(self, subject: str, data: bytes) -> None:
        accepted = asyncio.create_task(self.client.publish(subject, data))
        assert await self.clock.advance_until(accepted.done, within_s=60)

    async def calm(self, runs: list[RunId], within_s: float = 300.0) -> None:
        """Break nothing more, and let every run come to its end, once; then nothing is left to do for anybody."""
        self.quiet()
        done = await self.clock.advance_until(lambda: all(self.ends(run) for run in runs), within_s)
        assert done, [self.log(run) for run in runs if not self.ends(run)]
        assert await self.clock.advance_until(self.is_idle, within_s), "a request or a handoff is never acknowledged"
        for run in runs:
            assert len(self.ends(run)) == 1, "a run ends once"
            results = [(result.task, result.attempt) for result in self.results(run)]
            assert len(results) == len(set(results)), "an attempt has one result"

    def quiet(self) -> None:
        """No more faults; a clock that is wrong stays so."""
        self._crash_in = 0
        self.server.lose_acks = self.server.unknown_publishes = self.server.lose_republished = never

    def is_idle(self) -> bool:
        """Whether every request and every handoff is settled."""
        states = [
            queue.state() for name in (streams.REQUESTS, streams.RUNS) for queue in self.server.queues(name).values()
        ]
        return not any(state.pending or state.unsettled for state in states)

    async def end(self) -> None:
        """End every process."""
        living = [process for same in self.processes.values() for process in same]
        for process in living:
            process.wake()
            process.kill()
        await asyncio.gather(*(process.task for process in (*living, *self._dead)), return_exceptions=True)

    def results(self, run: str) -> list[Result]:
        found = self.server.stream(streams.RUNS).read(subjects.run_work(run, "result"), 0)
        return [codec.decode(stored.data, Result) for stored in found]

    def log(self, run: str) -> list[Event]:
        return [self._event(stored) for stored in self.server.stream(streams.RUNS).read(subjects.log(run), 0)]

    def _event(self, stored: Stored) -> Event:
        """Decoded once: the logs are read after every timer."""
        if (event := self._events.get(stored.seq)) is None:
            event = self._events[stored.seq] = codec.decode_event(stored.data)
        return event

    def ends(self, run: str) -> list[Finished]:
        return [event for event in self.log(run) if isinstance(event, Finished)]

    def _chance(self, fault: str, chance: float) -> Chance:
        def happens(_: str) -> bool:
            does = self.luck.random() < chance
            self.faults[fault] += does
            return does

        return happens

    def _wake(self, process: Process) -> None:
        """It goes on as a zombie if others have taken what it held."""
        self.faults["woken after its ack wait" if process.stopped_s > self.settings.ack_wait_s else "woken"] += 1
        process.wake()

    def _skew(self) -> float:
        return self.luck.uniform(-self._skew_s, self._skew_s)

    def _dies(self, process: Process) -> bool:
        """Whether this process dies at this await; another takes its place a little later."""
        self._crash_in -= 1
        if self._crash_in != 0:
            return False
        self.faults["crash"] += 1
        kind = next(kind for kind, same in self.processes.items() if process in same)
        self.processes[kind].remove(process)
        self._dead.append(process)
        self.clock.call_later(self.luck.uniform(0.0, 2.0), lambda: self.start(kind))
        return True
