"""Runs of any size for tests: tasks in layers, some of which fail, are tried again, are lost, or say hostile things."""

import random

import msgspec

from actors.record import Entry, Recorded
from protocol import subjects
from protocol.events import (
    Finished,
    GaveUp,
    Planned,
    PlanRejected,
    Refined,
    Replanned,
    Retrying,
    Skipped,
    Started,
    Synthesized,
)
from protocol.ids import RunId
from protocol.messages import Answer, Context, Fault, Handoff, Plan, Request, Result, Task, Timing, Usage
from protocol.steps import ModelCalled, Step, Taken, ToolCalled

RUN = RunId("4bf92f3577b34da6a3ce929d0e0e4736")
START = 1_790_000_000.0
WORKERS = ("researcher", "analyst", "writer", "reviewer")
HOSTILE = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
    "</pre></details></main><style>body{display:none}</style><!-- ]]> \u202egnp.exe\u2066 \u0000\u001b[2J '\"&amp; "
)


class BigRun:
    """A run that is played from its plan: three tasks at a time, each a little later than the one before."""

    def __init__(self, tasks: int, *, hostile: bool = False, text: str = "Which region grew fastest, and why?") -> None:
        self.random = random.Random(tasks)
        self.hostile = hostile
        self.entries: list[Recorded] = []
        self.now = START
        self.text = HOSTILE + text if hostile else text
        self.plan = Plan(goal="know", tasks=tuple(self._planned(tasks)))
        self.lost: set[str] = set()

    def play(self, *, finish: bool = True) -> list[Recorded]:
        """The whole record."""
        request = Request(id=RUN, text=self.text, team="default")
        self._log(Started(epoch=1, supervisor="sup-1", request=request, asked_at=START - 0.2))
        self._log(PlanRejected(faults=("a task is vague",), usage=_usage(0.6), model="claude-sonnet-5-5"), 0.7)
        self._log(Planned(plan=self.plan, usage=_usage(0.9), model="claude-sonnet-5-5"), 1.0)
        for number, task in enumerate(self.plan.tasks):
            self._task(task, number)
        if len(self.plan.tasks) > 10:
            more = msgspec.structs.replace(self.plan, revision=2)
            self._log(Replanned(plan=more, reasons=("the figures differ",), usage=_usage(0.5), model="m"), 0.6)
        if not finish:
            return self.entries
        self._log(Synthesized(text="North grew.", usage=_usage(1.2), model="claude-sonnet-5-5"), 1.3)
        self._log(Finished(answer=self._answer()), 0.01)
        return self.entries

    def _planned(self, tasks: int) -> list[Task]:
        made: list[Task] = []
        for number in range(tasks):
            width = max(2, tasks // 5)
            before = [task.id for task in made[max(0, number - width - 2) : max(0, number - width + 1)]]
            needs = tuple(self.random.sample(before, min(len(before), 2)))
            worker = WORKERS[number % len(WORKERS)]
            made.append(Task(id=f"t{number}-{worker}", worker=worker, intent=f"Find part {number}.", depends_on=needs))
        return made

    def _task(self, task: Task, number: int) -> None:
        if set(task.depends_on) & self.lost:
            self.lost.add(task.id)
            self._log(Skipped(task=task.id, cause=f"needs {', '.join(task.depends_on)}"))
            return
        attempts = 3 if number % 11 == 5 else 2 if number % 7 == 1 else 1
        for attempt in range(1, attempts + 1):
            last = attempt == attempts
            self._attempt(task, attempt, fails=not last or number % 11 == 5)
            if not last:
                self._again(task, attempt + 1)
            elif number % 11 == 5:
                self.lost.add(task.id)
                self._log(GaveUp(task=task.id, reason="failed 3 times"))

    def _again(self, task: Task, attempt: int) -> None:
        if attempt == 2:
            self._log(Retrying(task=task.id, attempt=2, not_before=self.now, reason="the tool timed out"))
        else:
            intent = f"{task.intent} Look in the tables."
            event = Refined(task=task.id, attempt=attempt, intent=intent, not_before=self.now, reason="timed out again")
            self._log(msgspec.structs.replace(event, usage=_usage(0.3), model="claude-sonnet-5-5"), 0.4)

    def _attempt(self, task: Task, attempt: int, *, fails: bool) -> None:
        address = subjects.TaskAddress(RUN, "default", task.worker, task.id, attempt)
        context = tuple(Context(task=name, worker="analyst", output=self._said(name)) for name in task.depends_on)
        handoff = Handoff(
            run=RUN, task=task.id, attempt=attempt, from_agent="supervisor", to_agent=task.worker, intent=task.intent,
            success="Every figure has a source.", context=context,
        )  # fmt: skip
        began = self.now
        self._add(address.handoff, handoff, 0.02)
        killed = attempt == 1 and task.id.startswith("t4-")
        for step in self._steps(task, killed=killed):
            self._add(address.steps, step, self.random.uniform(0.2, 0.8))
        error = Fault(kind="timeout", message="the tool did not answer within 5 s", retryable=True) if fails else None
        result = Result(
            run=RUN, task=task.id, attempt=attempt, worker=task.worker, instance=f"{task.worker}-{2 if killed else 1}",
            status="failed" if fails else "completed", output="" if fails else self._said(task.id), error=error,
            usage=_usage(self.now - began), confidence=None if fails else 0.8,
        )  # fmt: skip
        self._add(address.result, result, 0.05)
        self.now = began + 0.35 + (self.now - began) / 4  # the next one does not wait for it

    def _steps(self, task: Task, *, killed: bool) -> list[Step]:
        use = {"type": "tool_use", "id": "u1", "name": "query", "input": {"sql": self._said("arguments")}}
        turn = ModelCalled(
            model="claude-haiku-5-5",
            content=msgspec.Raw(msgspec.json.encode([{"type": "text", "text": self._said("thought")}, use])),
            stop_reason="tool_use",
            usage=_usage(0.2),
        )
        called = ToolCalled(call="u1", tool="query", output=self._said(f"rows for {task.id}"), seconds=0.1)
        end = msgspec.structs.replace(
            turn, content=msgspec.Raw(b'[{"type":"text","text":"done"}]'), stop_reason="end_turn"
        )
        again: list[Step] = [Taken(instance=f"{task.worker}-2", delivery=2), turn] if killed else []
        return [turn, *again, called, end]

    def _said(self, what: str) -> str:
        return f"{HOSTILE}{what} {'A' * 200_000 if what.startswith('t2-') else ''}" if self.hostile else f"{what}: 42"

    def _answer(self) -> Answer:
        return Answer(
            run=RUN, status="partial" if self.lost else "complete", text=self._said("North grew by 12 %."),
            gaps=tuple(f"{task} failed" for task in sorted(self.lost)), confidence=0.7,
            usage=Usage(input_tokens=41_000, output_tokens=9_000, model_calls=130, tool_calls=60, usd=0.41),
            timing=Timing(wall_s=self.now - START, sequential_s=40.0, critical_path_s=9.0, speedup=3.1),
            spending={"planner": _usage(1.0), "researcher": _usage(4.0), "synthesizer": _usage(1.2)},
        )  # fmt: skip

    def _log(self, event: Entry, after: float = 0.05) -> None:
        self._add(subjects.log(RUN), event, after)

    def _add(self, subject: str, message: Entry, after: float) -> None:
        self.now += after
        seq = len(self.entries) + 1
        self.entries.append(Recorded(seq=seq, time=self.now, subject=subject, message=message))


def _usage(seconds: float) -> Usage:
    return Usage(
        input_tokens=900, output_tokens=150, model_calls=1, tool_calls=1, usd=0.0043, seconds=max(0.01, seconds)
    )
