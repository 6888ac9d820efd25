"""The runner: the one door in and the one door out for deliveries.

A handler is a function from one delivery to a verdict. What it publishes is stored before the verdict is carried out,
and carrying it out is the last line. An error of one delivery never ends the others: what cannot be settled is left
unsettled and delivered again. Stopping is written here once: stop fetching, wait, cancel, give back at once.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from actors.bus.port import Bus, Delivery, Pull
from actors.clock import Clock
from actors.dead_letter import Refusal, bury
from actors.lease import Lease
from actors.postponed import Postponed
from actors.verdict import Ack, Drop, Postpone, Refuse, Retry, Verdict, verdict_on
from observability import live, names
from observability.logger import get_logger
from observability.logs import trace_of
from protocol.errors import DeniedError
from protocol.streams import Queue

Handler = Callable[[Lease], Awaitable[Verdict]]

log = get_logger()


class Runner:
    """Pulls from one queue and lets a handler work on up to `slots` deliveries at a time."""

    def __init__(self, bus: Bus, clock: Clock, queue: Queue, slots: int, handler: Handler) -> None:
        self._bus = bus
        self._clock = clock
        self._queue = queue
        self._ack_wait_s = queue.ack_wait.total_seconds()
        self._slots = slots
        self._handler = handler
        self._leases: dict[Lease, asyncio.Task[None]] = {}
        self._idle = asyncio.Event()
        self._over = False
        self._postponed = Postponed(clock)
        self.name = queue.name

    @property
    def busy(self) -> int:
        """How many deliveries are being worked on."""
        return len(self._leases)

    @property
    def trouble(self) -> str:
        """Which messages this process gives back again and again, in one line for a person; empty if none."""
        return self._postponed.trouble

    async def run(self, stop: asyncio.Event, grace_s: float) -> None:
        """Work until `stop` is set; then what is under way has `grace_s` to come to its end."""
        async with asyncio.TaskGroup() as group:
            pull = await self._bus.pull(self._queue, self._slots, lambda delivery: self._start(group, delivery))
            self._pull = pull
            beats = group.create_task(self._beat())
            forget = self._bus.on_reconnect(lambda: void(group.create_task(self._beat_once())))
            try:
                await stop.wait()
                await self._wind_down(pull, grace_s)
            finally:
                self._over = True
                forget()
                beats.cancel()

    async def _wind_down(self, pull: Pull, grace_s: float) -> None:
        for delivery in await pull.stop():
            await self._give_back(delivery, 0.0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                while self._leases:
                    self._idle.clear()
                    await self._idle.wait()
        for task in list(self._leases.values()):
            task.cancel()

    def _start(self, group: asyncio.TaskGroup, delivery: Delivery) -> None:
        if self._over:
            return  # we are being ended by force: it comes again to somebody else
        if delivery.count > 1:
            live.count(names.REDELIVERIES[0], **{names.QUEUE: self.name})
        lease = Lease(delivery, self._clock, self._ack_wait_s)
        self._leases[lease] = group.create_task(self._handle(lease))

    async def _handle(self, lease: Lease) -> None:
        try:
            await self._settle(lease, await self._verdict(lease))
        except asyncio.CancelledError as stopped:
            await asyncio.shield(self._settle(lease, verdict_on(stopped, lease.delivery.count)))
            raise
        finally:
            del self._leases[lease]
            self._idle.set()
            self._pull.release()

    async def _verdict(self, lease: Lease) -> Verdict:
        if (left_s := self._postponed.remaining(lease.delivery.message.seq)) > 0:
            return Retry(left_s)
        try:
            return await self._handler(lease)
        except Exception as error:  # noqa: BLE001  the door: whatever went wrong inside becomes a verdict
            verdict = verdict_on(error, lease.delivery.count)
            self._tell(lease, verdict, error)
            return verdict

    async def _settle(self, lease: Lease, verdict: Verdict) -> None:
        """Carry out a verdict: the only place where a delivery is settled. If that fails, it is delivered again."""
        try:
            await self._carry_out(lease, verdict)
        except DeniedError as error:  # it would be denied again after each ack wait
            await self._postpone(lease, str(error))
        except Exception as error:  # noqa: BLE001  raised further, it would cancel every other delivery
            log.error("delivery.unsettled", subject=lease.delivery.message.subject, error=_text(error))

    async def _carry_out(self, lease: Lease, verdict: Verdict) -> None:
        delivery = lease.delivery
        match verdict:
            case Ack(sure):
                await delivery.ack(sure=sure)
                self._postponed.discard(delivery.message.seq)
            case Retry(after_s) if not lease.lapsed:  # after that another may have it: a nak would take it away
                await self._give_back(delivery, after_s)
            case Postpone(reason):
                await self._postpone(lease, reason)
            case Refuse(reason):
                refusal = Refusal(self._queue.stream, reason, by=self.name, deliveries=delivery.count)
                await bury(self._bus, delivery.message, refusal)
                await delivery.ack(sure=True)
                self._postponed.discard(delivery.message.seq)
            case Retry() | Drop():
                pass

    async def _postpone(self, lease: Lease, reason: str) -> None:
        message = lease.delivery.message
        delay_s = self._postponed.add(message.seq, reason)
        log.warning("delivery.postponed", subject=message.subject, delay_s=delay_s, reason=reason)
        if not lease.lapsed:
            await self._give_back(lease.delivery, delay_s)

    async def _give_back(self, delivery: Delivery, after_s: float) -> None:
        """Nak. If that fails, the message is delivered again after its ack wait."""
        try:
            await delivery.retry(after_s)
        except Exception as error:  # noqa: BLE001  raised further, it would cancel every other delivery
            log.warning("delivery.nak_failed", subject=delivery.message.subject, error=_text(error))

    def _tell(self, lease: Lease, verdict: Verdict, error: Exception) -> None:
        subject = lease.delivery.message.subject
        match verdict:
            case Refuse(reason):
                log.warning("delivery.refused", subject=subject, reason=reason)
            case Drop():
                log.info("delivery.lost", subject=subject, reason=str(error))
            case Postpone():
                pass  # logged with its delay when it is given back
            case _:
                log.error("delivery.failed", subject=subject, verdict=str(verdict), trace=trace_of(error))

    async def _beat(self) -> None:
        while True:
            await self._clock.sleep(self._ack_wait_s / 3)
            await self._beat_once()

    async def _beat_once(self) -> None:
        for lease in list(self._leases):
            try:
                await lease.beat()
            except Exception as error:  # noqa: BLE001  the other leases need their beat
                log.warning("lease.not_renewed", subject=lease.delivery.message.subject, error=_text(error))


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__


def void(_: object) -> None:
    """Take a value and do nothing with it: for callbacks that return nothing."""
