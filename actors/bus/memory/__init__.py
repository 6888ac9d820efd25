"""The bus in memory: the same promises as JetStream, with faults on demand and time that can be turned.

A MemoryServer is the server; each MemoryBus on it is one process.
"""

from actors.bus.memory.bus import MemoryBus
from actors.bus.memory.faults import Chance, never, times
from actors.bus.memory.server import MemoryServer
from actors.bus.memory.virtual import ProcessClock, VirtualClock

__all__ = ["Chance", "MemoryBus", "MemoryServer", "ProcessClock", "VirtualClock", "never", "times"]
