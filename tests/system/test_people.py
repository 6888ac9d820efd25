"""People and the tools they must allow, with real processes: answered, killed, reopened, raced."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
from actor_processes import BOOT, Stage, task, until
from waiting import LIMIT_S

from actors.remote_run import Run
from protocol.controls import Approve
from protocol.messages import Answer, Handoff, Message, Request, Result
from protocol.steps import ConfirmAsked, Confirmed, ModelCalled, Taken, ToolCalled

pytestmark = pytest.mark.process

PATIENT = ("--timeout", str(LIMIT_S))
NOTE = {"to": "ada", "text": "hold back the payment"}
SEND = [
    {"role": "worker", "turns": 1, "tool_use": [{"name": "send_note", "input": NOTE}]},
    {"role": "worker", "text": "That is all."},
]


M = TypeVar("M", bound=Message)


class Ended(NamedTuple):
    code: int
    out: str
    err: str


async def handoff(stage: Stage, *arguments: str, stdin: str = "") -> Ended:
    """Run a command to its end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", BOOT, *arguments),
        env=stage.environment,
        cwd=stage.directory,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(stdin.encode()), LIMIT_S)
    return Ended(process.returncode or 0, out.decode(), err.decode())


class Open:
    """An inbox that is open in the foreground, with a pipe for a keyboard."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def until_said(self, words: str) -> str:
        assert self.process.stdout
        async with asyncio.timeout(LIMIT_S):
            while line := (await self.process.stdout.readline()).decode():
                if words in line:
                    return line
        raise AssertionError(f"{words!r} was not said")

    def type(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())


@asynccontextmanager
async def opened(stage: Stage, *arguments: str) -> AsyncGenerator[Open]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", BOOT, "inbox", "--as", "counsel", *arguments),
        env=stage.environment,
        cwd=stage.directory,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Open(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def message(stage: Stage, run: Run, kind: type[M]) -> M:
    """The first message of that kind, once it is stored."""
    found = (await stage.stored(run, kind)).message
    assert isinstance(found, kind)
    return found


async def ended(run: Run) -> Answer:
    return await asyncio.wait_for(run.answer(), LIMIT_S)


def data(text: str) -> Any:
    return json.loads(text)


async def test_handoffs_come_and_what_is_typed_goes_back(stage: Stage) -> None:
    await stage.supervisor()
    async with opened(stage, "--summary", "Knows the law.", "--by", "ada") as inbox:
        await inbox.until_said("nothing is open")
        run = await stage.ask(task("a", "counsel", intent="Is it fair?"), task("b", "counsel", intent="Is it legal?"))
        await inbox.until_said("new: 2")
        inbox.type("1")
        await inbox.until_said("Is it fair?")
        inbox.type("a 1 Yes.")
        inbox.type("d 2 not my field")
        answer = await ended(run)
        assert (answer.status, answer.text.split("\n")[0]) == ("partial", "Yes.")
        inbox.type("q")
        assert await asyncio.wait_for(inbox.process.wait(), LIMIT_S) == 0
    results = [entry.message for entry in await run.past() if isinstance(entry.message, Result)]
    assert sorted((r.status, r.output, r.instance) for r in results) == [
        ("completed", "Yes.", "ada"),
        ("declined", "not my field", "ada"),
    ]
    assert await stage.bus.cards("default.counsel.") == {}, "who leaves is not planned with"


async def test_an_inbox_that_was_killed_is_opened_again_and_everything_is_there(stage: Stage) -> None:
    await stage.supervisor()
    async with opened(stage) as inbox:
        await inbox.until_said("nothing is open")
        run = await stage.ask(task("a", "counsel", intent="Is it fair?"))
        await inbox.until_said("new: 1")
        inbox.process.kill()
        await inbox.process.wait()
    async with opened(stage) as again:
        line = await again.until_said("Is it fair?")
        again.type(f"a {line.split()[1]} Yes.")
        assert (await ended(run)).text == "Yes."


async def test_one_stroke_answers_with_nobody_in_the_inbox(stage: Stage) -> None:
    await stage.supervisor()
    await stage.worker("counsel")
    run = await stage.ask(task("a", "counsel", intent="Is it fair?"), task("b", "counsel", intent="Is it legal?"))
    await stage.stored(run, Handoff, task="b")
    listed = await handoff(stage, "inbox", "--as", "counsel", "--list", "--json")
    assert {one["ref"]: one["handoff"]["intent"] for one in data(listed.out)} == {
        f"{run.id[:8]}/a": "Is it fair?",
        f"{run.id[:8]}/b": "Is it legal?",
    }
    ref = f"{run.id[:8]}/a"
    long = "Yes.\nBecause it is."
    one, two = await asyncio.gather(
        handoff(stage, "inbox", "--as", "counsel", "--by", "ada", "--answer", ref, "-", stdin=long),
        handoff(stage, "inbox", "--as", "counsel", "--by", "ada", "--answer", ref, "-", stdin=long),
    )
    assert sorted((one.code, two.code)) == [0, 1], (one.err, two.err)
    assert any("completed by ada: Yes. Because it is." in ended.err for ended in (one, two))
    asked = await handoff(stage, "inbox", "--as", "counsel", "--ask", f"{run.id[:8]}/b", "which law?")
    assert (asked.code, asked.err) == (0, f"{run.id[:8]}/b: declined\n")
    answer = await ended(run)
    assert answer.status == "partial", "no planner may be asked in this run, so the question stays a gap"
    assert "which law?" in answer.gaps[0]
    assert (await handoff(stage, "inbox", "--as", "counsel", "--list")).err == "nothing is open\n"


async def test_an_inbox_in_the_name_of_a_program_is_refused(stage: Stage) -> None:
    await stage.worker("echo")
    refused = await handoff(stage, "inbox", "--as", "echo")
    assert (refused.code, "echo of team 'default' is not a person" in refused.err) == (2, True)


async def waiting(stage: Stage) -> Run:
    """A run whose courier waits for a yes."""
    await stage.model({"rules": SEND})
    await stage.supervisor()
    return await stage.ask(task("n", "courier", intent="Write to Ada"))


def notes(stage: Stage) -> str:
    file: Path = stage.directory / "notes.txt"
    return file.read_text() if file.exists() else ""


async def test_a_worker_killed_while_it_waits_for_a_yes_is_replaced(stage: Stage) -> None:
    run = await waiting(stage)
    first = await stage.worker("courier")
    asked = await message(stage, run, ConfirmAsked)
    first.kill()
    await stage.worker("courier")
    await stage.stored(run, Taken)
    shown = data((await handoff(stage, "inbox", "--json")).out)
    assert [(one["kind"], one["question"]["arguments"]) for one in shown] == [("tool", NOTE)]
    assert notes(stage) == ""
    yes = await handoff(stage, "approve", run.id[:8], "--task", "n", "--by", "ada", "--json", *PATIENT)
    assert yes.code == 0, yes.err
    assert '"text": "hold back the payment"' in yes.err
    assert yes.err.endswith(f"{run.id[:8]}/n: send_note allowed by ada\n")
    sent = data(yes.out)
    stored = await stage.stored(run, Approve, asked=sent["asked"])
    assert (sent["run"], sent["sent"], sent["sequence"]) == (run.id, "approve", stored.seq)
    assert (sent["task"], sent["call"], sent["by"]) == ("n", asked.call, "ada")
    assert (await ended(run)).status == "complete"
    assert notes(stage) == "ada: hold back the payment\n"
    past = [entry.message for entry in await run.past()]
    assert [m.deadline for m in past if isinstance(m, ConfirmAsked)] == [asked.deadline]
    assert sum(isinstance(m, ModelCalled) for m in past) == 2, "no turn of the model was paid for twice"


async def test_a_yes_that_comes_while_no_worker_is_there_counts(stage: Stage) -> None:
    run = await waiting(stage)
    first = await stage.worker("courier")
    asked = await message(stage, run, ConfirmAsked)
    first.kill()
    await run.control(Approve(task="n", call=asked.call, by="ada"))
    await stage.worker("courier")
    assert (await ended(run)).status == "complete"
    assert notes(stage) == "ada: hold back the payment\n"


async def test_a_no_is_told_to_the_model_and_the_run_goes_on(stage: Stage) -> None:
    run = await waiting(stage)
    await stage.worker("courier")
    await stage.stored(run, ConfirmAsked)
    plan = await handoff(stage, "approve", run.id[:8])
    assert (plan.code, f"a tool waits: handoff approve {run.id[:8]} --task n" in plan.err) == (2, True)
    denial = ("--by", "ada", "--deny", "not before Monday")
    no = await handoff(stage, "approve", run.id[:8], "--task", "n", *denial, *PATIENT)
    assert (no.code, "denied by ada" in no.err) == (0, True)
    assert (await ended(run)).status == "complete"
    called = await message(stage, run, ToolCalled)
    assert (called.failed, called.output) == (True, "denied by ada: not before Monday")
    assert notes(stage) == ""
    late = await handoff(stage, "approve", run.id[:8], "--task", "n")
    assert (late.code, "no such call of task n waits" in late.err) == (2, True)


async def test_silence_is_a_no_after_the_time_that_is_set(stage: Stage) -> None:
    stage.environment["HANDOFF_CONFIRM_S"] = "0.5"
    run = await waiting(stage)
    await stage.worker("courier")
    assert (await ended(run)).status == "complete"
    confirmed = await message(stage, run, Confirmed)
    assert (confirmed.granted, confirmed.by) == (False, "")
    assert notes(stage) == ""


async def test_a_cancel_ends_the_wait(stage: Stage) -> None:
    run = await waiting(stage)
    await stage.worker("courier")
    await stage.stored(run, ConfirmAsked)
    await run.cancel("enough")

    async def settled() -> bool:
        queue = (await stage.bus.queues("HANDOFF_RUNS"))["default-courier"]
        return queue.unsettled == 0

    await until(settled)
    assert (await ended(run)).status == "cancelled"
    assert notes(stage) == ""


async def test_everything_that_waits_for_a_person_is_in_one_list(stage: Stage) -> None:
    sends = await waiting(stage)
    await stage.worker("courier")
    await stage.worker("counsel")
    asks = await stage.ask(task("a", "counsel", intent="Is it fair?"))
    plans = await stage.client.submit(Request(text="Write to Ada and Bob", review=True))
    for run, kind in ((sends, ConfirmAsked), (asks, Handoff)):
        await stage.stored(run, kind)

    async def all_there() -> bool:
        found = data((await handoff(stage, "inbox", "--json")).out)
        return {one["kind"] for one in found} == {"tool", "handoff", "plan"}

    await until(all_there)
    told = (await handoff(stage, "inbox")).out
    for words in (
        f"handoff approve {plans.id[:8]} --asked ",
        f"handoff approve {sends.id[:8]} --task n --call ",
        f"handoff inbox --as counsel --answer {asks.id[:8]}/a TEXT",
    ):
        assert words in told
    assert (await handoff(stage, "inbox", "--team", "other")).err == "nothing waits for a person\n"
