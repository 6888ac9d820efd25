"""Finding workers: by name in a team, or by import path in a program of one's own."""

import sys
from collections.abc import Sequence
from importlib import import_module, util
from pathlib import Path
from types import ModuleType

from actors import teams
from actors.settings import Settings
from actors.worker.definition import Worker
from protocol.errors import InvalidError


def find_workers(targets: Sequence[str], settings: Settings) -> list[Worker]:
    """The workers that are meant: `researcher`, `my_team:analyst`, `my_team` or `path/to/file.py:analyst`."""
    found: list[Worker] = []
    faults: list[str] = []
    for target in targets:
        try:
            found += _named(target, settings) or _imported(target)
        except InvalidError as error:
            faults += error.faults
    names = [worker.name for worker in found]
    faults += [f"{name!r} is named twice" for name in sorted(set(names)) if names.count(name) > 1]
    if faults:
        raise InvalidError(faults)
    return found


def _named(target: str, settings: Settings) -> list[Worker]:
    """The worker of the team that has this name, if it looks like a name at all."""
    if ":" in target or target.endswith(".py") or settings.team not in teams.names():
        return []
    worker = teams.find(settings.team, data_folder(settings)).worker(target)
    return [worker] if worker else []


def data_folder(settings: Settings) -> Path | None:
    """The folder that tools work on, if one is set."""
    return Path(settings.data).expanduser() if settings.data else None


def _imported(target: str) -> list[Worker]:
    where, _, name = target.partition(":")
    module = _load(where, target)
    if not name:
        workers = [value for value in vars(module).values() if isinstance(value, Worker)]
        if not workers:
            raise InvalidError([f"{target}: there is no Worker in {where}"])
        return workers
    value = getattr(module, name, None)
    if isinstance(value, Worker):
        return [value]
    raise InvalidError([f"{target}: {where} has no Worker called {name!r}" + _hint(module)])


def _hint(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if isinstance(value, Worker)]
    return f" (it has {', '.join(sorted(names))})" if names else ""


def _load(where: str, target: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return _load_file(Path(where)) if where.endswith(".py") else import_module(where)
    except ModuleNotFoundError as error:
        if error.name and where.startswith(error.name):
            raise InvalidError([f"{target}: no team worker and no module of that name; write module:worker"]) from error
        raise InvalidError([f"{target}: {error}"]) from error
    except InvalidError:
        raise
    except Exception as error:  # a person's own file may raise anything while it is loaded
        raise InvalidError([f"{target} cannot be loaded: {type(error).__name__}: {error}"]) from error


def _load_file(path: Path) -> ModuleType:
    spec = util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidError([f"{path}: there is no such file"])
    module = util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
