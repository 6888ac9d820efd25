"""The exporter of OTLP over HTTP, which also takes requests that are packed already."""

from collections.abc import Mapping, Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from observability.otlp_sender import OtlpSender


class OtlpExporter:
    """The library's exporter for spans of the SDK, and a sender of our own for packed requests."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._exporter = OTLPSpanExporter()
        self._sender = OtlpSender(environment)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans of the SDK."""
        return self._exporter.export(spans)

    def export_request(self, request: bytes) -> bool:
        """Send an ExportTraceServiceRequest; whether it arrived."""
        return self._sender.send(request)

    def shutdown(self) -> None:
        """Send nothing more."""
        self._sender.close()
        self._exporter.shutdown()
