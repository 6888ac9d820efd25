"""A trace as OTLP JSON, the form that collectors take over HTTP and that Jaeger's page opens as a file.

It says what the live export says, in the same words: ids in hex, times as strings of nanoseconds, kinds as numbers.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from observability import names
from observability.otlp import KINDS, SAMPLED, STATUSES
from observability.span import Attributes, Link, Moment, Span, Value

Json = dict[str, Any]


def otlp_json(spans: Sequence[Span]) -> bytes:
    """The trace as one file: the spans of each process below its own resource."""
    groups: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        groups.setdefault((span.service, span.instance), []).append(span)
    found = [_resource(who, own) for who, own in groups.items()]
    return msgspec.json.encode({"resourceSpans": found})


def _resource(who: tuple[str, str], spans: Iterable[Span]) -> Json:
    service, instance = who
    attributes: dict[str, Value] = {names.SERVICE: service}
    if instance:
        attributes[names.INSTANCE] = instance
    scope = {"scope": {"name": names.SCOPE}, "spans": [_span(span) for span in spans]}
    return {"resource": {"attributes": _attributes(attributes)}, "scopeSpans": [scope]}


def _span(span: Span) -> Json:
    told: Json = {
        "traceId": span.trace,
        "spanId": span.id,
        "name": span.name,
        "kind": KINDS[span.kind],
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _attributes(span.attributes),
        "events": [_moment(moment) for moment in span.events],
        "links": [_link(link) for link in span.links],
        "flags": SAMPLED,
    }
    if span.parent:
        told["parentSpanId"] = span.parent
    if span.status != "unset":
        told["status"] = {"code": STATUSES[span.status]} | ({"message": span.error} if span.error else {})
    return told


def _moment(moment: Moment) -> Json:
    attributes = _attributes(moment.attributes)
    return {"timeUnixNano": str(moment.time_ns), "name": moment.name, "attributes": attributes}


def _link(link: Link) -> Json:
    attributes = _attributes(link.attributes)
    return {"traceId": link.trace, "spanId": link.span, "attributes": attributes, "flags": SAMPLED}


def _attributes(attributes: Attributes) -> list[Json]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Value) -> Json:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case _:
            return {"arrayValue": {"values": [_value(part) for part in value]}}
