"""Messages as they were once written must be read for ever, and be written the same by this version."""

import json
from pathlib import Path

import msgspec
import pytest

from protocol import codec
from protocol.controls import Approve, Cancel, Edit, Reject
from protocol.events import (
    Approved,
    Cancelled,
    Condensed,
    Cut,
    Event,
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
    Reported,
    Rerouted,
    Retrying,
    RunGivenBack,
    Skipped,
    Started,
    Synthesized,
    Waiting,
    kind,
)
from protocol.messages import (
    Answer,
    Artifact,
    Breaker,
    Budget,
    Card,
    Context,
    Contradiction,
    Fault,
    Handoff,
    Message,
    Plan,
    Request,
    Result,
    RunEntry,
    Source,
    Stop,
    SupervisorCard,
    Task,
    Timing,
    Usage,
)
from protocol.references import ByReference
from protocol.steps import (
    Begun,
    ConfirmAsked,
    Confirmed,
    ContextCut,
    CutResult,
    GivenBack,
    ModelCalled,
    OfferedTool,
    Taken,
    ToolCalled,
)

KEPT = Path(__file__).parent / "kept"
RUN = "0af7651916cd43dd8448eb211c80319c"

ARTIFACT = Artifact(name="r.t1.output", digest="SHA-256=abc", size=300_000, media_type="text/plain")
USAGE = Usage(input_tokens=10, output_tokens=5, model_calls=1, tool_calls=2, usd=0.25, seconds=1.5)
TASK = Task(
    id="t2",
    worker="analyst",
    intent="Sum it",
    success="One figure",
    depends_on=("t1",),
    optional=("t1",),
    budget=Budget(),
)
PLAN = Plan(goal="Know", tasks=(TASK,), strategy="merge", instruction="Short", revision=1, rationale="Because")
REQUEST = Request(id=RUN, text="Hello?", team="default", plan=PLAN, deadline_s=60.0, metadata={"user": "u1"})
ANSWER = Answer(
    run=RUN,
    status="partial",
    text="42",
    gaps=("t3 (writer) failed",),
    contradictions=(Contradiction(tasks=("t1", "t2"), claim="It is 41", resolution="t2 is newer"),),
    confidence=0.5,
    usage=USAGE,
    timing=Timing(wall_s=1.0, sequential_s=2.0, critical_path_s=0.9, speedup=2.0),
    revisions=1,
)

EXAMPLES: dict[str, Message] = {
    "request": REQUEST,
    "handoff": Handoff(
        run=RUN,
        task="t2",
        attempt=1,
        from_agent="supervisor",
        to_agent="analyst",
        intent="Sum it",
        success="One figure",
        context=(Context(task="t1", worker="researcher", output="1 and 2", confidence=0.9, artifacts=(ARTIFACT,)),),
        artifacts=(ARTIFACT,),
        budget=Budget(tokens=1000, steps=5, usd=1.0, seconds=30.0),
        deadline=1_790_000_000.5,
        return_to=f"handoff.run.{RUN}.result.default.analyst.t2.1",
        depth=3,
    ),
    "result": Result(
        run=RUN,
        task="t2",
        attempt=1,
        worker="analyst",
        instance="host-1-ab",
        status="failed",
        output="3",
        data=msgspec.Raw(b'{"sum":3}'),
        confidence=0.8,
        findings=("odd",),
        error=Fault(kind="timeout", message="too slow", retryable=True),
        usage=USAGE,
    ),
    "result-sources": Result(
        run=RUN,
        task="t2",
        attempt=1,
        worker="analyst",
        status="completed",
        sources=(Source(ref="https://example.org/a", title="A page", quote="it grew by 12 %"),),
    ),
    "answer": ANSWER,
    "card": Card(worker="analyst", instance="host-1-ab", summary="Sums.", tools=("sum",), model="m", capacity=4),
    "run_entry": RunEntry(
        run=RUN,
        team="research",
        status="partial",
        text="Hello?",
        started=1_790_000_000.5,
        finished=1_790_000_004.5,
        tasks=3,
        done=2,
        usd=0.25,
    ),
    "run_entry-nested": RunEntry(run=RUN, team="research", status="running", waiting=1, parent=f"{RUN}.t2.1"),
    "supervisor_card": SupervisorCard(team="research", instance="host-2-cd", version="0.1.0", slots=512, runs=3),
    "supervisor_card-trouble": SupervisorCard(
        team="research",
        instance="host-2-cd",
        trouble="1 message cannot be handled here and will be retried: permissions violation for publish",
    ),
    "breaker": Breaker(state="open", failures=3, since=1_790_000_000.0),
    "stop": Stop(tasks=("t2",)),
    "event-started": Started(epoch=2, supervisor="host-2-cd", request=REQUEST),
    "event-given_back": RunGivenBack(supervisor="host-2-cd", reason="the supervisor stops"),
    "event-planned": Planned(plan=PLAN, usage=USAGE),
    "event-plan_rejected": PlanRejected(faults=("a circle",), usage=USAGE, reply="prose"),
    "event-waiting": Waiting(reason="no analyst is alive"),
    "event-retrying": Retrying(task="t2", attempt=2, not_before=1_790_000_001.0, reason="too slow"),
    "event-skipped": Skipped(task="t3", cause="needs t2 (failed)"),
    "event-cancelled": Cancelled(reason="enough"),
    "event-expired": Expired(deadline=1_790_000_000.0),
    "event-synthesized": Synthesized(text="42", gaps=("x",), confidence=0.5, usage=USAGE, failed=""),
    "event-synthesized-cut": Synthesized(text="42", usage=USAGE, cut="the text was cut off", model="m"),
    "event-reported": Reported(
        gaps=("x",), contradictions=ANSWER.contradictions, confidence=0.5, more=("y",), usage=USAGE, model="m"
    ),
    "event-cut": Cut(what="condensed", key="0a1b", task="t1+t2", reason="the text was cut off"),
    "event-approved": Approved(plan=PLAN, control=1),
    "event-approved-by": Approved(control=1, by="ada"),
    "event-plan_rejected-by": PlanRejected(faults=("no",), reviewed=True, by="ada"),
    "event-cancelled-by": Cancelled(reason="enough", by="ada"),
    "event-refined": Refined(
        task="t2", attempt=2, intent="Sum them", not_before=1_790_000_001.0, reason="no sum", usage=USAGE
    ),
    "event-rerouted": Rerouted(task="t2", attempt=2, worker="writer", reason="broken"),
    "event-gave_up": GaveUp(task="t2", reason="broken"),
    "event-replanned": Replanned(plan=PLAN, reasons=("declined",), usage=USAGE),
    "event-replan_failed": ReplanFailed(reasons=("declined",), faults=("a circle",), usage=USAGE),
    "event-condensed": Condensed(key="0a1b", text="short", usage=USAGE),
    "event-judging": Judging(task=TASK),
    "event-judged": Judged(contradictions=ANSWER.contradictions, usage=USAGE),
    "event-finished": Finished(answer=ANSWER),
    "reference-event": ByReference(of="planned", artifact=ARTIFACT),
    "reference-step": ByReference(of="model_called", artifact=ARTIFACT),
    "step-taken": Taken(instance="host-1-ab", delivery=2),
    "step-given_back": GivenBack(instance="host-1-ab", reason="the process stops"),
    "step-model_called": ModelCalled(
        model="m", content=msgspec.Raw(b'[{"type":"text","text":"hi"}]'), stop_reason="end_turn", usage=USAGE
    ),
    "step-begun": Begun(
        system="You compare figures.",
        prompt=msgspec.Raw(b'"Compare them"'),
        tools=(OfferedTool(name="sum", description="Add.", schema=msgspec.Raw(b'{"type":"object"}')),),
        model="m",
        effort="medium",
        system_digest="0f1c",
        tools_digest="9be2",
    ),
    "step-begun-server_tools": Begun(
        system="You search.",
        prompt=msgspec.Raw(
            b'[{"type":"artifact","name":"plan.png","digest":"SHA-256=x","media_type":"image/png","size":3,"tokens":9}]'
        ),
        server_tools=(msgspec.Raw(b'{"type":"web_search_20260318","name":"web_search"}'),),
    ),
    "step-model_called-container": ModelCalled(
        model="m",
        content=msgspec.Raw(b"[]"),
        stop_reason="pause_turn",
        container="c1",
        container_expires=1_790_000_000.5,
    ),
    "step-model_called-then": ModelCalled(
        model="m", content=msgspec.Raw(b"[]"), stop_reason="max_tokens", asked="m", then="Go on."
    ),
    "step-context_cut": ContextCut(results=(CutResult(turn=1, call="toolu_1", keep=200),)),
    "step-tool_called": ToolCalled(call="toolu_1", tool="sum", output="3", failed=False, seconds=0.1),
    "step-tool_called-kept": ToolCalled(call="toolu_1", tool="read", output="head …", artifact=ARTIFACT),
    "step-confirm_asked": ConfirmAsked(
        call="toolu_1", tool="send", arguments=msgspec.Raw(b'{"to":"ada"}'), deadline=1_790_000_120.5
    ),
    "step-confirmed": Confirmed(call="toolu_1", tool="send", granted=False, by="ada", comment="too early"),
    "control-cancel": Cancel(reason="enough"),
    "control-approve": Approve(revision=1),
    "control-reject": Reject(comment="too long"),
    "control-edit": Edit(plan=PLAN),
    "control-cancel-by": Cancel(reason="enough", by="ada"),
    "control-approve-asked": Approve(asked=412, by="ada"),
    "control-reject-asked": Reject(comment="too long", asked=412, by="ada"),
    "control-edit-asked": Edit(plan=PLAN, asked=412, by="ada"),
    "control-approve-call": Approve(task="t2", call="toolu_1", asked=7, by="ada"),
    "control-reject-call": Reject(comment="too early", task="t2", call="toolu_1", asked=7, by="ada"),
    "card-person": Card(worker="counsel", instance="host-1-ab", summary="Knows the law.", capacity=100, person=True),
    "card-trouble": Card(worker="clerk", instance="host-1-ab", trouble="tool server 'shed' is not there: no such file"),
}


def decode(name: str, data: bytes) -> Message:
    match name.partition("-")[0]:
        case "event":
            return codec.decode_event(data)
        case "step":
            return codec.decode_step(data)
        case "reference":
            reference = codec.decode_reference(data)
            assert reference is not None
            return reference
        case "control":
            return codec.decode_control(data)
        case _:
            return codec.decode(data, type(EXAMPLES[name]))


@pytest.mark.parametrize("name", EXAMPLES)
def test_kept_bytes_still_decode_to_the_same_message(name: str) -> None:
    kept = (KEPT / f"{name}.json").read_bytes()
    assert codec.encode(decode(name, kept)) == codec.encode(EXAMPLES[name])


@pytest.mark.parametrize("name", EXAMPLES)
def test_fields_are_only_ever_added(name: str) -> None:
    kept = json.loads((KEPT / f"{name}.json").read_bytes())
    written = json.loads(codec.encode(EXAMPLES[name]))
    assert_holds(kept, written)


def assert_holds(kept: object, written: object) -> None:
    """Everything that was there is there still, at any depth."""
    if isinstance(kept, dict):
        assert isinstance(written, dict)
        for key, value in kept.items():  # pyright: ignore[reportUnknownVariableType]
            assert_holds(value, written[key])  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(kept, list):
        assert isinstance(written, list)
        for one, other in zip(kept, written, strict=True):  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
            assert_holds(one, other)  # pyright: ignore[reportUnknownArgumentType]
    else:
        assert written == kept


@pytest.mark.parametrize("name", EXAMPLES)
def test_unknown_fields_are_ignored(name: str) -> None:
    data = json.loads((KEPT / f"{name}.json").read_bytes()) | {"from_the_future": {"x": [1]}}
    again = json.loads(codec.encode(decode(name, json.dumps(data).encode())))
    assert again == json.loads(codec.encode(EXAMPLES[name]))


def test_every_kind_of_event_has_kept_bytes() -> None:
    kinds = {str(event.__struct_config__.tag) for event in Event.__args__}
    assert kinds == {name.split("-")[1] for name in EXAMPLES if name.startswith("event-")}


def test_the_tag_of_an_event_is_its_kind() -> None:
    assert kind(Skipped(task="t", cause="c")) == "skipped"
    assert json.loads(codec.encode(Skipped(task="t", cause="c")))["type"] == "skipped"


def test_a_bare_text_is_a_whole_request() -> None:
    assert codec.decode(b'{"text": "hi"}', Request) == Request(text="hi")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_message_is_the_same_as_a_dict_and_as_json(name: str) -> None:
    plain = EXAMPLES[name].to_dict()
    assert json.loads(json.dumps(plain)) == json.loads(codec.encode(EXAMPLES[name]))
