"""Taking over a run: whether a supervisor may go on with what is stored of it.

Nothing here folds a run or decides about it: it must hold for runs that break both.
"""

from actors.run.limits import Limits
from actors.run.past import Past, abandoned_at, overdue_at
from actors.supervisor.journal import Reading
from actors.supervisor.run_errors import AgedOutError, NewerVersionError, UnrunnableError


def check_past(reading: Reading, past: Past, limits: Limits, *, most_lost: int, now: float) -> None:
    """Raise NewerVersionError or UnrunnableError if the run must not be taken."""
    if reading.unknown:
        newer = NewerVersionError(reading.unknown)
        if now < abandoned_at(past, limits):
            raise newer
        raise UnrunnableError(f"its deadline has passed, and {newer}")
    if past.cut:
        raise AgedOutError(limits.keep_s)
    if past.lost >= most_lost:
        raise UnrunnableError(lost_reason(past))
    if past.taken >= most_lost and now >= overdue_at(past, limits):
        raise UnrunnableError(
            f"its deadline has passed, and it was taken {past.taken} times in a row without progress; "
            f"it was given back last because: {past.returned or 'not said'}"
        )


def lost_reason(past: Past) -> str:
    """Why a run that lost too many supervisors ends."""
    return (
        f"supervisors that held it were lost {past.lost} times in a row without progress; "
        f"the last ones: {', '.join(past.holders)}"
    )


def broken_reason(lost: int, error: Exception) -> str:
    """Why a run ends that failed in the supervisor too often, or in a way that trying again does not change."""
    return f"it failed in the supervisor {lost} time{'s' if lost > 1 else ''}: {type(error).__name__}: {error}"
