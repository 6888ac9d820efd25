"""A seed that fails in the suite says its seed and commit, as `make soak` does."""

from collections.abc import Generator

import pytest
from simulation.report import how_to_repeat


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    callspec = getattr(item, "callspec", None)
    if report.failed and callspec and "seed" in callspec.params:
        report.sections.append(("simulation", how_to_repeat(item.path.stem, callspec.params["seed"])))
    return report
