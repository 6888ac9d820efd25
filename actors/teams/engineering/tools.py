"""Tools of the engineering team: the source, the quotes it gave, the log, the configuration, and who is to be told."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from actors.tools.folder import File, files
from actors.tools.matching import mentioned, nearest
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_PIECES = 3
MOST_KINDS = 12

_PIECE = re.compile(r"^(?=(?:async )?def |class |[A-Z_]+ = )", re.MULTILINE)
_ENTRY = re.compile(r"^(\S+) (INFO|WARN|ERROR) (.+)$", re.MULTILINE)
_FIGURE = re.compile(r"\b[A-Z]?-?\d+\b")


class Piece(NamedTuple):
    """A function, a class or a constant of the source, and the line it begins at."""

    source: str
    line: int
    text: str


def code(folder: Path) -> list[Tool]:
    """`search_code`, `read_code` and `check_quotes` over the repository of a folder."""

    @tool
    def search_code(about: str) -> str:
        """Search the source code for functions, classes and constants, and get them with file and line numbers.

        Args:
            about: names or words that the code is likely to contain, such as bracket weight or delivery day timeout
        """
        # Tests repeat the words of the code they test; they are shown to whoever asks for tests.
        tests = "test" in about.lower()
        sources = [file for file in files(folder, (".py",)) if tests or "/tests/" not in file.name]
        pieces = [piece for file in sources for piece in _pieces(file)]
        found = nearest(about, pieces, lambda piece: f"{piece.source} {piece.text}", MOST_PIECES)
        if not found:
            return f"No code speaks of {about[:200]!r}. {_names(folder)}"
        return "\n\n".join(f"{piece.source}, line {piece.line} [{piece.source}]\n{_numbered(piece)}" for piece in found)

    @tool
    def read_code(file: str) -> str:
        """Read one whole file of the source code, with line numbers.

        Args:
            file: its name, such as price.py or parcelrates/price.py
        """
        found = next(
            (one for one in files(folder, (".py",)) if f"/{one.name}".endswith("/" + file.strip(" []/"))), None
        )
        if found is None or not file.strip(" []/"):
            raise ToolError(f"there is no file {file[:200]!r}. {_names(folder)}")
        return f"[{found.name}]\n{_numbered(Piece(found.name, 1, found.text()))}"

    @tool
    def check_quotes(weights: str) -> str:
        """Check the prices that the code quoted against the tariff: which weights were charged wrongly.

        Args:
            weights: a weight such as 5 kg, or all for every quote
        """
        rows = read_records(folder, "logs/quotes.csv", ("quote", "weight_kg", "island", "price_cents"))
        wanted = {float(number) for number in re.findall(r"(\d+(?:\.\d+)?) ?kg", weights)}
        chosen = [row for row in rows if not wanted or row.number("weight_kg") in wanted] or rows
        return "\n".join(_checked(folder, chosen))

    return [search_code, read_code, check_quotes]


def operations(folder: Path) -> list[Tool]:
    """`read_log`, `check_config` and `find_changes` over the logs and the configuration of a folder."""

    @tool
    def read_log(about: str) -> str:
        """Read the log as kinds of entries: how many of each, first and last time, and one of them in full.

        Args:
            about: words of the entries that matter, such as carrier timeout; errors and warnings always show
        """
        entries = [match.groups() for file in files(folder, (".log",)) for match in _ENTRY.finditer(file.text())]
        kinds: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for time, level, text in entries:
            kinds[f"{level} {_FIGURE.sub('#', text)}"].append((time, level, text))
        near = nearest(about, list(kinds), str, MOST_KINDS)
        shown = [kind for kind in kinds if kind in near or not kind.startswith("INFO")][:MOST_KINDS]
        return "\n".join(_kind(kinds[kind]) for kind in shown) or "The log is empty."

    @tool
    def check_config(setting: str) -> str:
        """Check the production configuration against its limits and against staging: which settings are out of bounds.

        Args:
            setting: the name of a setting, such as carrier_timeout_ms; all of them if none is named
        """
        limits = read_records(folder, "repo/config/limits.csv", ("setting", "least", "most", "reason"))
        named = mentioned(setting, [row["setting"] for row in limits])
        production, staging = _config(folder, "production"), _config(folder, "staging")
        chosen = [row for row in limits if row["setting"] in named] or limits
        return "\n".join(_setting(row, production, staging) for row in chosen)

    @tool
    def find_changes(about: str) -> str:
        """Find the releases and configuration changes, with time and author: those on a subject, or all.

        Args:
            about: a file, a setting, a version or words of the change, such as price.py or 2.8.0
        """
        rows = read_records(folder, "logs/deploys.csv", ("time", "kind", "version", "author", "what"))
        found = nearest(about, rows, lambda row: " ".join(row.fields.values())) or rows
        return "\n".join(
            f"{row['time']}, {row['kind']} {row['version']} by {row['author']}: {row['what']} [{row.source}]"
            for row in sorted(found, key=lambda row: row["time"])
        )

    return [read_log, check_config, find_changes]


def recipients(folder: Path) -> list[Tool]:
    """`find_recipients` over the list of those who are told."""

    @tool
    def find_recipients(audience: str) -> str:
        """Find who has to be told about an incident, and through which channel.

        Args:
            audience: an audience or what happened, such as customers, or wrong prices; all of them if none fits
        """
        rows = read_records(folder, "notes/recipients.csv", ("audience", "channel", "contact", "when"))
        found = nearest(audience, rows, lambda row: f"{row['audience']} {row['when']}") or rows
        return "\n".join(
            f"{row['audience']}: by {row['channel']} to {row['contact']}, for {row['when']} [{row.source}]"
            for row in found
        )

    return [find_recipients]


def _pieces(file: File) -> list[Piece]:
    text = file.text()
    starts = [0, *(match.start() for match in _PIECE.finditer(text) if match.start())]
    spans = zip(starts, [*starts[1:], len(text)], strict=True)
    return [Piece(file.name, text[:start].count("\n") + 1, text[start:end].rstrip()) for start, end in spans]


def _numbered(piece: Piece) -> str:
    return "\n".join(f"{number:4} {line}" for number, line in enumerate(piece.text.splitlines(), start=piece.line))


def _names(folder: Path) -> str:
    return f"The files are: {', '.join(file.name for file in files(folder, ('.py',)))}."


def _checked(folder: Path, rows: list[Record]) -> list[str]:
    tariff = read_records(folder, "repo/tariff.csv", ("up_to_kg", "price_cents"))
    lines: list[str] = []
    for row in rows:
        right = next((one for one in tariff if row.number("weight_kg") <= one.number("up_to_kg")), None)
        extra = 350 if row["island"] == "yes" else 0
        wrong = row.number("price_cents") - (right.number("price_cents") + extra if right else 0)
        if right and wrong:
            told = f"Quote {row['quote']}, {row['weight_kg']} kg: {row['price_cents']} cents were charged"
            due = f"the bracket up to {right['up_to_kg']} kg makes {right.number('price_cents') + extra:g}"
            lines.append(f"{told}, {due}, {wrong:+g} cents [{row.source}, {right.source}]")
    return [f"{len(lines)} of {len(rows)} quotes differ from the tariff [logs/quotes.csv]", *lines]


def _kind(entries: list[tuple[str, str, str]]) -> str:
    time, level, text = entries[0]
    many = f"{len(entries)} times until {entries[-1][0]}" if len(entries) > 1 else "once"
    return f"{level} since {time}, {many}: {text} [logs/app.log]"


def _config(folder: Path, name: str) -> dict[str, Any]:
    file = next((one for one in files(folder, (".toml",)) if one.name == f"repo/config/{name}.toml"), None)
    if file is None:
        raise ToolError(f"there is no repo/config/{name}.toml in the data folder: add it")
    try:
        return tomllib.loads(file.text())
    except tomllib.TOMLDecodeError as error:
        raise ToolError(f"{file.name} is not valid TOML: {error}") from error


def _setting(limit: Record, production: dict[str, Any], staging: dict[str, Any]) -> str:
    name = limit["setting"]
    if name not in production:
        return f"{name} is not set in production [repo/config/production.toml]"
    value, bounds = production[name], f"{limit['least']} to {limit['most']}, because {limit['reason']}"
    inside = limit.number("least") <= float(value) <= limit.number("most")
    state = "within its limits" if inside else "OUT OF BOUNDS, limits"
    other = f"staging has {staging.get(name, 'none')}"
    return f"{name} = {value} in production is {state} {bounds}; {other} [repo/config/production.toml, {limit.source}]"
