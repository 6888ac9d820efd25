"""What the stored messages of a run say about its takings, without folding them."""

import pytest
from run.folding import RUN, a_task, result_of

from actors.run.limits import Limits
from actors.run.past import Entry, Past, abandoned_at, past_of
from protocol.controls import Approve
from protocol.events import Cancelled, Finished, Planned, RunGivenBack, Skipped, Started, Waiting
from protocol.messages import Answer, Budget, Handoff, Plan, Request

REQUEST = Request(id=RUN, text="t")
LIMITS = Limits(deadline_s=600.0, review_s=3600.0)
BACK = RunGivenBack(supervisor="s", reason="the supervisor stops")
PLANNED = Planned(plan=Plan(tasks=(a_task("a"),)))
HANDED = Handoff(run=RUN, task="a", attempt=1, from_agent="s", to_agent="w", intent="x")


def took(epoch: int, request: Request = REQUEST, seq: int = 7) -> Started:
    return Started(epoch=epoch, supervisor=f"s{epoch}", request=request, request_seq=seq)


def read(*messages: Entry) -> Past:
    return past_of((message, 100.0 + number) for number, message in enumerate(messages))


def test_ten_takings_that_were_given_back_are_no_losses() -> None:
    deployments = [message for epoch in range(1, 11) for message in (took(epoch), BACK)]
    assert read(*deployments).lost == 0
    assert read(took(1), PLANNED, BACK, *deployments[2:], took(11)).lost == 1, "only the one that holds it now"


def test_a_taking_that_follows_another_one_without_given_back_is_a_loss() -> None:
    past = read(took(1), took(2), took(3))
    assert (past.lost, past.epoch, past.holders) == (3, 3, ("s1", "s2", "s3"))
    assert read(took(1), took(2), BACK, took(3), took(4)).lost == 3, "giving back forgives no earlier loss"


@pytest.mark.parametrize("progress", [PLANNED, HANDED, result_of("a"), Skipped(task="a", cause="c"), Cancelled()])
def test_progress_forgives_the_losses_before_it(progress: Entry) -> None:
    assert read(took(1), took(2), took(3), progress).lost == 1
    assert read(took(1), took(2), took(3), progress, took(4)).lost == 2


@pytest.mark.parametrize("standstill", [Waiting(reason="no w is alive"), Approve()])
def test_waiting_and_what_a_client_says_are_no_progress(standstill: Entry) -> None:
    assert read(took(1), standstill, took(2), standstill, took(3)).lost == 3


def test_the_past_holds_the_first_request_the_highest_epoch_and_the_answer() -> None:
    answer = Answer(run=RUN, status="complete")
    past = read(took(1), PLANNED, took(2, Request(id=RUN, text="other"), seq=9), Finished(answer=answer))
    assert (past.request, past.request_seq, past.epoch, past.began) == (REQUEST, 7, 2, 100.0)
    assert past.answer == answer
    assert not past.cut


@pytest.mark.parametrize("messages", [(PLANNED, took(2)), (took(2),), (took(2), took(3)), (BACK, took(2))])
def test_a_log_without_its_first_started_is_cut(messages: tuple[Entry, ...]) -> None:
    assert read(*messages).cut


def test_nothing_stored_is_no_past() -> None:
    assert read() == Past()


@pytest.mark.parametrize(
    ("messages", "at"),
    [
        ((took(1),), 700.0),
        ((took(1, Request(id=RUN, text="t", deadline_s=60.0)),), 160.0),
        ((took(1, Request(id=RUN, text="t", budget=Budget(seconds=30.0))),), 130.0),
        ((took(1, Request(id=RUN, text="t", review=True)),), 100.0 + 3600 + 600),
        ((took(1), PLANNED), 101.0 + 3600 + 600),
        ((took(1), PLANNED, took(2), PLANNED), 103.0 + 3600 + 600),
    ],
)
def test_a_run_with_unknown_events_may_be_ended_only_after_its_deadline_and_the_time_for_a_review(
    messages: tuple[Entry, ...], at: float
) -> None:
    assert abandoned_at(read(*messages), LIMITS) == at
