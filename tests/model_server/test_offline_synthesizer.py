"""The synthesizer says each thing once, keeps its sources, and names what is missing."""

from xml.sax.saxutils import escape

from actors.model_server.offline import NOTE
from actors.model_server.serve import offline_server
from tests.model.asking import asking, question


def result(task: str, text: str, *, status: str = "completed", builds_on: str = "") -> str:
    return f'<result task="{task}" worker="w" status="{status}" builds_on="{builds_on}">\n{escape(text)}\n</result>'


async def answer(request: str, *results: str, gaps: str = "") -> str:
    listed = "\n".join(results)
    text = f"<request>\n{request}\n</request>\n\n<results>\n{listed}\n</results>"
    if gaps:
        text += f"\n\n<gaps>\n{gaps}\n</gaps>"
    async with offline_server() as url, asking(url) as model:
        return (await model.call(question(text))).text


async def test_a_sentence_that_two_results_share_is_said_once() -> None:
    text = await answer(
        "How heavy is the robot?",
        result("a", f"- The robot weighs 20 kg. [a.md]\n\n{NOTE}"),
        result("b", f"- The robot weighs 20 kg. [b.md]\n- It is blue. [b.md]\n\n{NOTE}"),
    )
    assert text.count("weighs 20 kg") == 1
    assert "It is blue. [b.md]" in text
    assert text.count(NOTE) == 1
    assert text.endswith(NOTE)


async def test_two_figures_for_one_thing_both_stay() -> None:
    text = await answer("?", result("a", "The robot weighs 20 kg."), result("b", "The robot weighs 25 kg."))
    assert "20 kg" in text
    assert "25 kg" in text


async def test_what_answers_best_comes_first() -> None:
    text = await answer(
        "What does the robot cost?", result("a", "- It is blue. [a.md]\n- The robot costs 300 euros. [b.md]")
    )
    assert text.startswith("The robot costs 300 euros. [b.md]")


async def test_a_written_document_is_the_answer_and_what_it_lacks_follows() -> None:
    text = await answer(
        "Write a report",
        result("a", "- The robot weighs 20 kg. [a.md]\n- It is blue. [a.md]"),
        result("w", "# Report\n\n## Weight\n\n- The robot weighs 20 kg. [a.md]", builds_on="a"),
        result("c", "- supported: the colour was measured twice [c.md]", builds_on="w"),
    )
    assert text.startswith("# Report")
    after = text.partition("Beyond that:")[2]
    assert "It is blue. [a.md]" in after
    assert "supported: the colour was measured twice" in after
    assert "20 kg" not in after


async def test_gaps_and_failed_tasks_are_named() -> None:
    text = await answer(
        "?",
        result("a", "It is blue."),
        result("b", "the tool broke", status="failed"),
        result("c", "No document mentions wings."),
        gaps="- the price is not known & never was &lt;yet&gt;",
    )
    missing = text.partition("What is missing:")[2]
    assert "- the price is not known & never was <yet>" in missing
    assert "- b (w) failed: the tool broke" in missing
    assert "- No document mentions wings." in missing


async def test_without_results_it_does_not_pretend() -> None:
    text = await answer("?", gaps="- a failed")
    assert "could not be answered" in text
    assert "- a failed" in text


async def test_quoted_text_comes_back_as_it_was() -> None:
    text = await answer("?", result("a", 'Profit < cost & "loss" > 0.'))
    assert 'Profit < cost & "loss" > 0.' in text


async def test_a_numbered_list_keeps_its_order() -> None:
    text = await answer(
        "When is soup made?", result("a", "- 1. Peel them. [a.md]\n- 2. Wash. [a.md]\n- 3. Make soup. [a.md]")
    )
    assert [line[:2] for line in text.splitlines()[:3]] == ["1.", "2.", "3."]


async def test_what_one_result_has_found_is_not_missing_because_another_has_not() -> None:
    text = await answer(
        "?",
        result("a", "Error E-207 is a damaged index. [a.md]"),
        result("b", "No document mentions e207, wings, see."),
    )
    assert text.partition("What is missing:")[2].splitlines()[1] == "- No document mentions wings."
    alone = await answer("?", result("a", "Error E-207 is known. [a.md]"), result("b", "No document mentions e-207."))
    assert "missing" not in alone
