"""The law of rooms: who may import whom. An arrow that points the wrong way fails here."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("protocol", "observability", "actors")
STDLIB = set(sys.stdlib_module_names)

VOCABULARY = {
    "actors.clock",
    "actors.server_time",
    "actors.lease",
    "actors.setting_rules",
    "actors.settings",
    "actors.artifacts",
    "actors.by_reference",
    "actors.heartbeat",
    "actors.__version__",
}
PORTS = {"actors.bus.port", "actors.model.port", "actors.model.profiles"}

ROOMS: dict[str, tuple[set[str], set[str]]] = {
    # room: (what of ours it may import, which libraries)
    "protocol": ({"protocol"}, {"msgspec"}),
    "observability": (
        {"observability", "protocol"},
        {"structlog", "opentelemetry", "msgspec", "prometheus_client", "requests"},
    ),
    "actors.run": ({"actors.run", "protocol"}, {"msgspec"}),
    "actors.bus.jetstream": (
        {"actors.bus.jetstream", "actors.clock", "actors.server_time", "actors.settings", "protocol", "observability"}
        | PORTS,
        {"nats", "msgspec"},
    ),
    "actors.bus.memory": (
        {"actors.bus.memory", "protocol", "observability"} | PORTS | VOCABULARY,
        {"msgspec"},
    ),
    "actors.supervisor": (
        {
            "actors.supervisor",
            "actors.run",
            "actors.runner",
            "actors.dead_letter",
            "actors.record",
            "actors.storage",
            "actors.token_feed",
            "actors.verdict",
            "actors.model.decision",
            "actors.model.profiles",
            "actors.model.role_model",
            "actors.model.structured",
            "actors.model.ways",
            "actors.model.writing",
            "actors.prompt_file",
            "protocol",
            "observability",
        }
        | PORTS
        | VOCABULARY,
        {"msgspec"},
    ),
    "actors.worker": (
        {
            "actors.worker",
            "actors.model.profiles",
            "actors.runner",
            "actors.token_feed",
            "actors.verdict",
            "actors.tools.given",
            "actors.tools.server",
            "actors.tools.tool",
            "protocol",
            "observability",
        }
        | PORTS
        | VOCABULARY,
        {"msgspec"},
    ),
    "actors.people": (
        {
            "actors.people",
            "actors.record",
            "actors.run",
            "actors.run_index",
            "actors.runner",
            "actors.verdict",
            "actors.worker.confirmation",
            "actors.worker.definition",
            "actors.worker.queue_length",
            "actors.worker.run_end",
            "actors.worker.stopping",
            "protocol",
            "observability",
        }
        | PORTS
        | VOCABULARY,
        {"msgspec"},
    ),
    "actors.web": (
        {"actors.web", "actors.run_index", "actors.record", "protocol", "observability"} | PORTS | VOCABULARY,
        {"msgspec", "starlette"},
    ),
    "actors.model": ({"actors.model", "actors.clock", "protocol", "observability"}, set()),
    "actors.model_server": (
        {"actors.model_server", "actors.clock", "actors.listening", "protocol"},
        {"msgspec", "starlette"},
    ),
    "actors.tools": ({"actors.tools", "protocol"}, {"msgspec", "simpleeval"}),
    "actors.toolservers": (
        {"actors.toolservers", "actors.tools.server", "actors.tools.signature", "actors.tools.tool", "actors.clock"}
        | {"protocol", "observability"},
        {"msgspec", "anyio", "mcp", "httpx2", "jsonschema"},
    ),
    "actors.teams": ({"actors.teams", "actors.tools", "actors.worker.definition", "protocol"}, {"msgspec"}),
}
ANY_LIBRARY = {"actors.model"}
SOLE_IMPORTERS = {
    "nats": "actors.bus.jetstream",
    "anthropic": "actors.model",
    "mcp": "actors.toolservers",
    "click": "actors.cli",
    "uvicorn": "actors.listening",
    "rich": "actors.cli",
    "prompt_toolkit": "actors.cli",
    "opentelemetry": "observability",
    "prometheus_client": "observability",
    "structlog": "observability",  # its default prints to stdout; observability.logger is silent in a user's program
}
NOBODY_IMPORTS = ("actors.cli", "actors.launcher")
MAY_IMPORT_THEM = ("actors.cli", "actors.launcher", "actors.client", "actors.__main__")


def modules() -> Iterator[tuple[str, Path]]:
    for package in OURS:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if parts[:2] == ("actors", "teams") and "data" in parts[:-1]:
                continue  # what a sample team works on, with faults on purpose, is no code of ours
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where the arrow points"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def within(name: str, rooms: set[str] | tuple[str, ...]) -> bool:
    return any(name == room or name.startswith(room + ".") for room in rooms)


def room_of(module: str) -> str | None:
    rooms = [room for room in ROOMS if within(module, (room,))]
    return max(rooms, key=len) if rooms else None


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_module_imports_only_what_its_room_may(module: str, path: Path) -> None:
    room = room_of(module)
    for name in imports(path):
        top = name.partition(".")[0]
        if top in OURS:
            if room:
                assert within(name, ROOMS[room][0]), f"{module} imports {name}: not from room {room}"
            if within(name, NOBODY_IMPORTS):
                assert within(module, MAY_IMPORT_THEM), f"{module} imports {name}, which nobody may"
        elif top not in STDLIB:
            if room and room not in ANY_LIBRARY:
                assert top in ROOMS[room][1], f"{module} imports {top}: not a library of room {room}"
            if owner := SOLE_IMPORTERS.get(top):
                assert within(module, (owner,)), f"{module} imports {top}: only {owner} may"


def test_the_pure_core_never_waits() -> None:
    for module, path in modules():
        if within(module, ("actors.run", "protocol")):
            text = path.read_text()
            waits = any(isinstance(node, ast.Await | ast.AsyncFunctionDef) for node in ast.walk(ast.parse(text)))
            assert not waits, f"{module} awaits"
            assert "asyncio" not in imports(path), f"{module} imports asyncio"


def test_only_subjects_joins_or_splits_a_dot() -> None:
    for module, path in modules():
        if module == "observability.names":
            continue  # names of attributes and metrics begin with the same word
        if within(module, ("actors", "observability")) and '"handoff.' in path.read_text():
            raise AssertionError(f"{module} spells out a subject; protocol/subjects.py is the place")


def test_rooms_stay_small() -> None:
    for module, path in modules():
        lines = path.read_text().splitlines()
        assert len(lines) < 300, f"{module} has {len(lines)} lines: split it by its nouns"
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno
                assert length < 50, f"{module}.{node.name} has {length} lines"


def test_importing_actors_does_not_import_the_model_sdk() -> None:
    heavy = "{'anthropic', 'mcp', 'nats'} & set(sys.modules)"
    code = f"import sys; from actors import Client, ToolServer, Worker, tool; sys.exit(bool({heavy}))"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_no_two_test_modules_share_a_name() -> None:
    """They are imported by their bare names: the second of two would not be collected."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert not {name for name in names if names.count(name) > 1}
