"""A run, seen by a client: its events, its answer, and the Controls that the client sends to it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from actors.artifacts import whole_answer
from actors.bus.port import Bus, Stored
from actors.clock import Clock
from actors.record import Entry, Recorded, read_run, understand_whole
from actors.run_index import is_known
from protocol import codec, streams, subjects
from protocol.controls import Approve, Cancel, Control, Edit, Reject
from protocol.errors import InvalidError, UnknownRunError
from protocol.events import Finished
from protocol.ids import RunId
from protocol.messages import Answer, Plan

SILENCE_S = 2.0
"""After that long without news the stream is read: what is republished may have gaps."""

MOST_SILENCE_S = 15.0
"""The longest pause between two looks at the stream while a client waits for the answer alone."""


class Run:
    """One run, seen from outside. `request_seq` is where its request was stored, if this process stored it.

    What waits for the run raises UnknownRunError once the bus has neither a log of it nor its request.
    """

    def __init__(self, bus: Bus, clock: Clock, run: RunId, *, request_seq: int = 0) -> None:
        self.id = run
        self._bus = bus
        self._clock = clock
        self._request_seq = request_seq
        self._answer: Answer | None = None
        self._whole: Answer | None = None

    async def record(self) -> AsyncGenerator[Recorded]:
        """Everything stored of the run, from its beginning to its end, as it happens."""
        news: asyncio.Queue[Stored | None] = asyncio.Queue()
        subject = subjects.stored(subjects.run_tree(self.id))
        async with self._bus.subscribe(subject, news.put_nowait), self._reminders(news, SILENCE_S):
            async for entry in self._merged(news):
                yield entry
                if isinstance(entry.message, Finished):
                    self._answer = entry.message.answer
                    return

    async def events(self) -> AsyncGenerator[Entry]:
        """Every Event, Handoff, Step, Result and Control of the run, to its end."""
        async for entry in self.record():
            yield entry.message

    async def answer(self, *, timeout: float | None = None) -> Answer:
        """The answer with its whole text, once the run has ended.

        TimeoutError if it has not ended after `timeout` seconds; the run itself goes on.
        """
        if self._whole is None:
            limit = asyncio.timeout(timeout)
            try:
                async with limit:
                    answer = self._answer or await self._end()
                    self._whole = await whole_answer(self._bus, answer)
            except TimeoutError as error:
                if limit.expired():
                    raise TimeoutError(f"run {self.id} has no answer after {timeout:g} s; it goes on") from error
                raise
        return self._whole

    async def _end(self) -> Answer:
        """Wait for the last message of the run's log. The rest of the run's traffic is not read."""
        log = subjects.log(self.id)
        news: asyncio.Queue[Stored | None] = asyncio.Queue()
        stored: Stored | None = None
        async with self._bus.subscribe(subjects.stored(log), news.put_nowait), self._reminders(news, MOST_SILENCE_S):
            while True:
                if stored is None:
                    stored = next(iter(await self._bus.last(streams.RUNS, [log])), None)
                    if stored is None:
                        await self._check_known()
                for entry in await understand_whole(self._bus, [stored] if stored else []):
                    if isinstance(entry.message, Finished):
                        return entry.message.answer
                stored = await news.get()

    async def _check_known(self) -> None:
        """UnknownRunError if this bus has no trace of the run. Called while nothing of it has been seen."""
        if self._request_seq:
            if await self._bus.get(streams.REQUESTS, self._request_seq) is not None:
                return
            if await self._bus.last(streams.RUNS, [subjects.log(self.id)]):
                return  # the run began, and perhaps ended, meanwhile
            raise UnknownRunError(self.id, ": its request was refused or deleted")
        if not await is_known(self._bus, self.id):
            raise UnknownRunError(self.id)

    async def past(self) -> list[Recorded]:
        """What is stored of the run now."""
        return await read_run(self._bus, self.id)

    def now(self) -> float:
        """The server's time in Unix seconds, which the deadlines of the run are compared with."""
        return self._bus.now()

    async def cancel(self, reason: str = "", *, by: str = "") -> None:
        """Ask for the end of the run. `by` is who asks."""
        await self.control(Cancel(reason=reason, by=by))

    async def approve(self, *, asked: int = 0, by: str = "") -> None:
        """Approve the plan that waits. `asked` is the sequence of the `planned` Event, as in `record()`.

        If another plan waits by then, the approval has no effect. 0 means the plan that waits when this arrives.
        """
        await self.control(Approve(asked=asked, by=by))

    async def reject(self, comment: str, *, asked: int = 0, by: str = "") -> None:
        """Reject the plan that waits; the planner is given the comment, which must not be empty."""
        if not comment.strip():
            raise InvalidError(["a plan is rejected with a comment: the planner needs it to make a better one"])
        await self.control(Reject(comment=comment, asked=asked, by=by))

    async def edit(self, plan: Plan, *, asked: int = 0, by: str = "") -> None:
        """Run this plan instead of the one that waits, if it can run."""
        await self.control(Edit(plan=plan, asked=asked, by=by))

    async def control(self, control: Control) -> int:
        """Tell the run something; returns the sequence under which it is stored."""
        return await self._bus.publish(subjects.control(self.id), codec.encode(control))

    async def _merged(self, news: "asyncio.Queue[Stored | None]") -> AsyncGenerator[Recorded]:
        """What is heard, and what the stream says where something may have been missed; each message once."""
        read_to = 0
        seen: set[int] = set()
        heard: Stored | None = None
        while True:
            batch = [heard] if heard else await self._bus.read(streams.RUNS, subjects.run_tree(self.id), after=read_to)
            new = [stored for stored in batch if stored.seq > read_to and stored.seq not in seen]
            if heard:
                seen.add(heard.seq)
            elif batch:
                read_to = batch[-1].seq
                seen = {seq for seq in seen if seq > read_to}
            if not batch and not read_to and not seen:
                await self._check_known()
            for entry in await understand_whole(self._bus, new):
                yield entry
            heard = await news.get()

    @asynccontextmanager
    async def _reminders(self, news: "asyncio.Queue[Stored | None]", most_s: float) -> AsyncGenerator[None]:
        """Put None onto the queue when something may have been missed: after a reconnect, and from time to time."""
        forget = self._bus.on_reconnect(lambda: news.put_nowait(None))
        reminder = asyncio.create_task(self._remind(news, most_s))
        try:
            yield
        finally:
            forget()
            reminder.cancel()

    async def _remind(self, news: "asyncio.Queue[Stored | None]", most_s: float) -> None:
        wait_s = SILENCE_S
        while True:
            await self._clock.sleep(wait_s)
            news.put_nowait(None)
            wait_s = min(2 * wait_s, most_s)
