"""Server tools: tools that run at the provider, such as web search, for a worker that has no other way to data."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from actors.model.profiles import SERVER_TOOLS, profile_of
from protocol.errors import InvalidError


class Equipped(Protocol):
    """A worker, as far as its server tools go."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def model(self) -> str:
        """The model that it names; empty if it names none."""
        ...

    @property
    def server_tools(self) -> Sequence[str]:
        """The names of its server tools."""
        ...


def definition_faults(worker: Equipped, *, has_tools: bool) -> list[str]:
    """What is wrong with the server tools of a worker, whatever its model is."""
    where, names = f"worker {worker.name!r}", worker.server_tools
    if not names:
        return []
    if isinstance(names, str):
        return [f"{where}: server_tools is a list of names, such as [{names!r}]"]
    faults = [
        f"{where}: there is no server tool {name!r}; there are {', '.join(SERVER_TOOLS)}"
        for name in names
        if name not in SERVER_TOOLS
    ]
    if len(set(names)) < len(names):
        faults.append(f"{where} names a server tool twice")
    if has_tools:
        faults.append(
            f"{where} has server_tools and tools of its own: what its tools read could leave by the server tools. "
            "Make two workers of it"
        )
    return faults or ([fault] if worker.model and (fault := lacking(worker, worker.model)) else [])


def lacking(worker: Equipped, model: str) -> str:
    """Why this model cannot use the server tools of the worker; empty if it can, or if its profile is not known."""
    profile = profile_of(model)
    missing = [name for name in worker.server_tools if name not in profile.server_tools]
    if not missing or not profile.known:
        return ""
    return f"worker {worker.name!r}: model {model} has no server tool {', '.join(missing)}: name another model"


def refused_at_task(worker: Equipped, model: str) -> str:
    """The same at the beginning of a task, where an unknown model is refused, too."""
    if worker.server_tools and not profile_of(model).known:
        return (
            f"worker {worker.name!r}: it is not known whether model {model} has the server tools "
            f"{', '.join(worker.server_tools)}: name a model that docs/MODELS.md lists"
        )
    return lacking(worker, model)


def require_server_tools(workers: Iterable[Equipped], default_model: str) -> None:
    """Raise InvalidError, before anything starts, if the model of a worker lacks its server tools."""
    if faults := [fault for one in workers if (fault := lacking(one, one.model or default_model))]:
        raise InvalidError(faults)
