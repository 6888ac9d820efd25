"""Markup: elements made of text that is always escaped, so that nothing a model says can become a part of the page."""

import html
import unicodedata
from collections.abc import Iterable

VOID = {"input", "rect", "path", "line"}
KEPT = "\n\t"
ZERO = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
"""Characters without a width: they may hide words from a search, and are shown."""


class Markup(str):
    """Text that is markup already. Everything else is escaped."""

    __slots__ = ()


def element(tag: str, *inside: str | Iterable[str], **attributes: str | float | bool | None) -> Markup:
    """An element. An attribute's `_` stands for `-`, one at its end for nothing; False or None leaves it out."""
    told = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Markup(f"<{tag}{told}>" if tag == "input" else f"<{tag}{told}/>")
    return Markup(f"<{tag}{told}>{join(*inside)}</{tag}>")


def join(*parts: str | Iterable[str]) -> Markup:
    """Parts one after the other, escaped where they are not markup."""
    told: list[str] = []
    for part in parts:
        if isinstance(part, Markup):
            told.append(part)
        elif isinstance(part, str):
            told.append(escaped(part))
        else:
            told.append(join(*part))
    return Markup("".join(told))


def escaped(text: str) -> str:
    """Text as a page may hold it."""
    return html.escape(inert(text), quote=True)


def inert(text: str) -> str:
    """The text with every character shown that would turn, hide or end what stands around it."""
    for char in set(text):
        if char not in KEPT and _acts(char):
            text = text.replace(char, f"⟨U+{ord(char):04X}⟩")
    return text


def _acts(char: str) -> bool:
    """Control and format characters (directions among them), lone surrogates, and what has no width."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") or char in ZERO


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    spelled = name.rstrip("_").replace("_", "-")
    return f" {spelled}" if value is True else f' {spelled}="{escaped(str(value))}"'
