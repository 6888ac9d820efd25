"""What must hold of a team file beyond its form. Everything is told; nothing is imported."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actors.teams.filling import Faults, list_of, nearest, table_of
from actors.teams.form import ServerTable, TeamForm, ToolTable, WorkerTable
from actors.tools.server import ToolServer
from actors.tools.signature import name_fault
from protocol.errors import InvalidError
from protocol.ids import token_fault

MCP = "mcp:"
IMPORT_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*")
HOW = 'write "module:name", such as "tools:search" for a tools.py beside this file, or "mcp:server"'

Values = Mapping[str, Any]


def check_team(form: TeamForm, values: Values, faults: Faults) -> None:
    """Tell what is wrong with the team as a whole."""
    name, summary = values.get("name"), values.get("summary")
    if isinstance(name, str) and (fault := token_fault("name", name)):
        faults.add("", fault)
    if isinstance(summary, str) and not summary.strip():
        faults.add("", "summary is empty: say in a sentence what the team is good for")
    if not values.get("workers"):
        faults.add("", "there are no workers: write a [[workers]] table for each")
    names = [worker.name for worker in form.workers]
    for name in sorted({name for name in names if names.count(name) > 1}):
        faults.add("", f"{names.count(name)} workers are named {name!r}: give each a name of its own")
    written = table_of(values.get("mcp")) or {}
    for name, table in form.mcp.items():
        if _is_misread(table, table_of(written.get(name)) or {}):
            continue
        try:
            server(name, table, Path())
        except InvalidError as error:
            for fault in error.faults:
                faults.add("", fault)


def _is_misread(table: ServerTable, written: Values) -> bool:
    """Whether it says what to reach in a form that was refused: then there is nothing more to tell."""
    return any(written.get(key) and not getattr(table, key) for key in ("command", "url"))


def server(name: str, table: ServerTable, folder: Path, tools: tuple[str, ...] = ()) -> ToolServer:
    """The tool server that a table describes, lending these tools or, without any, those that the table names.

    A command is started in the folder of the team file: what it names lies beside the file, from wherever it is run.
    """
    return ToolServer(
        name,
        command=table.command,
        url=table.url,
        env=table.env,
        headers=table.headers,
        tools=tools or table.tools,
        timeout_s=table.timeout_s,
        cwd=str(folder.absolute()) if table.command else "",
    )


def check_worker(worker: WorkerTable, values: Values, folder: Path, faults: Faults) -> None:
    """Tell what is wrong with one worker of the file."""
    where = f"worker {worker.name[:64]!r}"
    texts = [token_fault("name", worker.name), *_kind_faults(worker), _fallback_fault(worker, values)]
    if not worker.summary.strip():
        texts.append("summary is empty: say in a sentence what it is good for; a planner chooses by it")
    if worker.prompt_file:
        texts.append(_prompt_fault(folder / worker.prompt_file))
    servers = table_of(values.get("mcp")) or {}
    texts += [_tool_fault(tool, servers) for tool in worker.tools]
    if worker.function and (worker.function.startswith(MCP) or not IMPORT_PATH.fullmatch(worker.function)):
        texts.append(f'function {worker.function[:64]!r} is no import path: write "module:function"')
    for text in texts:
        if text:
            faults.add(where, text)


def _kind_faults(worker: WorkerTable) -> list[str]:
    agent = [
        key for key in ("prompt", "prompt_file", "tools", "server_tools", "model", "max_turns") if getattr(worker, key)
    ]
    texts: list[str] = []
    if worker.person and worker.function:
        texts.append("is either a person or a function, not both")
    for kind, it_is in (("person", worker.person), ("function", worker.function)):
        if it_is and agent:
            texts.append(f"is a {kind}: leave out {', '.join(agent)}")
    if worker.prompt and worker.prompt_file:
        texts.append("has a prompt and a prompt_file: keep one of them")
    return texts


def _fallback_fault(worker: WorkerTable, values: Values) -> str | None:
    if worker.fallback is None:
        return None
    if worker.fallback == worker.name:
        return "is its own fallback: name another worker, or leave it out"
    tables = [table_of(item) or {} for item in list_of(values.get("workers")) or []]
    names = [str(table["name"]) for table in tables if "name" in table]
    if worker.fallback in names:
        return None
    others = [name for name in names if name != worker.name]
    return f"fallback: there is no worker {worker.fallback[:64]!r}{nearest(worker.fallback, others)}"


def _prompt_fault(file: Path) -> str | None:
    try:
        file.read_text(encoding="utf-8")
    except OSError as error:
        return f"prompt_file {str(file)!r}: {error.strerror}"
    except ValueError as error:
        return f"prompt_file {str(file)!r}: {'is not UTF-8' if isinstance(error, UnicodeError) else error}"
    return None


def _tool_fault(tool: ToolTable, servers: Mapping[str, Any]) -> str | None:
    named = f"tool {tool.use[:64]!r}"
    if tool.use.startswith(MCP):
        return _lent_fault(tool, servers)
    if not IMPORT_PATH.fullmatch(tool.use):
        return f"{named} is no import path: {HOW}"
    if tool.prefix and (fault := name_fault(tool.prefix)):
        return f"{named}: prefix: {fault}"
    if tool.data and (Path(tool.data).is_absolute() or ".." in Path(tool.data).parts or "\0" in tool.data):
        return f"{named}: data {tool.data!r} leads out of the data folder: name a folder within it"
    return None


def _lent_fault(tool: ToolTable, servers: Mapping[str, Any]) -> str | None:
    named = f"tool {tool.use[:64]!r}"
    name, _, wanted = tool.use.removeprefix(MCP).partition("/")
    if name not in servers:
        there = nearest(name, servers) or f"; write a table [mcp.{name}]"
        return f"{named}: there is no tool server {name[:64]!r}{there}"
    if tool.use.endswith("/"):
        return f"{named}: name the tool after the /, or leave the / out for all of them"
    if tool.data or tool.prefix:
        return f"{named}: data and prefix are for tools that are imported; those of a server are named after it"
    only = list_of((table_of(servers[name]) or {}).get("tools"))
    if wanted and only and wanted not in only:
        return f"{named}: [mcp.{name}] takes only {', '.join(map(repr, only))}: add {wanted!r} to its tools"
    return None
