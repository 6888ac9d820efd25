"""A context of OpenTelemetry whose span is made only if somebody asks for it.

Every task runs in one, and most of them never ask: making the span for nothing would be most of what tracing costs a
worker.
"""

from collections.abc import Callable
from typing import Any

from opentelemetry.context import Context


class LazyContext(Context):
    """Empty until somebody looks; then what `made` gives."""

    def __init__(self, made: Callable[[], Context]) -> None:
        super().__init__()
        self._made: Callable[[], Context] | None = made
        self._whole = Context()

    def _filled(self) -> Context:
        if self._made is not None:
            self._whole, self._made = self._made(), None
        return self._whole

    def get(self, key: str, default: Any = None) -> Any:
        """What stands under a key: how the library reads a context."""
        return self._filled().get(key, default)

    def copy(self) -> dict[str, Any]:
        """All of it: how the library makes a new context of one."""
        return dict(self._filled())

    def __getitem__(self, key: str) -> Any:
        return self._filled()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._filled()

    def __iter__(self) -> Any:
        return iter(self._filled())

    def __len__(self) -> int:
        return len(self._filled())
