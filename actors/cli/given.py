"""What a person gives a command to work with: texts and plans, from arguments, files or standard input."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from protocol.errors import InvalidError
from protocol.messages import Plan, Task
from protocol.null_fields import without_nulls

STDIN = "-"


def read_text(argument: str) -> str:
    """The text of a request; `-` stands for standard input."""
    if argument != STDIN:
        if not _is_text(argument):
            raise InvalidError(["the request is not valid UTF-8"])
        return argument
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InvalidError([f"what came on standard input is not UTF-8: {error.reason}"]) from error


def read_request(argument: str | None) -> str:
    """The text of a request. Without an argument it comes from standard input, unless that is a terminal."""
    if argument is None:
        argument = "" if sys.stdin is None or sys.stdin.isatty() else STDIN  # pyright: ignore[reportUnnecessaryComparison]
    return read_text(argument)


def read_plan(argument: str) -> Plan:
    """The plan in a file; `-` stands for standard input. InvalidError with everything that does not fit."""
    if argument == STDIN:
        return parse_plan(sys.stdin.buffer.read(), "the plan")
    try:
        return parse_plan(Path(argument).read_bytes(), argument)
    except OSError as error:
        raise InvalidError([f"plan {argument}: {error.strerror}"]) from error


def parse_plan(data: bytes, where: str) -> Plan:
    """The plan in these bytes; each part is looked at by itself, so that all faults come at once."""
    fields = _fields(data, where)
    faults = _unknown(fields, Plan, where)
    tasks: list[Task] = []
    for number, item in enumerate(_items(fields, where), 1):
        name = f"{where}: task {number}"
        try:
            faults += _unknown(msgspec.json.decode(item, type=dict[str, Any]), Task, name)
            tasks.append(msgspec.json.decode(without_nulls(item, Task), type=Task))
        except msgspec.ValidationError as error:
            faults.append(f"{name}: {error}")
    try:
        data = without_nulls(msgspec.json.encode(fields | {"tasks": []}), Plan)
        plan = msgspec.json.decode(data, type=Plan)
    except msgspec.ValidationError as error:
        raise InvalidError([*faults, f"{where}: {error}"]) from error
    if faults:
        raise InvalidError(faults)
    return msgspec.structs.replace(plan, tasks=tuple(tasks))


def _fields(data: bytes, where: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data.decode(), type=dict[str, msgspec.Raw])
    except msgspec.ValidationError as error:
        raise InvalidError([f'{where} is not a plan: it must be an object with a list of "tasks"']) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidError([f"{where} is not JSON: {error or type(error).__name__}"]) from error


def _items(fields: Mapping[str, Any], where: str) -> list[msgspec.Raw]:
    try:
        return msgspec.json.decode(fields.get("tasks", b"null"), type=list[msgspec.Raw])
    except msgspec.MsgspecError as error:
        raise InvalidError([f'{where} is not a plan: it has no list of "tasks"']) from error


def _unknown(fields: Mapping[str, Any], kind: type[msgspec.Struct], name: str) -> list[str]:
    """A field that does not exist is a slip of the pen: on the wire it would be passed over, here it is told."""
    known = kind.__struct_fields__
    there = ", ".join(known)
    return [f"{name}: there is no field {field!r} (there are: {there})" for field in fields if field not in known]


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True
