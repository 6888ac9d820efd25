"""What all tests share."""

import os

import pytest
from hypothesis import HealthCheck, settings

CONTRACT = ("outage", "publish", "queues", "reads", "registry", "subscribe")

pytest.register_assert_rewrite(*(f"tests.bus.contract_{part}" for part in CONTRACT))

# No deadline: how long an example takes says how busy the machine is, not whether the code is right.
# The suite tries the same examples every time, so that only a change makes it fail; `make soak` tries new ones.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", settings.get_profile("suite"), derandomize=False, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
