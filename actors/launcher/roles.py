"""Roles: one actor in the foreground of one process. Returns the exit code when it was told to stop."""

import asyncio
import contextlib
import gc
import os
import re
import secrets
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypedDict

from actors.bus.jetstream import JetStreamBus, connect
from actors.clock import SystemClock
from actors.heartbeat import CardAddress
from actors.launcher.card_file import write_card_file
from actors.launcher.equipping import equipped, require_servers
from actors.launcher.finding import find_workers
from actors.launcher.owning import require_own_tools
from actors.launcher.session import located
from actors.launcher.stop_signals import StopSignals
from actors.launcher.telling import telemetry
from actors.launcher.watchdog import watched
from actors.model.port import Model
from actors.people.person import PersonProcess
from actors.run.offline import empty_variables, offline_name
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.worker.process import WorkerProcess
from observability import names
from observability.logger import get_logger
from observability.logs import configure_logs
from observability.redaction import learn
from protocol import streams, subjects
from protocol.errors import HandoffError, InvalidError, UnreachableError

USAGE, UNREACHABLE, INTERRUPTED = 2, 3, 130

log = get_logger()


def supervisor(settings: Settings, timeout_s: float | None = None) -> int:
    """Be a supervisor."""
    return _run("supervisor", settings, lambda stop: _supervise(settings, stop, timeout_s))


def worker(settings: Settings, targets: Sequence[str], timeout_s: float | None = None) -> int:
    """Be one worker or several."""
    return _run("worker " + " ".join(targets), settings, lambda stop: _work(settings, targets, stop, timeout_s))


class ModelOptions(TypedDict):
    """How to serve the offline model. A profile makes it as strict as that model; `requests` is its log."""

    host: str
    port: int
    script: Path | None
    requests: Path | None
    profile: str


def model(settings: Settings, options: ModelOptions) -> int:
    """Be the offline model."""
    from actors.model_server.scripted import Script
    from actors.model_server.serve import offline_server

    server = offline_server(
        host=options["host"],
        port=options["port"],
        script=options["script"] or Script(delay_s=settings.offline_delay_s),
        log=options["requests"],
        profile=options["profile"],
    )
    return _run("model", settings, lambda stop: _serve_model(server, stop))


def web(settings: Settings, host: str, port: int, names: Sequence[str], timeout_s: float | None = None) -> int:
    """Be the page."""
    return _run("web", settings, lambda stop: _serve_page(settings, stop, (host, port, names), timeout_s))


def instance_name() -> str:
    """A name for this process that no other has, with its pid to find it by."""
    host = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname())[:12] or "host"
    return f"{host}-{os.getpid()}-{secrets.token_hex(2)}"


async def _supervise(settings: Settings, stop: asyncio.Event, timeout_s: float | None) -> None:
    from actors.model.price import price_usd

    async with _bus(settings, "supervisor", stop, timeout_s) as bus, model_for(settings, ready=True) as model:
        name = instance_name()
        async with telemetry(settings, names.SUPERVISOR_SERVICE, name):
            await bus.resize_store()
            log.info("supervisor.ready", team=settings.team)
            supervisor = Supervisor(bus, SystemClock(), model, settings, instance=name)
            supervisor.give_prices(price_usd)
            supervisor.name_model(_offline_name(settings))
            key = subjects.supervisor_card(settings.team, name)
            write_card_file(settings.card_file, [CardAddress(key, streams.SUPERVISORS)])
            await supervisor.run(stop)
    log.info("supervisor.stopped")


async def _work(settings: Settings, targets: Sequence[str], stop: asyncio.Event, timeout_s: float | None) -> None:
    workers = find_workers(targets, settings)
    require_servers(workers)
    async with contextlib.AsyncExitStack() as stack:
        bus = await stack.enter_async_context(_bus(settings, "worker", stop, timeout_s))
        name = instance_name()
        kinds = names.worker_service(workers[0].name) if len(workers) == 1 else names.WORKERS_SERVICE
        await stack.enter_async_context(telemetry(settings, kinds, name))
        workers = [await stack.enter_async_context(equipped(worker, SystemClock())) for worker in workers]
        await require_own_tools(bus, settings.team, workers)
        people = [w for w in workers if w.person]
        processes = [WorkerProcess(w, bus, SystemClock(), settings, instance=name) for w in workers if not w.person]
        if any(process.worker.run is None for process in processes):
            model = await stack.enter_async_context(model_for(settings))
            for process in processes:
                process.give_model(model, shown=_offline_name(settings))
        processes += [PersonProcess(person, bus, SystemClock(), settings, instance=name) for person in people]
        cards = [CardAddress(subjects.card(settings.team, worker.name, name)) for worker in workers]
        write_card_file(settings.card_file, cards)
        stack.enter_context(watched(settings.stuck_s))
        async with asyncio.TaskGroup() as group:
            for process in processes:
                group.create_task(process.run(stop))
                log.info("worker.ready", worker=process.worker.name, team=settings.team, instance=name)
    log.info("worker.stopped", worker=" ".join(targets))


async def _serve_model(server: AbstractAsyncContextManager[str], stop: asyncio.Event) -> None:
    async with server as url:
        log.info("model.ready", url=url)
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        await stop.wait()


async def _serve_page(
    settings: Settings, stop: asyncio.Event, where: tuple[str, int, Sequence[str]], timeout_s: float | None
) -> None:
    from actors.listening import listening
    from actors.web.app import create_app

    host, port, names = where
    async with (
        _bus(settings, "web", stop, timeout_s) as bus,
        listening(create_app(bus, SystemClock(), names), host, port) as url,
    ):
        log.info("web.ready", url=url)
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        await stop.wait()


def _offline_name(settings: Settings) -> str:
    """How this actor names its model on its card if that is the offline model; else empty."""
    return offline_name(empty_variables(os.environ)) if settings.offline else ""


@contextlib.asynccontextmanager
async def model_for(settings: Settings, *, ready: bool = False) -> AsyncGenerator[Model]:
    """The model that the settings name; without key and address, an offline one of our own.

    The SDK takes a second to load: it is loaded while other things go on, or, with `ready`, before anything else does.
    """
    from actors.model.anthropic_api import AnthropicModel, Endpoint, warm
    from actors.model_server.scripted import Script
    from actors.model_server.serve import offline_server

    async with contextlib.AsyncExitStack() as stack:
        warming = asyncio.create_task(warm())
        stack.callback(warming.cancel)
        if ready:
            await warming
        base_url = settings.anthropic_base_url
        if settings.offline:
            base_url = settings.offline_url or await stack.enter_async_context(
                offline_server(script=Script(delay_s=settings.offline_delay_s))
            )
            reason = empty_variables(os.environ)
            (log.warning if reason else log.info)("model.offline", url=base_url, reason=reason or "no key is set")
        endpoint = Endpoint(
            api_key=settings.anthropic_api_key,
            base_url=base_url,
            timeout_s=settings.model_timeout_s,
            retries=settings.model_retries,
            patience_s=settings.model_patience_s,
            offline=settings.offline,
            provider=settings.model_provider,
        )
        model = AnthropicModel(endpoint)
        try:
            yield model
        finally:
            await model.close()


@contextlib.asynccontextmanager
async def _bus(
    settings: Settings, name: str, stop: asyncio.Event, timeout_s: float | None
) -> AsyncGenerator[JetStreamBus]:
    def waiting(text: str) -> None:
        log.warning("bus.waiting", reason=text)

    async def reach() -> JetStreamBus:
        found = await located(settings, timeout_s=timeout_s, waiting=waiting)
        learn(found.secrets)
        return await connect(found, name=f"handoff {name}", timeout_s=timeout_s, waiting=waiting)

    reaching = asyncio.create_task(reach())
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({reaching, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not reaching.done():
        reaching.cancel()
        raise StoppedError
    bus = await reaching
    try:
        yield bus
    finally:
        await bus.close()


def _run(name: str, settings: Settings, work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> int:
    learn(settings.secrets)
    configure_logs(settings.log_level, actor=name)
    settle_memory()
    code = 0
    try:
        _loop()(_until_signalled(work))
    except* InvalidError as group:
        code = _tell(group, USAGE)
    except* UnreachableError as group:
        code = _tell(group, UNREACHABLE)
    except* HandoffError as group:
        code = _tell(group, 1)
    except* StoppedError:
        log.info("actor.stopped")
    return code


def settle_memory() -> None:
    """What is loaded by now stays: the garbage collector need not look at it again, nor look so often."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


class StoppedError(Exception):
    """Told to stop before there was anything to stop."""


def _tell(group: BaseExceptionGroup[Any], code: int) -> int:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            _tell(error, code)  # pyright: ignore[reportUnknownArgumentType]
            continue
        for line in error.faults if isinstance(error, InvalidError) else [str(error)]:
            sys.stderr.write(f"handoff: {line}\n")
    return code


async def _until_signalled(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """The first signal means stop, the second means now."""
    stop = asyncio.Event()
    signals = StopSignals()
    loop = asyncio.get_running_loop()

    def told(number: int) -> None:
        if signals.count(number) > 1:
            os._exit(INTERRUPTED)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told, number)
    await work(stop)


def _loop() -> Callable[[Coroutine[Any, Any, None]], None]:
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    return uvloop.run
