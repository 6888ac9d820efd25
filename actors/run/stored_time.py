"""Which events of a run must be folded with the time at which the server stored them."""

from actors.run.state import RunState
from protocol.events import Approved, Event, Expired, Planned, PlanRejected, Started


def needs_stored_time(state: RunState, event: Event) -> bool:
    """True if a deadline of the run is counted from the moment at which this event was stored.

    The deadline counts from `started`. While a person reviews a plan, it moves. After `expired` the synthesizer has a
    bounded time.
    """
    match event:
        case Started() | Expired():
            return True
        case Planned() | PlanRejected() | Approved():
            return state.request is not None and state.request.review
        case _:
            return False
