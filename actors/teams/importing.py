"""Importing what a team file names: from a module beside the file, which belongs to that team alone, or any other.

What always holds: whatever a module does while it is loaded comes out as InvalidError; two teams may each have a
`tools.py`, and neither sees the other's.
"""

import hashlib
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from actors.teams.filling import nearest
from protocol.errors import InvalidError

SHIPPED = Path(__file__).parent


def imported(path: str, folder: Path) -> Any:
    """What `module:name` stands for in a team file of this folder; InvalidError if that is nothing."""
    name, _, attribute = path.partition(":")
    module = _load(_beside(name, folder) or name, name, folder)
    if not hasattr(module, attribute):
        public = [key for key in vars(module) if not key.startswith("_")]
        near = nearest(attribute, public) if public and nearest(attribute, public).startswith("; did") else ""
        raise InvalidError([f"{name} has no {attribute!r}{near}"])
    return getattr(module, attribute)


def _load(module: str, name: str, folder: Path) -> ModuleType:
    importlib.invalidate_caches()  # the file may have been written a moment ago
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(error.name + ".")):
            raise InvalidError([f"there is no module {name!r}, neither in {folder} nor installed"]) from error
        raise InvalidError([f"{name} cannot be loaded: {error}"]) from error
    # A person's own file may raise anything while it is loaded, and may even try to exit.
    except (Exception, SystemExit) as error:
        raise InvalidError([f"{name} cannot be loaded: {type(error).__name__}: {error}"]) from error


def _beside(name: str, folder: Path) -> str | None:
    """The full name of a module beside the team file, if there is one."""
    first = folder / name.partition(".")[0]
    if not (first.with_suffix(".py").is_file() or (first / "__init__.py").is_file()):
        return None
    return f"{_package(folder)}.{name}"


def _package(folder: Path) -> str:
    """A package that stands for the folder. It is on no search path, so nobody comes upon it by accident."""
    real = folder.resolve()
    if real.parent == SHIPPED.resolve():
        return f"actors.teams.{real.name}"
    name = f"handoff_team_{hashlib.sha256(str(real).encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        package = ModuleType(name, f"The modules in {real}.")
        package.__path__ = [str(real)]
        sys.modules[name] = package
    return name
