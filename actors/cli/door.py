"""The one door out: every way in which a command can end becomes an exit code and words for a person."""

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from actors.cli.app import handoff
from actors.cli.exit_code import FAILED, INTERRUPTED
from actors.cli.failure import KINDS, CommandError, as_data, code_of, kind_of
from protocol.errors import InvalidError


def run(arguments: Sequence[str]) -> int:
    """Run one command; the value is its exit code. Nothing is raised."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a narrow encoding must not cost the answer
            stream.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    notes: dict[str, Any] = {}
    ending = _ending(arguments, notes)
    if ending.code and _wants_json(arguments) and not notes.get("wrote_json"):
        _write_failure(ending)
    return ending.code


class Ending(NamedTuple):
    """How a command ended: its exit code, and for a failure its kind and what was said about it."""

    code: int
    kind: str = ""
    messages: Sequence[str] = ()


def _ending(arguments: Sequence[str], notes: dict[str, Any]) -> Ending:
    try:
        code = handoff.main(list(arguments), prog_name="handoff", standalone_mode=False, obj=notes)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return Ending(error.exit_code, "usage", [error.format_message()])
    except (click.Abort, KeyboardInterrupt):
        return Ending(INTERRUPTED)
    except Exception as error:  # noqa: BLE001  the one door: whatever comes is told to a person, and kept
        return _told(error, notes.get("home"))
    return Ending(code or 0)


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether the output is for a program; a command line that cannot be parsed may say so, too."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _write_failure(ending: Ending) -> None:
    from actors.cli.terminal import write_json

    with contextlib.suppress(BrokenPipeError):
        write_json(as_data(ending.kind or KINDS.get(ending.code, "failed"), ending.code, ending.messages))
        sys.stdout.flush()


def _told(error: Exception, home: Path | None) -> Ending:
    causes = list(_leaves(error))
    codes = [(code_of(cause), cause) for cause in causes]
    if any(code is None for code, _ in codes):
        return _unexpected(error, home)
    from actors.cli.terminal import tell

    lines = list(dict.fromkeys(line for cause in causes for line in _lines(cause)))
    for line in lines:
        tell(f"handoff: {line}")
    code, cause = min(((code, cause) for code, cause in codes if code is not None), key=lambda pair: pair[0])
    return Ending(code, kind_of(cause, code), lines)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            yield from _leaves(inner)  # pyright: ignore[reportUnknownArgumentType]
    else:
        yield error


def _lines(error: BaseException) -> Sequence[str]:
    match error:
        case CommandError():
            return error.messages
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


def _unexpected(error: Exception, home: Path | None) -> Ending:
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
    return Ending(FAILED, "unexpected", [what, f"the details are in {file}"])


def _log_file(home: Path | None) -> Path:
    folder = (home or Path(tempfile.gettempdir(), "handoff")) / "logs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "cli.log").open("a"):
            return folder / "cli.log"
    except OSError:
        return Path(tempfile.mkdtemp(prefix="handoff-"), "cli.log")
