"""Whatever order results come in, however often, and whatever is lost: a run ends, and ends the same."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.run.answer import answer_of
from actors.run.board import SETTLED
from actors.run.decide import decide
from actors.run.decisions import Append, CallRefiner, CallReplanner, CallSynthesizer, Dispatch, Finish, WakeAt
from actors.run.state import Limits, RunState
from protocol.controls import Cancel
from protocol.events import Refined, ReplanFailed, Replanned, Started, Synthesized
from protocol.messages import Answer, Fault, Handoff, Plan, Request, Result, Task

RUN = "a" * 32
OUTCOMES = ("completed", "fatal", "flaky", "declined")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any DAG of up to nine tasks, some dependencies optional."""
    count = draw(st.integers(1, 9))
    tasks: list[Task] = []
    for number in range(count):
        needs = tuple(f"t{n}" for n in range(number) if draw(st.booleans()))
        optional = tuple(need for need in needs if draw(st.integers(0, 3)) == 0)
        tasks.append(Task(id=f"t{number}", worker="w", intent="do", depends_on=needs, optional=optional))
    return Plan(tasks=tuple(tasks))


class World:
    """A supervisor and its workers, shrunk to their messages: results come back in any order, perhaps several times."""

    def __init__(self, plan: Plan, fates: dict[str, str], seed: int, *, synthesis: bool = True) -> None:
        self.luck = random.Random(seed)
        self.state = RunState(Limits(attempts=3))
        self.fates = fates
        self.now = 1000.0
        self.log: list[object] = []
        self.attempts: dict[str, int] = {}
        self.under_way: list[Handoff] = []
        self.returned: list[Result] = []
        self.replans = False
        self.request = Request(id=RUN, plan=plan, synthesis=synthesis)
        self.take(Started(epoch=1, supervisor="s", request=self.request))

    def take(self, message: object) -> None:
        self.log.append(message)
        self.state.fold(message, self.now)  # pyright: ignore[reportArgumentType]

    def result(self, handoff: Handoff) -> Result:
        fate = self.fates[handoff.task]
        done = fate == "completed" or (fate == "flaky" and handoff.attempt == 3)
        status = "completed" if done else "declined" if fate == "declined" else "failed"
        fault = None if status != "failed" else Fault(kind=fate, message=fate, retryable=fate == "flaky")
        return Result(
            run=RUN, task=handoff.task, attempt=handoff.attempt, worker="w", status=status, output=fate, error=fault
        )

    def step(self) -> bool:
        """Do what is due, then let one thing happen outside; False at the end."""
        for _ in range(50):
            decisions = decide(self.state, self.now)
            appended = False
            for decision in decisions:
                match decision:
                    case Append(event):
                        self.take(event)
                        appended = True
                    case Dispatch(task, attempt, _, _, context):
                        self.dispatch(task, attempt, {part.task for part in context})
                    case CallRefiner(task, not_before):
                        again = self.state.tasks[task].attempt + 1
                        intent = f"do better {again}"
                        self.take(
                            Refined(task=task, attempt=again, intent=intent, not_before=not_before, reason="it failed")
                        )
                        appended = True
                    case CallReplanner(reasons):
                        self.replan(reasons)
                        appended = True
                    case CallSynthesizer():
                        self.take(Synthesized(text="all of it"))
                        appended = True
                    case Finish(answer):
                        self.answer = answer
                        return False
                    case WakeAt() | _:
                        pass
            if not appended:
                break
        else:
            raise AssertionError("decisions never come to rest")
        self.something_happens()
        return True

    def replan(self, reasons: tuple[str, ...]) -> None:
        """Half of the time a new revision without what was declined, else none; the same for every order of results."""
        plan = self.state.plan
        assert plan is not None
        gone = {task.task.id for task in self.state.tasks.values() if task.status == "returned"}
        tasks = tuple(task for task in plan.tasks if task.id not in gone and not gone & set(task.depends_on))
        if not self.replans or not tasks:
            self.take(ReplanFailed(reasons=reasons, faults=("no idea",)))
            return
        revision = self.state.revision + 1
        extra = Task(id=f"x{revision}", worker="w", intent="instead")
        self.fates[extra.id] = "completed"
        self.take(Replanned(plan=Plan(tasks=(*tasks, extra), revision=revision), reasons=reasons))

    def dispatch(self, task: Task, attempt: int, context: set[str]) -> None:
        for needed in task.depends_on:
            status = self.state.tasks[needed].status
            assert status in SETTLED, "a task started before what it needs"
            assert status == "completed" or needed in task.optional
            assert (needed in context) == (status == "completed")
        assert attempt <= 3
        assert self.attempts.get(task.id, 0) < attempt, "the same attempt was handed out twice"
        self.attempts[task.id] = attempt
        handoff = Handoff(run=RUN, task=task.id, attempt=attempt, from_agent="s", to_agent="w", intent="do")
        self.under_way.append(handoff)
        self.take(handoff)

    def something_happens(self) -> None:
        self.now += 0.3
        if self.returned and self.luck.random() < 0.3:
            self.take(self.luck.choice(self.returned))  # an old result comes again
        if self.under_way:
            handoff = self.under_way.pop(self.luck.randrange(len(self.under_way)))
            result = self.result(handoff)
            self.returned.append(result)
            self.take(result)

    def to_the_end(self) -> Answer:
        for _ in range(2000):
            if not self.step():
                return self.answer
        raise AssertionError("the run never ends")


def world(plan: Plan, seed: int, fate_seed: int) -> World:
    fates = random.Random(fate_seed)
    return World(plan, {task.id: fates.choice(OUTCOMES) for task in plan.tasks}, seed)


@given(plans(), st.integers(), st.integers())
def test_every_run_ends(plan: Plan, seed: int, fates: int) -> None:
    one = world(plan, seed, fates)
    answer = one.to_the_end()
    assert all(task.status in SETTLED for task in one.state.tasks.values())
    lost = sum(task.status != "completed" for task in one.state.tasks.values())
    assert len(answer.gaps) == lost
    assert (answer.status == "complete") == (lost == 0)


@given(plans(), st.integers(), st.integers(), st.integers())
def test_the_order_of_results_does_not_change_the_end(plan: Plan, one: int, other: int, fates: int) -> None:
    first, second = world(plan, one, fates), world(plan, other, fates)
    a, b = first.to_the_end(), second.to_the_end()
    assert (a.status, a.text, a.gaps) == (b.status, b.text, b.gaps)


@given(plans(), st.integers(), st.integers())
def test_a_resumed_run_knows_exactly_what_the_first_holder_knew(plan: Plan, seed: int, fates: int) -> None:
    one = world(plan, seed, fates)
    for _ in range(random.Random(seed).randrange(1, 12)):
        if not one.step():
            break
    again = RunState(Limits(attempts=3))
    for message in one.log:
        again.fold(message, 1000.0)  # pyright: ignore[reportArgumentType]
    assert {n: t.status for n, t in again.tasks.items()} == {n: t.status for n, t in one.state.tasks.items()}
    assert [type(d) for d in decide(again, one.now)] == [type(d) for d in decide(one.state, one.now)]


@given(plans(), st.integers(), st.integers())
def test_folding_everything_twice_changes_nothing(plan: Plan, seed: int, fates: int) -> None:
    one = world(plan, seed, fates)
    one.to_the_end()
    before = answer_of(one.state, one.now)
    for message in list(one.log):
        if not isinstance(message, Started):
            one.take(message)
    assert answer_of(one.state, one.now) == before


@given(plans(), st.integers(), st.integers(), st.integers(0, 20))
@settings(max_examples=50)
def test_a_cancelled_run_ends_at_once_with_what_there_is(plan: Plan, seed: int, fates: int, after: int) -> None:
    one = world(plan, seed, fates)
    for _ in range(after):
        if not one.step():
            return
    one.take(Cancel(reason="enough"))
    one.something_happens = lambda: None  # type: ignore[method-assign]
    for _ in range(3):
        if not one.step():
            break
    assert one.answer.status == "cancelled"


@given(plans(), st.integers(), st.integers(), st.integers(0, 20))
@settings(max_examples=50)
def test_at_the_deadline_a_run_ends_with_what_there_is(plan: Plan, seed: int, fates: int, after: int) -> None:
    one = world(plan, seed, fates)
    for _ in range(after):
        if not one.step():
            return
    one.now += 10_000
    one.something_happens = lambda: None  # type: ignore[method-assign]
    for _ in range(5):
        if not one.step():
            break
    done = [task for task in one.state.tasks.values() if task.status == "completed"]
    assert one.answer.status == ("failed" if not done else "complete" if len(done) == len(plan.tasks) else "partial")
