"""The agent: a model and its tools in a loop, every turn and every call stored before the next."""

import asyncio
from collections.abc import Sequence

import msgspec

from actors.bus.port import Bus
from actors.clock import Clock
from actors.model.port import Block, Call, CountsTokens, Model
from actors.settings import Settings
from actors.token_feed import TokenFeed
from actors.tools.given import CallKey
from actors.tools.tool import Tool
from actors.worker.allowance import answer_tokens, asked_tokens, overrun, price_of, tightest
from actors.worker.answers import FIELDS, declined, findings, said_in
from actors.worker.context import cut_to_fit
from actors.worker.conversation import Conversations
from actors.worker.definition import Outcome, Worker
from actors.worker.ending import Over, Yielded
from actors.worker.files import Files
from actors.worker.gate import Gate
from actors.worker.logbook import Logbook
from actors.worker.moves import (
    CUT_OFF,
    EMPTY,
    MAX_LOSSES,
    NO_OUTPUT,
    AskModel,
    CallTools,
    Done,
    arguments_of,
    beginning,
    call_place,
    container_at,
    follow_up,
    last_usage,
    last_words,
    next_move,
    spent,
    turns_taken,
)
from actors.worker.outputs import kept_within
from actors.worker.server_tools import refused_at_task
from actors.worker.sources import sources_of
from actors.worker.takings import losses_since_progress
from observability import live
from observability.logger import get_logger
from protocol import subjects
from protocol.errors import ArtifactError, ModelError, ToolError
from protocol.messages import Fault, Handoff
from protocol.steps import Begun, ModelCalled, Step, ToolCalled

TOOLS_AT_ONCE = 8

log = get_logger()


class Agent:
    """Lets one worker do its tasks with a model."""

    def __init__(self, worker: Worker, model: Model, bus: Bus, clock: Clock, settings: Settings) -> None:
        self._worker = worker
        self._model = model
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._conversations = Conversations(worker, bus, settings)
        self._gate = Gate(bus, clock, settings)

    async def work(self, handoff: Handoff, logbook: Logbook, stopping: asyncio.Event) -> Outcome:
        """Go on from the steps in the logbook until the model is done, has declined, or has used up its budget."""
        before_s = spent(logbook.steps).seconds
        try:
            outcome = await self._loop(handoff, logbook, stopping)
        except ArtifactError as error:
            fault = Fault(kind=error.kind, message=str(error), refinable=False)
            outcome = Outcome(output=last_words(logbook.steps), error=fault)
        return msgspec.structs.replace(
            outcome,
            findings=findings(logbook.steps),
            usage=spent(logbook.steps),
            before_s=before_s,
            sources=sources_of(logbook.steps, outcome.output),
        )

    async def _loop(self, handoff: Handoff, logbook: Logbook, stopping: asyncio.Event) -> Outcome:
        files = Files(self._bus)
        while True:
            if stopping.is_set():
                raise Yielded
            if (reason := declined(logbook.steps)) is not None:
                return Outcome(output=reason, declined=True)
            if not beginning(logbook.steps) and (reason := refused_at_task(self._worker, self._conversations.model)):
                return Outcome(error=Fault(kind="server_tools", message=reason, refinable=False))
            begun = await self._begun(handoff, logbook, files)
            match next_move(begun, logbook.steps):
                case Done(text, stop_reason):
                    return _outcome(text, stop_reason)
                case CallTools(uses, cut_off):
                    await self._call_tools(handoff, logbook, [use for use in uses if use["id"] != cut_off], stopping)
                    for use in uses:
                        if use["id"] == cut_off:
                            await logbook.write(ToolCalled(call=cut_off, tool=use["name"], output=CUT_OFF, failed=True))
                case AskModel():
                    if fault := await self._turn(handoff, logbook, begun, files):
                        return Outcome(output=last_words(logbook.steps), error=fault)

    async def _begun(self, handoff: Handoff, logbook: Logbook, files: Files) -> Begun:
        """The beginning of the conversation: as it is stored, whatever version of the worker stored it."""
        if begun := beginning(logbook.steps):
            return begun
        begun = await self._conversations.begin(handoff, files)
        await logbook.write(begun)
        return begun

    async def _turn(self, handoff: Handoff, logbook: Logbook, begun: Begun, files: Files) -> Fault | None:
        """One more turn of the model, or a cut that makes room for it; returns a fault if neither is possible."""
        most = self._worker.max_turns or self._settings.max_turns
        if turns_taken(logbook.steps) >= most:
            return Fault(kind="budget", message=f"no result after {most} turns of the model")

        def build(steps: Sequence[Step]) -> Call:
            move = next_move(begun, steps)
            assert isinstance(move, AskModel)  # a cut changes texts only
            call = self._conversations.call(handoff, begun, move.turns, empty=move.empty)
            return msgspec.structs.replace(call, container=container_at(steps, self._bus.now()))

        async def count(call: Call) -> int:
            return await self._count(call, files)

        limit = self._conversations.context_tokens(begun)
        cut = await cut_to_fit(logbook.steps, build, limit, count)
        if cut is None:
            return _outgrown(limit)
        if cut.results:
            log.warning("context.cut", run=handoff.run, task=handoff.task, results=len(cut.results))
            await logbook.write(cut)
        call, used, budget = build(logbook.steps), spent(logbook.steps), tightest(handoff.budget, self._worker.budget)
        price = None if budget.usd is None else await price_of(self._model, call, last_usage(logbook.steps))
        if why := overrun(budget, used, call, price):
            return Fault(kind="budget", message=why)
        call = msgspec.structs.replace(call, max_tokens=answer_tokens(budget, used, call, price))
        try:
            await self._ask(handoff, logbook, await files.resolved(call))
        except ModelError as error:
            return Fault(kind=error.kind, message=str(error), retryable=error.retryable, refinable=False)
        return None

    async def _count(self, call: Call, files: Files) -> int:
        """How many tokens the call has: as the provider counts them, or about so where it does not."""
        if isinstance(self._model, CountsTokens):
            try:
                return await self._model.count(await files.resolved(call))
            except ModelError as error:
                log.debug("tokens.not_counted", kind=error.kind, error=str(error))
        return asked_tokens(call)

    async def _ask(self, handoff: Handoff, logbook: Logbook, call: Call) -> None:
        async def ready() -> None:
            if not await logbook.still_ours():
                raise Over

        await ready()
        async with TokenFeed(self._bus, self._clock, subjects.tokens(handoff.run, handoff.task)) as feed:
            with live.asking(turns_taken(logbook.steps)):
                reply = await self._model.call(call, said=feed.say, ready=ready)
        content = msgspec.Raw(msgspec.json.encode(reply.content))
        await logbook.write(
            ModelCalled(
                model=reply.model,
                content=content,
                stop_reason=reply.stop_reason,
                usage=reply.usage,
                asked=call.model,
                then=follow_up(reply),
                container=reply.container,
                container_expires=reply.container_expires,
            )
        )

    async def _call_tools(self, handoff: Handoff, logbook: Logbook, uses: list[Block], stopping: asyncio.Event) -> None:
        if not await logbook.still_ours():
            raise Over
        places = asyncio.Semaphore(TOOLS_AT_ONCE)
        turn = turns_taken(logbook.steps) - 1

        async def call(use: Block) -> None:
            # Looked up once: what is lent later under this name is not what a person was asked about.
            tool = self._worker.tool(use["name"])
            denied = ""
            if tool and tool.confirm and tool.fits(arguments_of(use)):
                denied = await self._gate.denied(use, handoff, logbook, stopping)
            if denied is None:
                return  # whoever goes on waits for the same answer
            if denied:
                step = ToolCalled(call=use["id"], tool=use["name"], output=denied, failed=True)
            else:
                async with places:
                    with live.calling_tool(turn, use["id"]):
                        step = await self._called(handoff, logbook, use, tool)
            await logbook.write(step)

        calls = [asyncio.create_task(call(use)) for use in uses]
        try:
            await asyncio.gather(*calls)
        finally:
            for task in calls:
                task.cancel()

    async def _called(self, handoff: Handoff, logbook: Logbook, use: Block, tool: Tool | None) -> ToolCalled:
        """Make one call; the step that keeps what came of it."""
        key = _call_key(handoff, logbook, use)
        began = self._clock.monotonic()
        output, failed = await self._call_tool(tool, use, logbook, key)
        seconds = self._clock.monotonic() - began
        limit = (tool.output_limit if tool else None) or self._settings.tool_output
        text, artifact = await kept_within(self._bus, f"{key}.output", output, limit, self._settings.message_bytes)
        return ToolCalled(
            call=use["id"],
            tool=use["name"],
            output=text or NO_OUTPUT,
            failed=failed,
            seconds=seconds,
            artifact=artifact,
        )

    async def _call_tool(self, tool: Tool | None, use: Block, logbook: Logbook, key: CallKey) -> tuple[str, bool]:
        """What came out of a call, and whether that is a failure."""
        name: str = use["name"]
        arguments = arguments_of(use)
        if name in FIELDS:
            return said_in(arguments, FIELDS[name]), False
        if tool is None:
            log.warning("tool.denied", tool=name, worker=self._worker.name)
            names = ", ".join(tool.name for tool in self._worker.tools) or "none"
            return f"tool_denied: {self._worker.name} has no tool called {name}; it has {names}", True
        if (lost := losses_since_progress(logbook.steps)) >= MAX_LOSSES:
            log.warning("tool.given_up", tool=name, worker=self._worker.name, losses=lost)
            return f"{name} was not run again: the worker died {lost} times while this ran", True
        try:
            return await tool.call(arguments, key=key, settings=self._settings), False
        except ToolError as error:
            log.info("tool.failed", tool=name, characters=len(str(error)))  # what it said is content
            return str(error), True


def _call_key(handoff: Handoff, logbook: Logbook, use: Block) -> CallKey:
    turn, place = call_place(logbook.steps, use["id"])
    return CallKey(f"{handoff.run}.{handoff.task}.{handoff.attempt}.{turn}.{place}")


def _outcome(text: str, stop_reason: str | None) -> Outcome:
    if stop_reason == "refusal":
        return Outcome(output=text, error=Fault(kind="refusal", message="the model refused the task"))
    if stop_reason == "model_context_window_exceeded":
        return Outcome(output=text, error=Fault(kind="context", message="the task outgrew the context of the model"))
    if stop_reason == EMPTY:
        return Outcome(output=text, error=Fault(kind=EMPTY, message="the model wrote no text", retryable=True))
    return Outcome(output=text)


def _outgrown(limit: int) -> Fault:
    message = f"the task outgrew the context of {limit:,} tokens, even with its tool results shortened"
    return Fault(kind="context", message=message)
