"""How often a task was lost: pure functions of its Steps.

An instance takes a task when it is delivered. One that gives it back on purpose stores `given_back` first. A `taken`
without such a mark behind the taking before it means that the earlier instance was lost.
"""

from collections.abc import Sequence

from protocol.steps import Begun, GivenBack, Step, Taken

_NO_PROGRESS = Taken | GivenBack | Begun


def losses(steps: Sequence[Step]) -> int:
    """The number of instances that took the task, or the part of it that these steps record, and were lost.

    The first taking has no step of its own: the first delivery of a handoff needs no claim.
    """
    lost, held = 0, True
    for step in steps:
        if isinstance(step, Taken):
            lost += held
            held = True
        elif isinstance(step, GivenBack):
            held = False
    return lost


def losses_since_progress(steps: Sequence[Step]) -> int:
    """The same, counted from the last step that got the task any further."""
    start = next((at for at in range(len(steps), 0, -1) if not isinstance(steps[at - 1], _NO_PROGRESS)), 0)
    return losses(steps[start:])


def losses_if_taken(steps: Sequence[Step], instance: str) -> int:
    """The number of losses if this instance takes the task now."""
    return losses([*steps, Taken(instance=instance)])
