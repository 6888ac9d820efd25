"""Workers that tests start as processes of their own."""

import asyncio
import os
import sys
import time
from pathlib import Path

from actors import Outcome, ToolServer, Worker, tool
from protocol.errors import DeclinedError
from protocol.messages import Fault, Handoff

FOR_EVER_S = 3600.0
"""Longer than any test waits: what takes so long ends only because it was stopped."""


async def _nap(handoff: Handoff) -> str:
    await asyncio.sleep(float(handoff.intent))
    return str(os.getpid())


async def _opened(gate: str) -> None:
    """Wait until the test makes a file of that name."""
    while not Path(gate).exists():  # noqa: ASYNC240  a look at a file
        await asyncio.sleep(0.02)


async def _gated(handoff: Handoff) -> str:
    await _opened(handoff.intent.split()[-1])
    return "the gate is open"


async def _decline_gated(handoff: Handoff) -> str:
    await _opened(handoff.intent.split()[-1])
    raise DeclinedError("not my kind of work")


async def _marked_nap(handoff: Handoff) -> str:
    _mark(f"nap.{os.getpid()}")
    return await _nap(handoff)


async def _echo(handoff: Handoff) -> str:
    return handoff.intent + "".join(f"<{part.task}:{part.output}>" for part in handoff.context)


async def _noop(handoff: Handoff) -> str:
    return "ok"


def _fail(handoff: Handoff) -> Outcome:
    return Outcome(error=Fault(kind="broken", message="it is broken", retryable=False))


def _decline(handoff: Handoff) -> str:
    raise DeclinedError("not my kind of work")


def _big(handoff: Handoff) -> str:
    return "x" * 700_000


def _suicide(handoff: Handoff) -> str:
    os._exit(1)


def _picky(handoff: Handoff) -> Outcome:
    if "per" in handoff.intent:
        return Outcome(output="seven per crate")
    return Outcome(error=Fault(kind="unclear", message="say per what", retryable=True))


async def _judge(handoff: Handoff) -> str:
    await asyncio.sleep(1.0)
    return "1: She goes, f is newer."


def _mark(name: str) -> None:
    """Leave a trace that a test can see."""
    Path(name).touch()


def _block(handoff: Handoff) -> str:
    _mark("block.began")
    time.sleep(FOR_EVER_S)
    return "too late"


@tool
async def wait_long() -> str:
    """Wait for a long time."""
    _mark("ponder.began")
    try:
        await asyncio.sleep(FOR_EVER_S)
    finally:
        _mark("ponder.ended")
    return "too late"


@tool
def dig_long() -> str:
    """Dig for a long time, in a thread."""
    _mark("dig.began")
    time.sleep(FOR_EVER_S)
    return "too late"


@tool
async def look_up(page: int) -> str:
    """Look up one page of the book.

    Args:
        page: which page
    """
    return f"page {page} says {page * 7}"


@tool(confirm=True)
async def send_note(to: str, text: str) -> str:
    """Send a note; what was really sent is in notes.txt.

    Args:
        to: who gets it
        text: what it says
    """
    with Path("notes.txt").open("a") as notes:  # noqa: ASYNC230  a line
        notes.write(f"{to}: {text}\n")
    return f"sent to {to}"


@tool
def open_safe(number: int) -> str:
    """Open a safe.

    Args:
        number: which safe
    """
    found = f"in safe {number} lies {os.environ.get('CANARY', 'nothing')}"
    if number == 2:
        raise ValueError(found)
    return found


def _leaky(handoff: Handoff) -> str:
    key = os.environ.get("ANTHROPIC_API_KEY", "")
    raise RuntimeError(f"cannot log in with {key} at nats://me:{os.environ.get('CANARY', '')}@host")


nap = Worker("nap", summary="Sleeps.", run=_nap, concurrency=4)
gated = Worker("gated", summary="Waits for a file of the test.", run=_gated)
reluctant = Worker("reluctant", summary="Declines once a file of the test is there.", run=_decline_gated)
marked_nap = Worker("marked_nap", summary="Sleeps, and says so in a file.", run=_marked_nap, concurrency=4)
echo = Worker("echo", summary="Repeats.", run=_echo)
noop = Worker("noop", summary="Does nothing.", run=_noop, concurrency=64)
fail = Worker("fail", summary="Fails.", run=_fail)
decline = Worker("decline", summary="Declines.", run=_decline)
big = Worker("big", summary="Says much.", run=_big)
suicide = Worker("suicide", summary="Dies.", run=_suicide)
picky = Worker("picky", summary="Counts, if asked precisely.", run=_picky)
leaky = Worker("leaky", summary="Cannot keep a secret.", run=_leaky)
keeper = Worker("keeper", summary="Opens safes with open_safe.", prompt="You open safes.", tools=[open_safe])
weak = Worker("weak", summary="Cannot.", run=_fail, fallback="echo")
reader = Worker("reader", summary="Reads the book with look_up, page by page.", prompt="You read.", tools=[look_up])
desk = ToolServer("desk", command=(sys.executable, str(Path(__file__).parents[1] / "toolservers" / "honest_server.py")))
clerk = Worker("clerk", summary="Works with what the desk lends.", prompt="You work.", mcp=[desk])
shed = ToolServer("shed", command=("no-such-program",))
lender = Worker("lender", summary="Works with what the shed lends.", prompt="You work.", mcp=[shed])
courier = Worker("courier", summary="Sends notes.", prompt="You send notes.", tools=[send_note])
counsel = Worker("counsel", summary="Knows the law.", person=True)
judge = Worker("judge", summary="Decides who is right.", run=_judge)
block = Worker("block", summary="Blocks its thread.", run=_block)
ponder = Worker("ponder", summary="Waits.", prompt="You wait.", tools=[wait_long])
dig = Worker("dig", summary="Digs.", prompt="You dig.", tools=[dig_long])
