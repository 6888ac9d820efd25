"""A handoff.toml that lies in the current folder names no address, path or code until a person trusts it."""

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.settings import Settings
from tests.cli.running import Here

EVIL = """\
from pathlib import Path

from actors import Team, Worker

Path("ran").touch()
team = Team("evil", workers=(Worker("eve", summary="Sees.", run=lambda handoff: "seen"),))
"""
NOWHERE = ("--nats", "nats://127.0.0.1:1", "--timeout", "0.1")
READING = (
    ("runs",),
    ("doctor",),
    ("workers",),
    ("teams",),
    ("dead",),
    ("show", "abcdef"),
    ("trace", "abcdef"),
    ("cancel", "abcdef"),
    ("approve", "abcdef"),
    ("inbox",),
)
STARTING = (("plan", "hi"), ("ask", "hi", "--no-start"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a team in Python that leaves a mark when it is imported."""
    (tmp_path / "evil.py").write_text(EVIL)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.fixture
def ran(place: Path) -> Callable[[], bool]:
    """Whether the team was imported since the last question."""

    def asked() -> bool:
        for name in [name for name in sys.modules if name == "evil"]:
            del sys.modules[name]
        there = (place / "ran").exists()
        (place / "ran").unlink(missing_ok=True)
        return there

    return asked


@pytest.mark.parametrize("key", ["team", "team_source"])
@pytest.mark.parametrize("command", [*READING, *STARTING], ids=lambda command: command[0])
def test_no_command_imports_a_team_that_an_untrusted_file_names(
    here: Here, place: Path, ran: Callable[[], bool], key: str, command: tuple[str, ...]
) -> None:
    (place / "handoff.toml").write_text(f'{key} = "evil.py:team"\n')
    ended = here(*command, *NOWHERE)
    assert not ran()
    assert key in ended.err
    assert "handoff trust" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", READING, ids=lambda command: command[0])
def test_a_reading_command_imports_no_team_even_of_a_trusted_file(
    here: Here, place: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    (place / "handoff.toml").write_text('team = "evil.py:team"\n')
    assert here("trust").code == 0
    here(*command, *NOWHERE)
    assert not ran()
    monkeypatch.setenv("HANDOFF_TEAM", "evil.py:team")
    here(*command, *NOWHERE)
    assert not ran()


def test_a_team_is_imported_after_the_file_that_names_it_was_trusted(
    here: Here, place: Path, ran: Callable[[], bool]
) -> None:
    (place / "handoff.toml").write_text('team = "evil.py:team"\n')
    here("ask", "hi", "--no-start", *NOWHERE)
    assert not ran()
    assert here("trust").code == 0
    here("ask", "hi", "--no-start", *NOWHERE)
    assert ran()


def test_a_team_that_is_named_on_the_command_line_is_trusted(here: Here, place: Path, ran: Callable[[], bool]) -> None:
    here("ask", "hi", "--no-start", "--team", "evil.py:team", *NOWHERE)
    assert ran()
    assert here("teams", "evil.py:team", "--json").data["name"] == "evil"
    assert ran()


def test_no_command_follows_the_address_of_an_untrusted_file(here: Here, place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        (place / "handoff.toml").write_text(f'nats_url = "nats://127.0.0.1:{server.getsockname()[1]}"\n')
        for command in (("runs",), ("ask", "hi", "--detach")):
            assert here(*command, "--timeout", "0.2").code == 3
            with pytest.raises(TimeoutError):
                server.accept()


def test_no_key_goes_to_an_address_of_an_untrusted_file(
    here: Here, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    (place / "handoff.toml").write_text('anthropic_base_url = "http://127.0.0.1:9"\n')

    def model() -> str:
        return next(check["found"] for check in here("doctor", "--json").data if check["name"] == "model")

    assert "127.0.0.1:9" not in model()
    here("trust")
    assert "127.0.0.1:9" in model()


def test_limits_of_an_untrusted_file_count(here: Here, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Settings] = []

    def supervisor(settings: Settings, _: object) -> int:
        seen.append(settings)
        return 0

    monkeypatch.setattr("actors.launcher.roles.supervisor", supervisor)
    (place / "handoff.toml").write_text('attempts = 7\nhome = "elsewhere"\nwebhook_url = "http://127.0.0.1:9"\n')
    ended = here("supervisor")
    assert (seen[0].attempts, seen[0].home_dir.name, seen[0].webhook_url) == (7, "home", "")
    assert "home" in ended.err
    assert "webhook_url" in ended.err
    assert "attempts" not in ended.err


def test_a_changed_file_must_be_trusted_again(here: Here, place: Path) -> None:
    file = place / "handoff.toml"
    file.write_text('team = "contract"\n')
    trusted = here("trust", "--json")
    assert trusted.data == {"file": str(file), "trusted": True, "settings": ["team"]}
    assert here("runs").err.count("handoff trust") == 0
    file.write_text('team = "support"\n')
    assert here("runs").err.count("handoff trust") == 1
    assert here("trust", "handoff.toml").code == 0
    assert "handoff trust" not in here("runs").err
    assert here("trust", "--revoke").code == 0
    assert "handoff trust" in here("runs").err


def test_a_copy_elsewhere_is_not_trusted(here: Here, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "handoff.toml").write_text('team = "contract"\n')
    here("trust")
    (place / "other").mkdir()
    (place / "other" / "handoff.toml").write_text('team = "contract"\n')
    monkeypatch.chdir(place / "other")
    assert "handoff trust" in here("runs").err


def test_a_variable_trusts_the_file_and_the_file_cannot_set_it(
    here: Here, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place / "handoff.toml"
    file.write_text('team = "contract"\n')
    monkeypatch.setenv("HANDOFF_TRUST", "1")
    assert "handoff trust" not in here("runs").err
    monkeypatch.setenv("HANDOFF_TRUST", "0")
    assert "handoff trust" in here("runs").err
    monkeypatch.setenv("HANDOFF_TRUST", "perhaps")
    assert here("runs").code == 2
    monkeypatch.delenv("HANDOFF_TRUST")
    for key in ("trust", "handoff_trust", "HANDOFF_TRUST"):
        file.write_text(f'{key} = true\nteam = "contract"\n')
        assert here("runs").code == 2


def test_a_store_that_others_can_write_trusts_nothing(here: Here, place: Path, home: Path) -> None:
    (place / "handoff.toml").write_text('team = "contract"\n')
    here("trust")
    (home / "trusted").chmod(0o777)
    assert "handoff trust" in here("runs").err


@pytest.mark.parametrize("text", ["attempts = = 3", 'colour = "red"'])
def test_a_file_with_faults_is_not_trusted(here: Here, place: Path, home: Path, text: str) -> None:
    (place / "handoff.toml").write_text(text)
    assert here("trust").code == 2
    assert not home.exists()


def test_without_a_file_there_is_nothing_to_trust(here: Here, home: Path) -> None:
    assert here("trust").code == 2
    assert not home.exists()


def test_what_is_trusted_is_shown_without_its_secrets(here: Here, place: Path) -> None:
    text = 'nats_url = "nats://user:hunter22@127.0.0.1:4222"\nanthropic_api_key = "sk-very-secret"\nteam = "contract"\n'
    (place / "handoff.toml").write_text(text)
    told = json.dumps(here("trust")._asdict())
    assert "127.0.0.1:4222" in told
    assert "contract" in told
    assert "hunter22" not in told
    assert "very-secret" not in told
