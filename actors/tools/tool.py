"""A tool: a typed function that a model may call by name.

What always holds: arguments are checked before the function runs; whatever goes wrong comes out as ToolError
with a text for the model; a call ends within its time limit; a cancelled call stays cancelled.
"""

import asyncio
import difflib
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack, get_type_hints, overload

import msgspec

from actors.tools.attempt import run_in_task, run_in_thread
from actors.tools.given import CallKey, fresh_key, value_of
from actors.tools.signature import Signature, name_fault, read_signature
from protocol import codec
from protocol.errors import InvalidError, ToolError

TIMEOUT_S = 30.0

Function = Callable[..., Any]


@dataclass(frozen=True)
class Tool:
    """A function as a model sees it.

    `effect` says that a call changes something outside, `confirm` that a person must allow each call before it is
    made. `output_limit` is how many characters of output the model sees at most; None: what the setting says.
    """

    name: str
    description: str
    schema: dict[str, Any]
    function: Function = field(repr=False)
    signature: Signature = field(repr=False)
    timeout_s: float = TIMEOUT_S
    output_limit: int | None = None
    effect: bool = False
    confirm: bool = False

    def fits(self, arguments: dict[str, Any]) -> bool:
        """Whether the arguments are such that the function could run."""
        try:
            self._checked(arguments)
        except ToolError:
            return False
        return True

    async def call(self, arguments: dict[str, Any], *, key: CallKey | None = None, settings: object = None) -> str:
        """Check the arguments, run the function, and return what it gave as text; or raise ToolError.

        `key` names this call for a function that wants to know whether it was made before.
        """
        checked = self._checked(arguments) | self._given(key, settings)
        scope = asyncio.timeout(self.timeout_s)
        try:
            async with scope:
                value = await self._run(checked)
        except ToolError:
            raise
        except Exception as error:
            if scope.expired():
                raise ToolError(self._given_up) from error
            raise ToolError(f"{type(error).__name__}: {error}") from error
        return self._text(value)

    @property
    def _given_up(self) -> str:
        text = f"{self.name} took longer than {self.timeout_s:g} s and was given up"
        return f"{text}: whether it was done is not known" if self.effect else text

    async def _run(self, arguments: dict[str, Any]) -> object:
        if inspect.iscoroutinefunction(self.function):
            return await run_in_task(self.function, arguments)
        return await run_in_thread(self.function, arguments)

    def _checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.signature.check(arguments)
        except (msgspec.ValidationError, RecursionError) as error:
            expected = self.signature.expected or "no arguments"
            raise ToolError(f"bad arguments for {self.name}: {error}. Expected: {expected}") from error

    def _given(self, key: CallKey | None, settings: object) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, source in self.signature.given.items():
            if source == "key":
                given[name] = key or fresh_key()
            elif settings is not None:
                given[name] = value_of(source, settings)
        return given

    def _text(self, value: object) -> str:
        if isinstance(value, str):
            return codec.writable(value)
        try:
            return msgspec.json.encode(value).decode()
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise ToolError(f"{self.name} returned something that is not text or JSON: {error}") from error


class Options(TypedDict, total=False):
    """What may be said of a tool beside what its function says itself."""

    name: str
    timeout_s: float
    output_limit: int
    effect: bool
    confirm: bool


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(**options: Unpack[Options]) -> Callable[[Function], Tool]: ...
def tool(function: Function | None = None, /, **options: Unpack[Options]) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a typed function with a docstring; InvalidError lists what it lacks."""

    def decorate(function: Function) -> Tool:
        if faults := _option_faults(str(getattr(function, "__name__", "")), options):
            raise InvalidError(faults)
        name = options.get("name") or str(getattr(function, "__name__", ""))
        signature = read_signature(function, name=name, faults=_limit_faults(name, options))
        return Tool(
            name=signature.name,
            description=signature.description,
            schema=signature.schema,
            function=function,
            signature=signature,
            timeout_s=options.get("timeout_s", TIMEOUT_S),
            output_limit=options.get("output_limit"),
            effect=options.get("effect", False),
            confirm=options.get("confirm", False),
        )

    return decorate if function is None else decorate(function)


def _option_faults(name: str, options: Options) -> list[str]:
    """What is no option, or not of its type: a `confirm` that is misspelled must not pass for none."""
    kinds, faults = get_type_hints(Options), list[str]()
    for key, value in options.items():
        if key not in kinds:
            near = difflib.get_close_matches(key, kinds, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(kinds)}"
            faults.append(f"tool {name!r}: there is no option {key!r}; {hint}")
            continue
        try:
            msgspec.convert(value, kinds[key])
        except msgspec.ValidationError as error:
            faults.append(f"tool {name!r}: {key}: {error}".replace("`", ""))
    return faults


def _limit_faults(name: str, options: Options) -> list[str]:
    limits = {"timeout_s": options.get("timeout_s"), "output_limit": options.get("output_limit")}
    return [
        f"tool {name!r}: {limit} must be above 0 (got {value:g})"
        for limit, value in limits.items()
        if value is not None and value <= 0
    ]


def prefixed(tools: Iterable[Tool], prefix: str) -> list[Tool]:
    """Copies of the tools named `<prefix>_<name>`, so that two workers of a team can each have their own.

    Where the tools speak of one another in their descriptions, they use the new names.
    """
    originals = list(tools)
    names = {tool.name: f"{prefix}_{tool.name}" for tool in originals}
    if faults := [fault for name in names.values() if (fault := name_fault(name))]:
        raise InvalidError(faults)
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")

    def renamed(text: str) -> str:
        return word.sub(lambda found: names[found[0]], text)

    return [
        replace(
            tool,
            name=names[tool.name],
            description=renamed(tool.description),
            schema=tool.schema | {"properties": _described(tool.schema["properties"], renamed)},
        )
        for tool in originals
    ]


def _described(properties: dict[str, Any], renamed: Callable[[str], str]) -> dict[str, Any]:
    """Properties whose descriptions are renamed, and nothing else: an argument may be called like a tool."""
    return {
        name: schema | {"description": renamed(schema["description"])} if "description" in schema else schema
        for name, schema in properties.items()
    }
