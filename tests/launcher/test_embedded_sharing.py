import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from actors.launcher import server
from actors.launcher.embedded import EmbeddedBus, find
from actors.settings import Settings
from tests.launcher.launching import Launcher, gone, store, stored, wait_until

pytestmark = pytest.mark.process


async def test_the_owner_knows_whether_others_use_it(settings: Settings) -> None:
    async with EmbeddedBus(settings) as owner:
        assert not owner.others_use_it()
        async with EmbeddedBus(settings) as user:
            assert not user.owned
            assert user.address == owner.address
            assert owner.others_use_it()
            assert not await owner.stop_if_unused()
        assert find(settings.home_dir) == owner.address
        assert await owner.stop_if_unused()
        assert find(settings.home_dir) is None


async def test_nobody_is_given_a_bus_that_is_about_to_stop(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    end, stopping, may_end = server.end, asyncio.Event(), asyncio.Event()

    async def end_later(process: asyncio.subprocess.Process) -> None:
        stopping.set()
        await may_end.wait()
        await end(process)

    monkeypatch.setattr(server, "end", end_later)
    async with EmbeddedBus(settings) as owner, asyncio.TaskGroup() as group:
        leaving = group.create_task(owner.stop_if_unused())
        await stopping.wait()
        newcomer = EmbeddedBus(settings)
        entering = group.create_task(newcomer.__aenter__())
        await asyncio.wait({entering}, timeout=0.2)
        assert find(settings.home_dir) is not None
        assert not entering.done()
        may_end.set()
        await entering
        assert newcomer.owned
        assert leaving.result()
        assert find(settings.home_dir) == newcomer.address
        await newcomer.stop()


@pytest.mark.parametrize("turn", range(4))
async def test_a_bus_that_one_leaves_while_another_comes_is_there_for_the_other(settings: Settings, turn: int) -> None:
    async with EmbeddedBus(settings) as owner:
        newcomer = EmbeddedBus(settings)
        entering = asyncio.create_task(newcomer.__aenter__())
        await asyncio.sleep(turn * 0.001)
        stopped = await owner.stop_if_unused()
        await entering
        assert newcomer.owned == stopped
        assert find(settings.home_dir) == newcomer.address
        await newcomer.stop()


def test_of_two_commands_at_once_one_starts_it_and_the_other_adopts_it(
    launch: Callable[..., Launcher],
) -> None:
    first, second = launch(), launch()
    seen = [first.look(), second.look()]
    assert sorted(one["owned"] for one in seen) == [False, True]
    assert seen[0]["url"] == seen[1]["url"]
    assert seen[0]["bus"] == seen[1]["bus"]


async def test_after_the_death_of_its_owner_the_next_command_starts_it_anew(
    settings: Settings, launch: Callable[..., Launcher]
) -> None:
    launcher = launch()
    before = launcher.look()
    await store(before["url"], "kept")
    launcher.process.kill()
    launcher.process.wait()
    assert wait_until(lambda: find(settings.home_dir) is None)
    async with EmbeddedBus(settings) as bus:
        assert bus.owned
        assert gone(before["bus"])
        assert await stored(bus.address.url) == "kept"


async def test_no_second_server_is_started_on_a_store_while_the_first_still_ends(
    settings: Settings, launch: Callable[..., Launcher]
) -> None:
    launcher = launch()
    pid = launcher.look()["bus"]
    os.kill(pid, signal.SIGSTOP)  # now it can neither answer nor end
    launcher.process.kill()
    launcher.process.wait()
    newcomer = EmbeddedBus(settings)
    entering = asyncio.create_task(newcomer.__aenter__())
    await asyncio.wait({entering}, timeout=1)
    still_waiting = not entering.done()
    os.kill(pid, signal.SIGCONT)
    await entering
    assert still_waiting
    assert gone(pid)
    assert newcomer.owned
    await newcomer.stop()
