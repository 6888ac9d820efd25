"""Why a supervisor lets go of a run that has not ended."""


class DuplicateError(Exception):
    """The same request was stored twice: another supervisor holds the run for the other copy."""


class StoppedError(Exception):
    """The process is stopping: another supervisor continues the run."""
