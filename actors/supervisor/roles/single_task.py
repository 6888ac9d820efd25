"""The plan for a model that cannot write plans: the whole request as one task for one worker."""

import re

from actors.supervisor.roles.role import Workers
from protocol.messages import Plan, Request, Task

REASON = "not planned: the model answers in prose only, so the whole request went to one worker ({worker})"

_WORD = re.compile(r"\w{3,}")


def single_task_plan(request: Request, workers: Workers) -> tuple[Plan, str]:
    """The plan, and the sentence that says why it is one task.

    The worker is the one whose name, summary and tools share most words with the request; the first of equals.
    """
    worker = max(workers, key=lambda name: _shared(request.text, name, workers))
    reason = REASON.format(worker=worker)
    task = Task(id="request", worker=worker, intent=request.text, success="The request is answered.")
    plan = Plan(goal=request.text[:300], tasks=(task,), rationale=reason)
    return plan, reason


def _shared(text: str, name: str, workers: Workers) -> int:
    card = workers[name][0]
    return len(_words(text) & _words(" ".join([name, card.summary, *card.tools]).replace("_", " ")))


def _words(text: str) -> set[str]:
    """The words of a text; a plural counts as its singular."""
    return {word.removesuffix("s") for word in _WORD.findall(text.lower())}
