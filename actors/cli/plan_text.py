"""A plan as JSON text: read whole, or refused with all its faults and, if it is no JSON, the place of the mistake."""

import re
from collections.abc import Mapping

import msgspec

from actors.run.limits import Limits
from actors.run.plan_check import plan_faults
from protocol.errors import InvalidError
from protocol.messages import Plan, Task
from protocol.null_fields import without_nulls

Fields = Mapping[str, msgspec.Raw]

STAND_INS = {"worker": "worker", "intent": "intent"}
"""What stands for a required field that cannot be read, so that the rest of the plan can still be checked."""

_BYTE = re.compile(r" \(byte (\d+)\)$")


def parse_plan(data: bytes, where: str) -> Plan:
    """The plan in these bytes. InvalidError names every field that does not fit and every other fault of the plan."""
    fields = _fields(data, where)
    faults: list[str] = []
    tasks: list[Task] = []
    for number, item in enumerate(_items(fields, where), 1):
        found, wrong = _task(item, number, f"{where}: task {number}")
        faults += wrong
        tasks += [found] if found else []
    kept, wrong = _read(fields | {"tasks": msgspec.Raw(b"[]")}, Plan, where)
    plan = msgspec.json.decode(msgspec.json.encode(kept), type=Plan)
    plan = msgspec.structs.replace(plan, tasks=tuple(tasks))
    if faults := wrong + faults:
        raise InvalidError(faults + plan_faults(plan, Limits().request_tasks))
    return plan


def _fields(data: bytes, where: str) -> dict[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(data.decode(), type=dict[str, msgspec.Raw])
    except msgspec.ValidationError as error:
        raise InvalidError([f'{where} is not a plan: it must be an object with a list of "tasks"']) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidError([f"{where} is not JSON: {_mistake(data, error)}"]) from error


def _mistake(data: bytes, error: Exception) -> str:
    """What is wrong with the JSON, and in which line and column. Columns count characters from 1."""
    reason = str(error).removeprefix("JSON is malformed: ") or type(error).__name__
    if isinstance(error, RecursionError):
        return reason
    at = _BYTE.search(reason)
    end = error.start if isinstance(error, UnicodeDecodeError) else int(at[1]) if at else len(data)
    lines = data[:end].decode(errors="replace").split("\n")
    return f"line {len(lines)}, column {len(lines[-1]) + 1}: {_BYTE.sub('', reason)}"


def _items(fields: Fields, where: str) -> list[msgspec.Raw]:
    try:
        return msgspec.json.decode(fields.get("tasks", b"null"), type=list[msgspec.Raw])
    except msgspec.MsgspecError as error:
        raise InvalidError([f'{where} is not a plan: it has no list of "tasks"']) from error


def _task(item: msgspec.Raw, number: int, name: str) -> tuple[Task | None, list[str]]:
    """A task, with stand-ins for what cannot be read; None if it is no object."""
    try:
        fields = msgspec.json.decode(item, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError as error:
        return None, [f"{name}: {error}"]
    kept, faults = _read(fields, Task, name)
    if faults:
        stand_ins = {"id": f"unnamed-{number}"} | STAND_INS
        kept = {field: msgspec.Raw(msgspec.json.encode(value)) for field, value in stand_ins.items()} | kept
    return msgspec.json.decode(msgspec.json.encode(kept), type=Task), faults


def _read(fields: Fields, kind: type[msgspec.Struct], name: str) -> tuple[dict[str, msgspec.Raw], list[str]]:
    """The fields that can be read, nulls left out where they stand for a default, and what is wrong with the others."""
    kept: dict[str, msgspec.Raw] = {}
    faults = _unknown(fields, kind, name)
    for field in msgspec.structs.fields(kind):
        if field.name not in fields:
            faults += [f"{name}: the field {field.name!r} is missing"] if field.required else []
            continue
        try:
            kept |= _field(fields[field.name], field, kind)
        except msgspec.ValidationError as error:
            faults.append(f"{name}: {_placed(str(error), field.name)}")
    return kept, faults


def _field(value: msgspec.Raw, field: msgspec.structs.FieldInfo, kind: type[msgspec.Struct]) -> dict[str, msgspec.Raw]:
    """One field as it counts; nothing if it is a null that stands for the default."""
    data = without_nulls(msgspec.json.encode({field.name: value}), kind)
    found = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    for one in found.values():
        msgspec.json.decode(one, type=field.type)
    return found


def _placed(error: str, field: str) -> str:
    """A fault of one field, with the field in its path."""
    reason, at, path = error.partition(" - at `$")
    return f"{reason} - at `$.{field}{path if at else '`'}"


def _unknown(fields: Fields, kind: type[msgspec.Struct], name: str) -> list[str]:
    """A field that does not exist is a typing mistake. On the wire it would be ignored, here it is a fault."""
    known = kind.__struct_fields__
    there = ", ".join(known)
    return [f"{name}: there is no field {field!r} (there are: {there})" for field in fields if field not in known]
