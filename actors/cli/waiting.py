"""Everything that waits for a person, in all runs: plans, calls of tools, and handoffs to people."""

from collections.abc import Iterator, Mapping
from typing import Any

from actors.bus.port import Bus
from actors.cli.confirm import described, how_to_confirm
from actors.cli.inbox_words import as_data, left
from actors.cli.review import how_to_approve
from actors.cli.terminal import one_line, tell, write, write_json
from actors.cli.wording import count, seconds, team_flag
from actors.people.inbox import all_waits
from actors.people.waits import OpenHandoff, Waits
from actors.supervisor.roster import read_cards


async def tell_waiting(bus: Bus, team: str, *, as_json: bool) -> None:
    """Show it, of one team or of all."""
    found = {
        run: waits
        for run, waits in (await all_waits(bus)).items()
        if not team or (waits.state.request and waits.state.request.team == team)
    }
    people = {(name, card.worker) for name, card in await read_cards(bus, team) if card.person}
    now = bus.now()
    if as_json:
        write_json([item for run, waits in found.items() for item in data_of(run, waits, people, now)])
        return
    blocks = [block for run, waits in found.items() for block in blocks_of(run, waits, people, now)]
    for block in blocks:
        write(block + "\n")
    if not blocks:
        tell("nothing waits for a person")


def blocks_of(run: str, waits: Waits, people: set[tuple[str, str]], now: float) -> Iterator[str]:
    """Each thing that waits in a run: what it is, and what to type."""
    if planned := waits.state.under_review:
        text = one_line(waits.state.request.text if waits.state.request else "", 100)
        tasks = count(len(planned.plan.tasks), "task")
        ends = seconds(max(0.0, waits.state.deadline - now))
        how = how_to_approve(run, waits.state.review.proposed_seq)
        yield f"── {run[:8]} · a plan of {tasks} waits for approval, {ends} left\n{text}\n{how}"
    for call in waits.calls(now):
        yield f"── {call.ref} · a tool waits for approval\n{described(call, now)}\n{how_to_confirm(call)}"
    for item in _for_people(waits, people, now):
        time_left = left(item, now)
        head = f"── {item.ref} · for {item.address.worker}" + (f", {time_left} left" if time_left else "")
        yield f"{head}\n{one_line(item.handoff.intent, 400)}\n{how_to_answer(item)}"


def how_to_answer(item: OpenHandoff) -> str:
    """What to type, from any terminal, for a handoff of any team."""
    whose = f"--as {item.address.worker}{team_flag(item.address.team)}"
    return f"handoff inbox {whose} --answer {item.ref} TEXT (or --decline, --ask)"


def data_of(run: str, waits: Waits, people: set[tuple[str, str]], now: float) -> Iterator[Mapping[str, Any]]:
    """The same for a program."""
    if planned := waits.state.under_review:
        named = {"run": run, "asked": waits.state.review.proposed_seq, "deadline": waits.state.deadline}
        yield {"kind": "plan"} | named | {"plan": planned.plan}
    for call in waits.calls(now):
        named = {"run": run, "task": call.address.task, "worker": call.address.worker, "asked": call.question.seq}
        yield {"kind": "tool", "ref": call.ref} | named | {"question": call.question.asked}
    for item in _for_people(waits, people, now):
        yield {"kind": "handoff"} | as_data(item, now)


def _for_people(waits: Waits, people: set[tuple[str, str]], now: float) -> list[OpenHandoff]:
    return [item for item in waits.handoffs(now) if (item.address.team, item.address.worker) in people]
