"""The script: who gets which answer, what goes wrong on purpose, and the log of every request."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from model_server.plan_requests import plan_call

from actors.model.port import Call, Turn
from actors.model_server.offline import NOTE
from actors.model_server.scripted import Rule, Script, ScriptedTool, read_script
from actors.model_server.serve import offline_server, serve
from protocol.errors import InvalidError, ModelError
from protocol.messages import Card
from tests.model.asking import RUN, QuickClock, asking, endpoint, lines, noted, question, spec

PLAN = {"tasks": [{"worker": "solo"}]}


def kept(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


async def texts(script: Script | Path, *asked: Call) -> list[str]:
    async with offline_server(script=script) as url, asking(endpoint(url, retries=0)) as model:
        return [(await model.call(one)).text for one in asked]


async def test_rules_are_told_apart_by_role() -> None:
    script = Script(
        rules=[
            Rule(role="worker", text="I work"),
            Rule(role="synthesizer", text="I sum up"),
            Rule(role="other", text="I am nobody"),
            Rule(role="planner", plan=PLAN),
        ]
    )
    said = await texts(
        script, question("<task>x</task>"), question("<request>r</request><results></results>"), question("hello")
    )
    assert said == ["I work", "I sum up", "I am nobody"]
    async with offline_server(script=script) as url, asking(url) as model:
        planned = await model.call(plan_call("r", {"solo": [Card(worker="solo", instance="i")]}))
    assert json.loads(planned.text)["tasks"][0]["worker"] == "solo"


async def test_a_rule_may_look_for_words_in_the_system_prompt_or_in_the_last_turn() -> None:
    script = Script(
        rules=[Rule(contains="You are Ada", text="Ada"), Rule(contains="weather", text="rain")], strict=True
    )
    ada = Call(run=RUN, role="w", system="You are Ada.", turns=[Turn(role="user", content="hi")])
    assert await texts(script, ada, question("the weather?")) == ["Ada", "rain"]


async def test_a_rule_is_used_up_after_so_many_times() -> None:
    script = Script(rules=[Rule(text="first", times=2), Rule(text="then")])
    assert await texts(script, *[question("x")] * 4) == ["first", "first", "then", "then"]


async def test_a_rule_may_be_meant_for_one_turn_of_a_conversation() -> None:
    script = Script(rules=[Rule(turns=1, text="one"), Rule(turns=3, text="three")], strict=True)
    longer = [Turn(role="user", content="a"), Turn(role="assistant", content="b"), Turn(role="user", content="c")]
    assert await texts(script, question("a"), Call(run=RUN, role="w", system="", turns=longer)) == ["one", "three"]


async def test_where_no_rule_matches_the_offline_rules_answer() -> None:
    said = await texts(Script(rules=[Rule(contains="never", text="x")]), question("hello"))
    assert said[0].endswith(NOTE)


async def test_a_strict_script_answers_500_where_no_rule_matches() -> None:
    with pytest.raises(ModelError, match="no rule of the script matches this other request: hello") as caught:
        await texts(Script(strict=True), question("hello"))
    assert caught.value.kind == "api_error"


async def test_a_mishap_without_an_answer_happens_to_the_offline_answer() -> None:
    script = Script(rules=[Rule(cut=True, times=1)])
    clock = QuickClock()
    async with offline_server(script=script) as url, asking(url, clock=clock) as model:
        reply = await model.call(question("hello"), said=lambda _: None)
    assert reply.text.endswith(NOTE)
    assert len(clock.waits) == 1


RULES: list[dict[str, Any]] = [
    {"role": "worker", "contains": "x", "times": 1, "tool_use": [{"name": "t", "input": {"a": 1}}]},
    {"status": 429, "error": "rate_limit_error", "retry_after_s": 2, "cut": "drop", "delay_s": 0.5},
    {"text": "a\nb", "stop_reason": "max_tokens", "cut": True},
]


def test_a_script_is_read_as_a_list_as_lines_or_as_an_object(tmp_path: Path) -> None:
    as_list = read_script(kept(tmp_path / "a", json.dumps(RULES, indent=2)))
    as_lines = read_script(kept(tmp_path / "b", "\n".join(map(json.dumps, RULES)) + "\n\n"))
    as_object = read_script(kept(tmp_path / "c", json.dumps({"rules": RULES, "strict": True, "delay_s": 0.1})))
    one_line = read_script(kept(tmp_path / "d", json.dumps(RULES[0])))
    assert as_list == as_lines
    assert as_object == Script(rules=as_list.rules, strict=True, delay_s=0.1)
    assert one_line.rules == as_list.rules[:1]
    assert as_list.rules[0].tool_use == [ScriptedTool(name="t", input={"a": 1})]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"txt": "typo"}]', "txt"),
        ('{"text": "a"}\n{"txt": "typo"}\n{"role": "boss"}', "line 2.*line 3"),
        ('{"rules": [{"times": "many"}]}', "times"),
        ("not json", "malformed"),
    ],
)
def test_a_script_with_a_fault_is_refused_with_the_place(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InvalidError, match=reason):
        read_script(kept(tmp_path / "script", text))


async def test_every_request_is_noted_when_it_comes_and_when_it_is_over(tmp_path: Path) -> None:
    log = tmp_path / "deep" / "log.jsonl"
    script = Script(rules=[Rule(contains="bad", status=400), Rule(contains="broken", cut=True), Rule(text="good")])
    async with offline_server(script=script, log=log) as url, asking(endpoint(url, retries=0)) as model:
        await model.call(question("<task>one</task>"))
        for text in ("bad", "broken"):
            with pytest.raises(ModelError):
                await model.call(question(text), said=lambda _: None)
    # The client asks again after a cut stream: only the first attempt of each call is read here.
    found = [line for line in lines(log) if line["n"] <= 3]
    assert [(line["n"], line["event"], line.get("status")) for line in found] == [
        (1, "asked", None),
        (1, "answered", 200),
        (2, "asked", None),
        (2, "answered", 400),
        (3, "asked", None),
        (3, "cut", 200),
    ]
    assert found[0]["role"] == "worker"
    assert found[0]["model"] == "claude-haiku-5-5"
    assert found[0]["last"] == "<task>one</task>"
    assert found[0]["turns"] == 1
    assert found[0]["time"] <= found[1]["time"]


async def test_the_key_is_the_same_for_the_same_question_and_only_for_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tools = [spec("t", a="string")]
    async with offline_server(script=Script(rules=[Rule(text="x")]), log=log) as url, asking(url) as model:
        for call in (question("a"), question("a"), question("b"), question("a", tools=tools)):
            await model.call(call)
        await model.call(question("a"), said=lambda _: None)
    keys = [line["key"] for line in lines(log) if line["event"] == "asked"]
    assert keys[0] == keys[1] == keys[4]
    assert len(set(keys)) == 3


async def test_a_request_is_noted_before_its_answer_is_delayed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with offline_server(script=Script(delay_s=60), log=log) as url, asking(url) as model:
        task = asyncio.create_task(model.call(question("hi")))
        await noted(log, "asked")
        assert not task.done()
        task.cancel()
        await asyncio.wait([task])


async def test_the_log_is_appended_to_across_servers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        async with offline_server(log=log) as url, asking(url) as model:
            await model.call(question("hi"))
    assert [line["event"] for line in lines(log)] == ["asked", "answered"] * 2


async def test_a_rule_may_have_a_delay_of_its_own(tmp_path: Path) -> None:
    script = Script(rules=[Rule(contains="now", delay_s=0.0, text="at once")], delay_s=60)
    assert await texts(script, question("now")) == ["at once"]


async def test_serve_reports_its_address_and_ends_when_cancelled(tmp_path: Path) -> None:
    script = kept(tmp_path / "script.json", '[{"text": "scripted"}]')
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve(host="127.0.0.1", port=0, script=script, log=tmp_path / "log", ready=address.set_result)
    )
    async with asking(await address) as model:
        assert (await model.call(question("hi"))).text == "scripted"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [line["event"] for line in lines(tmp_path / "log")] == ["asked", "answered"]


async def test_a_script_that_cannot_be_read_stops_the_server_from_starting(tmp_path: Path) -> None:
    with pytest.raises(InvalidError):
        async with offline_server(script=kept(tmp_path / "script", "[{]")):
            pass
    with pytest.raises(InvalidError, match="No such file"):
        async with offline_server(script=tmp_path / "elsewhere"):
            pass
