"""The thin round trip: the cheapest durable task we know how to do on nats-py, with nothing of ours in it.

One stream is queue and journal. The asker stores a task; a worker process pulls it, stores a result, and acks the task
once the result is stored; the asker sees the result republished after it was stored. No validation, no retries, no
recovery.
"""

# nats-py leaves some parameters untyped:
# pyright: reportUnknownMemberType=false

import asyncio
import itertools
import json
import sys

import nats
import uvloop
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, RePublish, StreamConfig

STREAM, QUEUE = "THIN", "thin"
TASK, RESULT = b"x" * 600, b"y" * 400
WINDOW = 128


class Sender:
    """Publishes in flight on one inbox; `send` gives a future of the ack."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = client.new_inbox() + "."
        self._numbers = itertools.count()
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def start(self) -> None:
        await self._client.subscribe(self._inbox + "*", cb=self._acked, pending_msgs_limit=-1, pending_bytes_limit=-1)

    async def _acked(self, msg: Msg) -> None:
        if b'"error"' in msg.data:
            raise RuntimeError(msg.data.decode())
        self._waiting.pop(msg.subject).set_result(None)

    async def send(self, subject: str, data: bytes) -> "asyncio.Future[None]":
        inbox = self._inbox + str(next(self._numbers))
        future = self._waiting[inbox] = asyncio.get_running_loop().create_future()
        await self._client.publish(subject, data, reply=inbox, headers={"Nats-Expected-Last-Subject-Sequence": "0"})
        return future


async def work(url: str) -> None:
    """The worker process: one standing pull, topped up at half."""
    client = await nats.connect(url)
    sender = Sender(client)
    await sender.start()
    inbox, left = client.new_inbox(), 0
    tasks: set[asyncio.Task[None]] = set()

    async def do(msg: Msg) -> None:
        await (await sender.send("thin.result." + msg.subject.rpartition(".")[2], RESULT))
        await client.publish(msg.reply, b"+ACK")

    async def ask() -> None:
        nonlocal left
        body = json.dumps({"batch": WINDOW - left, "expires": 60 * 10**9}).encode()
        left = WINDOW
        await client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{QUEUE}", body, reply=inbox)

    async def heard(msg: Msg) -> None:
        nonlocal left
        if not msg.reply:
            left = 0
            return await ask()
        left -= 1
        task = asyncio.create_task(do(msg))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        if left <= WINDOW // 2:
            await ask()
        return None

    await client.subscribe(inbox, cb=heard, pending_msgs_limit=-1, pending_bytes_limit=-1)
    await ask()
    await client.publish("thin.ready")
    await asyncio.Event().wait()


class Thin:
    """The asking side."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sender = Sender(client)
        self._numbers = itertools.count()
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def start(self) -> None:
        """Make the stream and listen for results."""
        js = self._client.jetstream()
        republish = RePublish(src="thin.result.>", dest="thin.seen.>")
        await js.add_stream(StreamConfig(name=STREAM, subjects=["thin.task.*", "thin.result.*"], republish=republish))
        await js.add_consumer(
            STREAM,
            ConsumerConfig(
                durable_name=QUEUE, filter_subject="thin.task.*", ack_policy=AckPolicy.EXPLICIT, max_ack_pending=10_000
            ),
        )
        await self._sender.start()
        await self._client.subscribe("thin.seen.*", cb=self._seen, pending_msgs_limit=-1, pending_bytes_limit=-1)

    async def _seen(self, msg: Msg) -> None:
        self._waiting.pop(msg.subject.rpartition(".")[2]).set_result(None)

    async def round_trip(self) -> None:
        """One task there and its result back."""
        name = str(next(self._numbers))
        future = self._waiting[name] = asyncio.get_running_loop().create_future()
        await (await self._sender.send(f"thin.task.{name}", TASK))
        await future


if __name__ == "__main__":
    uvloop.run(work(sys.argv[1]))
