"""The processes: bus, runner, supervisor, worker, model, tools, teams, launcher, command line.

`Worker`, `Team`, `tool`, `CallKey`, `ToolServer`, `Outcome`, `Client`, `Plan` and `Task` are what a program of one's
own needs; each is loaded when it is first used.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["CallKey", "Client", "Outcome", "Plan", "Task", "Team", "ToolServer", "Worker", "__version__", "tool"]

if TYPE_CHECKING:  # for type checkers alone: at run time the names are loaded when they are used
    from actors.client import Client
    from actors.teams.team import Team
    from actors.tools.given import CallKey
    from actors.tools.server import ToolServer
    from actors.tools.tool import tool
    from actors.worker.definition import Outcome, Worker
    from protocol.messages import Plan, Task

_WHERE = {
    "CallKey": "actors.tools.given",
    "Client": "actors.client",
    "Outcome": "actors.worker.definition",
    "Plan": "protocol.messages",
    "Task": "protocol.messages",
    "Team": "actors.teams.team",
    "ToolServer": "actors.tools.server",
    "Worker": "actors.worker.definition",
    "tool": "actors.tools.tool",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'actors' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)
