"""Records of runs for tests: messages one after the other, each a tenth of a second later than the one before."""

import msgspec

from actors.record import Entry, Recorded
from protocol import subjects
from protocol.controls import Cancel
from protocol.events import (
    Approved,
    Condensed,
    Expired,
    Finished,
    GaveUp,
    Judged,
    Judging,
    Planned,
    PlanRejected,
    Refined,
    ReplanFailed,
    Replanned,
    Rerouted,
    Retrying,
    Skipped,
    Started,
    Synthesized,
    Waiting,
)
from protocol.ids import RunId
from protocol.messages import Answer, Context, Contradiction, Fault, Handoff, Plan, Request, Result, Task, Usage
from protocol.steps import ConfirmAsked, Confirmed, ModelCalled, Step, Taken, ToolCalled

RUN = RunId("0af7651916cd43dd8448eb211c80319c")
START = 1_790_000_000.0
PRICE = Usage(input_tokens=10, output_tokens=5, model_calls=1, usd=0.01, seconds=0.05)


class Tape:
    """A record that grows."""

    def __init__(self, run: RunId = RUN, team: str = "default") -> None:
        self.run = run
        self.team = team
        self.entries: list[Recorded] = []

    def log(self, *messages: Entry) -> "Tape":
        for message in messages:
            self._add(subjects.log(self.run), message)
        return self

    def control(self, message: Entry) -> "Tape":
        self._add(subjects.control(self.run), message)
        return self

    def start(self, epoch: int = 1, traceparent: str = "") -> "Tape":
        request = Request(id=self.run, text="Hello?", team=self.team)
        return self.log(
            Started(
                epoch=epoch, supervisor=f"sup-{epoch}", request=request, asked_at=START - 1, traceparent=traceparent
            )
        )

    def hand(self, task: str, worker: str = "reader", attempt: int = 1, *needs: str) -> "Tape":
        context = tuple(Context(task=need, worker="reader", output="x") for need in needs)
        handoff = Handoff(
            run=self.run,
            task=task,
            attempt=attempt,
            from_agent="supervisor",
            to_agent=worker,
            intent="do",
            context=context,
        )
        return self._add(self._address(task, worker, attempt).handoff, handoff)

    def step(self, task: str, *steps: Step, worker: str = "reader", attempt: int = 1) -> "Tape":
        for step in steps:
            self._add(self._address(task, worker, attempt).steps, step)
        return self

    def result(
        self, task: str, worker: str = "reader", attempt: int = 1, *, error: Fault | None = None, seconds: float = 0.05
    ) -> "Tape":
        taken = [entry.message for entry in self.entries if entry.subject == self._address(task, worker, attempt).steps]
        instances = [step.instance for step in taken if isinstance(step, Taken)]
        result = Result(
            run=self.run,
            task=task,
            attempt=attempt,
            worker=worker,
            instance=[f"{worker}-1", *instances][-1],
            status="failed" if error else "completed",
            output="out",
            error=error,
            usage=Usage(seconds=seconds),
        )
        return self._add(self._address(task, worker, attempt).result, result)

    def finish(self, status: str = "complete") -> "Tape":
        answer = msgspec.convert({"run": self.run, "status": status, "text": "42", "gaps": ["one"]}, Answer)
        return self.log(Finished(answer=answer))

    def _address(self, task: str, worker: str, attempt: int) -> subjects.TaskAddress:
        return subjects.TaskAddress(self.run, self.team, worker, task, attempt)

    def _add(self, subject: str, message: Entry) -> "Tape":
        seq = len(self.entries) + 1
        self.entries.append(Recorded(seq=seq, time=START + seq / 10, subject=subject, message=message))
        return self


def turn(*uses: tuple[str, str], seconds: float = 0.05) -> ModelCalled:
    """A turn of the model that calls these tools, or ends."""
    blocks = [{"type": "tool_use", "id": call, "name": tool, "input": {"page": 1}} for call, tool in uses]
    content = msgspec.Raw(msgspec.json.encode(blocks or [{"type": "text", "text": "done"}]))
    usage = msgspec.structs.replace(PRICE, seconds=seconds)
    return ModelCalled(
        model="m-1", asked="m", content=content, stop_reason="tool_use" if uses else "end_turn", usage=usage
    )


def called(call: str, tool: str = "look_up", *, failed: bool = False) -> ToolCalled:
    return ToolCalled(call=call, tool=tool, output="a page", failed=failed, seconds=0.02)


def plan(*tasks: str, revision: int = 1) -> Plan:
    return Plan(tasks=tuple(Task(id=task, worker="reader", intent="do") for task in tasks), revision=revision)


def eventful() -> Tape:
    """A run in which everything happens that can happen."""
    tape = Tape().start()
    tape.log(Waiting(reason="nobody is there"), PlanRejected(faults=("a circle",), usage=PRICE, model="p"))
    tape.log(Planned(plan=plan("a", "b"), usage=PRICE, model="p"), PlanRejected(faults=("no",), reviewed=True))
    tape.log(Planned(plan=plan("a", "b", "c"), usage=PRICE, model="p"), Approved())
    tape.hand("a").hand("b", "weak").step("a", turn(("u1", "look_up"), ("u2", "gone")))
    tape.step("a", called("u1"), called("u2", "gone", failed=True))
    tape.step("a", ConfirmAsked(call="u3", tool="send", arguments=msgspec.Raw(b"{}"), deadline=START))
    tape.step("a", Confirmed(call="u3", tool="send", granted=False))
    tape.step("a", Taken(instance="reader-2", delivery=2), turn(("u1", "look_up")))
    tape.start(epoch=2).step("a", called("u1"), turn()).result("a", seconds=0.4)
    tape.result("b", "weak", error=Fault(kind="broken", message="password=hunter22", retryable=True))
    tape.log(Refined(task="b", attempt=2, intent="again", not_before=START, reason="broken", usage=PRICE, model="p"))
    tape.hand("b", "weak", 2).result("b", "weak", 2, error=Fault(kind="broken", message="still"))
    tape.log(Rerouted(task="b", attempt=3, worker="reader", reason="broken"))
    tape.hand("b", "reader", 3).result("b", "reader", 3, error=Fault(kind="timeout", message="slow", retryable=True))
    tape.log(Retrying(task="b", attempt=4, not_before=START, reason="slow")).hand("b", "reader", 4)
    tape.hand("c", "reader", 1, "a").step("c", Taken(instance="reader-3")).result("c")
    tape.log(ReplanFailed(reasons=("odd",), faults=("no",), usage=PRICE, model="p"))
    tape.log(Replanned(plan=plan("a", "d", revision=2), reasons=("odd",), usage=PRICE + PRICE, model="p"))
    tape.hand("d", "reader", 1, "a", "c").log(GaveUp(task="b", reason="slow"), Skipped(task="e", cause="needs b"))
    tape.log(Condensed(key="0a1b", text="short", usage=PRICE, model="s"))
    disputed = (Contradiction(tasks=("a", "c"), claim="41"),)
    tape.log(Synthesized(text="", failed="broken off", usage=PRICE, model="s"))
    tape.log(Judging(task=Task(id="verdict", worker="reader", intent="judge")))
    tape.log(Judged(contradictions=disputed, usage=PRICE, model="j"), Synthesized(text="42", usage=PRICE, model="s"))
    tape.control(Cancel(reason="enough")).log(Expired(deadline=START))
    return tape.finish("partial")
