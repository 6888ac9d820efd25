"""The figures of a run that ended, made of its record: told once, by whoever finished it."""

from collections.abc import Iterable, Iterator

import msgspec

from observability import names
from observability.attempt_spans import execution_times, outcome_of
from observability.run_record import Attempt, Entry, Record, sorted_record
from protocol.events import Refined, ReplanFailed, Replanned, Rerouted, Retrying

KINDS = {Refined: "refine", Retrying: "retry", Rerouted: "reroute"}


class Measure(msgspec.Struct, frozen=True):
    """One figure. `name` is that of its metric."""

    name: str
    value: float
    told: dict[str, str]


def measures_of(run: str, entries: Iterable[Entry]) -> list[Measure]:
    """Every figure of the run, with its team."""
    record = sorted_record(run, entries)
    if record.finished is None:
        return []
    team = record.request.team
    found = [
        msgspec.structs.replace(measure, told={names.TEAM: team} | measure.told)
        for measure in (*_whole(record), *_decisions(record), *_spending(record))
    ]
    for attempt in record.attempts.values():
        found += _attempt(attempt, record.end_ns, team)
    return found


def _whole(record: Record) -> Iterator[Measure]:
    finished, first = record.finished, record.first
    if finished is None or first is None:
        return
    asked_ns = round(first.asked_at * 1e9) or record.start_ns
    status = {names.STATUS: finished.answer.status}
    yield Measure(names.RUNS[0], 1, status)
    yield Measure(names.RUN_DURATION[0], _seconds(record.end_ns - asked_ns), status)
    yield Measure(names.RUN_WAIT[0], _seconds(record.start_ns - asked_ns), {})


def _decisions(record: Record) -> Iterator[Measure]:
    for at in record.log:
        match at.event:
            case Refined() | Retrying() | Rerouted() as event:
                yield Measure(names.RETRIES[0], 1, {names.KIND: KINDS[type(event)]})
            case Replanned():
                yield Measure(names.REPLANS[0], 1, {names.OUTCOME: "completed"})
            case ReplanFailed():
                yield Measure(names.REPLANS[0], 1, {names.OUTCOME: "failed"})
            case _:
                pass


def _spending(record: Record) -> Iterator[Measure]:
    finished = record.finished
    for who, usage in finished.answer.spending.items() if finished else ():
        total_in = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        for kind, tokens in (("input", total_in), ("output", usage.output_tokens)):
            if tokens:
                yield Measure(names.TOKENS[0], tokens, {names.WHO: who, names.TOKEN_TYPE: kind})
        if usage.usd:
            yield Measure(names.COST[0], usage.usd, {names.WHO: who})


def _attempt(attempt: Attempt, end_ns: int, team: str) -> Iterator[Measure]:
    """There are many of these: the team is said at once, not added later."""
    worker = {names.TEAM: team, names.WORKER: attempt.address.worker}
    for number, (begun_ns, ended_ns) in enumerate(execution_times(attempt, attempt.executions(), end_ns)):
        if number == 0:
            yield Measure(names.TASK_WAIT[0], _seconds(begun_ns - attempt.start_ns), worker)
        outcome = outcome_of(attempt, number, over=True)
        if outcome == names.LOST:
            yield Measure(names.LOST_EXECUTIONS[0], 1, worker)
        yield Measure(names.TASK_DURATION[0], _seconds(ended_ns - begun_ns), {**worker, names.OUTCOME: outcome})


def _seconds(ns: int) -> float:
    return max(0.0, ns / 1e9)
