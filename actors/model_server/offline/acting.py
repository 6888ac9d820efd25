"""Acting: the tools that do something instead of looking something up, and whether a text asks for that act."""

import re

from actors.model_server.offline.concepts import VERBS
from actors.model_server.offline.request import OfferedTool
from actors.model_server.offline.words import stem, word_set, words

_EFFECTS = {
    stem(verb)
    for verb in word_set(
        """send post publish email mail notify message page call phone alert pay refund order buy book cancel delete
        remove drop erase crash stop kill end shut restart reboot reset start launch deploy update set change move
        rename approve reject submit push upload lock unlock close"""
    )
}
"""Verbs of acts that cannot be taken back, so that a guess is not good enough."""

_SENTENCE = re.compile(r"(?<=[.?!;])\s+|\n+")
_PIECE = re.compile(r"[:,]\s+|\b(?:and|then)\b\s*")
_WISH = re.compile(
    r"^\W*(?:(?:please|also|finally|now|(?:can|could) you|(?:i|we) (?:want|need)(?: you)? to"
    r"|(?:you|we) (?:must|should))\b\s*)+",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"^\W*(?:if|unless|in case|when|once)\b", re.IGNORECASE)


def has_effect(tool: OfferedTool) -> bool:
    """Whether a tool does something that cannot be taken back, told from the verb it begins with."""
    told = stem(next(iter(words(tool.description)), ""))
    return told in _EFFECTS or (told not in VERBS and stem(name_verb(tool)) in _EFFECTS)


def name_verb(tool: OfferedTool) -> str:
    """The first word of the name of a tool: what it does."""
    return next(iter(words(tool.name.replace("_", " ").replace("-", " "))), "")


def act(tool: OfferedTool, text: str) -> str:
    """The sentence of a text that asks for the act of the tool, from its verb on; empty if none does.

    A verb asks for an act only where a part of a sentence begins with it: `page her`, not `the last page`. What is to
    be done on a condition is not asked for yet.
    """
    verbs = {stem(name_verb(tool)), stem(next(iter(words(tool.description)), ""))}
    for sentence in _SENTENCE.split(text):
        starts = [0, *(match.end() for match in _PIECE.finditer(sentence))]
        for start in starts if not _CONDITION.match(sentence) else []:
            asked = _WISH.sub("", sentence[start:])
            if stem(next(iter(words(asked)), "")) in verbs:
                return asked
    return ""
