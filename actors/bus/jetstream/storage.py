"""How full the streams are, what takes messages out of them, and the artifacts."""

import asyncio
import base64
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import msgspec
import nats.errors
from nats.js.client import JetStreamContext
from nats.js.errors import APIError, NotFoundError, ObjectNotFoundError
from nats.js.object_store import ObjectStore

from actors.bus.jetstream import wire
from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.jetstream.reader import Reader
from actors.bus.jetstream.restorer import Restorer
from actors.bus.port import Stored, StoreState
from observability.logger import get_logger
from protocol import streams
from protocol.errors import BusError

PURGE_S = 30.0
ROOM_PAUSE_S = 1.0
"""How long to wait before an artifact is stored again in an object store that is full."""

META = f"$O.{streams.ARTIFACTS}.M."
CHUNKS = f"$O.{streams.ARTIFACTS}.C."

_encode = msgspec.json.Encoder().encode

log = get_logger()


class ObjectMeta(msgspec.Struct, frozen=True):
    """The part of an object's description that is read here; `nuid` names the subject of its chunks."""

    name: str = ""
    nuid: str = ""
    deleted: bool = False


_META = msgspec.json.Decoder(ObjectMeta)


class Storage:
    """The store of one bus, through the API of JetStream."""

    def __init__(self, client: LeanClient, js: JetStreamContext, reader: Reader, restorer: Restorer) -> None:
        self._client = client
        self._js = js
        self._reader = reader
        self._restorer = restorer

    async def state(self, stream: str) -> StoreState:
        """How full a stream is."""
        info = await self._reader.info(stream)
        config = info.config
        return StoreState(bytes=info.state.bytes, limit=max(0, config.max_bytes), keep_s=config.max_age / 1e9)

    async def purge(self, stream: str, subject: str, keep: int) -> int:
        """Delete the messages under a subject but the last `keep`; returns how many were deleted."""
        body: dict[str, Any] = {"filter": subject} | ({"keep": keep} if keep else {})
        with told(f"purging {subject} of {stream}"):
            msg = await self._client.request(f"$JS.API.STREAM.PURGE.{stream}", _encode(body), timeout=PURGE_S)
        answer = wire.json(msg.data)
        if error := answer.get("error"):
            raise BusError(f"purging {subject} of {stream} failed: {error.get('description')}")
        return int(answer.get("purged", 0))

    async def put_artifact(self, name: str, data: bytes) -> str:
        """Keep something big under a name; waits while the object store is full."""
        full = False
        with told(f"keeping artifact {name}"):
            while True:
                store = await self._object_store()
                try:
                    return (await store.put(name, data)).digest or ""
                except APIError as error:
                    if error.err_code not in wire.FULL:
                        raise
                if not full:
                    log.warning("bus.store_full", stream=streams.OBJECTS, artifact=name)
                full = True
                await asyncio.sleep(ROOM_PAUSE_S)

    async def get_artifact(self, name: str) -> bytes | None:
        """What was kept under a name."""
        with told(f"getting artifact {name}"):
            store = await self._object_store()
            try:
                return (await store.get(name)).data
            except (ObjectNotFoundError, NotFoundError):
                return None

    async def artifact_names(self) -> list[str]:
        """The names of all artifacts."""
        found = await self._reader.all(streams.OBJECTS, META + ">", 0)
        return [meta.name for stored in found if (meta := _meta(stored)) and not meta.deleted]

    async def drop_artifact(self, name: str) -> None:
        """Delete an artifact: first its description, so that it is never found without its content."""
        subject = META + base64.urlsafe_b64encode(name.encode()).decode()
        for stored in await self._reader.last(streams.OBJECTS, [subject]):
            await self.purge(streams.OBJECTS, subject, 0)
            if meta := _meta(stored):
                await self.purge(streams.OBJECTS, CHUNKS + meta.nuid, 0)

    async def _object_store(self) -> ObjectStore:
        try:
            return await self._js.object_store(streams.ARTIFACTS)
        except NotFoundError:
            await self._restorer.restore()
            return await self._js.object_store(streams.ARTIFACTS)


def _meta(stored: Stored) -> ObjectMeta | None:
    """The description of an object; None for one that cannot be read or names no object."""
    try:
        meta = _META.decode(stored.data)
    except msgspec.MsgspecError:
        return None
    return meta if meta.name and meta.nuid else None


@contextmanager
def told(doing: str) -> Generator[None]:
    """Turn what nats-py raises into our own error."""
    try:
        yield
    except (nats.errors.Error, TimeoutError) as error:
        raise BusError(f"{doing} failed: {error or type(error).__name__}") from error
