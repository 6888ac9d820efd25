"""A program for a terminal: an empty inbox on the in-memory bus; a handoff arrives at SIGUSR1."""

import asyncio
import contextlib
import signal
import sys

from actors.bus.memory import MemoryBus, MemoryServer
from actors.cli.typed_lines import typed_lines
from actors.clock import SystemClock
from actors.settings import Settings
from tests.cli.test_inbox_talk import Room


async def main() -> None:
    room = Room(MemoryBus(MemoryServer(Settings(), SystemClock())), is_terminal=True)
    signalled = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, signalled.set)

    async def arrive() -> None:
        await signalled.wait()
        await room.hand_out("report")
        await room.talk.refresh()

    with typed_lines(is_terminal=True) as lines:
        await room.talk.begin()
        async with asyncio.TaskGroup() as group:
            group.create_task(arrive())
            with contextlib.suppress(EOFError):
                await room.talk.serve(lines, room.change)
    sys.stdout.write(f"outcome: {await room.outcome('report')}\n")


if __name__ == "__main__":
    asyncio.run(main())
