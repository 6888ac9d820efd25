"""Subjects: the only place where a dot is joined or split."""

from typing import Literal, NamedTuple

from protocol.errors import UndecodableError
from protocol.ids import RunId, is_run_id, is_token

Work = Literal["task", "step", "result"]

REQUESTS = "handoff.request.*"
RUNS = "handoff.run.>"
STORED = "handoff.stored.>"
INDEX = "handoff.index.*.*"
DEAD = "handoff.dead.*"
CANCELS = "handoff.cancel.*"
BREAKERS = "$KV.handoff_breakers.>"
TASK_TEMPLATE = "handoff.run.{run}.task.{team}.{worker}.{task}.{attempt}"
"""What all subjects of Handoffs have in common, for those who count by subject."""


class TaskAddress(NamedTuple):
    """Where one attempt at one task stands in the tree of its run."""

    run: RunId
    team: str
    worker: str
    task: str
    attempt: int

    @property
    def handoff(self) -> str:
        """The subject of its Handoff."""
        return work("task", self)

    @property
    def steps(self) -> str:
        """The subject of its Steps."""
        return work("step", self)

    @property
    def result(self) -> str:
        """The subject of its Result."""
        return work("result", self)


def request(team: str) -> str:
    """Where requests for a team go."""
    return f"handoff.request.{team}"


def request_team(subject: str) -> str:
    """The team of a request's subject."""
    return subject.rpartition(".")[2]


def is_request(subject: str) -> bool:
    """Whether it is the subject of requests for one team."""
    team = request_team(subject)
    return is_token(team) and subject == request(team)


def log(run: str) -> str:
    """Where the Events of a run stand."""
    return f"handoff.run.{run}.log"


def control(run: str) -> str:
    """Where Controls of a run go."""
    return f"handoff.run.{run}.control"


def is_control(subject: str) -> bool:
    """Whether it is the subject of Controls of one run."""
    parts = subject.split(".")
    return len(parts) == len(control("").split(".")) and is_run_id(parts[2]) and subject == control(parts[2])


def run_tree(run: str) -> str:
    """Everything of a run."""
    return f"handoff.run.{run}.>"


def run_work(run: str, kind: Work) -> str:
    """All Handoffs, Steps or Results of a run."""
    return f"handoff.run.{run}.{kind}.>"


def all_run_work(run: str) -> str:
    """All Handoffs, Steps and Results of a run: everything but its log and its Controls."""
    return f"handoff.run.{run}.*.>"


def work(kind: Work, address: TaskAddress) -> str:
    """The subject of one Handoff, Step or Result."""
    run, team, worker, task, attempt = address
    return f"handoff.run.{run}.{kind}.{team}.{worker}.{task}.{attempt}"


def tasks_of(team: str, worker: str) -> str:
    """Every Handoff for one kind of worker."""
    return work_of("task", team, worker)


def work_of(kind: Work, team: str, worker: str) -> str:
    """Every Handoff, Step or Result of one kind of worker, in all runs."""
    return f"handoff.run.*.{kind}.{team}.{worker}.>"


def stored(subject: str) -> str:
    """Where a message of a run is seen once it is stored."""
    return "handoff.stored." + subject.removeprefix("handoff.run.")


def is_stored(subject: str) -> bool:
    """Whether a subject is one on which messages are seen once they are stored."""
    return subject.startswith("handoff.stored.")


def original(subject: str) -> str:
    """The subject a republished message was stored under."""
    return "handoff.run." + subject.removeprefix("handoff.stored.")


def all_results(team: str) -> str:
    """Every Result for a team, once stored."""
    return f"handoff.stored.*.result.{team}.>"


ALL_CONTROLS = "handoff.stored.*.control"
ALL_LOGS = "handoff.stored.*.log"
ALL_RUN_LOGS = "handoff.run.*.log"


def falls_under(subject: str, pattern: str) -> bool:
    """Whether a subject matches a pattern: `*` stands for one token, `>` for one or more at the end."""
    tokens, wanted = subject.split("."), pattern.split(".")
    if wanted[-1] == ">" and len(tokens) >= len(wanted):
        tokens, wanted = tokens[: len(wanted) - 1], wanted[:-1]
    return len(tokens) == len(wanted) and all(
        token == want or (want == "*" and token != "") for token, want in zip(tokens, wanted, strict=True)
    )


def waits_for_room(subject: str) -> bool:
    """Whether a message waits while its stream is full: what actors store of a run, not what clients send to it."""
    return subject.startswith("handoff.run.") and not subject.endswith(".control")


def run_of(subject: str) -> RunId:
    """The run a subject belongs to: the third part of every subject of a run."""
    return RunId(subject.split(".", 3)[2])


def kind_of(subject: str) -> str:
    """log, task, step, result or control: the fourth part of every subject of a run."""
    return subject.split(".", 4)[3]


def address_of(subject: str) -> TaskAddress:
    """The address in the subject of a Handoff, Step or Result, or UndecodableError."""
    try:
        _, _, run, _, team, worker, task, attempt = subject.split(".")
        return TaskAddress(RunId(run), team, worker, task, int(attempt))
    except ValueError as error:
        raise UndecodableError(f"{subject[:200]} is not the subject of a task") from error


def is_handoff(subject: str) -> bool:
    """Whether it is the subject of a Handoff."""
    try:
        return address_of(subject).handoff == subject
    except UndecodableError:
        return False


def index(team: str, run: str) -> str:
    """Where the entry of a run stands in the index of runs."""
    return f"handoff.index.{team}.{run}"


def index_of(team: str) -> str:
    """The entries of all runs of a team."""
    return f"handoff.index.{team}.*"


def indexed_run(subject: str) -> RunId:
    """The run in the subject of its entry."""
    return RunId(subject.rpartition(".")[2])


def indexed_team(subject: str) -> str:
    """The team in the subject of the entry of a run."""
    return subject.split(".", 3)[2]


def artifact_prefix(subject: str) -> str:
    """How the names of artifacts begin that hold what is too big for a message on this subject: with its run."""
    if kind_of(subject) != "step":
        return f"{run_of(subject)}.{kind_of(subject)}"
    run, _, _, task, attempt = address_of(subject)
    return f"{run}.{task}.{attempt}.step"


def cancel(run: str) -> str:
    """Where workers hear at once that a run is over."""
    return f"handoff.cancel.{run}"


def tokens(run: str, task: str) -> str:
    """Where text is seen while a model writes it."""
    return f"handoff.token.{run}.{task}"


def answer_tokens(run: str) -> str:
    """Where the answer is seen while it is written; `@` keeps it apart from any task."""
    return tokens(run, "@answer")


def is_dead(subject: str) -> bool:
    """Whether a subject is one of refused messages, which are kept whole whatever their size."""
    return subject.startswith("handoff.dead.")


def dead(stream: str) -> str:
    """Where refused messages of a stream are kept."""
    return f"handoff.dead.{stream}"


def card(team: str, worker: str, instance: str) -> str:
    """The key of a card in the registry."""
    return f"{team}.{worker}.{instance}"


def card_team(key: str) -> str:
    """The team in the key of a card."""
    return key.partition(".")[0]


def card_worker(key: str) -> str:
    """The kind of worker in the key of a card."""
    return key.partition(".")[2].partition(".")[0]


def supervisor_card(team: str, instance: str) -> str:
    """The key of a supervisor's card."""
    return f"{team}.{instance}"


def supervisor_of(key: str) -> tuple[str, str]:
    """Team and instance in the key of a supervisor's card, or UndecodableError."""
    team, _, instance = key.partition(".")
    if not team or not instance or "." in instance:
        raise UndecodableError(f"{key[:200]} is not the key of a supervisor's card")
    return team, instance


def breaker(team: str, worker: str) -> str:
    """Where the circuit breaker of a kind of worker stands."""
    return f"$KV.handoff_breakers.{team}.{worker}"


def breakers(team: str) -> str:
    """The breakers of a team."""
    return f"$KV.handoff_breakers.{team}.*"


def breaker_worker(subject: str) -> str:
    """The worker in the subject of a breaker."""
    return subject.rpartition(".")[2]


def durable(team: str, worker: str) -> str:
    """The name of the queue that all instances of a worker share."""
    return f"{team}-{worker}"
