"""One run on the bus in memory, as the tests of its faults use it."""

from datetime import timedelta

from actors.bus.memory import MemoryBus, VirtualClock
from actors.bus.port import Delivery
from protocol import streams, subjects
from protocol.ids import RunId
from protocol.streams import Queue
from protocol.subjects import TaskAddress

RUN = RunId("ab" * 16)
LOG = subjects.log(RUN)
TASK = TaskAddress(RUN, "team", "worker", "t1", 1).handoff
ACK_WAIT = timedelta(seconds=5)
TASKS = streams.task_queue("team", "worker", ACK_WAIT)
REQUESTS = streams.request_queue("team", ACK_WAIT)


async def first_delivery(bus: MemoryBus, queue: Queue, clock: VirtualClock) -> Delivery:
    """Pull one message and stop."""
    held: list[Delivery] = []
    pull = await bus.pull(queue, 1, held.append)
    await clock.advance(0)
    await pull.stop()
    return held[0]


async def first_delivery_later(bus: MemoryBus, clock: VirtualClock) -> Delivery:
    """Pull what comes back once the ack wait is over."""
    held: list[Delivery] = []
    pull = await bus.pull(TASKS, 1, held.append)
    await clock.advance(ACK_WAIT.total_seconds())
    await pull.stop()
    return held[0]
