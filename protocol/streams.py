"""Streams, queues and buckets: what the bus must hold, as data."""

from datetime import timedelta
from typing import Literal

import msgspec

from protocol import subjects

REQUESTS = "HANDOFF_REQUESTS"
RUNS = "HANDOFF_RUNS"
INDEX = "HANDOFF_INDEX"
DEAD = "HANDOFF_DEAD"
WORKERS = "handoff_workers"
SUPERVISORS = "handoff_supervisors"
CARD_BUCKETS = (WORKERS, SUPERVISORS)
"""The buckets whose keys expire after the time to live of a card."""

ARTIFACTS = "handoff_artifacts"
OBJECTS = "OBJ_handoff_artifacts"
"""The stream behind the object store `handoff_artifacts`."""

BREAKERS = "KV_handoff_breakers"
"""The stream behind the bucket `handoff_breakers`."""

VERSION = "1.0"
"""The version of the protocol. A new minor version only adds; programs of an older major version must not take part."""

VERSION_KEY = "handoff.protocol"
"""Where HANDOFF_RUNS names the version in its metadata."""


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """One stream. `republish` is (from, to): where messages are seen once stored; `last_only` keeps one per subject.

    A full stream refuses new messages, or drops the oldest with `discard` "old". One that is `versioned` names the
    version of the protocol in its metadata.
    """

    name: str
    subjects: tuple[str, ...]
    retention: Literal["limits", "workqueue"]
    max_age: timedelta
    last_only: bool = False
    discard: Literal["new", "old"] = "new"
    republish: tuple[str, str] | None = None
    versioned: bool = False


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """A durable pull consumer, shared by any number of processes."""

    stream: str
    name: str
    filter: str
    ack_wait: timedelta
    max_ack_pending: int = 10_000


def streams(keep: timedelta) -> tuple[Stream, ...]:
    """All streams; `keep` is how long runs are kept. Requests are kept until somebody takes them."""
    return (
        Stream(name=REQUESTS, subjects=(subjects.REQUESTS,), retention="workqueue", max_age=timedelta(0)),
        Stream(
            name=RUNS,
            subjects=(subjects.RUNS,),
            retention="limits",
            max_age=keep,
            republish=(subjects.RUNS, subjects.STORED),
            versioned=True,
        ),
        Stream(name=INDEX, subjects=(subjects.INDEX,), retention="limits", max_age=keep, last_only=True),
        Stream(
            name=DEAD,
            subjects=(subjects.DEAD,),
            retention="limits",
            max_age=timedelta(days=30),
            discard="old",  # a full one that refused letters would stop all settling
        ),
        Stream(
            name=BREAKERS,
            subjects=(subjects.BREAKERS,),
            retention="limits",
            max_age=timedelta(days=1),
            last_only=True,
        ),
    )


_SUBJECTS = {pattern: stream.name for stream in streams(timedelta(0)) for pattern in stream.subjects}


def stream_of(subject: str) -> str | None:
    """The name of the stream that stores messages on a subject."""
    return next((name for pattern, name in _SUBJECTS.items() if subjects.falls_under(subject, pattern)), None)


def request_queue(team: str, ack_wait: timedelta) -> Queue:
    """Where the supervisors of a team pull requests from."""
    return Queue(stream=REQUESTS, name=team, filter=subjects.request(team), ack_wait=ack_wait)


def task_queue(team: str, worker: str, ack_wait: timedelta) -> Queue:
    """Where all instances of a worker pull handoffs from."""
    return Queue(
        stream=RUNS,
        name=subjects.durable(team, worker),
        filter=subjects.tasks_of(team, worker),
        ack_wait=ack_wait,
    )
