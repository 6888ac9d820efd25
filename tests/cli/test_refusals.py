"""What cannot work is refused at once, in words, and nothing is started for it."""

import socket
from pathlib import Path

import pytest

from actors import teams
from tests.cli.running import Here, plan_json, task


def refused(here: Here, home: Path, *arguments: str, stdin: bytes = b"") -> str:
    ended = here(*arguments, stdin=stdin)
    assert (ended.code, ended.out) == (2, "")
    assert not home.exists(), "something was started"
    assert "Traceback" not in ended.err
    return ended.err


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_request(here: Here, home: Path, text: str) -> None:
    assert "Say what you want" in refused(here, home, "ask", text)
    assert "Say what you want" in refused(here, home, "plan", text)


def test_nothing_on_standard_input(here: Here, home: Path) -> None:
    assert "Nothing came on standard input" in refused(here, home, "ask", "-", stdin=b" \n")


def test_a_request_comes_from_standard_input_if_none_is_given(here: Here, home: Path) -> None:
    for command in ("ask", "plan"):
        assert "the limit is" in refused(here, home, command, stdin=b"x" * 2_000_000)
        assert "UTF-8" in refused(here, home, command, stdin=b"\xff\xfe")
        assert "Say what you want" in refused(here, home, command, stdin=b" \n")


def test_two_megabytes(here: Here, home: Path) -> None:
    assert "the limit is" in refused(here, home, "ask", "-", stdin=b"x" * 2_000_000)


@pytest.mark.parametrize("text", ["-", "\udcff"])
def test_bytes_that_are_no_text(here: Here, home: Path, text: str) -> None:
    assert "UTF-8" in refused(here, home, "ask", text, stdin=b"\xff\xfe")


def test_tasks_that_wait_for_each_other(here: Here, home: Path) -> None:
    plan = plan_json(task("a", "researcher", "b"), task("b", "researcher", "a"))
    assert "in a circle: " in refused(here, home, "ask", "--plan", "-", stdin=plan.encode())


def test_a_plan_with_many_faults_tells_them_all(here: Here, home: Path) -> None:
    plan = plan_json(task("a", "researcher", "nope"), task("a", "re searcher"), task("c", "analyst", intent=" "))
    said = refused(here, home, "ask", "--plan", "-", stdin=plan.encode())
    assert len(said.splitlines()) == 4
    assert all(line.startswith("handoff: ") for line in said.splitlines())


def test_a_plan_for_a_worker_that_nobody_knows(here: Here, home: Path) -> None:
    plan = plan_json(task("a", "poet"), task("b", "researcher"), task("c", "painter"))
    said = refused(here, home, "ask", "--plan", "-", stdin=plan.encode())
    assert "'poet'" in said
    assert "'painter'" in said
    assert "known: analyst, researcher, reviewer, writer" in said


def test_a_plan_that_is_not_there(here: Here, home: Path, tmp_path: Path) -> None:
    assert "No such file" in refused(here, home, "ask", "--plan", "nope.json")
    assert "Is a directory" in refused(here, home, "ask", "--plan", str(tmp_path))
    assert "both" in refused(here, home, "ask", "-", "--plan", "-")


def test_a_team_that_does_not_exist(here: Here, home: Path) -> None:
    assert f"the teams are: {', '.join(teams.names())}" in refused(here, home, "ask", "hi", "--team", "nope")
    assert "did you mean 'contract'?" in refused(here, home, "ask", "hi", "--team", "contrct")
    assert "did you mean 'contract'?" in refused(here, home, "teams", "contrct")
    assert "not a valid id" in refused(here, home, "ask", "hi", "--team", "no pe")
    assert f"the teams are: {', '.join(teams.names())}" in refused(here, home, "up", "--team", "nope")


def test_data_that_is_no_folder(here: Here, home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is not a folder" in refused(here, home, "ask", "hi", "--data", "file")
    assert "does not exist" in refused(here, home, "up", "--data", "nope")


def test_settings_that_cannot_be(here: Here, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDOFF_ATTEMPTS", "many")
    (tmp_path / "handoff.toml").write_text("colour = 'red'\n")
    said = refused(here, home, "runs")
    assert "attempts" in said
    assert "colour" in said
    assert "--deadline" in refused(here, home, "ask", "hi", "--deadline", "0")


@pytest.mark.parametrize("url", ["nats://127.0.0.1:99999", "nats://", "nats://[::1"])
def test_an_address_that_is_none(here: Here, home: Path, url: str) -> None:
    assert "not one" in refused(here, home, "runs", "--nats", url)


def test_a_port_that_is_taken(here: Here) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        for command in ("up", "model"):
            ended = here(command, "--port", port)
            assert ended.code == 2
            assert f"port {port} of 127.0.0.1 is taken" in ended.err


def test_a_home_that_cannot_be_written(here: Here, home: Path) -> None:
    home.write_text("a file")
    for arguments in (("ask", "hi"), ("up",)):
        ended = here(*arguments)
        assert ended.code == 2
        assert "HANDOFF_HOME" in ended.err
    doctor = here("doctor", "--json")
    assert doctor.code == 1
    assert [check["state"] for check in doctor.data if check["name"] == "home"] == ["fail"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "hi"),
        ("plan", "hi"),
        ("up",),
        ("runs",),
        ("workers",),
        ("show", "abcdef"),
        ("dead",),
        ("teams",),
        ("doctor",),
    ],
)
def test_a_bus_that_does_not_answer(here: Here, arguments: tuple[str, ...]) -> None:
    ended = here(*arguments, "--nats", "nats://user:secret@127.0.0.1:1", "--timeout", "0.2")
    assert ended.code == 3
    assert "nats://127.0.0.1:1" in ended.err + ended.out
    assert "secret" not in ended.err + ended.out


@pytest.mark.parametrize("arguments", [("runs",), ("ask", "hi", "--detach"), ("ask", "hi", "--no-start"), ("dead",)])
def test_no_bus_at_all(here: Here, home: Path, arguments: tuple[str, ...]) -> None:
    ended = here(*arguments)
    assert ended.code == 3
    assert "no bus is running" in ended.err
    assert not home.exists()


def test_without_a_bus_the_doctor_warns_and_the_teams_are_told(here: Here) -> None:
    doctor = here("doctor", "--json")
    assert doctor.code == 0
    assert {check["name"]: check["state"] for check in doctor.data}["bus"] == "warn"
    assert "handoff up" in here("doctor").out
    assert [team["name"] for team in here("teams", "--json").data] == teams.names()
    assert "researcher" in here("teams").out


def test_without_a_bus_there_is_no_address_to_show(here: Here) -> None:
    ended = here("doctor", "--show-address")
    assert (ended.code, ended.out) == (3, "")
    shown = here("doctor", "--show-address", "--nats", "nats://a:b@127.0.0.1:4222,nats://127.0.0.1:4223")
    assert shown.out == "export NATS_URL=nats://a:b@127.0.0.1:4222,nats://127.0.0.1:4223\n"


def test_the_doctor_looks_whether_somebody_listens_at_the_address_of_the_model(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model() -> tuple[str, bool]:
        check = next(check for check in here("doctor", "--json").data if check["name"] == "model")
        return check["state"], "nobody listens there" in check["advice"]

    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert model() == ("ok", False)
    assert model() == ("warn", True)


def test_dead_letters_are_put_back_by_number_or_all(here: Here) -> None:
    assert here("dead", "redrive").code == 2
    assert here("dead", "redrive", "1", "--all").code == 2
