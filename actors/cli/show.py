"""`handoff show`: one run, from its request to its answer."""

import sys
import time

import click
import msgspec

from actors.artifacts import whole_answer
from actors.bus.jetstream import JetStreamBus
from actors.cli.answer import write_markdown
from actors.cli.control_story import ControlStory
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.review import how_to_approve, write_plan
from actors.cli.story import Story, TaskStory, story_of, story_of_waiting, tree_of
from actors.cli.terminal import one_line, table, write, write_json, write_words
from actors.cli.wording import age, cache_hit_rate, cost, count, disputed, judged, seconds, spent, timed
from actors.record import read_run
from actors.run.limits import Limits
from actors.run_index import find_run, waiting_requests
from protocol.errors import InvalidError

HEADERS = ["task", "worker", "status", "attempt", "took", "tokens", "tools", "needs"]
SPENDING = ["spent by", "tokens", "model calls", "tool calls", "cost"]
DEEPEST = 8
SHORT_LINES, SHORT_CHARS = 6, 600


@click.command()
@click.argument("run")
@click.option("--full", is_flag=True, help="Every output whole.")
@json_option
@placed
def show(place: Place, run: str, *, full: bool, as_json: bool) -> int:
    """Everything about RUN: its id, the first 4 digits or more, or `last`."""
    limits = Limits(attempts=place.reading_settings().attempts)

    async def work(bus: JetStreamBus) -> int:
        story = await _read(bus, await find_run(bus, run), limits)
        if as_json:
            write_json({**msgspec.structs.asdict(story), "cache_hit_rate": cache_hit_rate(story.usage)})
        else:
            tell(story, full=full)
        return 0

    return look(place, work)


async def _read(bus: JetStreamBus, run: str, limits: Limits) -> Story:
    story = story_of(run, await read_run(bus, run), limits)
    if story is None:
        waiting = await waiting_requests(bus)
        if run not in waiting:
            raise InvalidError([f"there is no run {run}: see `handoff runs`"])
        return story_of_waiting(waiting[run])
    if story.answer:
        answer = await whole_answer(bus, story.answer)
        return msgspec.structs.replace(story, answer=answer)
    return story


def tell(story: Story, *, full: bool) -> None:
    """The run for a person, on standard output."""
    write_words(f"run      {story.run}")
    team = f", team {story.team}" if story.team else ""
    write_words(f"status   {story.status}{team}, begun {age(time.time() - story.began)} ago")
    if story.request is None:
        write_words("history  only the answer is kept: the messages of the run gave way to newer runs, or aged out")
    if story.request and story.request.text:
        write_words(f"request  {story.request.text if full else one_line(story.request.text, 400)}")
    for faults in story.refused_plans:
        write_words(f"refused  {'; '.join(faults)}")
    for reason in story.waits:
        write_words(f"waited   {reason}")
    for control in story.controls:
        write_words(f"told     {_control(control)}")
    if story.proposed:
        write("")
        write_plan(story.proposed, sys.stdout)
    if story.plan:
        _tell_plan(story)
        for task in story.tasks:
            _tell_task(task, full=full)
    _tell_end(story)


def _control(control: ControlStory) -> str:
    about = f" {control.task}/{control.call}" if control.task else ""
    parts = [control.kind + about + (f" by {control.by}" if control.by else ""), control.effect or "no effect yet"]
    return " · ".join([*parts, *([one_line(control.comment, 200)] if control.comment else [])])


def _tell_plan(story: Story) -> None:
    assert story.plan is not None
    tasks = {task.id: task for task in story.tasks}
    write("")
    rows = [[_indent(depth) + name, *_cells(tasks.pop(name))] for depth, name in tree_of(story.plan)]
    rows += [[name, *_cells(task)] for name, task in tasks.items()]  # of earlier revisions
    table(HEADERS, rows)
    for revision in story.revisions:
        write_words(f"\nrevision {revision.number}: {'; '.join(revision.reasons)}")
        for change in revision.changes:
            write_words(f"  {one_line(change, 200)}")


def _cells(task: TaskStory) -> list[str]:
    tools = [f"{name} x{times}" if times > 1 else name for name, times in task.tools.items()]
    took = "" if task.seconds is None else seconds(task.seconds)
    tokens = f"{task.usage.tokens:,}" if task.usage.tokens else ""
    return [task.worker, task.status, str(task.attempt), took, tokens, ", ".join(tools), ", ".join(task.needs)]


def _indent(depth: int) -> str:
    return "  " * (min(depth, DEEPEST) - 1) + "└ " if depth else ""


def _tell_task(task: TaskStory, *, full: bool) -> None:
    who = f"{task.worker} {task.instance}".strip()
    write_words(f"\n── {task.id} · {who} · {task.status}")
    write_words(f"asked: {task.intent if full else one_line(task.intent, 200)}")
    if task.error:
        write_words(f"error: {task.error.message}")
    elif task.cause:
        write_words(f"cause: {task.cause}")
    if task.output:
        if full:
            write(task.output)  # as it is: it may be code, or be copied from here
        else:
            write_words(shortened(task.output))


def _tell_end(story: Story) -> None:
    write_words("\n── answer")
    if story.answer is None:
        write_words("not yet")
        if story.status == "review":
            write_words(f"the plan waits for approval: {how_to_approve(story.run, story.asked)}")
        write_words(f"\nso far {spent(story.usage)}")
        _tell_spending(story)
        return
    write_markdown(story.answer.text)
    write("")
    for gap in story.answer.gaps:
        write_words(f"gap: {gap}")
    for found in story.answer.contradictions:
        write_words(disputed(found))
    if known := judged(story.answer):
        write_words(known)
    write_words(timed(story.answer))
    write_words(spent(story.usage))
    _tell_spending(story)


def _tell_spending(story: Story) -> None:
    if not story.spending:
        return
    write("")
    rows = [
        [who, f"{usage.tokens:,}", str(usage.model_calls), str(usage.tool_calls), cost(usage.usd)]
        for who, usage in story.spending.items()
    ]
    table(SPENDING, rows)


def shortened(text: str) -> str:
    """The beginning of a text, and how much more there is."""
    lines = text.splitlines()
    head = "\n".join(lines[:SHORT_LINES])[:SHORT_CHARS].rstrip()
    left = len(text) - len(head)
    return text if left <= 0 or head == text.rstrip() else f"{head}\n[{count(left, 'character')} more: --full]"
