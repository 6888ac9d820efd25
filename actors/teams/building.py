"""Building a team from its file: tools are imported, and made for the data folder; every fault is told at once."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import msgspec

from actors.teams.checking import MCP, server
from actors.teams.filling import Faults
from actors.teams.form import TeamForm, ToolTable, WorkerTable, settings_of
from actors.teams.importing import imported
from actors.teams.place import expanded, is_folder, not_a_folder
from actors.teams.reading import examined
from actors.teams.team import Team
from actors.tools.server import ALL, ToolServer
from actors.tools.tool import Tool, prefixed
from actors.worker.definition import Worker
from protocol.errors import InvalidError
from protocol.messages import Budget

DATA = "data"


def build(file: Path, data: Path | None = None) -> Team:
    """The team that a file describes, over a data folder or over its own; InvalidError with every fault."""
    faults = Faults(file)
    form = examined(file, faults)
    folder = _folder(form, file.parent, data, faults)
    if form is None or faults.found:
        raise InvalidError(faults.found)
    site = Site(form, file.parent, folder, faults)
    workers = tuple(worker for table in form.workers if (worker := site.worker(table)))
    team: Team | None = None
    try:
        team = Team(form.name, workers=workers, samples=form.samples, summary=form.summary, settings=settings_of(form))
    except InvalidError as error:
        if workers:  # else each of them has been told already
            for fault in error.faults:
                faults.add("", fault)
    if team is None or faults.found:
        raise InvalidError(faults.found)
    return team


def _folder(form: TeamForm | None, beside: Path, data: Path | None, faults: Faults) -> Path | None:
    """The data folder, if the team has one, with every part of it that a tool names."""
    if data is None and form is None:
        return None
    own = beside / ((form.data if form else "") or DATA)
    folder = own if data is None else expanded(data)
    if data is None and form and not form.data and not is_folder(folder):
        return None
    if not is_folder(folder):
        faults.add("", f"data folder {str(folder)!r} {not_a_folder(folder)}: make it, or name another one with --data")
        return None
    for worker in form.workers if form else ():
        for tool in worker.tools:
            if tool.data and not is_folder(folder / tool.data):
                where, part = f"worker {worker.name!r}", folder / tool.data
                faults.add(where, f"tool {tool.use!r}: data folder {str(part)!r} {not_a_folder(part)}")
    return folder


class Site:
    """Where the workers of one file are made."""

    def __init__(self, form: TeamForm, beside: Path, data: Path | None, faults: Faults) -> None:
        self._form, self._beside, self._data, self._faults = form, beside, data, faults

    def worker(self, table: WorkerTable) -> Worker | None:
        """The worker that a table describes; None, and every reason told, if it cannot be made."""
        where = f"worker {table.name!r}"
        before = len(self._faults.found)
        tools = [tool for entry in table.tools for tool in self._tools(entry, where)]
        run = self._function(table.function, where) if table.function else None
        if len(self._faults.found) > before:
            return None
        try:
            return Worker(
                table.name,
                summary=table.summary.strip(),
                prompt=self._prompt(table),
                tools=tools,
                mcp=self._servers(table),
                run=run,
                model=table.model,
                concurrency=table.concurrency,
                fallback=table.fallback,
                max_turns=table.max_turns,
                budget=_budget(table),
                person=table.person,
                server_tools=table.server_tools,
            )
        except InvalidError as error:
            for fault in error.faults:
                self._faults.add("", fault)
            return None

    def _prompt(self, table: WorkerTable) -> str:
        if table.person or table.function:
            return ""
        text = table.prompt
        if table.prompt_file:
            text = (self._beside / table.prompt_file).read_text(encoding="utf-8")
        return "\n\n".join(part.strip() for part in (text, self._form.rules) if part.strip())

    def _servers(self, table: WorkerTable) -> list[ToolServer]:
        wanted: dict[str, dict[str, bool]] = {}
        for entry in table.tools:
            if entry.use.startswith(MCP):
                name, _, tool = entry.use.removeprefix(MCP).partition("/")
                tools = wanted.setdefault(name, {})
                tools[tool or ALL] = entry.confirm or tools.get(tool or ALL, False)
        return [
            replace(
                server(name, self._form.mcp[name], self._beside, () if ALL in tools else tuple(sorted(tools))),
                confirm=tuple(sorted(tool for tool, confirm in tools.items() if confirm)),
            )
            for name, tools in wanted.items()
        ]

    def _tools(self, entry: ToolTable, where: str) -> list[Tool]:
        if entry.use.startswith(MCP):
            return []
        try:
            tools = [replace(tool, confirm=tool.confirm or entry.confirm) for tool in self._made(entry)]
            return prefixed(tools, entry.prefix) if entry.prefix else tools
        except InvalidError as error:
            for fault in error.faults:
                self._faults.add(where, f"tool {entry.use!r}: {fault}")
            return []

    def _made(self, entry: ToolTable) -> Iterator[Tool]:
        found = imported(entry.use, self._beside)
        if not isinstance(found, Tool) and callable(found):
            found = self._called(found, entry)
        elif entry.data:
            raise InvalidError(["is a tool, and takes no data: leave data out"])
        for item in cast("Sequence[object]", found) if isinstance(found, list | tuple) else [found]:
            if not isinstance(item, Tool):
                kind = type(item).__name__
                raise InvalidError([f"gives {kind}, not tools: put @tool on a function, or return a list of tools"])
            yield item

    def _called(self, make: Any, entry: ToolTable) -> Any:
        """What a function makes of the data folder. One that cannot take a folder alone is not called at all."""
        if inspect.iscoroutinefunction(make) or not _takes_one(make):
            raise InvalidError(["takes other arguments than the data folder: put @tool on it if it is a tool"])
        if self._data is None:
            raise InvalidError(["needs a data folder, and there is none: make one beside the file, or use --data"])
        try:
            return make(self._data / entry.data)
        except InvalidError:
            raise
        except (Exception, SystemExit) as error:  # a person's own code may raise anything
            raise InvalidError([f"failed: {type(error).__name__}: {error}"]) from error

    def _function(self, path: str, where: str) -> Any:
        try:
            found = imported(path, self._beside)
            if isinstance(found, Tool) or not callable(found) or not _takes_one(found):
                raise InvalidError(["is no function of one Handoff"])
        except InvalidError as error:
            for fault in error.faults:
                self._faults.add(where, f"function {path!r}: {fault}")
            return None
        return found


def _takes_one(function: Any) -> bool:
    try:
        inspect.signature(function).bind(None)
    except (TypeError, ValueError):
        return False
    return True


def _budget(table: WorkerTable) -> Budget:
    return Budget(**msgspec.structs.asdict(table.budget)) if table.budget else Budget()
