"""The number of messages that wait in the queue of one worker, read again and again beside the heartbeat."""

from actors.bus.port import Bus
from actors.clock import Clock
from observability.logger import get_logger
from protocol.streams import Queue

log = get_logger()


class QueueLength:
    """Knows how many messages of one queue were not delivered yet when it was last read; 0 before the first answer.

    The read is separate from the heartbeat: a read that fails or takes long never delays a card.
    """

    def __init__(self, bus: Bus, clock: Clock, queue: Queue, every_s: float) -> None:
        self._bus = bus
        self._clock = clock
        self._queue = queue
        self._every_s = every_s
        self.pending = 0

    async def watch(self) -> None:
        """Read the length of the queue until cancelled."""
        while True:
            try:
                state = await self._bus.queue_state(self._queue)
                self.pending = state.pending if state else 0
            except Exception as error:  # noqa: BLE001  the figure stays as it is until the next read
                log.debug("queue.not_read", queue=self._queue.name, error=str(error) or type(error).__name__)
            await self._clock.sleep(self._every_s)
