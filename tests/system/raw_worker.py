"""A worker written from docs/PROTOCOL.md alone, with nats-py and json: no import of ours."""

# nats-py leaves some parameters untyped:
# pyright: reportUnknownMemberType=false

import asyncio
import json
import sys

import nats
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.errors import APIError

TEAM, WORKER, INSTANCE = "default", "shouter", "raw-1"


async def main(url: str) -> None:
    nc = await nats.connect(url)
    js = nc.jetstream()
    await js.add_consumer(
        "HANDOFF_RUNS",
        ConsumerConfig(
            durable_name=f"{TEAM}-{WORKER}",
            filter_subject=f"handoff.run.*.task.{TEAM}.{WORKER}.>",
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=5,
            max_ack_pending=10_000,
        ),
    )
    card = {"worker": WORKER, "instance": INSTANCE, "summary": "Shouts what it is told.", "capacity": 1}

    async def beat() -> None:
        while True:
            await nc.publish(f"$KV.handoff_workers.{TEAM}.{WORKER}.{INSTANCE}", json.dumps(card).encode())
            await asyncio.sleep(2)

    beats = asyncio.create_task(beat())
    queue = await js.pull_subscribe_bind(f"{TEAM}-{WORKER}", "HANDOFF_RUNS")
    while not beats.done():
        try:
            messages = await queue.fetch(1, timeout=1)
        except TimeoutError:
            continue
        for message in messages:
            handoff = json.loads(message.data)
            told = [handoff["intent"], *(part["output"] for part in handoff["context"])]
            result = {
                "run": handoff["run"],
                "task": handoff["task"],
                "attempt": handoff["attempt"],
                "worker": WORKER,
                "instance": INSTANCE,
                "status": "completed",
                "output": " ".join(told).upper(),
            }
            try:
                headers = {"Nats-Expected-Last-Subject-Sequence": "0"}
                await js.publish(handoff["return_to"], json.dumps(result).encode(), headers=headers)
            except APIError as error:
                if error.err_code != 10071:
                    raise
            await message.ack()


asyncio.run(main(sys.argv[1]))
