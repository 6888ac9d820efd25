"""The signature of a tool: its name, texts and argument schema, all read from the function itself."""

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from actors.tools.given import FromSetting, Source, source_of
from protocol.errors import InvalidError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECTION = re.compile(r"(Args|Arguments|Returns|Raises|Yields|Examples?|Notes?):\s*$")
_ARGUMENT = re.compile(r"(\w+)\s*(?:\([^)]*\))?:\s*(.*)")
_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Signature:
    """What a function says of itself. `given` are the arguments that the model does not see, and their sources."""

    name: str
    description: str
    schema: dict[str, Any]
    arguments: type[msgspec.Struct]
    given: Mapping[str, Source] = field(default_factory=dict[str, Source])

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function takes them, or msgspec.ValidationError."""
        return msgspec.structs.asdict(msgspec.convert(arguments, self.arguments))

    @property
    def expected(self) -> str:
        """The arguments in one line, for whoever got them wrong."""
        required = self.schema.get("required", [])
        return ", ".join(
            f"{name} ({_kind(schema)}{'' if name in required else ', optional'})"
            for name, schema in self.schema["properties"].items()
        )


def read_signature(function: Callable[..., Any], *, name: str, faults: list[str]) -> Signature:
    """Read the function, or raise InvalidError with everything that keeps it from being a tool, `faults` included."""
    doc = inspect.getdoc(function) or ""
    faults = [fault for fault in [name_fault(name), *faults] if fault]
    if not doc.strip():
        faults.append(f"tool {name!r} has no docstring: a model chooses tools by it")
    given: dict[str, Source] = {}
    fields = _fields(function, name, given, faults)
    if faults:
        raise InvalidError(faults)
    arguments, schema = _schema(name, fields)
    _describe(schema, _documented(doc))
    return Signature(name, _summary(doc), schema, arguments, given)


def name_fault(name: str) -> str | None:
    """What is wrong with the name of a tool; None if nothing is."""
    if _NAME.fullmatch(name):
        return None
    return f"tool name {name!r} is not valid: use 1 to 64 characters of A-Z a-z 0-9 _ -"


def _fields(
    function: Callable[..., Any], name: str, given: dict[str, Source], faults: list[str]
) -> list[tuple[str, Any, Any]]:
    """The arguments that come from the model; the others go into `given`."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        faults.append(f"tool {name!r}: an annotation cannot be resolved: {error}")
        return []
    fields: list[tuple[str, Any, Any]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in _KINDS:
            faults.append(f"tool {name!r}: {parameter} cannot be passed by name; use plain arguments")
        elif parameter.name not in hints:
            faults.append(f"tool {name!r}: argument {parameter.name!r} has no type annotation")
        elif source := source_of(hints[parameter.name]):
            given[parameter.name] = source
            if isinstance(source, FromSetting) and parameter.default is parameter.empty:
                faults.append(f"tool {name!r}: argument {parameter.name!r} comes from a setting and needs a default")
        elif not _NAME.fullmatch(parameter.name):
            faults.append(f"tool {name!r}: argument name {parameter.name!r} is not 1 to 64 of A-Z a-z 0-9 _")
        else:
            default = msgspec.NODEFAULT if parameter.default is parameter.empty else parameter.default
            fields.append((parameter.name, hints[parameter.name], msgspec.field(default=default)))
    return fields


def _schema(name: str, fields: list[tuple[str, Any, Any]]) -> tuple[type[msgspec.Struct], dict[str, Any]]:
    try:
        arguments = msgspec.defstruct(name.replace("-", "_"), fields, kw_only=True, forbid_unknown_fields=True)
        (found,), parts = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidError([f"tool {name!r}: its arguments have no JSON schema: {error}"]) from error
    # The Messages API wants the object itself at the top, not a reference to it.
    schema = parts.pop(found["$ref"].removeprefix("#/$defs/"))
    schema.pop("title", None)
    return arguments, schema | ({"$defs": parts} if parts else {})


def _describe(schema: dict[str, Any], texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        if name in schema["properties"]:
            schema["properties"][name].setdefault("description", text)


def _summary(doc: str) -> str:
    return " ".join(doc.strip().split("\n\n")[0].split())


def _documented(doc: str) -> dict[str, str]:
    """The texts of the section `Args:`, by argument; deeper lines go on with the text above them."""
    texts: dict[str, str] = {}
    inside, indent, name = False, 0, ""
    for line in doc.splitlines():
        text, depth = line.strip(), len(line) - len(line.lstrip())
        if depth == 0 and text:
            section = _SECTION.match(text)
            inside, indent = bool(section and section[1] in ("Args", "Arguments")), 0
        elif inside and text:
            indent = indent or depth
            entry = _ARGUMENT.match(text) if depth <= indent else None
            if entry:
                name = entry[1]
            texts[name] = f"{texts.get(name, '')} {entry[2] if entry else text}".strip()
    return texts


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type") or ("one of several types" if "anyOf" in schema else "object")
    if kind == "array":
        return f"array of {_kind(schema.get('items', {}))}"
    return str(kind)
