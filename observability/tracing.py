"""Live tracing: what this process tells a collector, if one is named in the environment.

A run is told by the supervisor that finishes it, out of its record (run_spans), so a killed process leaves no hole. The
calls to a model are told by the SDK's own spans: here they get the id that the record derives for them, and are held
back until it is certain that nobody will tell them instead.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import Token
from typing import Protocol

import msgspec
from opentelemetry import trace
from opentelemetry.context import Context, attach
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace import Span as LiveSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import NonRecordingSpan, SpanKind, set_span_in_context

from observability import names
from observability.announced import announced
from observability.endpoint import Process, collector
from observability.lazy_context import LazyContext
from observability.logger import get_logger
from observability.otel_spans import Resources, context, of_service, renamed
from observability.otlp import batches, request_of
from observability.outlet import BATCH, EVERY_S, Outlet
from observability.redaction import redacted
from observability.run_record import Entry
from observability.run_spans import spans_of, told_elsewhere
from observability.span import Attributes, Span, Value

FLUSH_S = 1.5
DELAY = "OTEL_BSP_SCHEDULE_DELAY"


def nobody() -> None:
    """Nobody waits for a story to be told."""


class Story(msgspec.Struct, frozen=True):
    """A run that ended, and its record. `told` is called once it was sent, or there was no way or no need to."""

    run: str
    entries: Sequence[Entry]
    told: Callable[[], None] = nobody


class Held(msgspec.Struct):
    """Calls that are held back, and the spans they are under."""

    spans: list[ReadableSpan] = []
    parents: list[int] = []


Told = Story | ReadableSpan

log = get_logger()


class Exporter(Protocol):
    """Who sends spans: the library's own, and requests that are packed already."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult: ...  # noqa: D102
    def export_request(self, request: bytes) -> bool: ...  # noqa: D102
    def shutdown(self) -> None: ...  # noqa: D102


class _DerivedIds(RandomIdGenerator):
    """Gives the next span the id that was announced for it, and any other a random one."""

    def generate_span_id(self) -> int:
        calls = announced.get()
        return int(calls.next_id(), 16) if calls else super().generate_span_id()


class Tracing(SpanProcessor):
    """The spans of one process on their way out."""

    def __init__(self, exporter: Exporter, process: Process, *, where: str = "", every_s: float = EVERY_S) -> None:
        own = resource_of(process)
        self._process = process
        self._service = str(own.attributes[names.SERVICE])
        self._exporter = exporter
        self._resources = Resources(own)
        self.provider = TracerProvider(resource=own, id_generator=_DerivedIds(), shutdown_on_exit=False)
        self.provider.add_span_processor(self)
        self._asked = "", False
        self._held: dict[str, Held] = {}
        self._parents: dict[int, list[ReadableSpan]] = {}
        self._outlet: Outlet[Told] = Outlet(self._send, where=where, every_s=every_s, weigh=_weight)

    def sampled(self, run: str) -> bool:
        """Whether this run is one of those that are told; the same in every process with the same sampler."""
        if self._asked[0] != run:
            self._asked = run, self._is_sampled(run)
        return self._asked[1]

    def _is_sampled(self, run: str) -> bool:
        found = self.provider.sampler.should_sample(Context(), int(run, 16), names.SCOPE, SpanKind.INTERNAL)
        return found.decision is Decision.RECORD_AND_SAMPLE

    def enter(self, run: str, span: Callable[[], str]) -> Token[Context]:
        """Make a span the parent of what is started from now on."""
        return attach(LazyContext(lambda: self._below(run, span())))

    def _below(self, run: str, span: str) -> Context:
        return set_span_in_context(NonRecordingSpan(context(run, span, sampled=self.sampled(run))), Context())

    def tell(self, story: Story) -> None:
        """Tell a run, soon. While the collector is away nobody is to wait for that."""
        sampled = self.sampled(story.run)
        if sampled:
            self._outlet.put(story)
        if not sampled or self._outlet.broken:
            story.told()

    def hold(self, key: str, span: str) -> None:
        """Keep the calls below this span until it is known who tells them."""
        held = self._held.setdefault(key, Held())
        if int(span, 16) in self._parents:
            return
        held.parents.append(int(span, 16))
        self._parents[held.parents[-1]] = held.spans

    @property
    def holds(self) -> bool:
        """Whether any calls are held back at all."""
        return bool(self._held)

    def asked_again(self) -> None:
        """The last call was in vain: the one that follows has its id, and this one another."""
        calls = announced.get()
        named = calls.again() if calls else None
        held = self._parents.get(int(named.parent, 16), []) if named else []
        for at, span in enumerate(held):
            made = span.get_span_context()
            if named and made and made.span_id == int(named.old, 16):
                held[at] = renamed(span, named.new)

    def release(self, key: str, service: str) -> None:
        """Tell the calls that were held back, as calls of that service.

        Those of a worker now: nobody else tells them any more, so the process had better not die before it did.
        """
        named = not service or self._service != self._process.service
        released = self._let_go(key)
        for span in released:
            told = self._service if named else service
            self._outlet.put(of_service(span, told, self._process.instance, self._resources))
        if released and service:
            self._outlet.hurry()

    def drop(self, key: str) -> None:
        """Others tell the calls that were held back."""
        self._let_go(key)

    def _let_go(self, key: str) -> list[ReadableSpan]:
        held = self._held.pop(key, None)
        if held is None:
            return []
        for parent in held.parents:
            self._parents.pop(parent, None)
        return held.spans

    def close(self, within_s: float = FLUSH_S) -> None:
        """Send what is left, for a bounded time."""
        if not self._outlet.close(within_s):
            log.warning("telemetry.left_behind", reason=f"the collector took more than {within_s:g} s")
        self._exporter.shutdown()

    def on_start(self, span: LiveSpan, parent_context: Context | None = None) -> None:  # noqa: ARG002  the library's signature
        """The SDK's span of a call to a model gets the name that the conventions have for it."""
        told = span.attributes or {}
        if told.get(names.OPERATION) == "chat":
            span.update_name(names.chat(str(told.get(names.REQUEST_MODEL, ""))))
            if run := told.get(names.CONVERSATION):
                span.set_attribute(names.RUN, run)

    def on_end(self, span: ReadableSpan) -> None:
        """A span of the SDK, or of somebody's own code, is over."""
        made = span.get_span_context()
        if made is None or not made.trace_flags.sampled:
            return
        held = self._parents.get(span.parent.span_id) if span.parent else None
        if held is None:
            self._outlet.put(span)
        else:
            held.append(span)

    def _send(self, batch: list[Told]) -> bool:
        spans = [told for told in batch if isinstance(told, ReadableSpan)]
        arrived = not spans or self._exporter.export(spans) is SpanExportResult.SUCCESS
        stories = [told for told in batch if isinstance(told, Story)]
        try:
            # Made and packed here, in the thread that sends it.
            for part in batches([span for story in stories for span in self._spans(story)], BATCH):
                arrived = self._exporter.export_request(request_of(part, self._said_of)) and arrived
        finally:
            for story in stories:
                story.told()
        return arrived

    def _spans(self, story: Story) -> list[Span]:
        """The whole run but for what living processes tell of it."""
        spans = spans_of(story.run, story.entries, content=self._process.content)
        elsewhere = told_elsewhere(spans, self._process.instance)
        return [span for span in spans if span.id not in elsewhere]

    def _said_of(self, service: str, instance: str) -> Attributes:
        """What is told of a process; our own kind goes by the name that the environment gave us."""
        named = self._service if service == self._process.service else service
        return {name: _plain(value) for name, value in self._resources.of(named, instance).attributes.items()}


def resource_of(process: Process) -> Resource:
    """What is said of this process: by the environment, which has the first word on its name, and by itself."""
    said = Resource.create().attributes
    # That is the library's own word for "nobody said".
    unnamed = str(said.get(names.SERVICE, "")).startswith("unknown_service")
    name = {names.SERVICE: process.service} if unnamed else {}
    return Resource({**said, **name, names.INSTANCE: process.instance})


def start_tracing(environment: Mapping[str, str], process: Process) -> Tracing | None:
    """Begin to tell, if the environment names a collector; the SDK's spans come along through the global provider."""
    where = collector(environment, "TRACES")
    if not where:
        return None
    try:
        from observability.otlp_http import OtlpExporter
    except ImportError:
        log.warning("telemetry.missing", reason="install handoff-bus[otlp] to send traces", to=redacted(where))
        return None
    every_s = _seconds(environment.get(DELAY, ""))
    tracing = Tracing(OtlpExporter(environment), process, where=where, every_s=every_s)
    trace.set_tracer_provider(tracing.provider)
    return tracing


def _weight(told: Told) -> int:
    return len(told.entries) if isinstance(told, Story) else 1


def _seconds(milliseconds: str) -> float:
    try:
        return max(0.01, float(milliseconds) / 1000)
    except ValueError:
        return EVERY_S


def _plain(value: object) -> Value:
    return value if isinstance(value, str | int | float | bool) else str(value)
