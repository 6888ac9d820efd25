"""An example of a run, from which the command line shows what each role would send."""

from actors.run.limits import Limits
from actors.run.state import RunState
from actors.supervisor.roles.role import Choice, Situation
from protocol.events import Event, Planned, Started, Synthesized
from protocol.messages import Card, Contradiction, Fault, Handoff, Plan, Request, Result, Task

RUN = "0" * 32

ANALYST = Card(worker="analyst", instance="1", summary="Calculates on tables.", tools=("sql",), capacity=4)
RESEARCHER = Card(worker="researcher", instance="1", summary="Searches documents.", tools=("search",), capacity=4)
WORKERS = {"analyst": [ANALYST], "researcher": [RESEARCHER]}

PLAN = Plan(
    goal="Say which region grew fastest and why.",
    tasks=(
        Task(id="growth", worker="analyst", intent="Calculate the growth of each region in 2025.", success="Rates."),
        Task(id="causes", worker="researcher", intent="Find why regions grew in 2025.", success="A source each."),
        Task(id="market", worker="researcher", intent="Find the size of the market in 2025.", success="One figure."),
    ),
    instruction="Name the fastest region first.",
)


def example(now: float) -> Situation:
    """Two tasks are done and contradict each other, the third failed, and a text is written."""
    request = Request(id=RUN, text="Which region grew fastest in 2025, and why?")
    state = RunState(Limits())
    for event in (Started(epoch=1, supervisor="example", request=request), Planned(plan=PLAN)):
        state.fold(event, now)
    for task in PLAN.tasks:
        state.fold(_handoff(task), now)
    state.fold(_result("growth", "analyst", "North grew by 12 % [sales.csv]."), now)
    state.fold(_result("causes", "researcher", "South grew fastest, by 15 %, after a price cut [memo]."), now)
    failed = Fault(kind="tool", message="search: no document mentions the market", retryable=True)
    state.fold(Result(run=RUN, task="market", attempt=1, worker="researcher", status="failed", error=failed), now)
    state.fold(_written(), now)
    return Situation(request=request, state=state, now=now, choice=Choice(workers=WORKERS))


def _written() -> Event:
    return Synthesized(
        text="North grew by 12 %; another source says South, by 15 %.",
        contradictions=(Contradiction(tasks=("growth", "causes"), claim="North or South grew fastest"),),
    )


def _handoff(task: Task) -> Handoff:
    return Handoff(run=RUN, task=task.id, attempt=1, from_agent="supervisor", to_agent=task.worker, intent=task.intent)


def _result(task: str, worker: str, output: str) -> Result:
    return Result(run=RUN, task=task, attempt=1, worker=worker, status="completed", output=output)
