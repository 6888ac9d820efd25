"""What runs in the child process of a `TableProcess`: it holds the tables of one folder and answers calls about them.

A call comes as one line of JSON on standard input, its reply goes as one line to standard output. The process ends
with its input, and at the latest when a call has used up its time: the kernel sees to that, even if the parent died.
"""

import math
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from actors.tools.database import Database
from actors.tools.evidence import Evidence, from_table
from actors.tools.folder import Kept
from actors.tools.statement import read
from actors.tools.table_files import TABLES
from protocol import codec
from protocol.errors import ToolError

MOST_ADDRESSES = 2_000_000_000
"""Bytes of address space: a file of 20 MB takes up to a quarter of it while it is read."""


class Call(msgspec.Struct, frozen=True):
    """What the parent asks for: the listing of the tables, the rows of a query, or evidence on a claim.

    `load_s` and `time_s` limit the reading of the files, if they must be read, and the call itself.
    """

    do: Literal["list", "query", "evidence"]
    load_s: float
    time_s: float
    text: str = ""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a call. `refused` is a ToolError, `failed` any other error.

    `loaded` comes first and alone, when the files have been read; the clock of the call itself starts there.
    """

    loaded: bool = False
    text: str = ""
    evidence: tuple[Evidence, ...] = ()
    refused: str = ""
    failed: str = ""


def main(folder: str) -> None:
    """Answer calls until there are no more."""
    # Ctrl-C reaches the whole group of processes; the parent ends this one when it is done with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit(resource.RLIMIT_AS, MOST_ADDRESSES)
    _limit(resource.RLIMIT_CORE, 0)
    kept = Kept(Path(folder), TABLES, Database.of_files)
    for line in sys.stdin.buffer:
        for reply in _replies(kept, msgspec.json.decode(line, type=Call)):
            sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
            sys.stdout.buffer.flush()


def _replies(kept: Kept[Database], call: Call) -> Iterator[Reply]:
    try:
        _limit_cpu(call.load_s)
        with kept.use() as database:
            yield Reply(loaded=True)
            _limit_cpu(call.time_s)
            yield _done(database, call)
    except ToolError as error:
        yield Reply(refused=codec.writable(str(error)))
    except Exception as error:  # noqa: BLE001 - the parent raises it where the call was made
        yield Reply(failed=codec.writable(f"{type(error).__name__}: {error}"))


def _limit_cpu(time_s: float) -> None:
    # The kernel counts what the process has used in its whole life, in whole seconds. One more, because it is the
    # parent that ends a call in time; this limit is for a parent that died.
    _limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + time_s) + 1)


def _limit(what: int, soft: int) -> None:
    # Some systems know a limit and refuse to set it. The parent kills what takes too long in any case.
    with suppress(ValueError, OSError):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _done(database: Database, call: Call) -> Reply:
    match call.do:
        case "list":
            return Reply(text=codec.writable(database.listing()))
        case "query":
            return Reply(text=codec.writable(database.query(call.text, call.time_s)))
        case "evidence":
            return Reply(evidence=_evidence(database, call.text))


def _evidence(database: Database, claim: str) -> tuple[Evidence, ...]:
    said = read(claim)
    found: Sequence[Evidence | None] = [from_table(said, database, table) for table in database.tables]
    return tuple(evidence for evidence in found if evidence)
