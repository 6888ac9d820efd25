"""What the report says about the text of the answer: taken as far as it makes sense."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from model_replies import wrote
from run.folding import RUN, a_task, handed_out, result_of, running
from supervisor.role_kit import kit

from actors.model.port import Call, Reply
from actors.run.decisions import CallReport
from actors.supervisor.roles.report import Reporter
from actors.supervisor.roles.role import Situation
from protocol.events import Reported, Synthesized
from protocol.messages import Contradiction, Request


class Reports:
    """A model that reports this."""

    def __init__(self, report: Any) -> None:
        self._report = report

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        assert call.format is not None
        return wrote(msgspec.json.encode(self._report).decode())

    async def close(self) -> None:
        pass


async def reported(report: Any) -> Reported:
    state = running(a_task("a"))
    handed_out(state)
    state.fold(result_of("a", "done"), 102.0)
    state.fold(Synthesized(text="All of it.", model="m"), 103.0)
    situation = Situation(request=Request(id=RUN), state=state, now=103.0)
    event = await Reporter(kit(Reports(report))).ask(CallReport(), situation)
    assert isinstance(event, Reported)
    return event


async def test_nothing_in_other_words_is_neither_a_gap_nor_more_work() -> None:
    event = await reported({"gaps": ["", " "], "more": ["\n"], "confidence": 7})
    assert (event.gaps, event.more, event.confidence) == ((), (), 1.0)


async def test_an_endless_list_is_cut_to_what_a_message_holds() -> None:
    event = await reported({"gaps": [f"{n} is missing" for n in range(50_000)]})
    assert event.gaps[-1] == "and 49900 more"


async def test_contradictions_are_those_of_tasks_that_exist_and_are_open() -> None:
    given = [{"tasks": ["a"], "claim": "41 or 42", "resolution": "41"}, {"tasks": ["ghost"], "claim": "x"}]
    event = await reported({"contradictions": given})
    assert event.contradictions == (Contradiction(tasks=("a",), claim="41 or 42"),)


@pytest.mark.parametrize("report", [None, "fine", [], {"gaps": "none"}, {"confidence": "high"}, {"more": [1]}])
async def test_a_report_that_makes_no_sense_says_nothing_and_why(report: Any) -> None:
    event = await reported(report)
    assert (event.gaps, event.more, event.confidence) == ((), (), None)
    assert event.failed
