"""Tools of the curriculum team: topics in an order that can be taught, objectives with gaps, and materials."""

import math
from collections.abc import Iterable
from pathlib import Path

from actors.tools.matching import mentioned, nearest
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

HOURS_A_WEEK = 6
_DOING = ("apply", "analyse")
_PRACTICE = ("exercise", "data set")


def sequence(folder: Path) -> list[Tool]:
    """`sequence_topics` over the topics of a folder."""

    @tool
    def sequence_topics(topics: str) -> str:
        """Put topics into an order that can be taught, prerequisites first, with hours and weeks.

        Args:
            topics: the topics that are wanted, such as Regression; what they need is added; all if none is named
        """
        known = {row["topic"]: row for row in _topics(folder)}
        wanted = mentioned(topics, known) or list(known)
        ordered = _ordered(wanted, known)
        lines: list[str] = []
        taught = 0.0
        for row in ordered:
            week = math.floor(taught / HOURS_A_WEEK) + 1
            taught += row.number("hours")
            needs = f", after {row['prerequisites'].replace(';', ' and')}" if row["prerequisites"] else ""
            about = f"{row['hours']} hours from week {week}, {row['level']}{needs}"
            lines.append(f"{len(lines) + 1}. {row['topic']}: {about} [{row.source}]")
        weeks = math.ceil(taught / HOURS_A_WEEK)
        return "\n".join([*lines, f"In all {taught:g} hours, {weeks} weeks of {HOURS_A_WEEK} hours [topics.csv]"])

    return [sequence_topics]


def objectives(folder: Path) -> list[Tool]:
    """`find_objectives` over the learning objectives of a folder."""

    @tool
    def find_objectives(subject: str) -> str:
        """Find the learning objectives of topics, how each is assessed, and which are not assessed at all.

        Args:
            subject: a topic or words of an objective, such as Charts; all of them if none fits
        """
        known = read_records(folder, "objectives.csv", ("id", "topic", "objective", "kind", "assessed_by"))
        found = _of_topics(folder, subject, known) or nearest(subject, known, lambda row: row["objective"]) or known
        return "\n".join([*map(_objective, found), *_gaps(found)])

    return [find_objectives]


def materials(folder: Path) -> list[Tool]:
    """`find_materials` over the materials of a folder."""

    @tool
    def find_materials(subject: str) -> str:
        """Find materials for topics: readings, videos, exercises and data sets, with minutes, licence and cost.

        Args:
            subject: a topic, a kind or a title, such as Charts, video or Charts That Lie; all of them if none fits
        """
        columns = ("material", "topic", "kind", "minutes", "licence", "cost_eur")
        known = read_records(folder, "materials.csv", columns)
        titles = mentioned(subject, [row["material"] for row in known])
        kinds = mentioned(subject, [row["kind"] for row in known])
        about = _of_topics(folder, subject, known) or [row for row in known if row["material"] in titles] or known
        found = [row for row in about if row["kind"] in kinds] or about
        cost = sum(row.number("cost_eur") for row in found)
        total = f"Number of materials: {len(found)}, cost in all {cost:g} euros per learner [materials.csv]"
        return "\n".join([*map(_material, found), total, *_without_practice(found, about is known)])

    return [find_materials]


def _topics(folder: Path) -> list[Record]:
    return read_records(folder, "topics.csv", ("topic", "prerequisites", "hours", "level"))


def _needs(row: Record) -> list[str]:
    return [part.strip() for part in row["prerequisites"].split(";") if part.strip()]


def _ordered(wanted: Iterable[str], known: dict[str, Record]) -> list[Record]:
    """The wanted topics and all they need, each after what it needs; ToolError if they need each other in a circle."""
    done: dict[str, Record] = {}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ToolError(f"topics.csv: {' needs '.join([*above, name])}, which is a circle")
        if name not in known:
            raise ToolError(f"topics.csv: {above[-1]} needs {name!r}, which is not a topic")
        if name not in done:
            for need in _needs(known[name]):
                add(need, (*above, name))
            done[name] = known[name]

    for name in wanted:
        add(name, ())
    return list(done.values())


def _of_topics(folder: Path, text: str, rows: list[Record]) -> list[Record]:
    named = mentioned(text, [row["topic"] for row in _topics(folder)])
    return [row for row in rows if row["topic"] in named]


def _objective(row: Record) -> str:
    how = f"assessed by {row['assessed_by']}" if row["assessed_by"] else "not assessed"
    return f"{row['id']}, {row['topic']}: {row['objective']} ({row['kind']}), {how} [{row.source}]"


def _gaps(rows: list[Record]) -> list[str]:
    missing = [row["id"] for row in rows if not row["assessed_by"]]
    doing = {row["topic"] for row in rows if row["kind"] in _DOING}
    passive = [topic for topic in dict.fromkeys(row["topic"] for row in rows) if topic not in doing]
    lines = [f"Not assessed: {', '.join(missing)} [objectives.csv]"] if missing else []
    return lines + [f"Topics where nothing is applied: {', '.join(passive)} [objectives.csv]"] * bool(passive)


def _material(row: Record) -> str:
    cost = f"{row['cost_eur']} euros" if row.number("cost_eur") else "free"
    length = f"{row['minutes']} minutes, " if row.number("minutes") else ""
    return f"{row['material']}, {row['kind']} for {row['topic']}: {length}{row['licence']}, {cost} [{row.source}]"


def _without_practice(rows: list[Record], whole: bool) -> list[str]:
    practised = {row["topic"] for row in rows if row["kind"] in _PRACTICE}
    lacking = [topic for topic in dict.fromkeys(row["topic"] for row in rows) if topic not in practised]
    return [f"Topics without exercise or data set: {', '.join(lacking)} [materials.csv]"] if whole and lacking else []
