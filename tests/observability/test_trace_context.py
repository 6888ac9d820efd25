from hypothesis import given
from hypothesis import strategies as st

from observability.context import parent_span, traceparent
from protocol.ids import new_run_id, span_id


@given(st.text(max_size=20), st.integers(1, 9))
def test_the_span_comes_back_from_its_header(task: str, attempt: int) -> None:
    run = new_run_id()
    span = span_id(run, "dispatch", task, attempt)
    assert parent_span(traceparent(run, span)) == span


def test_the_run_is_the_trace() -> None:
    assert traceparent("a" * 32, "b" * 16) == f"00-{'a' * 32}-{'b' * 16}-01"


@given(st.text())
def test_what_is_no_header_names_no_span(text: str) -> None:
    found = parent_span(text)
    assert found is None or (len(found) == 16 and found in text.split("-"))


def test_headers_of_the_wrong_shape_name_no_span() -> None:
    for header in ("", "00", f"00-{'a' * 32}-short-01", f"00-{'a' * 32}-{'b' * 16}"):
        assert parent_span(header) is None
