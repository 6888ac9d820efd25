"""The one door out: every way in which a command can end becomes an exit code and words for a person."""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from actors.cli.app import handoff
from actors.cli.exit_code import FAILED, INTERRUPTED, UNREACHABLE, USAGE
from protocol.errors import DeniedError, HandoffError, InvalidError, UnreachableError


def run(arguments: Sequence[str]) -> int:
    """Run one command; the value is its exit code. Nothing is raised."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a narrow encoding must not cost the answer
            stream.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    notes: dict[str, Any] = {}
    try:
        code = handoff.main(list(arguments), prog_name="handoff", standalone_mode=False, obj=notes)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the one door: whatever comes is told to a person, and kept
        return _told(error, notes.get("home"))
    return code or 0


def _told(error: Exception, home: Path | None) -> int:
    causes = list(_leaves(error))
    codes = {_code(cause) for cause in causes}
    if None in codes:
        return _unexpected(error, home)
    from actors.cli.terminal import tell

    for line in dict.fromkeys(line for cause in causes for line in _lines(cause)):
        tell(f"handoff: {line}")
    return min(code for code in codes if code is not None)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            yield from _leaves(inner)  # pyright: ignore[reportUnknownArgumentType]
    else:
        yield error


def _code(error: BaseException) -> int | None:
    """The exit code for an error that has words of its own; None for one that nobody foresaw."""
    match error:
        case InvalidError():
            return USAGE
        case UnreachableError() | DeniedError():
            return UNREACHABLE
        case HandoffError():
            return FAILED
        case BrokenPipeError():
            return FAILED
        case OSError() if error.strerror:
            return FAILED
        case _:
            return None


def _lines(error: BaseException) -> Sequence[str]:
    match error:
        case InvalidError():
            return error.faults
        case BrokenPipeError():
            # Whoever read our output has gone; without this the interpreter complains on its way out.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return []
        case OSError():
            return [f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)]
        case _:
            return [str(error) or type(error).__name__]


def _unexpected(error: Exception, home: Path | None) -> int:
    """Keep the details where they can be found, and say so in one line."""
    file = _log_file(home)
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger(__name__)
    log.propagate = False
    log.addHandler(handler)
    log.error("handoff %s", " ".join(sys.argv[1:])[:200], exc_info=error)
    log.removeHandler(handler)
    handler.close()
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    sys.stderr.write(f"handoff: unexpected error, {what}\nhandoff: the details are in {file}\n")
    return FAILED


def _log_file(home: Path | None) -> Path:
    folder = (home or Path(tempfile.gettempdir(), "handoff")) / "logs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "cli.log").open("a"):
            return folder / "cli.log"
    except OSError:
        return Path(tempfile.mkdtemp(prefix="handoff-"), "cli.log")
