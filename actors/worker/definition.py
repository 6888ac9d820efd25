"""A worker: a name, what it is good for, and how it works: a model with tools, a function, or a person."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import msgspec

from actors.tools.server import ToolServer
from actors.tools.tool import Tool
from actors.worker.server_tools import definition_faults
from protocol.codec import writable
from protocol.errors import InvalidError
from protocol.ids import token_fault
from protocol.messages import Budget, Fault, Handoff, Source, Usage


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a function worker may return instead of a plain string."""

    output: str = ""
    data: Any = None
    confidence: float | None = None
    findings: tuple[str, ...] = ()
    error: Fault | None = None
    declined: bool = False
    usage: Usage = Usage()
    before_s: float = 0.0
    sources: tuple[Source, ...] = ()


def sound(returned: object) -> Outcome:
    """What somebody's function returned, as an outcome that can be passed on; or one that says why it cannot."""
    if not isinstance(returned, Outcome):
        return Outcome(output="" if returned is None else writable(str(returned)))
    try:
        return msgspec.json.decode(msgspec.json.encode(returned), type=Outcome)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        message = f"the worker returned an Outcome that cannot be passed on: {error}"
        return Outcome(error=Fault(kind="bad_outcome", message=message))


RESERVED = frozenset({"decline_task", "report_finding"})
"""Tools that every agent has, to hand a task back or to speak to the planner."""

NO_LIMIT = Budget()

Work = Callable[[Handoff], Awaitable[str | Outcome] | str | Outcome]


def no_trouble() -> str:
    """What a worker says that lacks nothing."""
    return ""


@dataclass(frozen=True)
class Worker:
    """A specialist. With `run` it is a function and no model is asked; otherwise it is an agent with tools.

    `mcp` are servers that lend it more tools while it works. `server_tools` are tools of the model's provider, such as
    web_search; a worker that has them has no other tools. `budget` is its own ceiling for one task, beside that of the
    handoff. With `person` a person answers instead of a model. `trouble` says, whenever it is asked, what it lacks; the
    card shows it.
    """

    name: str
    _: KW_ONLY
    summary: str
    prompt: str = ""
    tools: Sequence[Tool] = ()
    mcp: Sequence[ToolServer] = ()
    run: Work | None = None
    model: str = ""
    concurrency: int | None = None
    fallback: str | None = None
    max_turns: int | None = None
    budget: Budget = NO_LIMIT
    person: bool = False
    server_tools: Sequence[str] = ()
    trouble: Callable[[], str] = field(default=no_trouble, repr=False, compare=False)

    def __post_init__(self) -> None:
        faults = _faults(self)
        if faults:
            raise InvalidError(faults)

    def tool(self, name: str) -> Tool | None:
        """The tool of that name, if this worker has one. Models may write it in other capitals, which is taken too."""
        alike = [tool for tool in self.tools if tool.name.casefold() == name.casefold()]
        exact = [tool for tool in alike if tool.name == name]
        return exact[0] if exact else alike[0] if len(alike) == 1 else None


def _faults(worker: Worker) -> list[str]:
    faults = [fault for fault in [token_fault("worker", worker.name)] if fault]
    if not worker.summary.strip():
        faults.append(f"worker {worker.name!r} has no summary: say in a sentence what it is good for")
    if worker.run is not None and (worker.tools or worker.prompt or worker.mcp or worker.server_tools):
        faults.append(f"worker {worker.name!r} is a function: it takes neither prompt nor tools")
    if worker.person and (worker.tools or worker.prompt or worker.mcp or worker.server_tools or worker.run):
        faults.append(f"worker {worker.name!r} is a person: it takes neither prompt nor tools, and runs no function")
    faults += definition_faults(worker, has_tools=bool(worker.tools or worker.mcp))
    if worker.concurrency is not None and worker.concurrency < 1:
        faults.append(f"worker {worker.name!r}: concurrency must be at least 1")
    servers = [server.name for server in worker.mcp]
    faults += [
        f"worker {worker.name!r} has two tool servers named {n!r}" for n in sorted(set(servers)) if servers.count(n) > 1
    ]
    strangers = [given for given in worker.tools if not isinstance(given, Tool)]  # pyright: ignore[reportUnnecessaryIsInstance]
    faults += [
        f"worker {worker.name!r}: {getattr(given, '__name__', repr(given)[:60])} is no tool: put @tool on the function"
        for given in strangers
    ]
    names = [tool.name for tool in worker.tools if isinstance(tool, Tool)]  # pyright: ignore[reportUnnecessaryIsInstance]
    faults += [f"worker {worker.name!r}: every worker has a tool {n!r} already" for n in names if n in RESERVED]
    faults += [f"worker {worker.name!r} has two tools named {n!r}" for n in sorted(set(names)) if names.count(n) > 1]
    return faults
