"""Workers whose tools leave traces in the working directory; a file `hold` keeps a call from coming back."""

import os
import time
from pathlib import Path

from actors import CallKey, Worker, tool
from actors.tools.messages import Message, send

HOLD_S = 60.0


def _come_back_unless_held() -> None:
    until = time.monotonic() + HOLD_S
    while Path("hold").exists() and time.monotonic() < until:
        time.sleep(0.01)


@tool(effect=True, timeout_s=HOLD_S)
def page(text: str, key: CallKey) -> str:
    """Page somebody.

    Args:
        text: what to say
    """
    told = send(Message(key=key, to="on-call", subject="Page", text=text), Path("outbox"), "")
    _come_back_unless_held()
    return told


@tool(effect=True, timeout_s=HOLD_S)
def shout(text: str) -> str:
    """Shout, without a key to know by whether it was done.

    Args:
        text: what to shout
    """
    with Path("shouts").open("a") as shouts:
        shouts.write(f"{text}\n")
    _come_back_unless_held()
    return "shouted"


@tool
def jump(text: str) -> str:
    """End the whole process.

    Args:
        text: last words
    """
    with Path("jumps").open("a") as jumps:
        jumps.write(f"{text}\n")
    os._exit(1)


@tool
async def doze(text: str) -> str:
    """Block the whole worker, as an async function must not.

    Args:
        text: last words
    """
    with Path("naps").open("a") as naps:  # noqa: ASYNC230
        naps.write(f"{text}\n")
    time.sleep(HOLD_S)  # noqa: ASYNC251
    return "rested"


pager = Worker("pager", summary="Pages people.", prompt="You page.", tools=[page])
shouter = Worker("shouter", summary="Shouts.", prompt="You shout.", tools=[shout])
jumper = Worker("jumper", summary="Jumps.", prompt="You jump.", tools=[jump])
dozer = Worker("dozer", summary="Dozes.", prompt="You doze.", tools=[doze])
