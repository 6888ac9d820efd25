"""A library writes nothing to the output of the program that uses it, unless that program asks for logs."""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from servers import NatsServer
from structlog.testing import capture_logs
from waiting import LIMIT_S

from actors.bus.jetstream import connect
from actors.settings import Settings
from observability.logger import NAME, get_logger
from protocol import codec, streams, subjects
from protocol.events import Finished
from protocol.ids import RunId
from protocol.messages import Answer, Request

PROGRAM = Path(__file__).parent / "quiet_program.py"


@pytest.fixture
def _no_structlog() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """As in a program that never configured structlog."""
    before = structlog.get_config() if structlog.is_configured() else None
    structlog.reset_defaults()
    yield
    if before is not None:
        structlog.configure(**before)


def start(url: str, home: Path) -> "subprocess.Popen[str]":
    """Start the program; HANDOFF_HOME keeps it from a bus of this machine."""
    own = {"NATS_URL": url, "HANDOFF_HOME": str(home), "PYTHONPATH": str(PROGRAM.parents[1])}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, str(PROGRAM)], env=os.environ | own, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


async def requested(server: NatsServer) -> str:
    """Wait until the request of the program is stored; the id of its run."""
    bus = await connect(Settings(nats_url=server.url), timeout_s=LIMIT_S)
    async with asyncio.timeout(LIMIT_S):
        while not (found := await bus.read(streams.REQUESTS, subjects.REQUESTS)):
            await asyncio.sleep(0.05)
    await bus.close()
    return codec.decode(found[0].data, Request).id


async def answered(server: NatsServer, run: str) -> None:
    """Store an answer of the run."""
    bus = await connect(Settings(nats_url=server.url), timeout_s=LIMIT_S)
    await bus.publish(subjects.log(RunId(run)), codec.encode(Finished(answer=Answer(run=run, status="complete"))))
    await bus.close()


@pytest.mark.process
async def test_a_program_that_configured_no_logs_sees_nothing_while_the_bus_goes_and_comes_back(tmp_path: Path) -> None:
    async with NatsServer(tmp_path) as server:
        program = start(server.url, tmp_path / "home")
        run = await requested(server)
        await server.kill()
        await server.start()
        await answered(server, run)
        out, err = await asyncio.to_thread(program.communicate, timeout=LIMIT_S)
    assert (program.returncode, out, err) == (0, "", "")


@pytest.mark.process
def test_a_program_whose_bus_is_not_there_sees_an_error_and_no_output(tmp_path: Path) -> None:
    program = start("nats://127.0.0.1:1", tmp_path / "home")
    out, err = program.communicate(timeout=LIMIT_S)
    assert (program.returncode, out, err) == (3, "", "")


@pytest.mark.usefixtures("_no_structlog")
def test_without_any_configuration_a_warning_is_written_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    get_logger().warning("bus.lost", url="nats://here")
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("_no_structlog")
def test_a_program_that_configures_logging_gets_warnings_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger=NAME):
        get_logger().info("bus.back")
        get_logger().warning("bus.lost", url="nats://user:hunter2@here", exc_info=ValueError("no"))
    (record,) = caplog.records
    assert (record.name, record.levelname) == (NAME, "WARNING")
    assert record.getMessage().startswith("bus.lost url=")
    assert "hunter2" not in record.getMessage()
    assert record.exc_info is not None


def test_a_program_that_configures_structlog_gets_the_lines_there() -> None:
    with capture_logs() as lines:
        get_logger().warning("bus.lost", url="nats://here")
    assert lines == [{"event": "bus.lost", "log_level": "warning", "url": "nats://here"}]
