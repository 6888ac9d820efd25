import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import uvloop
from waiting import LIMIT_S

from actors.launcher.backoff import Backoff
from actors.launcher.processes import ActorSpec, Fleet
from protocol.errors import HandoffError, InvalidError
from tests.launcher.launching import Events, Launcher, gone, wait_until

pytestmark = pytest.mark.process

AGES_S = 3600.0


@pytest.fixture
async def fleet(events: Events) -> AsyncIterator[Fleet]:
    async with Fleet(on_event=events) as fleet:
        yield fleet


def actor(entry: str, *args: object, name: str = "worker a") -> ActorSpec:
    return ActorSpec(name=name, entry=f"tests.launcher.fleet_actors:{entry}", args=args)


async def ready(marks: Path, *names: str) -> list[int]:
    """The pids of actors once they are ready; their marks are taken away, for the next life."""
    pids: list[int] = []
    for name in names:
        assert await asyncio.to_thread(wait_until, (marks / name).exists)
        pids.append(int((marks / name).read_text().split()[0]))
        (marks / name).unlink()
    return pids


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").decode()


async def test_actors_are_processes_of_their_own(fleet: Fleet, marks: Path) -> None:
    names = [f"worker {letter}" for letter in "abcde"]
    started = await asyncio.gather(*(fleet.start(actor("idle", marks, name, name=name)) for name in names))
    assert await ready(marks, *names) == started
    assert fleet.pids() == dict(zip(names, started, strict=True))
    assert len({os.getpid(), *started}) == 6


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads /proc")
async def test_an_actor_bears_its_name_and_leads_its_own_session(fleet: Fleet, marks: Path) -> None:
    pid = await fleet.start(actor("idle", marks, "a", name="worker researcher"))
    await ready(marks, "a")
    assert command_line(pid) == "handoff worker researcher"
    assert os.getsid(pid) == pid


async def test_a_killed_actor_comes_back_with_another_pid(fleet: Fleet, marks: Path, events: Events) -> None:
    first = await fleet.start(actor("idle", marks, "a"))
    await ready(marks, "a")
    os.kill(first, signal.SIGKILL)
    assert await events.until("died", "worker a") == (first, "killed by SIGKILL")
    assert fleet.pids() == {}
    second, _ = await events.until("restarted", "worker a")
    assert second != first
    assert await ready(marks, "a") == [second]
    assert fleet.pids() == {"worker a": second}


@pytest.mark.parametrize("code", [0, 1])
async def test_an_actor_that_ends_unasked_is_started_again(fleet: Fleet, events: Events, code: int) -> None:
    begun = time.monotonic()
    await fleet.start(actor("end", code))
    await events.until("restarted", "worker a", count=2)
    assert time.monotonic() - begun >= 0.6
    assert events.kinds("worker a")[:4] == ["started", "died", "restarted", "died"]
    assert {detail for kind, _, _, detail in events.seen if kind == "died"} == {f"exit code {code}"}


@pytest.mark.parametrize("entry", ["tests.launcher.fleet_actors:nothing", "no_such_module:main", "no_function", ":"])
async def test_an_actor_that_cannot_be_loaded_is_given_up(fleet: Fleet, events: Events, entry: str) -> None:
    pid = await fleet.start(ActorSpec(name="worker a", entry=entry))
    told, detail = await events.until("gave_up", "worker a")
    assert (told, detail) == (pid, "exit code 2: it cannot work as it was started")
    await fleet.stop(1)
    assert events.kinds("worker a") == ["started", "gave_up"]
    assert fleet.pids() == {}


async def test_wrong_usage_is_given_up_and_the_others_go_on(fleet: Fleet, marks: Path, events: Events) -> None:
    await fleet.start(actor("end", 2, name="wrong"))
    pid = await fleet.start(actor("idle", marks, "a"))
    await events.until("gave_up", "wrong")
    assert fleet.pids() == {"worker a": pid}


async def test_all_stop_within_the_grace_period(fleet: Fleet, marks: Path, events: Events) -> None:
    names = ["a", "b", "c"]
    pids = [await fleet.start(actor("idle", marks, name, name=name)) for name in names]
    await ready(marks, *names)
    await fleet.stop(LIMIT_S)
    assert all(gone(pid) for pid in pids)
    assert fleet.pids() == {}
    assert {detail for kind, _, _, detail in events.seen if kind == "stopped"} == {"exit code 0"}


async def test_an_actor_that_does_not_stop_is_killed_after_the_grace_period(
    fleet: Fleet, marks: Path, events: Events
) -> None:
    pid = await fleet.start(actor("deaf", marks, "a"))
    await ready(marks, "a")
    begun = time.monotonic()
    await fleet.stop(0.3)
    assert time.monotonic() - begun >= 0.3
    assert gone(pid)
    assert events.seen[-1] == ("stopped", "worker a", pid, "killed by SIGKILL")


@pytest.mark.parametrize("now", [True, False])
async def test_the_second_stop_does_not_wait(fleet: Fleet, marks: Path, now: bool) -> None:
    pid = await fleet.start(actor("deaf", marks, "a"))
    await ready(marks, "a")
    first = asyncio.create_task(fleet.stop(AGES_S))
    await asyncio.sleep(0)
    async with asyncio.timeout(LIMIT_S):
        await fleet.stop(AGES_S, now=now)
        await first
    assert gone(pid)


async def test_a_stop_ends_the_wait_for_a_restart(
    fleet: Fleet, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ages(_: Backoff, lived_s: float) -> float:
        return AGES_S

    monkeypatch.setattr(Backoff, "after", ages)
    await fleet.start(actor("end", 1))
    await events.until("died", "worker a")
    async with asyncio.timeout(LIMIT_S):
        await fleet.stop(AGES_S)
    assert events.kinds("worker a")[-1] == "died"


async def test_an_actor_that_is_being_started_is_stopped_too(fleet: Fleet, marks: Path) -> None:
    starting = asyncio.create_task(fleet.start(actor("deaf", marks, "a")))
    await asyncio.sleep(0)
    await fleet.stop(now=True)
    assert gone(await starting)


async def test_nobody_is_left_when_the_fleet_is_left_by_an_error(marks: Path) -> None:
    pids: list[int] = []

    async def fail() -> None:
        async with Fleet() as fleet:
            pids.append(await fleet.start(actor("deaf", marks, "a")))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert gone(pids[0])


async def test_a_cancelled_start_leaves_nobody_behind(marks: Path) -> None:
    async with Fleet() as fleet:
        starting = asyncio.create_task(fleet.start(actor("idle", marks, "a")))
        await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        (pid,) = await ready(marks, "a")
        assert fleet.pids() == {"worker a": pid}
    assert gone(pid)


async def test_what_actors_write_goes_to_their_logs(tmp_path: Path, marks: Path) -> None:
    async with Fleet(logs=tmp_path / "logs") as fleet:
        await fleet.start(actor("talk", marks, "a", name="worker ../a"))
        await ready(marks, "a")
        await fleet.stop(5)
    assert (tmp_path / "logs" / "worker-a.log").read_text() == "said on stdout\nsaid on stderr\n"


async def test_the_reason_why_it_cannot_be_loaded_is_in_the_log(tmp_path: Path, events: Events) -> None:
    async with Fleet(logs=tmp_path, on_event=events) as fleet:
        await fleet.start(ActorSpec(name="a", entry="no_such_module:main"))
        await events.until("gave_up", "a")
    assert (tmp_path / "a.log").read_text() == (
        "no_such_module:main cannot be loaded: No module named 'no_such_module'\n"
    )


async def test_two_actors_of_one_name_are_refused(fleet: Fleet, marks: Path) -> None:
    await fleet.start(actor("idle", marks, "a"))
    with pytest.raises(InvalidError, match="named 'worker a' already"):
        await fleet.start(actor("idle", marks, "a"))


async def test_nothing_is_started_after_the_stop(fleet: Fleet, marks: Path) -> None:
    await fleet.stop(1)
    with pytest.raises(HandoffError, match="stopping"):
        await fleet.start(actor("idle", marks, "a"))


async def test_arguments_that_cannot_be_sent_are_refused_at_once(fleet: Fleet) -> None:
    with pytest.raises((AttributeError, TypeError), match="pickle"):
        await fleet.start(actor("end", lambda: 0))
    assert fleet.pids() == {}


async def test_when_the_fork_server_dies_no_actor_is_there_twice(fleet: Fleet, marks: Path, events: Events) -> None:
    first = await fleet.start(actor("deaf", marks, "a"))
    assert await asyncio.to_thread(wait_until, (marks / "a").exists)
    fork_server = int((marks / "a").read_text().split()[1])
    (marks / "a").unlink()
    os.kill(fork_server, signal.SIGKILL)
    await events.until("died", "worker a")
    await events.until("restarted", "worker a")
    assert gone(first)
    (second,) = await ready(marks, "a")
    assert second != first


def test_it_works_on_uvloop_too(marks: Path) -> None:
    async def live() -> None:
        events = Events()
        async with Fleet(on_event=events) as fleet:
            os.kill(await fleet.start(actor("idle", marks, "a")), signal.SIGKILL)
            await events.until("restarted", "worker a")
            await ready(marks, "a")
            await fleet.stop(5)
        assert events.seen[-1][3] == "exit code 0"

    uvloop.run(live())


def test_when_the_launcher_is_killed_nothing_is_left(launch: Callable[..., Launcher], marks: Path) -> None:
    launcher = launch("idle", "deaf")
    seen = launcher.look()
    assert wait_until(lambda: (marks / "idle").exists() and (marks / "deaf").exists())
    assert (marks / "launched").read_text() == "once\n"  # the actors have not run the launcher's program again
    fork_server = int((marks / "idle").read_text().split()[1])
    launcher.process.kill()
    pids = [*seen["pids"].values(), seen["bus"], fork_server]
    assert wait_until(lambda: all(gone(pid) for pid in pids))


def test_what_is_typed_at_the_terminal_reaches_only_the_launcher(launch: Callable[..., Launcher], marks: Path) -> None:
    launcher = launch("idle")
    assert wait_until((marks / "launched").exists)
    os.killpg(launcher.process.pid, signal.SIGINT)  # the fork server is still importing
    before = launcher.look()
    assert wait_until((marks / "idle").exists)
    os.killpg(launcher.process.pid, signal.SIGINT)
    assert launcher.look() == before
    assert launcher.close() == 0
    assert wait_until(lambda: all(gone(pid) for pid in [*before["pids"].values(), before["bus"]]))


async def test_what_others_lean_on_is_stopped_after_them(tmp_path: Path) -> None:
    ends: list[str] = []

    def note(kind: str, name: str, pid: int, detail: str) -> None:
        if kind == "stopped":
            ends.append(name)

    entry = "tests.launcher.fleet_actors:idle"
    async with Fleet(on_event=note) as fleet:
        for name in ("model", "one", "two"):
            await fleet.start(ActorSpec(name=name, entry=entry, args=(tmp_path, name), last=name == "model"))
        await fleet.stop(5.0)
    assert ends[-1] == "model"
    assert sorted(ends) == ["model", "one", "two"]
