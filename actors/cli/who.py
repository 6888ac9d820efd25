"""Who sits at the keyboard: a name to remember, not a proof."""

import getpass


def who(given: str | None) -> str:
    """The name that was given, or that of the user of this process."""
    if given and given.strip():
        return " ".join(given.split())
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container may run under a number that has no name
        return "somebody"
