"""The review of a plan: a person sees it before anything runs, and approves, refuses or changes it."""

import asyncio
import os
import shlex
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol, TextIO

import msgspec

from actors.cli.plan_edit import Change, PlanEditor
from actors.cli.progress import Progress
from actors.cli.terminal import one_line, table, tell
from actors.cli.wording import count
from actors.record import Recorded
from actors.remote_run import Run
from actors.run.limits import Limits
from protocol.controls import Approve, Cancel, Control, Edit, Reject
from protocol.errors import InvalidError
from protocol.events import Planned, Waiting
from protocol.messages import Estimate, Plan

CHOICES = "[a]pprove, [r]eject with a comment, [e]dit, [q]uit: "
WORDS = ("approve", "reject", "edit", "quit")
HEADERS = ["task", "worker", "needs", "intent"]

Ask = Callable[[str], Awaitable[str]]
"""Puts a question and gives the line that is the answer; EOFError where nobody answers any more."""


class Stage(Protocol):
    """What is shown of the run, and steps aside while a person is asked."""

    def pause(self) -> None:
        """Leave the terminal to somebody else."""
        ...

    def resume(self) -> None:
        """Take the terminal back."""
        ...


class Review:
    """Asks a person each time a plan waits for approval, and passes on what they say.

    A plan is asked about until it is decided. What other people do about the same plan does not interrupt the person,
    unless it decides about the plan.
    """

    def __init__(self, run: Run, stage: Stage, ask: Ask, change: Change, by: str) -> None:
        self._run = run
        self._stage = stage
        self._ask = ask
        self._change = change
        self._by = by
        self._editor = PlanEditor(change)
        self._progress = Progress(Limits())
        self._asked = 0
        self._said = False
        self._talk: asyncio.Task[None] | None = None

    async def take(self, entry: Recorded) -> None:
        """Take in one message of the record: it may be a reason to ask, or to stop asking."""
        self._progress.take(entry, 0.0)
        state, planned = self._progress.state, self._progress.proposed
        if planned is None:
            edit_waits = isinstance(state.review.next(), Edit) and not state.is_over
            if not edit_waits:  # an edit may still be refused, and then the plan waits as before
                await self.close()
        elif state.review.proposed_seq != self._asked:
            self._asked, self._editor = state.review.proposed_seq, PlanEditor(self._change)
            await self._begin(planned)
        elif isinstance(entry.message, Waiting) and entry.message.control and not self._is_asking:
            await self._begin(planned, entry.message.reason)

    @property
    def _is_asking(self) -> bool:
        return self._talk is not None and not self._talk.done() and not self._said

    async def _begin(self, planned: Planned, refused: str = "") -> None:
        await self.close()
        self._said = False
        self._talk = asyncio.create_task(self._review(planned, refused))

    async def _review(self, planned: Planned, refused: str) -> None:
        self._stage.pause()
        try:
            if refused:
                tell(one_line(refused))
            tell_plan(planned)
            control = await decision(planned.plan, self._ask, self._editor)
            self._said = True
            await self._run.control(self._signed(control))
        except EOFError:
            tell(f"\nthe plan waits: {how_to_approve(self._run.id, self._asked)}")
        finally:
            self._stage.resume()

    def _signed(self, control: Control) -> Control:
        """The control with who says it, and about which plan."""
        if isinstance(control, Cancel):
            return msgspec.structs.replace(control, by=self._by)
        return msgspec.structs.replace(control, by=self._by, asked=self._asked)

    async def close(self) -> None:
        """Ask no more; whatever went wrong while asking is raised."""
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.cancel()
            await asyncio.wait({talk})
            if not talk.cancelled():
                talk.result()


async def decision(plan: Plan, ask: Ask, editor: PlanEditor) -> Control:
    """What a person wants done about a plan; asked again until it can be done."""
    while True:
        word, text = chosen(await ask(CHOICES), WORDS, with_text="reject")
        match word:
            case "approve":
                return Approve(revision=plan.revision)
            case "reject":
                if comment := text or (await ask("what should be different? ")).strip():
                    return Reject(comment=comment)
                tell("the plan is not rejected: the planner needs a comment to make a better one")
            case "quit":
                return Cancel(reason="the plan was not approved")
            case "edit":
                if edited := await editor.edit(plan):
                    return Edit(plan=edited)
            case _:
                pass


def chosen(line: str, words: Sequence[str], *, with_text: str) -> tuple[str, str]:
    """Which of the words was typed, whole or by its first letter, and the text behind it; nothing if that is not clear.

    Text may stand behind `with_text` alone: "actually no" approves nothing.
    """
    typed, _, text = line.strip().partition(" ")
    typed, text = typed.lower().rstrip(".,:;!"), text.strip()
    for word in words:
        if typed in (word, word[0]) and (not text or word == with_text):
            return word, text
    return "", ""


def how_to_approve(run: str, asked: int) -> str:
    """What to type in another terminal to approve the plan whose `planned` Event has this sequence."""
    return f"handoff approve {run[:8]} --asked {asked} (or --reject COMMENT, or --edit FILE)"


def tell_plan(planned: Planned) -> None:
    """The plan for a person: each task, and what all of it comes to."""
    plan = planned.plan
    if plan.goal:
        tell(f"\ngoal: {one_line(plan.goal)}")
    tell("")
    write_plan(plan, sys.stderr)
    tell(f"\n{estimated(planned)}")


def write_plan(plan: Plan, into: TextIO) -> None:
    """The tasks of a plan as a table."""
    rows = [[task.id, task.worker, ", ".join(task.depends_on), task.intent] for task in plan.tasks]
    table(HEADERS, rows, into, whole=True)


def estimated(planned: Planned) -> str:
    """What the plan will come to, on one line."""
    found = planned.estimate
    if found is None:
        return count(len(planned.plan.tasks), "task")
    parts = [
        count(found.tasks, "task"),
        f"longest chain {found.critical_path}",
        f"widest level {found.widest}",
        f"at least {count(found.model_calls, 'model call')}",
    ]
    return " · ".join([*parts, price] if (price := price_of(found)) else parts)


def price_of(estimate: Estimate) -> str:
    """What a plan will cost, as a range; empty where that is not known."""
    if estimate.usd_low is None or estimate.usd_high is None:
        return ""
    return f"${estimate.usd_low:.4f} to ${estimate.usd_high:.4f}" if estimate.usd_high else "at no cost"


async def ask_terminal(question: str) -> str:
    """A line from the terminal. Nothing is left waiting for it when the question no longer matters."""
    sys.stderr.write(question)
    sys.stderr.flush()
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    except asyncio.CancelledError:
        sys.stderr.write("\n")
        raise
    finally:
        loop.remove_reader(sys.stdin.fileno())
    line = os.read(sys.stdin.fileno(), 65536)
    if not line:
        raise EOFError
    return line.decode(errors="replace")


async def change_in_editor(data: bytes, name: str = "plan.json") -> bytes:
    """The text as it is after $EDITOR; InvalidError if that cannot be had."""
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="handoff-") as folder:
        file = Path(folder, name)
        await asyncio.to_thread(file.write_bytes, data)
        try:
            process = await asyncio.create_subprocess_exec(*editor, str(file))
        except OSError as error:
            raise InvalidError([f"{editor[0]}: {error.strerror} (set EDITOR)"]) from error
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
        if code:
            raise InvalidError([f"{editor[0]} ended with {code}: nothing is changed"])
        return await asyncio.to_thread(file.read_bytes)
