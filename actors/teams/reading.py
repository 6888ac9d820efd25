"""Reading a team file: its bytes become its form, or a list of everything that is wrong with it.

Nothing is imported here: what the file names is looked at only once the file itself is in order.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from actors.teams.checking import check_team, check_worker
from actors.teams.filling import Faults, filled, list_of, shown, table_of
from actors.teams.form import (
    RunBudget,
    ServerTable,
    SupervisorTable,
    TaskBudget,
    TeamForm,
    ToolTable,
    WorkerTable,
)
from protocol.errors import InvalidError

MOST_BYTES = 1_000_000
FILE = "team.toml"

Values = Mapping[str, Any]


def read_form(file: Path) -> TeamForm:
    """What the file says; InvalidError with every fault."""
    faults = Faults(file)
    form = examined(file, faults)
    if form is None or faults.found:
        raise InvalidError(faults.found)
    return form


def examined(file: Path, faults: Faults) -> TeamForm | None:
    """What the file says, with every fault told; None if it cannot be read or does not fit the form at all."""
    values = _parsed(file, faults)
    if values is None:
        return None
    plain = {key: value for key, value in values.items() if key not in ("workers", "mcp", "supervisor")}
    form = filled(TeamForm, plain, "", faults, name="", summary="")
    assert form is not None  # nothing is missing that does not have a stand-in
    supervisor = _supervisor(values, faults)
    servers = {
        name: table
        for name, item in _tables(values, "mcp", faults).items()
        if (table := filled(ServerTable, item, f"mcp.{name}", faults))
    }
    workers = [
        table
        for number, item in enumerate(_listed(values, "workers", faults), 1)
        if (table := _worker(item, _named(item, number), faults))
    ]
    form = msgspec.structs.replace(
        form,
        workers=tuple(workers),
        mcp=servers,
        supervisor=supervisor or SupervisorTable(),
    )
    check_team(form, values, faults)
    for worker in form.workers:
        check_worker(worker, values, file.parent, faults)
    return form


def _parsed(file: Path, faults: Faults) -> Values | None:
    try:
        if file.stat().st_size > MOST_BYTES:
            faults.add("", f"has more than {MOST_BYTES:,} bytes: put long texts into files (prompt_file)")
            return None
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        faults.add("", f"is not TOML: {error}")
    except UnicodeDecodeError as error:
        faults.add("", f"is not UTF-8: {error.reason} at byte {error.start}")
    except OSError as error:
        faults.add("", f"{error.strerror}: name a folder with a {FILE}, or the file itself")
    except (ValueError, RecursionError) as error:
        faults.add("", f"cannot be read: {error}")
    return None


def _worker(item: object, where: str, faults: Faults) -> WorkerTable | None:
    values = table_of(item)
    if values is None:
        faults.add(where, f"must be a table: write [[workers]] above its keys (got {shown(item)})")
        return None
    tools = [_tool(entry, where, faults) for entry in _listed(values, "tools", faults, where)]
    budget = filled(TaskBudget, values["budget"], f"{where}: budget", faults) if "budget" in values else None
    plain = {key: value for key, value in values.items() if key not in ("tools", "budget")}
    table = filled(WorkerTable, plain, where, faults, summary="missing")
    return table and msgspec.structs.replace(table, tools=tuple(tool for tool in tools if tool), budget=budget)


def _tool(entry: object, where: str, faults: Faults) -> ToolTable | None:
    if isinstance(entry, str):
        return ToolTable(use=entry)
    if table_of(entry) is None:
        faults.add(
            where, f'tools: each is a text such as "tools:search", or a table {{ use = "..." }} (got {shown(entry)})'
        )
        return None
    return filled(ToolTable, entry, f"{where}: tools", faults)


def _supervisor(values: Values, faults: Faults) -> SupervisorTable | None:
    found = values.get("supervisor", {})
    settings = table_of(found)
    if settings is None:
        faults.add("supervisor", f"must be a table (got {shown(found)})")
        return None
    budget = filled(RunBudget, settings["budget"], "supervisor: budget", faults) if "budget" in settings else None
    plain = {key: value for key, value in settings.items() if key != "budget"}
    table = filled(SupervisorTable, plain, "supervisor", faults)
    return table and msgspec.structs.replace(table, budget=budget)


def _listed(values: Values, key: str, faults: Faults, where: str = "") -> list[Any]:
    found = values.get(key, [])
    items = list_of(found)
    if items is None:
        hint = ": write [[workers]], with two brackets, above each" if key == "workers" and table_of(found) else ""
        faults.add(where, f"{key} must be a list{hint} (got {shown(found)})")
    return items or []


def _tables(values: Values, key: str, faults: Faults) -> dict[str, Any]:
    found = values.get(key, {})
    tables = table_of(found)
    if tables is None:
        faults.add(key, f"must be a table of tables, such as [{key}.files] (got {shown(found)})")
    return tables or {}


def _named(item: object, number: int) -> str:
    name = (table_of(item) or {}).get("name")
    return f"worker {name[:64]!r}" if isinstance(name, str) else f"worker {number}"
