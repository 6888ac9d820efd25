"""A team: workers under one name, each with tools of its own."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations
from typing import Any

from actors.worker.definition import Worker
from protocol.errors import InvalidError
from protocol.ids import token_fault


@dataclass(frozen=True)
class Team:
    """Specialists that a supervisor plans with. No two share a name or a tool.

    `samples` are requests to try; `settings` are those that the team's processes have of its own.
    """

    name: str
    _: KW_ONLY
    workers: tuple[Worker, ...]
    samples: tuple[str, ...] = ()
    summary: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

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
    tools = [(worker.name, [tool.name for tool in worker.tools]) for worker in team.workers]
    return faults + shared_tools(team.name, tools) + _lent_twice(team)


def shared_tools(team: str, tools: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """Which tools have two workers of a team, by the names of each worker's tools; processes of one kind are one."""
    owners: dict[str, dict[str, None]] = defaultdict(dict)
    for worker, names in tools:
        for name in names:
            owners[name][worker] = None
    return [
        f"team {team!r}: workers {' and '.join(map(repr, by))} share the tool {tool!r}: a tool has one owner; "
        "a prefix gives one of them a copy"
        for tool, by in sorted(owners.items())
        if len(by) > 1
    ]


def _lent_twice(team: Team) -> list[str]:
    """Tool servers that lend the same tool to two workers; one without a list of tools lends them all."""
    lent = [(worker.name, server) for worker in team.workers for server in worker.mcp]
    faults: list[str] = []
    for (first, one), (second, other) in combinations(lent, 2):
        if one.name != other.name or first == second:
            continue
        both = sorted(set(one.tools) & set(other.tools)) if one.tools and other.tools else ["all its tools"]
        faults += [
            f"team {team.name!r}: workers {first!r} and {second!r} share {tool} of the tool server {one.name!r}: "
            "a tool has one owner; list the tools of each"
            for tool in both
        ]
    return faults
