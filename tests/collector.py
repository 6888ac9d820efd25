"""A collector for tests: takes OTLP over HTTP on loopback and keeps every span and metric that it is sent."""

# The generated protobuf classes are untyped:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false

import gzip
import threading
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

KINDS = {1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"}


@dataclass(frozen=True)
class Received:
    """One span as it came over the wire."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    start_ns: int
    end_ns: int
    service: str
    instance: str
    error: bool
    attributes: dict[str, Any]
    links: tuple[str, ...]
    scope: str


@dataclass
class Collector:
    """What was sent, and with which headers. `status` is what it answers, after one of each of `refusals`."""

    url: str = ""
    status: int = 200
    spans: list[Received] = field(default_factory=list[Received])
    metrics: set[str] = field(default_factory=set[str])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    bodies: list[bytes] = field(default_factory=list[bytes])
    raw: list[bytes] = field(default_factory=list[bytes])
    paths: list[str] = field(default_factory=list[str])
    refusals: list[int] = field(default_factory=list[int])
    retry_after: str = ""

    def of(self, run: str) -> list[Received]:
        """The spans of one trace."""
        return [span for span in self.spans if span.trace == run]

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.raw.append(body)
        self.paths.append(path)
        match headers.get("content-encoding"):
            case "gzip":
                body = gzip.decompress(body)
            case "deflate":
                body = zlib.decompress(body)
            case _:
                pass
        self.headers.append(headers)
        self.bodies.append(body)
        if path.endswith("/metrics"):
            self.metrics |= _metric_names(body)
        else:
            self.spans += _spans(body)


@contextmanager
def collector() -> Generator[Collector]:
    """A collector that listens on a free port."""
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = found.refusals.pop(0) if found.refusals else found.status
            if status == 200:
                found.take(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(status)
            if found.retry_after:
                self.send_header("retry-after", found.retry_after)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _spans(body: bytes) -> list[Received]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        Received(
            name=span.name,
            kind=KINDS[span.kind],
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            start_ns=span.start_time_unix_nano,
            end_ns=span.end_time_unix_nano,
            service=str(_values(of.resource.attributes).get("service.name", "")),
            instance=str(_values(of.resource.attributes).get("service.instance.id", "")),
            error=span.status.code == 2,
            attributes=_values(span.attributes),
            links=tuple(link.span_id.hex() for link in span.links),
            scope=scope.scope.name,
        )
        for of in request.resource_spans
        for scope in of.scope_spans
        for span in scope.spans
    ]


def _metric_names(body: bytes) -> set[str]:
    request = ExportMetricsServiceRequest.FromString(body)
    return {metric.name for of in request.resource_metrics for scope in of.scope_metrics for metric in scope.metrics}


def _values(attributes: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind) if kind else None
    return [_value(inner) for inner in found.values] if kind == "array_value" and found is not None else found
