"""The card file: names the cards of one actor, so that a health check on the same machine reads these and no others."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from actors.heartbeat import CardAddress
from observability.logger import get_logger
from protocol.errors import HandoffError

log = get_logger()


def write_card_file(path: str, cards: Sequence[CardAddress]) -> None:
    """Name the cards of this actor in a file, in place of those of an earlier one. Without a path it does nothing."""
    if not path:
        return
    file = Path(path).expanduser()
    draft = file.with_name(f".{file.name}.new")
    try:
        draft.write_bytes(msgspec.json.encode([{"bucket": card.bucket, "key": card.key} for card in cards]))
        draft.replace(file)
    except OSError as error:
        log.warning("card_file.not_written", path=path, error=error.strerror or str(error))


def read_card_file(path: str) -> list[CardAddress]:
    """The cards that the actor of this machine named; HandoffError if there is no such file or it is none."""
    try:
        rows = msgspec.json.decode(Path(path).expanduser().read_bytes(), type=list[dict[str, str]])
        return [CardAddress(row["key"], row["bucket"]) for row in rows]
    except FileNotFoundError as error:
        raise HandoffError(f"No actor has written {path}: it has not reached the bus yet, or has no cards.") from error
    except (OSError, msgspec.DecodeError, KeyError) as error:
        raise HandoffError(f"{path} is no list of cards ({error}). The actor writes it anew when it starts.") from error
