"""A program of a user: a worker with a tool, a client with a plan of its own, and every way it may end."""

import asyncio
import json
import sys

from actors import Answer, Client, Handoff, HandoffError, Outcome, Plan, Result, Run, Task, Worker, tool


@tool(effect=True)
async def order(product: str, pieces: int = 1) -> str:
    """Order pieces of a product."""
    return f"ordered {pieces} x {product}"


def count(handoff: Handoff) -> Outcome:
    return Outcome(output=str(len(handoff.intent)), confidence=1.0)


storekeeper = Worker("storekeeper", summary="Orders goods.", prompt="You order goods.", tools=[order])
counter = Worker("counter", summary="Counts letters.", run=count)


async def ask(text: str) -> Answer:
    async with Client() as client:
        plan = Plan(tasks=(Task(id="count", worker="counter", intent=text),))
        run: Run = await client.ask(text, plan=plan, synthesis=False, deadline_s=60.0, metadata={"user": "ada"})
        results = [event async for event in run.events() if isinstance(event, Result)]
        answer = await run.answer(timeout=60)
        return answer if results else await client.run(run.id).answer()


try:
    sys.stdout.write(json.dumps(asyncio.run(ask("How many letters?")).to_dict()))
except (HandoffError, TimeoutError) as error:
    sys.exit(str(error))
