"""A tool: a typed function that a model may call by name.

What always holds: arguments are checked before the function runs; whatever goes wrong comes out as ToolError
with a text for the model; a call ends within its time limit; a cancelled call stays cancelled.
"""

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, overload

import msgspec

from actors.tools.signature import Signature, read_signature
from actors.tools.thread import run_in_thread
from protocol.errors import ToolError

TIMEOUT_S = 30.0

Function = Callable[..., Any]


@dataclass(frozen=True)
class Tool:
    """A function as a model sees it. `effect` says that a call changes something outside."""

    name: str
    description: str
    schema: dict[str, Any]
    function: Function = field(repr=False)
    signature: Signature = field(repr=False)
    timeout_s: float = TIMEOUT_S
    effect: bool = False

    async def call(self, arguments: dict[str, Any]) -> str:
        """Check the arguments, run the function, and return what it gave as text; or raise ToolError."""
        checked = self._checked(arguments)
        scope = asyncio.timeout(self.timeout_s)
        try:
            async with scope:
                value = await self._run(checked)
        except ToolError:
            raise
        # A function that exits must not take the worker with it.
        except (Exception, SystemExit) as error:
            if scope.expired():
                raise ToolError(f"{self.name} took longer than {self.timeout_s:g} s and was given up") from error
            raise ToolError(f"{type(error).__name__}: {error}") from error
        return self._text(value)

    async def _run(self, arguments: dict[str, Any]) -> object:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**arguments)
        return await run_in_thread(self.function, arguments)

    def _checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.signature.check(arguments)
        except (msgspec.ValidationError, RecursionError) as error:
            expected = self.signature.expected or "no arguments"
            raise ToolError(f"bad arguments for {self.name}: {error}. Expected: {expected}") from error

    def _text(self, value: object) -> str:
        if isinstance(value, str):
            return value
        try:
            return msgspec.json.encode(value).decode()
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise ToolError(f"{self.name} returned something that is not text or JSON: {error}") from error


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *, name: str | None = None, timeout_s: float = TIMEOUT_S, effect: bool = False
) -> Callable[[Function], Tool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    timeout_s: float = TIMEOUT_S,
    effect: bool = False,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a typed function with a docstring; InvalidError lists what it lacks."""

    def decorate(function: Function) -> Tool:
        signature = read_signature(function, name=name, timeout_s=timeout_s)
        return Tool(
            name=signature.name,
            description=signature.description,
            schema=signature.schema,
            function=function,
            signature=signature,
            timeout_s=timeout_s,
            effect=effect,
        )

    return decorate if function is None else decorate(function)
