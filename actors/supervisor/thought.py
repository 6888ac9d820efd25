"""Thoughts: the decisions that take a model. Each ends in exactly one Event."""

from collections.abc import Callable, Coroutine
from typing import Any

from actors.run.decisions import (
    CallCondenser,
    CallJudge,
    CallPlanner,
    CallRefiner,
    CallReplanner,
    CallSynthesizer,
)
from actors.run.state import RunState
from actors.supervisor.desk import Desk
from actors.supervisor.planner import Choice
from actors.token_feed import TokenFeed
from observability import live
from protocol import subjects
from protocol.events import Event, Synthesized
from protocol.messages import Request

Thought = CallPlanner | CallReplanner | CallRefiner | CallCondenser | CallSynthesizer | CallJudge
Thinking = Callable[[], Coroutine[Any, Any, Event]]


def name_of(thought: Thought) -> str:
    """What tells one thought from another while it is under way."""
    match thought:
        case CallRefiner(task):
            return f"refiner {task}"
        case CallCondenser(key):
            return f"condenser {key}"
        case _:
            return type(thought).__name__


def thinking(thought: Thought, desk: Desk, request: Request, state: RunState, choice: Choice) -> Thinking:
    """How a thought is carried out, once it is paid for."""
    work = _thinking(thought, desk, request, state, choice)
    role, which, epoch = *_number(thought, state), state.epoch

    async def think() -> Event:
        with live.thinking(role, *which, epoch=epoch):
            return await work()

    return think


def _number(thought: Thought, state: RunState) -> tuple[str, tuple[str | int, ...]]:
    """Which of its kind it is in this run, as the trace numbers them."""
    match thought:
        case CallPlanner():
            return "plan", (len(state.rejections) + 1,)
        case CallReplanner():
            return "replan", (state.thoughts["replan"] + 1,)
        case CallRefiner(task):
            return "refine", (task, state.tasks[task].attempt + 1)
        case CallCondenser(key):
            return "condense", (key,)
        case CallSynthesizer():
            return "synthesize", (state.thoughts["synthesize"] + 1,)
        case CallJudge():
            return "judge", (state.thoughts["judge"] + 1,)


def _thinking(thought: Thought, desk: Desk, request: Request, state: RunState, choice: Choice) -> Thinking:
    match thought:
        case CallPlanner(faults):
            return lambda: desk.planner.plan(request, choice, faults)
        case CallReplanner(reasons):
            return lambda: desk.planner.replan(state, choice, reasons)
        case CallRefiner(task, not_before):
            return lambda: desk.refiner.refine(request.id, state.tasks[task], not_before)
        case CallCondenser(key, results):
            return lambda: desk.synthesizer.condense(request.id, state, key, results)
        case CallSynthesizer():
            return lambda: _synthesize(desk, request.id, state)
        case CallJudge():
            return lambda: desk.judge.judge(request.id, state)


async def _synthesize(desk: Desk, run: str, state: RunState) -> Synthesized:
    """The answer is seen on the bus while it is written."""
    async with TokenFeed(desk.bus, desk.clock, subjects.answer_tokens(run)) as feed:
        return await desk.synthesizer.synthesize(run, state, feed.say)
