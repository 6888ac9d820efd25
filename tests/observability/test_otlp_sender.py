"""Packed spans reach a collector as OpenTelemetry's exporter would send them, without its private parts."""

import ast
import contextlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from collector import Collector, collector
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from observability import otlp_sender
from observability.otlp import request_of
from observability.otlp_http import OtlpExporter
from observability.otlp_sender import OtlpSender
from observability.span import Span

SPAN = Span(name="a", trace="a" * 32, id="b" * 16, start_ns=1, end_ns=2, service="s")
REQUEST = request_of([SPAN], lambda service, _: {"service.name": service})
FOLDER = Path(otlp_sender.__file__).parent


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The back-off between two tries takes no time."""
    monkeypatch.setattr(otlp_sender, "FIRST_WAIT_S", 0.0)


def sent(environment: Mapping[str, str]) -> bool:
    """Send the request once; whether it arrived."""
    with contextlib.closing(OtlpSender(environment)) as sender:
        return sender.send(REQUEST)


def at(found: Collector, **more: str) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": found.url} | more


def test_no_private_name_of_the_exporter_is_used() -> None:
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("opentelemetry"):
                names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
                assert not [name for name in names if name.startswith("_")], file
    ours = {name for kind in OtlpExporter.__mro__ for name in vars(kind)}
    assert not issubclass(OtlpExporter, OTLPSpanExporter), "an attribute of ours may be one of theirs"
    assert "export_request" in ours


def test_a_request_arrives_at_the_path_of_traces() -> None:
    with collector() as found:
        assert sent(at(found))
        assert sent({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{found.url}/own"})
    assert [(span.name, span.service) for span in found.spans] == [("a", "s")] * 2
    assert found.paths == ["/v1/traces", "/own"]
    assert found.headers[0]["content-type"] == "application/x-protobuf"


def test_headers_are_those_of_the_environment_and_those_for_traces_win() -> None:
    with collector() as found:
        assert sent(at(found, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20x,a=b"))
        own = {"OTEL_EXPORTER_OTLP_HEADERS": "a=general", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=own"}
        assert sent(at(found, **own))
    assert (found.headers[0]["authorization"], found.headers[0]["a"]) == ("Bearer x", "b")
    assert found.headers[1]["a"] == "own"


@pytest.mark.parametrize("kind", ["gzip", "deflate", "none", "brotli"])
def test_a_request_is_compressed_if_the_environment_says_so(kind: str) -> None:
    with collector() as found:
        assert sent(at(found, OTEL_EXPORTER_OTLP_COMPRESSION=kind))
    assert found.headers[0].get("content-encoding") == (kind if kind in ("gzip", "deflate") else None)
    assert found.bodies == [REQUEST]
    assert (found.raw[0] == REQUEST) is (kind in ("none", "brotli"))


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_collector_that_is_busy_is_asked_again(status: int) -> None:
    with collector() as found:
        found.refusals = [status, status]
        assert sent(at(found))
    assert len(found.spans) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 413, 500])
def test_a_refusal_is_not_repeated(status: int) -> None:
    with collector() as found:
        found.refusals = [status]
        assert not sent(at(found))
        assert found.refusals == []
    assert found.spans == []


def test_a_collector_that_is_away_or_busy_for_ever_ends_the_tries() -> None:
    assert not sent({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"})
    with collector() as found:
        found.refusals = [503] * 100
        assert not sent(at(found))
        assert len(found.refusals) == 100 - otlp_sender.TRIES


def test_a_collector_that_asks_for_more_time_than_there_is_is_not_asked_again() -> None:
    with collector() as found:
        found.refusals, found.retry_after = [503, 503], "60"
        assert not sent(at(found))
        assert found.refusals == [503]


def test_nothing_is_tried_after_the_end() -> None:
    with collector() as found:
        closed = OtlpSender(at(found))
        closed.close()
        assert not closed.send(REQUEST)
    assert found.bodies == []


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "inf"])
def test_a_timeout_that_is_none_is_the_default(text: str) -> None:
    with collector() as found:
        assert sent(at(found, OTEL_EXPORTER_OTLP_TIMEOUT=text))
