"""The figures: what they say of a run, that Prometheus sees them, and that the dashboard asks for nothing else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry, generate_latest
from run_records import RUN, Tape, eventful

from observability import names
from observability.metrics import Metrics, start_metrics
from observability.run_measures import Measure, measures_of
from protocol.messages import Usage

DASHBOARD = Path(__file__).parent.parent.parent / "deploy" / "grafana" / "dashboards" / "handoff.json"
SAID = (names.STATUS, names.OUTCOME, names.TOKEN_TYPE, names.REQUEST_MODEL, names.ERROR, names.TEAM)
LABELS = (*SAID, names.WORKER, names.WHO, names.KIND, names.QUEUE, names.STREAM)


def total(measures: list[Measure], metric: tuple[str, str, str], **having: str) -> float:
    wanted = {(names.OUTCOME if key == "outcome" else key): value for key, value in having.items()}
    return sum(m.value for m in measures if m.name == metric[0] and wanted.items() <= m.told.items())


def test_a_run_is_counted_with_all_that_happened_in_it() -> None:
    found = measures_of(RUN, eventful().entries)
    assert total(found, names.RUNS) == 1
    assert total(found, names.RETRIES) == 3
    assert {m.told[names.KIND] for m in found if m.name == names.RETRIES[0]} == {"refine", "retry", "reroute"}
    assert total(found, names.REPLANS) == 2
    assert total(found, names.LOST_EXECUTIONS, worker="reader") == 2
    assert sum(m.name == names.TASK_DURATION[0] for m in found) == 7
    assert all(m.told[names.TEAM] == "default" for m in found)
    (duration,) = [m for m in found if m.name == names.RUN_DURATION[0]]
    assert duration.value == pytest.approx(1 + len(eventful().entries) / 10)
    assert duration.told[names.STATUS] == "partial"


def test_a_run_that_goes_on_is_not_counted_yet() -> None:
    assert measures_of(RUN, Tape().start().hand("a").result("a").entries) == []


def test_a_task_tells_how_long_it_waited_and_how_long_it_took() -> None:
    found = measures_of(RUN, Tape().start().hand("a").result("a", seconds=0.03).finish().entries)
    assert total(found, names.TASK_WAIT, worker="reader") == pytest.approx(0.07)
    assert total(found, names.TASK_DURATION, worker="reader", outcome="completed") == pytest.approx(0.03)


def readings(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    assert data
    return {m.name: list(m.data.data_points) for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics}


def test_figures_that_nobody_can_mean_spoil_no_sum() -> None:
    reader = InMemoryMetricReader()
    metrics = Metrics([reader], Resource({}))
    metrics.note(Measure(names.TOKENS[0], value, {}) for value in (5, 10**30, -3, 2))
    assert [point.value for point in readings(reader)[names.TOKENS[0]]] == [7]
    metrics.close(1)


def test_a_call_to_a_model_is_a_latency_and_two_counts_of_tokens() -> None:
    reader = InMemoryMetricReader()
    metrics = Metrics([reader], Resource({}))
    metrics.model_called("planner", "m", Usage(input_tokens=7, cache_read_tokens=3, output_tokens=5, seconds=2.0), "")
    metrics.model_called("planner", "m", Usage(seconds=1.0), "overloaded_error")
    found = readings(reader)
    durations = found["gen_ai.client.operation.duration"]
    assert sorted((p.sum, p.attributes.get("error.type", "")) for p in durations) == [
        (1.0, "overloaded_error"),
        (2.0, ""),
    ]
    tokens = {point.attributes[names.TOKEN_TYPE]: point.sum for point in found["gen_ai.client.token.usage"]}
    assert tokens == {"input": 10, "output": 5}


def test_a_gauge_is_read_with_the_metrics_and_names_team_and_worker() -> None:
    reader = InMemoryMetricReader()
    metrics = Metrics([reader], Resource({}))
    alive = {"analyst": 2.0}
    metrics.watch(names.WORKERS_ALIVE[0], "finance", lambda: alive)
    alive["writer"] = 1.0
    points = readings(reader)["handoff.workers"]
    assert {(point.attributes[names.TEAM], point.attributes["worker"]): point.value for point in points} == {
        ("finance", "analyst"): 2.0,
        ("finance", "writer"): 1.0,
    }


def test_nobody_measures_when_nobody_wants_to_know() -> None:
    assert start_metrics({}, Resource({}), port=0) is None
    off = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}
    assert start_metrics(off, Resource({}), port=0) is None
    none = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_METRICS_EXPORTER": "none"}
    assert start_metrics(none, Resource({}), port=0) is None


def shown() -> str:
    """Everything that Prometheus can ever see of us."""
    registry = CollectorRegistry()
    metrics = Metrics([PrometheusMetricReader(scope_info_enabled=False, registry=registry)], Resource({}))
    told: dict[str, str] = dict.fromkeys(LABELS, "x")
    metrics.note(Measure(name, 1, told) for name, _, _ in (*names.COUNTERS, *names.HISTOGRAMS))
    for name, _, _ in names.GAUGES:
        metrics.watch(name, "default", lambda: {"analyst": 1.0})
    return generate_latest(registry).decode()


def queries() -> list[str]:
    dashboard = json.loads(DASHBOARD.read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    return asked + [variable["definition"] for variable in dashboard["templating"]["list"]]


def test_the_dashboard_asks_for_metrics_and_labels_that_exist() -> None:
    seen = shown()
    series = set(re.findall(r"^(\w+)\{", seen, re.MULTILINE))
    labels = set(re.findall(r"(\w+)=\"", seen))
    assert len(queries()) >= 15
    for query in queries():
        bare = re.sub(r"\"[^\"]*\"|\[[^]]*\]", "", query)
        named = set(re.findall(r"\b(?:handoff|gen_ai)_\w+", bare)) - labels
        assert named, query
        assert named <= series, query
        for group in re.findall(r"\bby \(([^)]*)\)", bare):
            assert {label.strip() for label in group.split(",")} <= labels, query


@pytest.mark.parametrize("metric", ["handoff_workers", "handoff_breaker_state"])
def test_the_dashboard_shows_workers_and_breakers_of_the_chosen_teams(metric: str) -> None:
    asked = [query for query in queries() if re.search(rf"\b{metric}\b", query)]
    assert asked
    for query in asked:
        assert 'handoff_team=~"$team"' in query
        assert "by (handoff_team, worker)" in query


def test_every_metric_has_a_place_on_the_dashboard() -> None:
    asked = " ".join(queries())
    for line in shown().splitlines():
        if line.startswith("# TYPE ") and "target_info" not in line:
            assert line.split()[2] in asked, line


def test_the_panels_do_not_lie_on_top_of_each_other() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
