"""Metrics by OpenTelemetry: sent to a collector if one is named, shown to Prometheus on request."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource

from observability import names
from observability.endpoint import collector
from observability.logger import get_logger
from observability.run_measures import Measure
from protocol.messages import Usage

HOST = "OTEL_EXPORTER_PROMETHEUS_HOST"
PORTS_TRIED = 20
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
ABSURD = 1e15
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)

log = get_logger()


class Metrics:
    """The figures of one process."""

    def __init__(self, readers: Sequence[MetricReader], resource: Resource) -> None:
        self._provider = MeterProvider(readers, resource, shutdown_on_exit=False, views=_views())
        self._meter = self._provider.get_meter(names.SCOPE)
        self._counters = {
            name: self._meter.create_counter(name, unit=unit, description=what) for name, unit, what in names.COUNTERS
        }
        self._histograms = {
            name: self._meter.create_histogram(name, unit=unit, description=what)
            for name, unit, what in names.HISTOGRAMS
        }

    def note(self, measures: Iterable[Measure]) -> None:
        """Take these figures in, but for those that nobody can mean: a sum never gets rid of them again."""
        for measure in measures:
            if not 0 <= measure.value < ABSURD:
                continue
            if counter := self._counters.get(measure.name):
                counter.add(measure.value, measure.told)
            else:
                self._histograms[measure.name].record(measure.value, measure.told)

    def model_called(self, role: str, model: str, usage: Usage, error: str) -> None:
        """A model was asked."""
        told = {names.OPERATION: "chat", names.PROVIDER: "anthropic", names.REQUEST_MODEL: model, names.AGENT: role}
        failed = {names.ERROR: error} if error else {}
        self._histograms[names.MODEL_DURATION[0]].record(usage.seconds, told | failed)
        total_in = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        for kind, tokens in (("input", total_in), ("output", usage.output_tokens)):
            if tokens:
                self._histograms[names.MODEL_TOKENS[0]].record(tokens, told | {names.TOKEN_TYPE: kind})

    def watch(self, name: str, team: str, look: Callable[[], Mapping[str, float]]) -> None:
        """Read a gauge whenever the metrics are read: a number for each worker of the team."""
        unit, what = next((unit, what) for known, unit, what in names.GAUGES if known == name)

        def looked(_: CallbackOptions) -> list[Observation]:
            return [Observation(value, {names.TEAM: team, names.WORKER: worker}) for worker, value in look().items()]

        self._meter.create_observable_gauge(name, [looked], unit=unit, description=what)

    def close(self, within_s: float) -> None:
        """Send what is left, for a bounded time."""
        self._provider.shutdown(timeout_millis=within_s * 1000)


def start_metrics(environment: Mapping[str, str], resource: Resource, *, port: int) -> Metrics | None:
    """Begin to measure, if somebody wants to know: a collector, or Prometheus at a port."""
    readers = [reader for reader in (_sending(environment), _showing(environment, port)) if reader]
    return Metrics(readers, resource) if readers else None


def _sending(environment: Mapping[str, str]) -> MetricReader | None:
    where = collector(environment, "METRICS")
    if not where:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    except ImportError:
        log.warning("telemetry.missing", reason="install handoff-bus[otlp] to send metrics")
        return None
    return PeriodicExportingMetricReader(OTLPMetricExporter())


def _showing(environment: Mapping[str, str], port: int) -> MetricReader | None:
    if not port:
        return None
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from prometheus_client import start_http_server
    except ImportError:
        log.warning("telemetry.missing", reason="install handoff-bus[metrics] to show metrics to Prometheus")
        return None
    host = environment.get(HOST, "") or "127.0.0.1"
    for tried in range(port, min(port + PORTS_TRIED, 65_536)):
        try:
            start_http_server(tried, addr=host)
        except OSError:
            continue  # another actor of the same machine has it
        log.info("metrics.shown", url=f"http://{host}:{tried}/metrics")
        return PrometheusMetricReader(scope_info_enabled=False)
    log.warning("metrics.not_shown", reason=f"no port from {port} on is free")
    return None


def _views() -> list[View]:
    logging.getLogger("opentelemetry.sdk.metrics").setLevel(logging.ERROR)
    return [
        View(
            instrument_name=name,
            aggregation=ExplicitBucketHistogramAggregation(SECONDS if unit == "s" else TOKENS),
        )
        for name, unit, _ in names.HISTOGRAMS
    ]
