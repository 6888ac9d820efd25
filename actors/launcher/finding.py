"""Finding teams and workers: by name, in a team file, or by import path in a program of one's own."""

import re
import sys
from collections.abc import Sequence
from importlib import import_module, util
from pathlib import Path
from types import ModuleType

from actors import teams
from actors.settings import Settings
from actors.teams.team import Team
from actors.worker.definition import Worker
from protocol.errors import InvalidError

_IMPORT_PATH = re.compile(r"(?:.+\.py|[A-Za-z_][\w.]*):[A-Za-z_]\w*")


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
    if ":" in target or target.endswith(".py") or not is_defined(settings):
        return []
    team = find_team(settings)
    if worker := team.worker(target):
        return [worker]
    if not _is_module(target):
        there = ", ".join(worker.name for worker in team.workers)
        raise InvalidError([f"{target}: team {team.name!r} has no such worker (it has {there}), nor is it a module"])
    return []


def _is_module(target: str) -> bool:
    """Whether there may be a module of that name; it is not imported."""
    _look_here()
    top = target.partition(".")[0]
    return top.isidentifier() and util.find_spec(top) is not None


def is_defined(settings: Settings) -> bool:
    """Whether the team is written down somewhere; one that is not may still run on the bus."""
    return bool(settings.team_source) or settings.team in teams.names()


def find_team(settings: Settings) -> Team:
    """The team that is written down under these settings; InvalidError with every fault, or if there is none."""
    source = settings.team_source or settings.team
    if not is_import_path(source):
        return teams.find(source, data_folder(settings))
    if settings.data:
        raise InvalidError([f"{source} is a team in Python, with data of its own: leave --data (HANDOFF_DATA) out"])
    return imported_team(source)


def is_import_path(reference: str) -> bool:
    """Whether it names a team in Python: `my_module:team` or `path/to/file.py:team`."""
    return _IMPORT_PATH.fullmatch(reference) is not None


def imported_team(reference: str) -> Team:
    """The team in Python under that path."""
    where, _, name = reference.partition(":")
    value = getattr(_load(where, reference), name, None)
    if isinstance(value, Team):
        return value
    raise InvalidError([f"{reference}: {where} has no Team called {name!r}"])


def data_folder(settings: Settings) -> Path | None:
    """The folder that tools work on, if one is set."""
    return Path(settings.data) if settings.data else None


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


def _look_here() -> None:
    """Let modules in the working directory be found."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def _load(where: str, target: str) -> ModuleType:
    _look_here()
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
