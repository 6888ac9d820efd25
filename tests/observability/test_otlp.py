"""Our bytes say what the library's own classes say."""

from collections.abc import Iterable

from collector import Collector, Received
from hypothesis import given
from hypothesis import strategies as st
from run_records import RUN, eventful

from observability.otlp import batches, request_of
from observability.run_spans import spans_of
from observability.span import Link, Moment, Span

hexes = st.integers(1, 2**64 - 1).map(lambda number: f"{number:016x}")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
values = st.one_of(
    texts,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.lists(texts, max_size=3).map(tuple),
)
told = st.dictionaries(texts, values, max_size=5)
times = st.integers(0, 2**63)
links = st.builds(Link, trace=st.just("c" * 32), span=hexes, attributes=told)
moments = st.builds(Moment, name=texts, time_ns=times, attributes=told)
spans = st.builds(
    Span,
    name=texts,
    kind=st.sampled_from(["internal", "client", "producer", "consumer"]),
    trace=st.just(RUN),
    id=hexes,
    parent=st.one_of(st.just(""), hexes),
    start_ns=times,
    end_ns=times,
    service=st.sampled_from(["one", "two"]),
    instance=st.sampled_from(["", "i-1"]),
    attributes=told,
    status=st.sampled_from(["unset", "ok", "error"]),
    error=texts,
    links=st.lists(links, max_size=3).map(tuple),
    events=st.lists(moments, max_size=3).map(tuple),
)


def received(made: Iterable[Span]) -> list[Received]:
    found = Collector()
    request = request_of(
        list(made), lambda service, instance: {"service.name": service, "service.instance.id": instance}
    )
    found.take("/v1/traces", {}, request)
    return found.spans


@given(st.lists(spans, max_size=5))
def test_what_is_packed_is_read_back_by_the_librarys_own_classes(made: list[Span]) -> None:
    back = received(made)
    by_process = sorted(
        made, key=lambda span: [(s.service, s.instance) for s in made].index((span.service, span.instance))
    )
    assert len(back) == len(made)
    for span, found in zip(by_process, back, strict=True):
        assert (found.name, found.kind, found.trace, found.id) == (span.name, span.kind, span.trace, span.id)
        assert (found.parent, found.start_ns, found.end_ns) == (span.parent, span.start_ns, span.end_ns)
        assert (found.service, found.instance, found.scope) == (span.service, span.instance, "handoff")
        assert found.error == (span.status == "error")
        assert found.links == tuple(link.span for link in span.links)
        expected = {key: list(v) if isinstance(v, tuple) else v for key, v in span.attributes.items()}
        assert found.attributes == expected
        assert {key: type(v) for key, v in found.attributes.items()} == {key: type(v) for key, v in expected.items()}


def test_a_whole_run_survives_the_journey() -> None:
    made = spans_of(RUN, eventful().entries)
    assert {span.id for span in received(made)} == {span.id for span in made}


def test_half_a_character_does_not_stop_the_rest() -> None:
    (found,) = received([Span(name="x\ud800", trace=RUN, id="a" * 16, start_ns=1, end_ns=2, service="s")])
    assert found.name == "x?"


@given(st.integers(0, 20), st.integers(1, 7))
def test_batches_lose_nothing(count: int, most: int) -> None:
    made = [Span(name=str(n), trace=RUN, id="a" * 16, start_ns=1, end_ns=2, service="s") for n in range(count)]
    parts = batches(made, most)
    assert [span for part in parts for span in part] == made
    assert all(0 < len(part) <= most for part in parts)
