"""Why a supervisor lets go of a run that has not ended."""


class DuplicateError(Exception):
    """The same request was stored twice: another supervisor holds the run for the other copy."""


class StoppedError(Exception):
    """The process is stopping: another supervisor continues the run."""


class NewerVersionError(Exception):
    """The log holds Events of unknown types. Going on without them could plan and pay again what they say is done."""

    def __init__(self, unknown: tuple[str, ...]) -> None:
        super().__init__(
            f"its log has Events of unknown type ({', '.join(unknown)}): a newer version of the supervisor wrote them"
        )


class UnrunnableError(Exception):
    """The run can only be ended as failed, for this reason."""


class AgedOutError(UnrunnableError):
    """The log of the run, or its beginning, is older than the bus keeps messages."""

    def __init__(self, keep_s: float) -> None:
        super().__init__(
            f"messages are kept for {keep_s:,.0f} s here, and the log of the run is older. What it did is not known "
            "any more, and beginning again could pay for it twice: ask again, and keep runs longer (keep_days)"
        )
