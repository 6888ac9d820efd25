"""The file for Jaeger says what the live export says, byte for byte once both are read."""

# The generated protobuf classes are untyped:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import base64
import json
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from run_records import RUN, eventful

from observability.otlp import request_of
from observability.otlp_json import otlp_json
from observability.run_spans import spans_of
from observability.span import Link, Span

ID = "service.instance.id"
IDS = ("traceId", "spanId", "parentSpanId")


def read(data: bytes) -> ExportTraceServiceRequest:
    """The file as protobuf has it; a field that OTLP does not know is an error."""
    return json_format.ParseDict(bytes_for_ids(json.loads(data)), ExportTraceServiceRequest())


def bytes_for_ids(value: Any) -> Any:
    """OTLP writes ids in hex, where plain protobuf JSON has base64."""
    if isinstance(value, list):
        return [bytes_for_ids(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = value
    return {
        key: base64.b64encode(bytes.fromhex(inner)).decode() if key in IDS else bytes_for_ids(inner)
        for key, inner in found.items()
    }


def test_it_agrees_with_the_live_export_span_by_span() -> None:
    spans = spans_of(RUN, eventful().entries, content=True)
    live = request_of(spans, lambda service, instance: {"service.name": service} | ({ID: instance} if instance else {}))
    assert len(spans) > 40
    assert read(otlp_json(spans)) == ExportTraceServiceRequest.FromString(live)


def test_ids_are_in_hex_and_the_root_has_no_parent() -> None:
    resources = json.loads(otlp_json(spans_of(RUN, eventful().entries)))["resourceSpans"]
    spans = [span for resource in resources for scope in resource["scopeSpans"] for span in scope["spans"]]
    assert {span["traceId"] for span in spans} == {RUN}
    ids = {span["spanId"] for span in spans}
    assert all(len(name) == 16 and int(name, 16) for name in ids)
    assert [span["name"] for span in spans if "parentSpanId" not in span] == ["send request default"]
    assert all(span["parentSpanId"] in ids for span in spans if "parentSpanId" in span)


def test_each_process_is_a_resource_of_its_own() -> None:
    resources = json.loads(otlp_json(spans_of(RUN, eventful().entries)))["resourceSpans"]
    services = [
        tuple(pair["value"]["stringValue"] for pair in resource["resource"]["attributes"]) for resource in resources
    ]
    assert len(services) == len(set(services))
    assert {service[0] for service in services} == {
        "handoff-client",
        "handoff-supervisor",
        "handoff-worker-reader",
        "handoff-worker-weak",
    }


def test_every_kind_of_value_is_written_as_what_it_is() -> None:
    attributes = {"text": "a", "number": 2**40, "yes": True, "share": 0.5, "list": ("a", "b")}
    link = Link(trace="a" * 32, span="b" * 16)
    span = Span(
        name="x", trace=RUN, id="c" * 16, start_ns=1, end_ns=2, service="s", attributes=attributes, links=(link,)
    )
    written = json.loads(otlp_json([span]))["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert {pair["key"]: pair["value"] for pair in written["attributes"]} == {
        "text": {"stringValue": "a"},
        "number": {"intValue": str(2**40)},
        "yes": {"boolValue": True},
        "share": {"doubleValue": 0.5},
        "list": {"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}},
    }
    assert read(otlp_json([span])).resource_spans[0].scope_spans[0].spans[0].name == "x"
