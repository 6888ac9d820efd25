"""The two ways in which work on a task ends without an outcome."""


class Over(Exception):  # noqa: N818  not an error: there is nothing left to do
    """The task is no longer wanted."""


class Yielded(Exception):  # noqa: N818  not an error: somebody else goes on
    """The process is stopping, and everything so far is stored."""
