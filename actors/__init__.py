"""What a program of your own needs from Handoff, and the packages of the processes.

    from actors import Client, Worker, tool

Each name is loaded when it is first used, so that importing this package is cheap.
"""

from typing import TYPE_CHECKING

from protocol.errors import (
    ArtifactError,
    BusError,
    ConflictError,
    DeclinedError,
    DeniedError,
    FencedError,
    FullError,
    HandoffError,
    InvalidError,
    ModelError,
    TooLargeError,
    ToolError,
    UndecodableError,
    UnknownRunError,
    UnknownTypeError,
    UnreachableError,
    UnservedError,
)

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Artifact",
    "ArtifactError",
    "Budget",
    "BusError",
    "CallKey",
    "Client",
    "ConflictError",
    "DeclinedError",
    "DeniedError",
    "Fault",
    "FencedError",
    "FullError",
    "Handoff",
    "HandoffError",
    "InvalidError",
    "ModelError",
    "Outcome",
    "Plan",
    "Request",
    "Result",
    "Run",
    "Source",
    "Task",
    "Team",
    "TooLargeError",
    "ToolError",
    "ToolServer",
    "UndecodableError",
    "UnknownRunError",
    "UnknownTypeError",
    "UnreachableError",
    "UnservedError",
    "Usage",
    "Worker",
    "__version__",
    "tool",
]

if TYPE_CHECKING:
    from actors.client import Client
    from actors.remote_run import Run
    from actors.teams.team import Team
    from actors.tools.given import CallKey
    from actors.tools.server import ToolServer
    from actors.tools.tool import tool
    from actors.worker.definition import Outcome, Worker
    from protocol.messages import Answer, Artifact, Budget, Fault, Handoff, Plan, Request, Result, Source, Task, Usage
else:
    # Hidden from type checkers, to whom a module with `__getattr__` has every name, the misspelled ones included.
    _MODULES = {
        "Answer": "protocol.messages",
        "Artifact": "protocol.messages",
        "Budget": "protocol.messages",
        "CallKey": "actors.tools.given",
        "Client": "actors.client",
        "Fault": "protocol.messages",
        "Handoff": "protocol.messages",
        "Outcome": "actors.worker.definition",
        "Plan": "protocol.messages",
        "Request": "protocol.messages",
        "Result": "protocol.messages",
        "Run": "actors.remote_run",
        "Source": "protocol.messages",
        "Task": "protocol.messages",
        "Team": "actors.teams.team",
        "ToolServer": "actors.tools.server",
        "Usage": "protocol.messages",
        "Worker": "actors.worker.definition",
        "tool": "actors.tools.tool",
    }

    def __getattr__(name):
        if name not in _MODULES:
            raise AttributeError(f"module 'actors' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)

    def __dir__():
        return sorted({*globals(), *__all__})
