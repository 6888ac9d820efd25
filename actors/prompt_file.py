"""Prompt files: the system prompt of a role as a Markdown file beside its module, with a version line at its top."""

from functools import lru_cache
from importlib.resources import files

import msgspec

VERSION = "Version: "


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A system prompt and its version."""

    version: int
    text: str


@lru_cache
def read_prompt(package: str, name: str) -> Prompt:
    """The prompt `<name>.md` of a package. The file is read once; ValueError if it has no version line."""
    first, _, text = files(package).joinpath(f"{name}.md").read_text(encoding="utf-8").partition("\n")
    number = first.removeprefix(VERSION).strip()
    if not first.startswith(VERSION) or not number.isdigit():
        raise ValueError(f"{package}/{name}.md must begin with a line such as '{VERSION}1'")
    return Prompt(version=int(number), text=text.strip())
