"""Vagueness: whether an intent says enough for somebody who sees nothing else."""

import re

_VERBS = """
    add address analyse analyze answer assess carry check collect complete conduct consider cover deal describe
    determine discuss do evaluate examine execute explain explore figure find finish gather get give handle help
    identify improve inspect investigate look make manage perform prepare process produce provide read report research
    respond review run search see solve study summarise summarize support take tell think understand use verify work
    write
"""
_EMPTY = """
    a about above accordingly all also an and any anything appropriately are as aspects at be been below by can
    carefully content context data deeply details document documents everything fact facts finding findings for from
    further general given good important in info information input into is issue issues it item items its job key kind
    main matter more necessary needed of on or out output overview part parts please point points problem problems
    properly question questions relevant request requested required result results situation so some something stuff
    subject such task tasks text that the their them there these they thing things this those thoroughly through to
    topic topics up user various well what whatever when where which why with work you your
"""
NAMES_NOTHING = frozenset(_VERBS.split()) | frozenset(_EMPTY.split())
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")


def vagueness(intent: str) -> str | None:
    """Why an intent is too vague to be handed out; None if it names something."""
    words = [word.lower() for word in _WORD.findall(intent)]
    if not words:
        return "it says nothing"
    if all(word in NAMES_NOTHING for word in words):
        return "it names nothing specific: say what, of what, and for which period or place"
    return None
