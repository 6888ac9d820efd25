"""Whatever order results come in, however often, and whatever is lost: a run ends, and ends the same."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.run.answer import answer_of
from actors.run.board import SETTLED
from actors.run.decide import decide
from actors.run.decisions import (
    Append,
    CallJudge,
    CallPlanner,
    CallRefiner,
    CallReplanner,
    CallReport,
    CallSynthesizer,
    Dispatch,
    Finish,
    WakeAt,
)
from actors.run.limits import Limits
from actors.run.react import View
from actors.run.state import RunState
from protocol.controls import Approve, Cancel, Edit, Reject
from protocol.events import Judged, Judging, Planned, Refined, ReplanFailed, Replanned, Reported, Started, Synthesized
from protocol.messages import Answer, Budget, Contradiction, Fault, Handoff, Plan, Request, Result, Task, Usage

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

    def __init__(self, plan: Plan, fates: dict[str, str], seed: int, budget: Budget | None = None) -> None:
        self.luck = random.Random(seed)
        self.state = RunState(Limits(attempts=3))
        self.fates = fates
        self.now = 1000.0
        self.log: list[object] = []
        self.attempts: dict[str, int] = {}
        self.under_way: list[Handoff] = []
        self.returned: list[Result] = []
        self.replans = False
        self.deaf = 0.0
        self.unheard: list[Result] = []
        self.overshoot = 0
        self.most_out = 0
        self.disputes: tuple[Contradiction, ...] = ()
        self.view = View()
        self.request = Request(id=RUN, plan=plan, budget=budget or Budget())
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
            run=RUN,
            task=handoff.task,
            attempt=handoff.attempt,
            worker=handoff.to_agent,
            status=status,
            output=fate,
            error=fault,
            usage=self.usage(handoff.budget),
        )

    def usage(self, share: Budget) -> Usage:
        """Anything up to the share, and the call under way on top."""
        tokens = self.luck.randint(0, share.tokens) if share.tokens else 0
        calls = self.luck.randint(0, share.steps) if share.steps else 0
        return Usage(output_tokens=tokens + self.overshoot, model_calls=calls)

    def step(self) -> bool:
        """Do what is due, then let one thing happen outside; False at the end."""
        for _ in range(50):
            decisions = decide(self.state, self.now, self.view)
            appended = False
            for decision in decisions:
                match decision:
                    case Append(event):
                        self.take(event)
                        appended = True
                    case Dispatch():
                        self.dispatch(decision)
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
                    case CallReport():
                        self.take(Reported(contradictions=self.disputes))
                        appended = True
                    case CallJudge():
                        self.take(Judged(contradictions=self.disputes))
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
        for task in plan.tasks:
            if gone & set(task.depends_on):
                gone.add(task.id)
        tasks = tuple(task for task in plan.tasks if task.id not in gone)
        if not self.replans or not tasks:
            self.take(ReplanFailed(reasons=reasons, faults=("no idea",)))
            return
        revision = self.state.revision + 1
        extra = Task(id=f"x{revision}", worker="w", intent="instead")
        self.fates[extra.id] = "completed"
        self.take(Replanned(plan=Plan(tasks=(*tasks, extra), revision=revision), reasons=reasons))

    def dispatch(self, decision: Dispatch) -> None:
        task, attempt, context = decision.task, decision.attempt, {part.task for part in decision.context}
        for needed in task.depends_on:
            status = self.state.tasks[needed].status
            assert status in SETTLED, "a task started before what it needs"
            assert status == "completed" or needed in task.optional
            assert (needed in context) == (status == "completed")
        assert attempt <= 3
        assert self.attempts.get(task.id, 0) < attempt, "the same attempt was handed out twice"
        self.attempts[task.id] = attempt
        handoff = Handoff(
            run=RUN,
            task=task.id,
            attempt=attempt,
            from_agent="s",
            to_agent=decision.worker,
            intent="do",
            budget=decision.budget,
        )
        self.under_way.append(handoff)
        self.most_out = max(self.most_out, len(self.under_way) + len(self.unheard))
        self.take(handoff)

    def something_happens(self) -> None:
        self.now += 0.3
        if self.returned and self.luck.random() < 0.3:
            self.take(self.luck.choice(self.returned))  # an old result comes again
        if self.under_way:
            handoff = self.under_way.pop(self.luck.randrange(len(self.under_way)))
            self.hear(self.result(handoff))
        elif self.unheard:
            self.look()

    def hear(self, result: Result) -> None:
        """A result is stored; word of it may be lost, and then the stream is read some time later."""
        self.unheard.append(result)
        if self.luck.random() >= self.deaf:
            self.look()

    def look(self) -> None:
        """Read what is stored."""
        heard, self.unheard = self.unheard, []
        for result in heard:
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


@given(plans(), st.integers(), st.integers(), st.integers())
def test_what_was_not_heard_at_once_leads_to_the_same_end(plan: Plan, one: int, other: int, fates: int) -> None:
    first, second = world(plan, one, fates), world(plan, other, fates)
    second.deaf = 0.7
    a, b = first.to_the_end(), second.to_the_end()
    assert (a.status, a.text, a.gaps) == (b.status, b.text, b.gaps)
    assert {n: t.status for n, t in first.state.tasks.items()} == {n: t.status for n, t in second.state.tasks.items()}


@given(plans(), st.integers(), st.integers(), st.integers(1, 3000), st.integers(1, 30), st.integers(0, 200))
def test_no_more_is_spent_than_allowed_but_for_the_calls_under_way(
    plan: Plan, seed: int, fates: int, tokens: int, steps: int, overshoot: int
) -> None:
    one = world(plan, seed, fates)
    one = World(plan, one.fates, seed, Budget(tokens=tokens, steps=steps))
    one.overshoot = overshoot
    for _ in range(2000):
        going = one.step()
        spent, reserved = one.state.spent, [task.reserved for task in one.state.handed]
        assert spent.tokens <= tokens + overshoot * one.most_out
        assert spent.model_calls + spent.tool_calls + sum(share.steps or 0 for share in reserved) <= steps
        if not overshoot:
            assert spent.tokens + sum(share.tokens or 0 for share in reserved) <= tokens
        if not going:
            break
    assert one.answer.status in ("complete", "partial", "failed")
    assert all(task.status in SETTLED for task in one.state.tasks.values())


@given(plans(), st.integers(), st.integers())
def test_a_run_that_is_planned_anew_ends_within_its_revisions_and_attempts(plan: Plan, seed: int, fates: int) -> None:
    one = world(plan, seed, fates)
    one.replans = True
    one.to_the_end()
    assert one.state.revision <= one.state.limits.revisions
    assert all(task.attempt <= one.state.limits.attempts for task in one.state.tasks.values())
    assert sum(isinstance(message, Replanned | ReplanFailed) for message in one.log) <= one.state.limits.revisions


@given(plans(), st.integers(), st.integers(), st.booleans(), st.booleans())
def test_contradictions_are_judged_once_by_whoever_is_there(
    plan: Plan, seed: int, fates: int, present: bool, able: bool
) -> None:
    one = world(plan, seed, fates)
    one.disputes = (Contradiction(tasks=("t0",), claim="yes or no"),)
    one.view = View(alive=frozenset({"judge"} if present else ()))
    one.fates["verdict"] = "completed" if able else "fatal"
    answer = one.to_the_end()
    judged = sum(isinstance(message, Judged) for message in one.log)
    assert judged == any(task.status == "completed" for task in one.state.tasks.values())
    assert sum(isinstance(message, Judging) for message in one.log) == (judged if present else 0)
    assert len(answer.contradictions) == judged
    assert "verdict" not in one.state.tasks


WORDS = st.sampled_from(
    [
        Approve(),
        Reject(comment="no"),
        Edit(plan=Plan(tasks=())),
        Edit(plan=Plan(tasks=(Task(id="e", worker="w", intent="do"),))),
    ]
)


@given(st.lists(WORDS, max_size=8), st.booleans())
def test_whatever_a_reviewer_says_the_first_word_of_approval_runs_the_plan(
    said: list[Approve | Reject | Edit], at_once: bool
) -> None:
    state = RunState(Limits())
    state.fold(Started(epoch=1, supervisor="s", request=Request(id=RUN, text="t", review=True)), 100.0)
    plan = Plan(tasks=(Task(id="p", worker="w", intent="do"),))
    left, calls = [*said, Approve()], 0
    for _ in range(100):
        decisions = decide(state, 200.0)
        for decision in decisions:
            if isinstance(decision, Append):
                state.fold(decision.event, 200.0)
            elif isinstance(decision, CallPlanner):
                calls += 1
                state.fold(Planned(plan=plan), 200.0)
        if state.plan is not None:
            break
        if left and state.proposed is not None and (at_once or not any(isinstance(d, Append) for d in decisions)):
            state.fold(left.pop(0), 200.0)
    assert state.plan is not None
    assert calls == 1 + sum(rejection.reviewed for rejection in state.rejections)
    assert [d.task.id for d in decide(state, 200.0) if isinstance(d, Dispatch)] in (["p"], ["e"])
