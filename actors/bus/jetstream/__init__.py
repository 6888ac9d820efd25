"""The bus for real: JetStream through nats-py. Nothing outside this package imports nats."""

from actors.bus.jetstream.bus import JetStreamBus
from actors.bus.jetstream.connection import connect

__all__ = ["JetStreamBus", "connect"]
