import io
import json
import logging
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import structlog
from run_records import RUN

from observability import live, span_ids
from observability.logs import SECRETS, configure_logs
from protocol.subjects import TaskAddress


class Terminal(io.StringIO):
    """A standard error that is, or is not, a terminal."""

    def __init__(self, *, real: bool) -> None:
        super().__init__()
        self._real = real

    def isatty(self) -> bool:
        return self._real


@pytest.fixture(autouse=True)
def left_as_found() -> Iterator[None]:
    root = logging.getLogger()
    before, handlers, level = structlog.get_config(), list(root.handlers), root.level
    yield
    structlog.configure(**before)
    root.handlers[:], root.level = handlers, level
    structlog.contextvars.clear_contextvars()


def stderr(monkeypatch: pytest.MonkeyPatch, *, terminal: bool = False) -> Terminal:
    found = Terminal(real=terminal)
    monkeypatch.setattr(sys, "stderr", found)
    return found


def lines(err: Terminal) -> list[dict[str, Any]]:
    return [json.loads(line) for line in err.getvalue().splitlines()]


def test_logs_are_lines_of_json_when_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("info", actor="worker analyst")
    log = structlog.get_logger()
    log.info("handoff.sent", task="t1", to="analyst")
    log.warning("bus.lost")
    first, second = lines(err)
    age = datetime.now(UTC) - datetime.fromisoformat(first.pop("timestamp"))
    assert timedelta(0) <= age < timedelta(minutes=1)
    assert first == {
        "event": "handoff.sent",
        "level": "info",
        "task": "t1",
        "to": "analyst",
        "actor": "worker analyst",
    }
    assert (second["event"], second["level"]) == ("bus.lost", "warning")


def test_logs_are_for_people_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch, terminal=True)
    configure_logs("info")
    structlog.get_logger().info("handoff.sent", task="t1")
    assert "handoff.sent" in err.getvalue()
    assert not err.getvalue().startswith("{")


def test_a_trace_stands_below_its_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch, terminal=True)
    configure_logs("info")
    structlog.get_logger().warning("task.failed", task="t1", trace="Traceback:\n  line 8\nValueError: no")
    first, *below = err.getvalue().splitlines()
    assert "task.failed" in first
    assert below == ["Traceback:", "  line 8", "ValueError: no"]


def test_the_form_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch, terminal=True)
    configure_logs("info", json=True)
    structlog.get_logger().info("handoff.sent")
    assert lines(err)[0]["event"] == "handoff.sent"


def test_nothing_goes_to_standard_output(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    err = stderr(monkeypatch)
    configure_logs("debug")
    structlog.get_logger().error("run.failed")
    assert capsys.readouterr().out == ""
    assert err.getvalue()


@pytest.mark.parametrize(("level", "heard"), [("debug", 4), ("info", 3), ("WARNING", 2), ("error", 1), ("critical", 0)])
def test_what_is_below_the_level_is_not_written(monkeypatch: pytest.MonkeyPatch, level: str, heard: int) -> None:
    err = stderr(monkeypatch)
    configure_logs(level)
    log = structlog.get_logger()
    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)("it.happened")
    assert len(lines(err)) == heard


@pytest.mark.parametrize("name", [*SECRETS, "api_key", "ANTHROPIC_API_KEY", "nats_password", "Authorization"])
@pytest.mark.parametrize("terminal", [False, True])
def test_secrets_are_blanked_out(monkeypatch: pytest.MonkeyPatch, name: str, terminal: bool) -> None:
    err = stderr(monkeypatch, terminal=terminal)
    configure_logs("info")
    structlog.get_logger().info("it.happened", **{name: "hunter2"})
    assert "hunter2" not in err.getvalue()
    assert "[redacted]" in err.getvalue()


def test_a_secret_that_is_bound_is_blanked_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("info", api_key="hunter2")
    structlog.get_logger().bind(token="hunter3").info("it.happened")
    (line,) = lines(err)
    assert (line["api_key"], line["token"]) == ("[redacted]", "[redacted]")


def test_what_is_no_secret_is_written_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("info")
    structlog.get_logger().info("token", tokens=12, keys=["a"], key_count=1)
    (line,) = lines(err)
    assert (line["event"], line["tokens"], line["keys"], line["key_count"]) == ("token", 12, ["a"], 1)


def test_an_exception_is_one_line_with_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("info")
    try:
        raise ValueError("two\nlines")
    except ValueError as error:
        structlog.get_logger().error("delivery.failed", exc_info=error)
    (line,) = lines(err)
    assert "ValueError: two\nlines" in line["exception"]


def test_what_is_bound_to_the_context_is_on_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("info", actor="supervisor")
    with structlog.contextvars.bound_contextvars(run="r1"):
        structlog.get_logger().info("inside")
    structlog.get_logger().info("outside")
    inside, outside = lines(err)
    assert (inside["run"], inside["actor"]) == ("r1", "supervisor")
    assert "run" not in outside
    assert outside["actor"] == "supervisor"


def test_a_second_configuration_forgets_what_the_first_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("info", actor="launcher")
    configure_logs("info")
    structlog.get_logger().info("it.happened")
    assert "actor" not in lines(err)[0]


def test_a_line_says_which_run_task_and_span_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("info")
    with live.holding_run(RUN):
        structlog.get_logger().info("inside.run")
    with live.executing(TaskAddress(RUN, "default", "reader", "a", 1), 0):
        structlog.get_logger().info("inside.task")
    structlog.get_logger().info("outside")
    run, task, outside = lines(err)
    assert (run["run"], run["trace_id"], run["span_id"]) == (RUN, RUN, span_ids.root(RUN))
    assert "task" not in run
    assert (task["run"], task["task"], task["worker"]) == (RUN, "a", "reader")
    assert task["span_id"] == span_ids.execution(RUN, "a", 1, 0)
    assert not {"run", "trace_id", "span_id"} & outside.keys()


@pytest.mark.parametrize("terminal", [False, True])
def test_secrets_are_blanked_out_by_their_look_too(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    err = stderr(monkeypatch, terminal=terminal)
    configure_logs("info")
    log = structlog.get_logger()
    log.info("it.happened", url="nats://me:hunter22@host", inner={"api_key": "hunter23", "x": ["password=hunter24"]})
    log.info("the key was sk-ant-hunter25hunter25")
    try:
        raise ValueError("token=hunter26")
    except ValueError as error:
        log.error("delivery.failed", exc_info=error)
    assert "hunter" not in err.getvalue()
    assert "ValueError" in err.getvalue()


@pytest.mark.parametrize("name", ["nats.aio.client", "anthropic", "httpx2", "uvicorn.error"])
def test_what_libraries_log_comes_out_as_our_own_lines(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    err = stderr(monkeypatch)
    logging.getLogger(name).setLevel(logging.NOTSET)  # a server that ran in this process before may have silenced it
    configure_logs("info", actor="supervisor")
    logging.getLogger(name).warning("lost %s", "nats://me:hunter22@host")
    logging.getLogger(name).info("chatter")
    (line,) = lines(err)
    assert (line["event"], line["level"], line["logger"]) == ("lost nats://[redacted]@host", "warning", name)
    assert line["actor"] == "supervisor"


def test_the_chatter_of_libraries_is_heard_when_debugging_but_never_what_was_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    err = stderr(monkeypatch)
    configure_logs("debug")
    logging.getLogger("anthropic").info("chatter")
    logging.getLogger("anthropic").debug("the whole prompt")
    assert [line["event"] for line in lines(err)] == ["chatter"]


def test_a_library_that_was_told_to_debug_says_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("debug")
    monkeypatch.setattr(logging.getLogger("anthropic"), "level", logging.DEBUG)
    logging.getLogger("anthropic").debug("the whole prompt")
    assert err.getvalue() == ""


def test_no_library_fails_because_of_what_it_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    logging.getLogger().handlers.clear()  # those of pytest mind
    configure_logs("info")
    logging.getLogger("nats").log(35, "a level of its own")
    logging.getLogger("nats").error("%d servers", "many")
    assert [(line["event"], line["level"]) for line in lines(err)] == [
        ("a level of its own", "warning"),
        ("%d servers", "error"),
    ]


def test_configuring_twice_writes_each_line_once(monkeypatch: pytest.MonkeyPatch) -> None:
    err = stderr(monkeypatch)
    configure_logs("info")
    configure_logs("info")
    logging.getLogger("nats").error("gone")
    assert len(lines(err)) == 1
