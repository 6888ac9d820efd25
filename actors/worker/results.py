"""The Results of one worker process: made from the outcome of a task, and stored once."""

import msgspec

from actors.artifacts import keep_text
from actors.bus.port import Bus
from actors.settings import Settings
from actors.worker.definition import Outcome
from actors.worker.sources import within
from observability import live
from observability.logger import get_logger
from observability.redaction import redacted
from protocol import codec
from protocol.errors import ConflictError, TooLargeError
from protocol.messages import NOTHING, Fault, Result, ResultStatus, Usage
from protocol.subjects import TaskAddress

LONGEST = 4000
MOST_FINDINGS = 20

log = get_logger()


class Results:
    """Writes the Results of one instance of a worker."""

    def __init__(self, bus: Bus, settings: Settings, worker: str, instance: str) -> None:
        self._bus = bus
        self._settings = settings
        self._worker = worker
        self._instance = instance

    def of(self, outcome: Outcome, address: TaskAddress, usage: Usage) -> Result:
        """The Result of a task that came to an outcome."""
        return Result(
            run=address.run,
            task=address.task,
            attempt=address.attempt,
            worker=self._worker,
            instance=self._instance,
            status=_status(outcome),
            output=outcome.output,
            data=msgspec.Raw(msgspec.json.encode(outcome.data)),
            confidence=outcome.confidence,
            findings=tuple(finding[:LONGEST] for finding in outcome.findings[:MOST_FINDINGS]),
            error=_bounded(outcome.error),
            usage=usage,
            sources=outcome.sources,
        )

    def failed(self, address: TaskAddress, fault: Fault, usage: Usage | None = None) -> Result:
        """The Result of a task that failed without an outcome."""
        return Result(
            run=address.run,
            task=address.task,
            attempt=address.attempt,
            worker=self._worker,
            instance=self._instance,
            status="failed",
            error=msgspec.structs.replace(fault, message=fault.message[:LONGEST]),
            usage=usage or Usage(),
        )

    async def store(self, result: Result, address: TaskAddress) -> None:
        """Store the result, write-once; one that is too big goes along as an artifact, or says that it was too big."""
        try:
            await self._publish(result, address)
            return
        except TooLargeError:
            name = f"{address.run}.{address.task}.{address.attempt}.output"
            room = self._settings.message_bytes // 2
            text, artifact = await keep_text(self._bus, name, result.output, room)
        short = msgspec.structs.replace(
            result,
            output=text,
            artifacts=(*result.artifacts, artifact),
            data=NOTHING,
            sources=within(result.sources, self._settings.message_bytes // 8),
        )
        try:
            await self._publish(short, address)
        except TooLargeError as error:
            fault = Fault(kind="too_large", message=str(error))
            await self._publish(self.failed(address, fault, result.usage), address)

    async def _publish(self, result: Result, address: TaskAddress) -> None:
        """If a result is there already, that one counts and ours is not needed."""
        try:
            await self._bus.publish(address.result, codec.encode(result), expect=0)
            live.result_stored()
        except ConflictError:
            log.info("result.there_already", run=address.run, task=address.task)


def _bounded(fault: Fault | None) -> Fault | None:
    """A fault that fits into a message and gives no secret away, whatever an exception had to say."""
    if fault is None:
        return None
    message = redacted(codec.writable(fault.message))
    return msgspec.structs.replace(fault, message=message if len(message) <= LONGEST else message[:LONGEST] + " …")


def _status(outcome: Outcome) -> ResultStatus:
    if outcome.declined:
        return "declined"
    return "failed" if outcome.error else "completed"
