"""Places on the disk that a person names: looked at without ever raising."""

from pathlib import Path


def expanded(path: Path) -> Path:
    """The path with `~` as the home of a user; as it is if there is no such user."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def is_folder(path: Path) -> bool:
    """Whether it is a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Whether it is a file."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def not_a_folder(path: Path) -> str:
    """Why it is no folder, for a person."""
    try:
        return "is not a folder" if path.exists() else "does not exist"
    except (OSError, ValueError):
        return "is no path"
