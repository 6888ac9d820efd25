"""Telling: telemetry around one actor, if anybody wants to know. Imports nothing heavy unless somebody does."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from actors.settings import Settings
from observability.endpoint import Process, header_secrets, is_wanted
from observability.redaction import learn


@asynccontextmanager
async def telemetry(settings: Settings, service: str, instance: str) -> AsyncGenerator[None]:
    """Tell what happens inside; at the end, send what is left within a bounded time."""
    process = Process(
        service=service, instance=instance, metrics_port=settings.metrics_port, content=settings.trace_content
    )
    if not is_wanted(os.environ, process):
        yield
        return
    learn(header_secrets(os.environ))
    from observability.telemetry import start_telemetry

    # The environment is read by OpenTelemetry itself too: its variables are its own affair.
    telling = await asyncio.to_thread(start_telemetry, os.environ, process)
    try:
        yield
    finally:
        if telling:
            await asyncio.to_thread(telling.close)
