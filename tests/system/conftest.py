from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from actor_processes import Stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage
