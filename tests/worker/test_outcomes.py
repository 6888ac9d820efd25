"""Whatever a function returns, its task comes back: as a result, or as a failure that says why."""

from typing import Any

import pytest
from at_work import Desk

from actors.worker.definition import Outcome, Worker
from protocol.errors import DeclinedError
from protocol.messages import Handoff, Result


async def result_of(returned: Any) -> Result:
    def work(_: Handoff) -> Any:
        if isinstance(returned, Exception):
            raise returned
        return returned

    return (await Desk(Worker("w", summary="Works.", run=work)).do()).result


@pytest.mark.parametrize(
    ("returned", "output"), [("done", "done"), (None, ""), (7, "7"), ("half \ud83d of it", "half ? of it")]
)
async def test_what_is_no_outcome_is_taken_as_text(returned: object, output: str) -> None:
    result = await result_of(returned)
    assert (result.status, result.output) == ("completed", output)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(data=object()),
        Outcome(output=5),  # pyright: ignore[reportArgumentType]
        Outcome(findings=None),  # pyright: ignore[reportArgumentType]
        Outcome(error="broken"),  # pyright: ignore[reportArgumentType]
        Outcome(output="half \ud83d of it"),
    ],
)
async def test_an_outcome_that_cannot_be_passed_on_is_a_failure_that_says_why(outcome: Outcome) -> None:
    result = await result_of(outcome)
    assert result.status == "failed"
    assert result.error is not None
    assert (result.error.kind, result.error.retryable) == ("bad_outcome", False)
    assert "cannot be passed on" in result.error.message


async def test_data_is_passed_on_as_it_is() -> None:
    result = await result_of(Outcome(output="x", data={"rows": [1, None, "é"]}))
    assert bytes(result.data) == '{"rows":[1,null,"é"]}'.encode()


@pytest.mark.parametrize(
    ("error", "status"), [(OSError("no \udcff"), "failed"), (DeclinedError("no \udcff"), "declined")]
)
async def test_an_error_whose_words_cannot_be_written_is_told_all_the_same(error: Exception, status: str) -> None:
    result = await result_of(error)
    assert result.status == status
    assert "no ?" in (result.error.message if result.error else result.output)
