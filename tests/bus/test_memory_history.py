"""Compare-and-set in memory: any interleaving of two writers, whatever gets lost, gives one linear history."""

import asyncio
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock, times
from actors.bus.port import Stored
from actors.settings import Settings
from protocol import streams, subjects
from protocol.errors import ConflictError

LOG = subjects.log("ab" * 16)

Move = Literal["look", "append", "append unknown", "cut", "mend", "restart", "wait"]
MOVES: tuple[Move, ...] = ("look", "append", "append unknown", "cut", "mend", "restart", "wait")

Script = list[tuple[int, Move]]


class Writer:
    """A process that appends to the log, expecting what it saw there when it last looked."""

    def __init__(self, server: MemoryServer, number: int) -> None:
        self.bus = MemoryBus(server, f"writer{number}")
        self.seen = 0
        self.appends: list[tuple[bytes, int, asyncio.Future[int]]] = []
        self._number = number

    def look(self, server: MemoryServer) -> None:
        """Take what stands there as its own starting point."""
        found = server.stream(streams.RUNS).last([LOG])
        self.seen = found[0].seq if found else 0

    async def append(self) -> None:
        """Send one more, without waiting for the answer."""
        data = f"{self._number}/{len(self.appends)}".encode()
        answer = await self.bus.send(LOG, data, expect=self.seen)
        self.appends.append((data, self.seen, answer))


async def play(script: Script) -> tuple[list[Stored], list[Writer]]:
    """Run a script of two writers to its end, when everything has been answered."""
    clock = VirtualClock()
    server = MemoryServer(Settings(), clock)
    writers = [Writer(server, 0), Writer(server, 1)]
    for number, move in script:
        await make(move, writers[number], server, clock)
    for writer in writers:
        writer.bus.back()
    await clock.advance(60)
    return await writers[0].bus.read(streams.RUNS, LOG), writers


async def make(move: Move, writer: Writer, server: MemoryServer, clock: VirtualClock) -> None:
    """One move of one writer, or of the world around it."""
    match move:
        case "look":
            writer.look(server)
        case "append":
            await writer.append()
        case "append unknown":
            server.unknown_publishes = times(1)
            await writer.append()
        case "cut":
            writer.bus.lost()
        case "mend":
            writer.bus.back()
        case "restart":
            server.restart()
        case "wait":
            await clock.advance(0.4)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(MOVES)), max_size=40))
def test_any_interleaving_of_two_writers_gives_one_linear_history(script: Script) -> None:
    history, writers = asyncio.run(play(script))
    accepted: dict[int, tuple[bytes, int]] = {}
    refused: set[bytes] = set()
    for writer in writers:
        for data, expected, answer in writer.appends:
            assert answer.done()
            error = answer.exception()
            if error is None:
                accepted[answer.result()] = (data, expected)
            else:
                assert isinstance(error, ConflictError)
                refused.add(data)
    assert {m.seq: m.data for m in history} == {seq: data for seq, (data, _) in accepted.items()}
    assert not refused & {m.data for m in history}
    before = 0
    for message in history:
        assert accepted[message.seq][1] == before
        before = message.seq


def test_the_scripts_reach_both_outcomes() -> None:
    script: Script = [(0, "append unknown"), (1, "append"), (1, "look"), (1, "append"), (0, "wait")]
    history, (first, second) = asyncio.run(play(script))
    assert [m.data for m in history] == [b"0/0", b"1/1"]
    assert [answer.exception() is None for _, _, answer in first.appends + second.appends] == [True, False, True]
