"""docs/PROTOCOL.md says what the code does: every field, subject, stream and header, and its programs work."""

import asyncio
import json
import re
import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

import msgspec
import nats
import pytest
from actor_processes import Stage, until
from servers import NatsServer
from waiting import LIMIT_S

from actors import dead_letter
from actors.bus.jetstream import wire
from actors.setting_rules import GIB
from actors.settings import Settings
from protocol import codec, controls, events, ids, messages, references, steps, streams, subjects
from protocol.messages import Message

NATS: Any = nats  # its types are not complete
ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
TEXT = (ROOT / "docs" / "PROTOCOL.md").read_text()
NAMES: dict[type[Any], str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    msgspec.Raw: "any JSON",
    dict[str, str]: "object of string",
}


def kinds() -> dict[str, type[Message]]:
    return {
        name: value
        for module in (messages, events, steps, controls, references)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Message) and value is not Message
    }


def shown_type(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(f'`"{value}"`' for value in get_args(kind))
    if isinstance(kind, UnionType):
        return " or ".join(shown_type(part) for part in get_args(kind))
    if get_origin(kind) is tuple:
        return f"list of {shown_type(get_args(kind)[0])}"
    return NAMES[kind] if kind in NAMES else f"[{kind.__name__}](#{kind.__name__.lower()})"


def shown_default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if isinstance(value, Message):
        assert value == type(value)(), f"{field.name}: an empty object would not be its default"
        return "`{}`"
    return f"`{msgspec.json.encode(value).decode()}`"


def expected_rows(kind: type[Message]) -> list[tuple[str, str, str]]:
    tag = kind.__struct_config__.tag
    rows = [("`type`", f'`"{tag}"`', "required")] if tag else []
    return rows + [(f"`{f.name}`", shown_type(f.type), shown_default(f)) for f in msgspec.structs.fields(kind)]


def section(name: str) -> str:
    found = re.search(rf"^#### {name}\n(.*?)(?=^#|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"docs/PROTOCOL.md has no section {name}"
    return found[1]


def rows_of(text: str) -> list[list[str]]:
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return lines[1:]


def blocks(language: str, text: str = TEXT) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def decoded(name: str, data: bytes) -> Message:
    kind = kinds()[name]
    for module, decode in (
        (events, codec.decode_event),
        (steps, codec.decode_step),
        (controls, codec.decode_control),
    ):
        if kind.__module__ == module.__name__ and kind.__struct_config__.tag is not None:
            return decode(data)
    return codec.decode(data, kind)


@pytest.mark.parametrize("name", kinds())
def test_the_fields_of_every_message_are_those_of_the_code(name: str) -> None:
    told = [(row[0], row[1], row[2]) for row in rows_of(section(name))]
    expected = expected_rows(kinds()[name])
    assert told == expected, "\n".join(" | ".join(("", *row, "…", "")) for row in expected)
    assert all(len(row) == 4 and row[3].strip() for row in rows_of(section(name))), "every field has a meaning"


@pytest.mark.parametrize("name", kinds())
def test_the_example_of_every_message_is_one_with_every_field(name: str) -> None:
    example = blocks("json", section(name))[0].encode()
    message = decoded(name, example)
    assert isinstance(message, kinds()[name])
    assert json.loads(codec.encode(message)) == json.loads(example)


def test_every_request_shown_is_one() -> None:
    shown = re.findall(r"'(\{.*?\})'", "".join(blocks("sh")))
    assert shown
    for request in shown:
        assert codec.decode(request.encode(), messages.Request) != messages.Request()


def told_subjects() -> list[str]:
    address = subjects.TaskAddress(ids.RunId("<run>"), "<team>", "<worker>", "<task>", 1)
    works = [s.removesuffix("1") + "<attempt>" for s in (address.handoff, address.steps, address.result)]
    return [
        *works,
        subjects.request("<team>"),
        subjects.log("<run>"),
        subjects.control("<run>"),
        subjects.stored(subjects.run_tree("<run>")),
        subjects.tasks_of("<team>", "<worker>"),
        subjects.cancel("<run>"),
        subjects.CANCELS,
        subjects.tokens("<run>", "<task>"),
        subjects.index("<team>", "<run>"),
        subjects.dead("<stream>"),
        f"$KV.{streams.WORKERS}.{subjects.card('<team>', '<worker>', '<instance>')}",
        f"$KV.{streams.SUPERVISORS}.{subjects.supervisor_card('<team>', '<instance>')}",
    ]


@pytest.mark.parametrize("subject", told_subjects())
def test_every_subject_is_named(subject: str) -> None:
    assert f"`{subject}`" in TEXT


@pytest.mark.parametrize("stream", streams.streams(Settings().keep), ids=lambda stream: stream.name)
def test_every_stream_is_told_as_it_is_made(stream: streams.Stream) -> None:
    (row,) = [row for row in rows_of(TEXT) if row[0] == f"`{stream.name}`" and stream.retention in row[2]]
    kept = f"{stream.max_age.days} days" if stream.max_age else "until acknowledged"
    assert row[1] == ", ".join(f"`{subject}`" for subject in stream.subjects)
    assert row[3] == kept
    limit = Settings().store_limits.get(stream.name, 0)
    assert row[5:] == {4 * GIB: ["4 GiB"], GIB // 4: ["256 MiB"], 0: []}[limit]
    assert row[4] == (f"to `{stream.republish[1]}`" if stream.republish else "no")


def test_the_version_and_where_it_stands_are_those_of_the_code() -> None:
    assert f"This page describes version {streams.VERSION}." in TEXT
    assert f"`{streams.VERSION_KEY}`" in TEXT


def test_every_queue_is_told_as_it_is_made() -> None:
    ack_wait = Settings().ack_wait
    for queue in (streams.request_queue("<team>", ack_wait), streams.task_queue("<team>", "<worker>", ack_wait)):
        (row,) = [row for row in rows_of(TEXT) if row[0] == f"`{queue.name}`"]
        assert row[1:3] == [f"`{queue.stream}`", f"`{queue.filter}`"]
        assert row[3] == f"{ack_wait.total_seconds():g} s"
        assert row[4] == f"{queue.max_ack_pending:,}"


def test_every_header_bucket_and_error_code_is_named() -> None:
    written = [wire.EXPECT, wire.MESSAGE_ID, wire.NONCE, "traceparent", str(wire.WRONG_LAST_SEQUENCE)]
    letters = [value for value in vars(dead_letter).values() if isinstance(value, str) and value.startswith("Handoff-")]
    assert len(letters) >= 7
    for name in (*written, *letters, *streams.CARD_BUCKETS, streams.ARTIFACTS):
        assert f"`{name}`" in TEXT, name


def test_the_rules_for_ids_are_those_of_the_code() -> None:
    assert ids.ID_RULE in TEXT
    assert ids.RUN_RULE in TEXT


def test_every_limit_named_with_its_setting_is_the_default() -> None:
    limits = {row[2].strip("`"): row[1] for row in rows_of(TEXT) if row[-1].strip("`") in Settings.__struct_fields__}
    assert len(limits) >= 10
    for name, told in limits.items():
        value = float(told.partition(" ")[0].replace(",", ""))
        assert value == getattr(Settings(), name), name


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_file_that_a_document_names_exists(path: Path) -> None:
    named = set(re.findall(r"\b(?:actors|protocol|observability|tests|docs)/[\w/.-]+\.(?:py|md)\b", path.read_text()))
    assert not [name for name in sorted(named) if not (ROOT / name).exists()]
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / link).exists(), link


def program(name: str, directory: Path) -> str:
    (code,) = [code for code in blocks("python") if code.startswith(f"# {name}")]
    path = directory / name
    path.write_text(code)
    return str(path)


@pytest.mark.parametrize("source", ["docs/PROTOCOL.md", "tests/system/raw_worker.py"])
async def test_the_client_and_the_worker_shown_do_a_run_together(tmp_path: Path, source: str) -> None:
    plan = {
        "tasks": [
            {"id": "a", "worker": "shouter", "intent": "quiet"},
            {"id": "b", "worker": "shouter", "intent": "say", "depends_on": ["a"]},
        ]
    }
    request = json.dumps({"plan": plan, "synthesis": False})
    own = source.endswith(".py")
    async with Stage(tmp_path) as stage:
        await stage.supervisor()
        worker_program = str(ROOT / source) if own else program("worker.py", tmp_path)
        worker = await asyncio.create_subprocess_exec(sys.executable, worker_program, stage.server.url)
        try:
            client = await asyncio.create_subprocess_exec(
                sys.executable,
                program("client.py", tmp_path),
                stage.server.url,
                request,
                stdout=asyncio.subprocess.PIPE,
            )
            said, _ = await asyncio.wait_for(client.communicate(), LIMIT_S)
            assert said.decode().split() == ["complete:", "SAY", "QUIET"]
        finally:
            worker.kill()
            await worker.wait()


async def test_the_worker_shown_stops_working_for_a_run_that_is_cancelled(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        await stage.supervisor()
        worker = await asyncio.create_subprocess_exec(
            sys.executable, program("worker.py", tmp_path), stage.server.url, "60"
        )
        try:
            run = await stage.client.ask(plan=one_task("a"), synthesis=False)
            await until(lambda: unsettled(stage, 1))
            await run.cancel("enough")
            assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "cancelled"
            await until(lambda: unsettled(stage, 0))
            assert not await stage.bus.read(streams.RUNS, subjects.run_work(run.id, "result"))
        finally:
            worker.kill()
            await worker.wait()


RIGHTS = """
authorization {{ users = [
  {{ user: all, password: all }}
  {{ user: foreign, password: foreign, permissions: {{ publish: {publish}, subscribe: {subscribe} }} }}
] }}
"""


def rights() -> str:
    """The rights that the page gives to a worker, as a server takes them."""
    (block,) = blocks("json", TEXT.partition("### Rights")[2].partition("## Limits")[0])
    told = json.loads(block.replace("<team>", "default").replace("<worker>", "shouter"))
    return RIGHTS.format(**{verb: json.dumps(subjects) for verb, subjects in told.items()})


async def test_a_worker_with_exactly_the_rights_of_the_page_does_its_work_and_stores_artifacts(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.server = NatsServer(tmp_path, config=rights())
    open_url = stage.server.url
    stage.settings = msgspec.structs.replace(stage.settings, nats_url=open_url.replace("://", "://all:all@"))
    async with stage:
        stage.environment["NATS_URL"] = stage.settings.nats_url
        await stage.supervisor()
        queue = streams.task_queue("default", "shouter", stage.settings.ack_wait)
        await (await stage.bus.pull(queue, 1, lambda _: None)).stop()
        foreign = open_url.replace("://", "://foreign:foreign@")
        worker = await asyncio.create_subprocess_exec(sys.executable, program("worker.py", tmp_path), foreign)
        try:
            run = await stage.client.ask(plan=one_task("a"), synthesis=False)
            answer = await asyncio.wait_for(run.answer(), LIMIT_S)
            assert (answer.status, answer.text) == ("complete", "SAY")
        finally:
            worker.kill()
            await worker.wait()
        client = await NATS.connect(foreign)
        store = await client.jetstream().object_store(streams.ARTIFACTS)
        for content in (b"x" * 300_000, b"again"):
            await store.put("r.a.1.output", content)
            assert (await store.get("r.a.1.output")).data == content
        for subject in ("handoff.dead.HANDOFF_RUNS", "handoff.run.r.step.default.shouter.a.1"):
            await client.jetstream().publish(subject, b"{}")
        await client.close()
        assert "Violation" not in (tmp_path / "nats-server.log").read_text()


async def test_a_result_over_the_limit_that_a_foreign_worker_writes_inline_is_not_lost(tmp_path: Path) -> None:
    long = "x" * 500_000
    plan = messages.Plan(
        tasks=(
            messages.Task(id="a", worker="shouter", intent="say"),
            messages.Task(id="b", worker="shouter", intent="say", depends_on=("a",)),
        )
    )
    handed: list[messages.Handoff] = []
    async with Stage(tmp_path) as stage:
        await stage.supervisor()
        client = await NATS.connect(stage.server.url)

        async def write(message: Any) -> None:
            handoff = codec.decode(message.data, messages.Handoff)
            handed.append(handoff)
            told = {"run": handoff.run, "task": handoff.task, "attempt": 1, "worker": "shouter", "status": "completed"}
            await client.publish(handoff.return_to, json.dumps(told | {"output": long}).encode())

        await client.subscribe("handoff.stored.*.task.default.shouter.>", cb=write)
        await stage.bus.put_card(
            subjects.card("default", "shouter", "raw"), b'{"worker": "shouter", "instance": "raw"}'
        )
        run = await stage.client.ask(plan=plan, synthesis=False)
        answer = await asyncio.wait_for(run.answer(), LIMIT_S)
        assert answer.status == "complete"
        assert answer.text == long
        (artifact,) = handed[1].artifacts
        kept = json.loads(await stage.bus.get_artifact(artifact.name) or b"")
        await client.close()
    assert [part["output"] for part in kept] == [long]
    assert artifact.media_type == "application/json"
    assert handed[1].context[0].output.endswith("[cut: the whole is in the artifact]")


def one_task(name: str) -> messages.Plan:
    return messages.Plan(tasks=(messages.Task(id=name, worker="shouter", intent="say"),))


async def unsettled(stage: Stage, count: int) -> bool:
    queue = (await stage.bus.queues(streams.RUNS)).get("default-shouter")
    return queue is not None and queue.unsettled == count and queue.pending == 0
