"""One run under way: the thin shell around the pure core. It moves bytes; what to do is decided elsewhere."""

import asyncio

import msgspec

from actors.bus.port import Stored
from actors.lease import Lease
from actors.record import Recorded, understand
from actors.run.answer import failed_answer, too_large
from actors.run.past import Past, past_of
from actors.run.state import RunState
from actors.supervisor.desk import Desk
from actors.supervisor.executor import Executor
from actors.supervisor.inbox import Inbox
from actors.supervisor.index_writer import IndexWriter, ended_entry
from actors.supervisor.journal import Journal, Reading
from actors.supervisor.run_errors import AgedOutError, DuplicateError, NewerVersionError, StoppedError, UnrunnableError
from actors.supervisor.takeover import broken_reason, check_past
from actors.verdict import Ack, Postpone, Refuse, Retry, Verdict
from observability.logger import get_logger
from observability.logs import trace_of
from observability.redaction import redacted
from protocol import streams
from protocol.errors import BusError, FencedError, HandoffError, TooLargeError
from protocol.events import Finished, Started
from protocol.messages import Answer, Request, Result

QUEUED_S = 1.0
LONGEST = 1000
GIVE_BACK_S = 1.0
"""How long a supervisor that was cancelled, or lost the bus, tries to store that it gives the run back."""

STOPPING = "the supervisor stops"

log = get_logger()


class LiveRun:
    """A run that this process holds, from its request to its answer or to the loss of its lease."""

    def __init__(self, desk: Desk, request: Request, lease: Lease) -> None:
        self._desk = desk
        self._request = request
        self._lease = lease
        self._inbox = Inbox()
        self._executor = Executor(desk, request, lease)
        self._journal = self._executor.journal
        self._alarm = self._executor.alarm
        self._index = IndexWriter(desk.bus, desk.clock, request, self._journal.check)
        self._past = Past()
        self.results: dict[str, Recorded] = {}

    @property
    def answer(self) -> Answer | None:
        """The answer, once it is stored."""
        return self._executor.answer

    @property
    def state(self) -> RunState:
        """The state of the run, as far as it was folded."""
        return self._executor.state

    @property
    def history_is_gone(self) -> bool:
        """Whether the run ended before and only its end is still stored."""
        return self._past.cut and self._past.answer is not None

    def hear(self, stored: Stored) -> None:
        """A result or a control was stored."""
        self._inbox.put(stored)
        self._alarm.ring()

    def tick(self) -> None:
        """Time has passed."""
        self._alarm.tick()

    def look(self) -> None:
        """Something may have been missed: read the stream soon."""
        self._alarm.look()

    def stop(self) -> None:
        """The process is stopping: let go of the run as soon as nothing paid is under way."""
        self._alarm.ring()

    async def live(self) -> Verdict:
        """Bring the run to its end, or give it back."""
        try:
            await self._open()
            await self._go_on()
            if not self.history_is_gone:
                await self._index.finish(self.state)
        except DuplicateError as duplicate:
            log.info("request.duplicate", run=self._request.id, reason=str(duplicate))
        except NewerVersionError as newer:
            return Postpone(f"run {self._request.id}: {newer}")
        except UnrunnableError as error:
            return await self._end_as_failed(str(error))
        except StoppedError:
            return Retry(0.0)
        except asyncio.CancelledError:
            if self._desk.stopping.is_set():
                await asyncio.shield(self._try_to_give_back(STOPPING))
            raise
        except FencedError:
            raise
        except BusError as error:  # the bus failed, not the run: this must not count as a loss
            await self._try_to_give_back(f"{type(error).__name__}: {error}")
            raise
        except Exception as error:  # noqa: BLE001  a run that breaks the supervisor must not do so for ever
            return await self._verdict_on(error)
        finally:
            self._executor.close()
        return Ack(sure=True)

    async def _go_on(self) -> None:
        """Decide and act until there is an answer."""
        try:
            while self.answer is None:
                await self._executor.act()
                if self.answer is not None:
                    return
                if (seconds := await self._index.update(self.state, self._desk.roster.people)) is not None:
                    self._alarm.due(self._desk.bus.now() + seconds)
                if self._desk.stopping.is_set() and not self._executor.calls:
                    await self._journal.give_back(self._desk.instance, STOPPING)
                    raise StoppedError
                await self._listen()
        except TooLargeError as error:
            await self._journal.settle()
            await self._executor.finish(too_large(self.state, error, self._desk.bus.now()))

    async def _open(self) -> None:
        """Take the run: a fresh one straight away, one with a past after reading it."""
        if self._is_new and self._request.plan is not None:
            try:
                await self._executor.append(self._started(epoch=1))
                self._alarm.heard()
                if self._age_s > QUEUED_S:
                    await self._read_news()  # it waited a while: somebody may have cancelled it
                return
            except FencedError:
                log.info("run.resumed", run=self._request.id)
        reading = await self._journal.past()
        self._past = past = self._known_past(reading)
        if past.answer is not None:
            self._executor.answer = past.answer
            self._fold_all(reading)
            return
        if await self._desk.is_copy(past.request_seq, self._lease.delivery.message.seq):
            raise DuplicateError(f"run {self._request.id} belongs to another copy of this request")
        now, most = self._desk.bus.now(), self._desk.settings.deliveries
        check_past(reading, past, self._desk.limits, most_lost=most, now=now)
        if not past.epoch and self._lease.delivery.count > 1:
            await self._check_age()
        await self._resume(reading, past.epoch + 1)

    def _known_past(self, reading: Reading) -> Past:
        """The past; where the log has no `started`, it takes what the delivery says of the run.

        A newer version may begin a run by an Event of another type.
        """
        past = _past(reading)
        request, began = past.request or self._request, past.began or reading.log_began
        return msgspec.structs.replace(past, request=request, began=began)

    async def _resume(self, reading: Reading, epoch: int) -> None:
        """Take the run, and only then fold its past: if that fails, it counts as a loss."""
        started = self._started(epoch)
        at = await self._executor.store(started)
        self._fold_all(reading)
        self.state.fold(started, at)
        self._alarm.heard()
        await self._read_news()
        await self._executor.stop_unwanted()

    @property
    def _age_s(self) -> float:
        """How long ago the request was stored."""
        return self._desk.bus.now() - self._lease.delivery.message.time

    async def _check_age(self) -> None:
        """Raise AgedOutError if the log, which was read as empty, may have existed and be gone since."""
        kept_s = (await self._desk.bus.store_state(streams.RUNS)).keep_s
        if kept_s and self._age_s >= kept_s:
            raise AgedOutError(kept_s)

    @property
    def _is_new(self) -> bool:
        """Whether no supervisor can have begun the run, unless a restarted server delivers it as for the first time."""
        return self._lease.delivery.count == 1 and self._age_s < self._desk.limits.keep_s

    def _started(self, epoch: int) -> Started:
        return self._desk.started(epoch, self._request, self._lease.delivery.message)

    async def _try_to_give_back(self, reason: str) -> None:
        """Store that the run is returned on purpose, if that is possible at once."""
        try:
            async with asyncio.timeout(GIVE_BACK_S):
                await self._journal.give_back(self._desk.instance, redacted(reason)[:LONGEST])
        except (HandoffError, TimeoutError, AgedOutError) as error:
            log.warning("run.give_back_failed", run=self._request.id, error=f"{type(error).__name__}: {error}")

    async def _verdict_on(self, error: Exception) -> Verdict:
        """Let the run be taken again, unless that is vain or happened too often without progress: then end it."""
        if self.answer is not None:
            await self._finish_index(self.answer)
            return Ack(sure=True)
        if not self._journal.holds:
            return self._verdict_before_taking(error)
        journal = Journal(self._desk.bus, self._request.id, self._lease, self._desk.clock)
        lost = _past(await journal.past()).lost
        vain = isinstance(error, HandoffError) and not error.retryable
        if not vain and lost < self._desk.settings.deliveries:
            raise error
        log.error("run.broken", run=self._request.id, trace=trace_of(error))
        return await self._end_as_failed(redacted(broken_reason(lost, error))[:LONGEST])

    def _verdict_before_taking(self, error: Exception) -> Verdict:
        """Let a request come again whose run could not be taken; after many failures here it is dead-lettered."""
        failures = self._desk.count_not_begun(self._lease.delivery.message.seq)
        if failures < self._desk.settings.deliveries:
            raise error
        log.error("request.never_begun", run=self._request.id, failures=failures, trace=trace_of(error))
        return Refuse(redacted(broken_reason(failures, error))[:LONGEST])

    async def _end_as_failed(self, reason: str) -> Verdict:
        """End the run by its request alone: folding its messages, or deciding about them, may be what fails."""
        answer = failed_answer(self._request, reason)
        await self._journal.append(Finished(answer=answer))
        self._executor.answer = answer
        try:
            await self._finish_index(answer)
            await self._desk.stop_work(self._request.id)
        except BusError as error:  # the end is stored: the request is refused all the same
            log.warning("run.end_not_announced", run=self._request.id, error=str(error))
        log.error("run.ended_as_failed", run=self._request.id, reason=reason)
        return Refuse(reason)

    async def _finish_index(self, answer: Answer) -> None:
        """Write the entry of a run that cannot be folded."""
        began = self._past.began or self._lease.delivery.message.time
        await self._index.write_last(ended_entry(self._request, answer, began, self._desk.bus.now()))

    async def _listen(self) -> None:
        """Wait for news, and take it in: what was republished for speed, the stream for truth."""
        await self._alarm.wait()
        self._executor.check_handoffs()
        heard = self._inbox.take()
        for stored in heard:
            entry = understand(stored)
            if entry is None:
                await self._desk.refuse(stored)
            else:
                self._fold(entry)
                await self._desk.note_success(entry.message)
        if heard:
            self._alarm.heard()
        elif self._alarm.overdue:
            await self._read_news()
            await self._executor.stop_unwanted()
            await self._executor.say_who_is_missing()

    async def _read_news(self) -> None:
        for entry in await self._journal.news():
            self._fold(entry)
        self._alarm.looked()

    def _fold_all(self, reading: Reading) -> None:
        for entry in reading.entries:
            self._fold(entry)

    def _fold(self, entry: Recorded) -> None:
        if isinstance(entry.message, Result):
            self.results.setdefault(entry.subject, entry)
        if self._inbox.is_news(entry):
            self.state.fold(entry.message, entry.time, entry.seq)


def _past(reading: Reading) -> Past:
    return past_of((entry.message, entry.time) for entry in reading.entries)
