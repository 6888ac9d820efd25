"""A team: workers under one name, each with tools of its own."""

from collections import defaultdict
from dataclasses import KW_ONLY, dataclass

from actors.worker.definition import Worker
from protocol.errors import InvalidError
from protocol.ids import token_fault


@dataclass(frozen=True)
class Team:
    """Specialists that a supervisor plans with. No two share a name or a tool. `samples` are requests to try."""

    name: str
    _: KW_ONLY
    workers: tuple[Worker, ...]
    samples: tuple[str, ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        faults = _faults(self)
        if faults:
            raise InvalidError(faults)

    def worker(self, name: str) -> Worker | None:
        """The worker of that name, if the team has one."""
        return next((worker for worker in self.workers if worker.name == name), None)


def _faults(team: Team) -> list[str]:
    faults = [fault for fault in [token_fault("team", team.name)] if fault]
    if not team.workers:
        faults.append(f"team {team.name!r} has no workers")
    names = [worker.name for worker in team.workers]
    faults += [
        f"team {team.name!r} has {names.count(name)} workers named {name!r}: give each a name of its own"
        for name in sorted(set(names))
        if names.count(name) > 1
    ]
    owners: dict[str, list[str]] = defaultdict(list)
    for worker in team.workers:
        for tool in worker.tools:
            owners[tool.name].append(worker.name)
    faults += [
        f"team {team.name!r}: workers {' and '.join(map(repr, by))} share the tool {tool!r}: a tool has one owner"
        for tool, by in sorted(owners.items())
        if len(by) > 1
    ]
    return faults
