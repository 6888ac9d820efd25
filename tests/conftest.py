"""What all tests share."""

import pytest

CONTRACT = ("outage", "publish", "queues", "reads", "registry", "subscribe")

pytest.register_assert_rewrite(*(f"tests.bus.contract_{part}" for part in CONTRACT))
