"""What the fork server imports once, so that every actor it forks has it already.

Importing this module is its whole purpose. Nothing it imports may start a thread or an event loop: a fork would not
take them along (tests/launcher/test_preload.py).
"""

import gc
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module

LIBRARIES = (
    "anthropic",
    "anthropic.lib.streaming",
    "anthropic.resources.messages",
    "genai_prices",
    "msgspec",
    "nats",
    "nats.js",
    "opentelemetry.sdk.trace",
    "setproctitle",
    "structlog",
    "uvloop",
)
ROOMS = (
    "protocol",
    "actors.bus",
    "actors.model",
    "actors.runner",
    "actors.supervisor",
    "actors.worker",
    "actors.people",
    "actors.tools",
    "actors.teams",
)


def names() -> Iterator[str]:
    """Every module that actors have in common; a room comes before what is in it."""
    yield from LIBRARIES
    yield "actors.launcher.child"
    for room in ROOMS:
        yield room
        inside = getattr(sys.modules.get(room), "__path__", ())
        yield from (module.name for module in pkgutil.iter_modules(inside, room + "."))


def load() -> None:
    """Import them all, in a process that does nothing else."""
    collecting = gc.isenabled()
    gc.disable()
    for name in names():
        # Whatever is wrong with a module, the actor that needs it will say so; the others must not suffer.
        with suppress(Exception):
            import_module(name)
    # What is here stays; not looking at it again keeps the memory shared between the processes.
    gc.freeze()
    if collecting:
        gc.enable()


load()
