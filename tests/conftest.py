"""What all tests share."""

import logging
import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

CONTRACT = ("outage", "publish", "queues", "reads", "registry", "subscribe")

pytest.register_assert_rewrite(*(f"tests.bus.contract_{part}" for part in CONTRACT))

# No deadline: how long an example takes says how busy the machine is, not whether the code is right.
# The suite tries the same examples every time, so that only a change makes it fail; `make soak` tries new ones.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", settings.get_profile("suite"), derandomize=False, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


@pytest.fixture(autouse=True)
def logs_as_in_a_fresh_process() -> Iterator[None]:
    """A command that runs inside a test configures the logs of the whole process; the next test must not notice."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = [handler for handler in root.handlers if handler in handlers]
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
