"""Our spans as OpenTelemetry's, so that its exporters can send them."""

from functools import cache

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from observability import names
from observability.span import Span

KINDS = {
    "internal": SpanKind.INTERNAL,
    "client": SpanKind.CLIENT,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
}
STATUSES = {"unset": StatusCode.UNSET, "ok": StatusCode.OK, "error": StatusCode.ERROR}
SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_scope = InstrumentationScope(names.SCOPE)


class Resources:
    """Who a span is of. What the environment says of this process in general is said of all whose story it tells."""

    def __init__(self, base: Resource) -> None:
        self._base = base
        self._of = cache(self._made)

    def of(self, service: str, instance: str) -> Resource:
        """The resource of a process."""
        return self._of(service, instance)

    def _made(self, service: str, instance: str) -> Resource:
        told = {name: value for name, value in self._base.attributes.items() if name != names.INSTANCE}
        own = {names.SERVICE: service} | ({names.INSTANCE: instance} if instance else {})
        return Resource({**told, **own})


def context(trace: str, span: str, *, sampled: bool = True) -> SpanContext:
    """A span that somebody else writes, as a parent for others."""
    flags = SAMPLED if sampled else TraceFlags(TraceFlags.DEFAULT)
    return SpanContext(int(trace, 16), int(span, 16), is_remote=True, trace_flags=flags)


def otel_span(span: Span, resources: Resources) -> ReadableSpan:
    """The span as OpenTelemetry has it."""
    return ReadableSpan(
        name=span.name,
        context=context(span.trace, span.id),
        parent=context(span.trace, span.parent) if span.parent else None,
        resource=resources.of(span.service, span.instance),
        attributes=dict(span.attributes),
        events=[Event(moment.name, dict(moment.attributes), moment.time_ns) for moment in span.events],
        links=[Link(context(link.trace, link.span), dict(link.attributes)) for link in span.links],
        kind=KINDS[span.kind],
        status=Status(STATUSES[span.status], span.error or None),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=_scope,
    )


def of_service(span: ReadableSpan, service: str, instance: str, resources: Resources) -> ReadableSpan:
    """The same span, told as one of that service: a process may be several workers."""
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=resources.of(service, instance),
        attributes=span.attributes,
        events=span.events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
