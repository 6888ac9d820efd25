"""OpenTelemetry's side of a span: who it is of, and what it is under."""

from functools import cache

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext, TraceFlags

from observability import names

SAMPLED = TraceFlags(TraceFlags.SAMPLED)


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


def of_service(span: ReadableSpan, service: str, instance: str, resources: Resources) -> ReadableSpan:
    """The same span, told as one of that service: a process may be several workers."""
    return _copy(span, span.get_span_context(), resources.of(service, instance))


def renamed(span: ReadableSpan, new: str) -> ReadableSpan:
    """The same span by another id."""
    made = span.get_span_context()
    named = SpanContext(made.trace_id, int(new, 16), is_remote=False, trace_flags=made.trace_flags) if made else None
    return _copy(span, named, span.resource)


def _copy(span: ReadableSpan, made: SpanContext | None, resource: Resource) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=made,
        parent=span.parent,
        resource=resource,
        attributes=span.attributes,
        events=span.events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
