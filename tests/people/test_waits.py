"""What waits for a person in a run, told message by message."""

import msgspec
import pytest

from actors.people.waits import Waits
from actors.record import Entry, Recorded
from protocol import subjects
from protocol.controls import Approve, Cancel, Reject
from protocol.events import Cancelled, Expired, Finished, Judging, Planned, Replanned, Started
from protocol.ids import RunId
from protocol.messages import Answer, Handoff, Plan, Request, Result, Task
from protocol.steps import ConfirmAsked, Confirmed, ModelCalled, ToolCalled
from protocol.subjects import TaskAddress

RUN = RunId("a" * 32)
ADDRESS = TaskAddress(RUN, "default", "counsel", "t", 1)
PLAN = Plan(tasks=(Task(id="t", worker="counsel", intent="read it"),))
OTHER = Plan(tasks=(Task(id="u", worker="writer", intent="write it"),), revision=2)
HANDOFF = Handoff(
    run=RUN, task="t", attempt=1, from_agent="supervisor", to_agent="counsel", intent="read it", deadline=100.0
)
ASKED = ConfirmAsked(call="c", tool="send", arguments=msgspec.Raw(b"{}"), deadline=50.0)
RESULT = Result(run=RUN, task="t", attempt=1, worker="counsel", status="completed", output="fine")


def told(*messages: Entry) -> Waits:
    waits = Waits()
    request = Request(id=RUN, text="x", team="default")
    begin: tuple[Entry, ...] = (Started(epoch=1, supervisor="s", request=request), Planned(plan=PLAN), HANDOFF)
    for seq, message in enumerate((*begin, *messages), 1):
        waits.take(Recorded(seq=seq, time=float(seq), subject=_subject(message), message=message))
    return waits


def _subject(message: Entry) -> str:
    match message:
        case Handoff():
            return ADDRESS.handoff
        case Result():
            return ADDRESS.result
        case ConfirmAsked() | Confirmed() | ToolCalled() | ModelCalled():
            return ADDRESS.steps
        case Cancel() | Approve() | Reject():
            return subjects.control(RUN)
        case _:
            return subjects.log(RUN)


def test_a_handoff_waits_until_its_time_is_up() -> None:
    (item,) = told().handoffs(99.0)
    assert (item.ref, item.address, item.since) == ("aaaaaaaa/t", ADDRESS, 3.0)
    assert told().handoffs(100.0) == []


def test_a_person_who_judges_finds_the_case_though_it_is_not_in_the_plan() -> None:
    case = Task(id="verdict", worker="judge", intent="who is right?")
    waits = Waits()
    request = Request(id=RUN, text="x", team="default")
    handoff = msgspec.structs.replace(HANDOFF, task="verdict", to_agent="judge")
    address = ADDRESS._replace(worker="judge", task="verdict")
    events = (Started(epoch=1, supervisor="s", request=request), Planned(plan=PLAN), Judging(task=case))
    for seq, event in enumerate(events, 1):
        waits.take(Recorded(seq=seq, time=1.0, subject=subjects.log(RUN), message=event))
    waits.take(Recorded(seq=4, time=1.0, subject=address.handoff, message=handoff))
    assert [item.handoff.task for item in waits.handoffs(2.0)] == ["verdict"]


@pytest.mark.parametrize(
    "end",
    [
        RESULT,
        Cancel(),
        Cancelled(reason="enough"),
        Expired(deadline=9.0),
        Finished(answer=Answer(run=RUN, status="partial")),
        Replanned(plan=OTHER, reasons=("better",)),
    ],
)
def test_nothing_waits_that_was_answered_or_is_not_wanted_any_more(end: Entry) -> None:
    waits = told(ASKED, end)
    assert waits.handoffs(10.0) == []
    assert waits.calls(10.0) == []


def test_a_call_waits_until_somebody_speaks_or_its_time_is_up() -> None:
    (call,) = told(ASKED).calls(49.0)
    assert (call.ref, call.question.seq, call.question.asked) == ("aaaaaaaa/t", 4, ASKED)
    assert told(ASKED).calls(50.0) == []
    assert told(ASKED, Approve(task="t", call="c")).calls(10.0) == []
    assert told(ASKED, Reject(task="t", call="c")).calls(10.0) == []
    assert told(ASKED, Confirmed(call="c", tool="send", granted=False)).calls(10.0) == []
    assert (
        len(told(ASKED, Approve(), Approve(task="t", call="d"), Approve(task="t", call="c", asked=3)).calls(9.0)) == 1
    )


def test_the_same_id_in_a_later_turn_is_another_question() -> None:
    done = ToolCalled(call="c", tool="send", output="sent")
    turn = ModelCalled(model="m", content=msgspec.Raw(b"[]"), stop_reason="tool_use")
    waits = told(ASKED, Approve(task="t", call="c"), Confirmed(call="c", tool="send", granted=True), done, turn, ASKED)
    assert [call.question.seq for call in waits.calls(10.0)] == [9]
