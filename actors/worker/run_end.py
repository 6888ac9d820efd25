"""The end of a run, as a worker finds it: in the log or among the controls, whatever is stored behind it."""

from collections.abc import Callable, Mapping, Sequence

from actors.bus.port import Bus, Stored
from protocol import codec, streams, subjects
from protocol.controls import Cancel
from protocol.errors import UndecodableError, UnknownTypeError
from protocol.events import Cancelled, Expired, Finished


class RunEnd:
    """Knows whether one run has ended or a cancel was asked for. Each Event and Control is read once."""

    def __init__(self, bus: Bus, run: str) -> None:
        self._bus = bus
        self._ends: dict[str, Callable[[Stored], bool]] = {
            subjects.log(run): ends_run,
            subjects.control(run): is_cancel,
        }
        self._read: dict[str, int] = {}
        self._reached = False

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects whose last messages `reached` needs."""
        return tuple(self._ends)

    async def reached(self, last: Mapping[str, Stored]) -> bool:
        """True if the run has ended; `last` holds the last message of each subject. Reads only what is new.

        Raises UnknownTypeError if the run has not ended, as far as this version understands its log.
        """
        for subject, ends in self._ends.items():
            found, before = last.get(subject), self._read.get(subject, 0)
            if self._reached or found is None or found.seq <= before:
                continue
            new = [found] if ends(found) else await self._bus.read(streams.RUNS, subject, after=before)
            self._reached = any(ends(stored) for stored in new)
            if not self._reached and ends is ends_run:
                _check_known(new)
            self._read[subject] = new[-1].seq if new else before
        return self._reached


def _check_known(events: Sequence[Stored]) -> None:
    for stored in events:
        reference = codec.decode_reference(stored.data)
        if reference and codec.is_event_type(reference.of):
            continue  # no end of a run: that is never sent by reference
        try:
            codec.decode_event(stored.data)
        except UnknownTypeError:
            raise
        except UndecodableError:
            pass  # bytes that are no message mean nothing


def ends_run(stored: Stored) -> bool:
    """True if nothing more is wanted for a run with this event in its log."""
    try:
        return isinstance(codec.decode_event(stored.data), Finished | Cancelled | Expired)
    except UndecodableError:
        return False


def is_cancel(stored: Stored) -> bool:
    """True if this control asks for the end of its run."""
    try:
        return isinstance(codec.decode_control(stored.data), Cancel)
    except UndecodableError:
        return False
