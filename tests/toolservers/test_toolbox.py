"""Tools of real servers in processes of their own: lent, called, killed in mid-call, hung, and come back."""

import asyncio
import os
import signal
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from actor_processes import until
from waiting import LIMIT_S

from actors.clock import SystemClock
from actors.teams.checking import server
from actors.teams.form import ServerTable
from actors.tools.server import ToolServer
from actors.tools.tool import tool
from actors.toolservers import keeper, toolbox
from actors.toolservers.toolbox import Toolbox, borrowing
from protocol.errors import ToolError
from tests.toolservers.borrowed import (
    HONEST,
    LYING,
    answers,
    borrowed,
    honest,
    names,
    refused,
    served_over_http,
    soon,
    text_in,
    use,
)

pytestmark = pytest.mark.process


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker waits for its servers as long as a test does: on a busy machine they start slowly."""
    monkeypatch.setattr(toolbox, "START_S", LIMIT_S)
    for name in ("LOOK_S", "PATIENCE_S"):
        monkeypatch.setattr(keeper, name, LIMIT_S)


async def hurried(box: Toolbox, name: str, time_s: float, **arguments: Any) -> str:
    """What the model is told of a call that gets only so much time."""
    lent = next(tool for tool in box if tool.name == name)
    with pytest.raises(ToolError) as told:
        await replace(lent, timeout_s=time_s).call(arguments)
    return str(told.value)


@pytest.fixture
def port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


async def test_tools_of_a_server_are_lent_under_its_name_with_their_schema() -> None:
    async with borrowed(honest()) as box:
        lent = {tool.name: tool for tool in box}
        assert {"desk_add", "desk_whoami", "desk_nap"} <= set(lent)
        assert lent["desk_add"].description == "Add two whole numbers."
        assert lent["desk_add"].schema["required"] == ["first", "second"]
        assert not lent["desk_add"].effect
        assert lent["desk_whoami"].effect
        assert await use(box, "desk_add", first=20, second=22) == "42"


async def test_only_the_named_tools_are_lent() -> None:
    async with borrowed(honest(tools=("add", "no_such_tool"))) as box:
        assert names(box) == ["desk_add"]


async def test_a_lent_tool_can_be_one_that_a_person_must_allow() -> None:
    async with borrowed(honest(tools=("add", "whoami"), confirm=("whoami",))) as box:
        assert {tool.name: tool.confirm for tool in box} == {"desk_add": False, "desk_whoami": True}


async def test_own_tools_come_first_and_keep_their_names() -> None:
    @tool
    def desk_add() -> str:
        """Add in my own way."""
        return "mine"

    async with borrowing([desk_add], [honest(tools=("add",))], SystemClock(), ()) as box:
        assert len(box) == 2
        assert box[0] is desk_add
        assert box[1].name.startswith("desk_add_")
        assert await box[1].call({"first": 1, "second": 1}) == "2"


async def test_wrong_arguments_and_errors_are_told_as_the_server_says_them() -> None:
    async with borrowed(honest()) as box:
        assert "first" in await refused(box, "desk_add", first="many", second=2)
        assert "fail" in await refused(box, "desk_fail")


async def test_arguments_that_are_no_object_are_told_before_the_server_is_asked() -> None:
    async with borrowed(honest(tools=("add",))) as box:
        with pytest.raises(ToolError, match="bad arguments for desk_add: Expected `object`, got `str`"):
            await box[0].call("20 and 22")  # pyright: ignore[reportArgumentType] - a model may send anything


async def test_a_server_sees_no_key_of_ours_and_what_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush")
    monkeypatch.setenv("NATS_CREDS", "hush")
    async with borrowed(honest(env={"LIBRARY": "here"})) as box:
        seen = (await use(box, "desk_whoami")).split()[1:]
    assert "LIBRARY" in seen
    assert "PATH" in seen
    assert not {"ANTHROPIC_API_KEY", "NATS_CREDS"} & set(seen)


async def test_a_command_of_a_team_file_is_started_beside_the_file_wherever_the_worker_runs(tmp_path: Path) -> None:
    (tmp_path / "server.py").symlink_to(HONEST[1])
    table = ServerTable(command=("python", "server.py"))
    async with borrowed(server("desk", table, tmp_path, ("add",))) as box:
        assert await use(box, "desk_add", first=20, second=22) == "42"


async def test_a_folder_that_is_not_there_is_why_the_server_is_not() -> None:
    async with borrowed(honest(cwd="/no/such/folder", timeout_s=0.2)) as box:
        with pytest.raises(ToolError, match=r"not there now: .*/no/such/folder"):
            await box.keepers[0].call("add", {})


async def test_an_image_is_named_and_not_dumped() -> None:
    async with borrowed(honest()) as box:
        said = await use(box, "desk_picture")
    assert said.startswith("a red dot\n[image, image/png, about 50")
    assert len(said) < 100


async def test_a_server_killed_in_mid_call_fails_that_call_and_is_started_again(tmp_path: Path) -> None:
    async with borrowed(honest()) as box:
        call = asyncio.create_task(refused(box, "desk_nap", seconds=600, noted_in=str(tmp_path / "pid")))
        pid = int(await text_in(tmp_path / "pid"))
        os.kill(pid, signal.SIGKILL)
        assert "died while this ran" in await call
        assert names(box), "its tools stay in sight while it is started again"
        assert await use(box, "desk_add", first=1, second=2) == "3"
        assert not (await use(box, "desk_whoami")).startswith(f"{pid} ")


async def test_a_server_killed_while_idle_is_started_again_before_the_next_call() -> None:
    async with borrowed(honest()) as box:
        pid = int((await use(box, "desk_whoami")).split()[0])
        os.kill(pid, signal.SIGKILL)
        await soon(lambda: not box.keepers[0].there)
        assert not (await use(box, "desk_whoami")).startswith(f"{pid} ")


async def test_a_call_that_takes_too_long_is_given_up_and_the_server_is_kept() -> None:
    async with borrowed(honest()) as box:
        pid = (await use(box, "desk_whoami")).split()[0]
        assert "longer than 0.3 s" in await hurried(box, "desk_nap", 0.3, seconds=600)
        assert (await use(box, "desk_whoami")).split()[0] == pid


async def test_a_server_that_is_stopped_altogether_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async with borrowed(honest()) as box:
        pid = int((await use(box, "desk_whoami")).split()[0])
        os.kill(pid, signal.SIGSTOP)
        monkeypatch.setattr(keeper, "LOOK_S", 0.2)
        assert "longer than 0.2 s" in await hurried(box, "desk_add", 0.2, first=1, second=1)
        await soon(lambda: not box.keepers[0].there)
        monkeypatch.setattr(keeper, "LOOK_S", LIMIT_S)
        await soon(lambda: not alive(pid))
        await soon(lambda: box.keepers[0].there)
        assert not (await use(box, "desk_whoami")).startswith(f"{pid} ")


async def test_much_output_comes_whole_and_too_much_is_refused_and_survived() -> None:
    async with borrowed(honest()) as box:
        assert len(await use(box, "desk_shout", characters=2_000_000)) == 2_000_000
        assert "died while this ran" in await refused(box, "desk_shout", characters=100_000_000)
        assert await use(box, "desk_add", first=1, second=1) == "2"


async def test_several_calls_at_once_share_a_server() -> None:
    async with borrowed(honest()) as box:
        sums = await asyncio.gather(*(use(box, "desk_add", first=n, second=n) for n in range(30)))
    assert sums == [str(2 * n) for n in range(30)]


async def test_a_server_ends_with_its_worker() -> None:
    async with borrowed(honest()) as box:
        pid = int((await use(box, "desk_whoami")).split()[0])
        assert alive(pid)
    assert not alive(pid)


async def test_a_server_that_does_not_start_is_said_to_be_away_and_its_tools_appear_when_it_does(
    tmp_path: Path,
) -> None:
    late = tmp_path / "late_server.py"
    server = ToolServer("desk", command=("python", str(late)))
    async with borrowed(server) as box:
        assert names(box) == []
        late.symlink_to(HONEST[1])
        await soon(lambda: "desk_add" in names(box))
        assert await use(box, "desk_add", first=2, second=2) == "4"


async def test_why_a_server_is_away_is_said_with_its_exit_code_and_its_own_last_words() -> None:
    server = ToolServer("desk", command=("python", "-c", "raise SystemExit('no licence found')"), timeout_s=0.2)
    async with borrowed(server) as box:
        with pytest.raises(ToolError, match="not there now: it ended with exit code 1: no licence found"):
            await box.keepers[0].call("add", {})


async def test_noise_behind_the_error_of_a_server_is_not_taken_for_the_reason() -> None:
    script = "echo 'Error: no licence found' >&2; echo 'INFO telemetry was flushed' >&2; echo 'Node.js v24' >&2; exit 3"
    async with borrowed(ToolServer("desk", command=("sh", "-c", script))) as box:
        assert box.trouble().endswith("is not there: it ended with exit code 3: Error: no licence found")


async def test_a_server_that_is_killed_is_said_to_be() -> None:
    script = "echo 'listening on stdio' >&2; kill -KILL $$"
    async with borrowed(ToolServer("desk", command=("sh", "-c", script))) as box:
        assert box.trouble().endswith("is not there: it was ended by SIGKILL")


async def test_a_command_that_does_not_exist_does_not_keep_the_worker_from_starting() -> None:
    async with borrowed(ToolServer("desk", command=("no-such-program-anywhere",))) as box:
        assert list(box) == []


async def test_a_server_that_says_nothing_holds_up_neither_the_start_nor_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(toolbox, "START_S", 0.2)
    silent = f"echo $$ > {tmp_path / 'pid'}; exec sleep 600"
    async with borrowed(ToolServer("desk", command=("sh", "-c", silent))) as box:
        assert names(box) == []
        pid = int(await text_in(tmp_path / "pid"))
    assert not alive(pid)


async def test_a_liar_lends_only_what_a_model_can_be_offered() -> None:
    async with borrowed(ToolServer("liar", command=LYING)) as box:
        lent = {tool.name: tool for tool in box}
        assert all(len(name) <= 64 and name.replace("_", "").isalnum() for name in lent)
        plain = [name for name in lent if not name.startswith(("liar_read_file_me_", "liar_nnnn"))]
        assert plain == ["liar_look", "liar_either", "liar_chatty", "liar_endless", "liar_nonsense"]
        assert len(lent) == len(plain) + 2
        assert lent["liar_look"].description == "Look."
        assert "oneOf" not in lent["liar_either"].schema
        assert len(lent["liar_chatty"].description) < 5_000
        dotted = next(name for name in lent if name.startswith("liar_read_file_me_"))
        assert '"name": "read.file me"' in await use(box, dotted, page=1)


async def test_a_list_of_tools_that_breaks_the_protocol_is_not_used_and_said_to_be_wrong() -> None:
    server = ToolServer("liar", command=(*LYING, "--broken"), timeout_s=0.2)
    async with borrowed(server) as box:
        assert names(box) == []
        with pytest.raises(ToolError, match=r"not there now: .*properties"):
            await box.keepers[0].call("look", {})


async def test_answers_that_are_not_valid_fail_the_call_and_nothing_else() -> None:
    async with borrowed(ToolServer("liar", command=LYING)) as box:
        assert "not valid" in await refused(box, "liar_nonsense")
        assert "died while this ran" in await refused(box, "liar_endless")
        assert '"page": 7' in await use(box, "liar_look", page=7)


async def test_a_server_behind_a_url_is_used_and_found_again_after_it_died(port: int, tmp_path: Path) -> None:
    server = ToolServer("desk", timeout_s=2 * LIMIT_S, url=f"http://127.0.0.1:{port}/mcp")
    async with borrowed(server) as box:
        assert names(box) == [], "nobody is there yet"
        with served_over_http(port, tmp_path / "first") as process:
            await soon(lambda: "desk_add" in names(box))
            assert await use(box, "desk_add", first=1, second=2) == "3"
            call = asyncio.create_task(refused(box, "desk_nap", seconds=600, noted_in=str(tmp_path / "pid")))
            await text_in(tmp_path / "pid")
            process.kill()
            assert "died while this ran" in await call
        with served_over_http(port, tmp_path / "second"):
            await until(lambda: answers(port))
            assert await use(box, "desk_add", first=2, second=2) == "4"


async def test_a_box_whose_servers_lend_all_that_is_named_has_no_trouble() -> None:
    async with borrowed(honest(tools=("add",))) as box:
        assert box.trouble() == ""


async def test_a_misspelled_tool_is_told_with_what_may_have_been_meant() -> None:
    async with borrowed(honest(tools=("add", "whoamy", "zebra"))) as box:
        assert "tool server 'desk' lends no 'whoamy' (did you mean 'whoami'?)" in box.trouble()
        assert "tool server 'desk' lends no 'zebra' (it has add, " in box.trouble()


async def test_a_server_that_does_not_start_is_told_with_the_reason() -> None:
    async with borrowed(ToolServer("shed", command=("no-such-program",))) as box:
        assert "tool server 'shed' is not there: " in box.trouble()
        assert "no-such-program" in box.trouble()
