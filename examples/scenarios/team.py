"""The workers of the scenarios. Functions, but for those whose model is scripted."""

import asyncio

from actors import Worker, tool
from protocol.messages import Handoff

FOR_EVER_S = 60.0


@tool
async def look_up(page: int) -> str:
    """Look up one page of the handbook.

    Args:
        page: which page
    """
    return f"page {page} says: see page {page + 1}"


async def _set(_: Handoff) -> str:
    return "max_connections is 200 now"


async def _figure(handoff: Handoff) -> str:
    await asyncio.sleep(0.2)
    return f"{handoff.to_agent} sold 7 bikes"


async def _slow(_: Handoff) -> str:
    await asyncio.sleep(FOR_EVER_S)
    return "too late"


async def _ledger(_: Handoff) -> str:
    return "Revenue of 2025 by the ledger: 41 million"


async def _press(_: Handoff) -> str:
    return "Revenue of 2025 by the press release: 44 million"


async def _nothing(_: Handoff) -> str:
    return ""


async def _judge(_: Handoff) -> str:
    return "1: the ledger (41 million), because it was audited"


engineer = Worker("engineer", summary="Fixes bugs in programs.", prompt="You fix bugs.")
reader = Worker("reader", summary="Reads the handbook page by page.", prompt="You read.", tools=[look_up])
ops = Worker("ops", summary="Changes the configuration of services.", run=_set)
north = Worker("north", summary="Knows the sales of the north.", run=_figure)
south = Worker("south", summary="Knows the sales of the south.", run=_figure)
east = Worker("east", summary="Knows the sales of the east.", run=_figure)
west = Worker("west", summary="Knows the sales of the west.", run=_figure)
center = Worker("center", summary="Takes very long.", run=_slow)
ledger = Worker("ledger", summary="Reads the ledger.", run=_ledger)
press = Worker("press", summary="Reads press releases.", run=_press)
searcher = Worker("searcher", summary="Searches the complaints.", run=_nothing)
judge = Worker("judge", summary="Decides who is right.", run=_judge)
