"""The form of a team file: every key that it may have, and what a value must be. docs/TEAMS.md explains them."""

from typing import Annotated, Any

import msgspec

MOST = 10**12
"""Above any figure that means something; TOML knows infinity, too."""

Count = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Amount = Annotated[float, msgspec.Meta(gt=0, le=MOST)]


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file."""


class RunBudget(Table, frozen=True, kw_only=True):
    """What a run may spend if its request does not say."""

    tokens: Count | None = None
    steps: Count | None = None
    usd: Amount | None = None


class TaskBudget(RunBudget, frozen=True, kw_only=True):
    """What a worker may spend on one task, whatever the plan says."""

    seconds: Amount | None = None


class SupervisorTable(Table, frozen=True, kw_only=True):
    """Settings of the team's own: the keys are names of settings, but for `budget`."""

    model_planner: str | None = None
    model_synthesizer: str | None = None
    model_judge: str | None = None
    planner_tasks: Count | None = None
    deadline_s: Amount | None = None
    attempts: Count | None = None
    revisions: Count | None = None
    plan_tries: Count | None = None
    budget: RunBudget | None = None


class ServerTable(Table, frozen=True, kw_only=True):
    """A tool server: a command to start, or the url of one that runs."""

    command: tuple[str, ...] = ()
    url: str = ""
    env: dict[str, str] = {}
    headers: dict[str, str] = {}
    tools: tuple[str, ...] = ()
    timeout_s: Amount = 30.0


class ToolTable(Table, frozen=True, kw_only=True):
    """A tool, or what makes tools, by its import path; over a part of the data, under names of its own.

    With `confirm` a person must allow each call, whatever the tool itself says.
    """

    use: str
    data: str = ""
    prefix: str = ""
    confirm: bool = False


class WorkerTable(Table, frozen=True, kw_only=True):
    """One worker: an agent with prompt and tools, a function, or a person."""

    name: str
    summary: str
    prompt: str = ""
    prompt_file: str = ""
    model: str = ""
    tools: tuple[ToolTable, ...] = ()
    server_tools: tuple[str, ...] = ()
    budget: TaskBudget | None = None
    concurrency: Count | None = None
    fallback: str | None = None
    max_turns: Count | None = None
    person: bool = False
    function: str = ""


class TeamForm(Table, frozen=True, kw_only=True):
    """The whole file. `rules` are added to the prompt of every agent."""

    name: str
    summary: str
    data: str = ""
    samples: tuple[str, ...] = ()
    rules: str = ""
    supervisor: SupervisorTable = SupervisorTable()
    mcp: dict[str, ServerTable] = {}
    workers: tuple[WorkerTable, ...] = ()


def settings_of(form: TeamForm) -> dict[str, Any]:
    """The settings that the team has of its own, by their names."""
    values = msgspec.structs.asdict(form.supervisor)
    budget = values.pop("budget")
    if budget is not None:
        values |= {f"budget_{kind}": amount for kind, amount in msgspec.structs.asdict(budget).items()}
    return {name: value for name, value in values.items() if value is not None}
