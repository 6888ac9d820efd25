"""Which failures may pass, and how long to wait for that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.model.failure import LONGEST_WAIT_S, retry_after, status_failure, wait_s


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_statuses_that_may_pass_are_retryable(status: int) -> None:
    assert status_failure(status, None, "").retryable


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_statuses_that_stay_are_not_retryable(status: int) -> None:
    assert not status_failure(status, None, "").retryable


@pytest.mark.parametrize("kind", ["rate_limit_error", "overloaded_error", "api_error", "timeout_error"])
def test_an_error_inside_a_stream_is_told_by_its_kind(kind: str) -> None:
    failure = status_failure(200, kind, "busy")
    assert failure.retryable
    assert failure.kind == kind


def test_an_invalid_request_inside_a_stream_is_not_retryable() -> None:
    assert not status_failure(200, "invalid_request_error", "").retryable


def test_the_provider_may_say_itself_whether_to_try_again() -> None:
    assert not status_failure(429, "rate_limit_error", "spent", {"x-should-retry": "false"}).retryable
    assert status_failure(409, None, "", {"x-should-retry": "true"}).retryable


def test_a_kind_is_found_for_a_status_that_brings_none() -> None:
    assert status_failure(413, None, "").kind == "request_too_large"
    assert status_failure(502, None, "").kind == "api_error"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": header}, now=10.0) == seconds


def test_without_the_header_there_is_no_retry_after() -> None:
    assert retry_after({}, now=0.0) is None


@given(st.integers(1, 2000), st.floats(0, 1))
def test_back_off_is_bounded_and_never_less_than_half(failures: int, luck: float) -> None:
    assert 0 < wait_s(failures, None, luck) <= LONGEST_WAIT_S
    assert wait_s(failures, None, 0.0) * 2 == pytest.approx(wait_s(failures, None, 1.0))


@given(st.floats(0, 1e9))
def test_the_wait_is_as_long_as_the_provider_asks(asked_s: float) -> None:
    assert wait_s(1, asked_s, 0.3) == asked_s


def test_an_account_without_credit_is_told_by_its_own_kind() -> None:
    told = "Your credit balance is too low to access the API."
    assert status_failure(400, "invalid_request_error", told).kind == "billing_error"
    assert status_failure(402, None, "").kind == "billing_error"


def test_back_off_doubles() -> None:
    assert [wait_s(n, None, 1.0) for n in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, 4.0]
