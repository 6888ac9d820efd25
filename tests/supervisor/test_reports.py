"""What the synthesizer says about its own text: taken as far as it makes sense."""

from collections.abc import Callable
from typing import Any

import pytest
from run.folding import RUN, a_task, handed_out, result_of, running

from actors.model.port import Call, Reply
from actors.supervisor.role import Role
from actors.supervisor.synthesizer import Synthesizer
from protocol.events import Synthesized
from protocol.messages import Contradiction, Usage


class Reports:
    """A model that writes a text and reports this about it."""

    def __init__(self, report: Any) -> None:
        self._report = report

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        use = {"type": "tool_use", "id": "u", "name": "report", "input": self._report}
        content = [{"type": "text", "text": "All of it."}, use]
        return Reply(model="m", content=content, stop_reason="tool_use", usage=Usage(model_calls=1))

    async def close(self) -> None:
        pass


async def synthesized(report: Any) -> Synthesized:
    state = running(a_task("a"))
    handed_out(state)
    state.fold(result_of("a", "done"), 102.0)
    role = Role(Reports(report), name="synthesizer", model_name="m", system="", max_tokens=100)
    return await Synthesizer(role, role).synthesize(RUN, state, lambda _: None)


async def test_nothing_in_other_words_is_neither_a_gap_nor_more_work() -> None:
    event = await synthesized({"gaps": ["", " "], "more": ["\n"], "confidence": 7})
    assert (event.gaps, event.more, event.confidence) == ((), (), 1.0)


async def test_an_endless_list_is_cut_to_what_a_message_holds() -> None:
    event = await synthesized({"gaps": [f"{n} is missing" for n in range(50_000)]})
    assert event.gaps[-1] == "and 49900 more"


async def test_contradictions_are_those_of_tasks_that_exist_and_are_open() -> None:
    given = [{"tasks": ["a"], "claim": "41 or 42", "resolution": "41"}, {"tasks": ["ghost"], "claim": "x"}]
    event = await synthesized({"contradictions": given})
    assert event.contradictions == (Contradiction(tasks=("a",), claim="41 or 42"),)


@pytest.mark.parametrize("report", [None, "fine", [], {"gaps": "none"}, {"confidence": "high"}, {"more": [1]}])
async def test_a_report_that_makes_no_sense_leaves_the_text_as_it_is(report: Any) -> None:
    event = await synthesized(report)
    assert (event.text, event.gaps, event.failed) == ("All of it.", (), "")
