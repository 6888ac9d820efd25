"""The exporter of OTLP over HTTP, which also takes requests that are packed already."""

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter


class OtlpExporter(OTLPSpanExporter):
    """The library's exporter: address, headers, compression, certificates and retries are as it has them."""

    def export_request(self, request: bytes) -> bool:
        """Send an ExportTraceServiceRequest; whether it arrived."""
        return self._client.export(request).success
