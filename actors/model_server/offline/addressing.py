"""Addressing: what a tool that acts is to say, and to whom; empty where the task does not make it sure."""

import re

from actors.model_server.offline.intent import main_intent, whole_request
from actors.model_server.offline.job import Job
from actors.model_server.offline.listing import is_empty
from actors.model_server.offline.naming import names
from actors.model_server.offline.words import overlap, stems, word_set, words

MOST_CHARACTERS = 1000
SHORT = 3
_QUOTED = re.compile(r'["“]([^"”]{2,})["”]')
_SAYING = re.compile(r"\b(?:saying(?: that)?|to say(?: that)?|that)\s+(?!person\b|one\b)(\S+(?:\s+\S+){2,})", re.DOTALL)
_BEHIND = re.compile(r"(?::|,|\bbecause\b)\s+(\S+(?:\s+\S+){1,})", re.DOTALL)
_ABOUT = re.compile(r"\b(?:about|regarding|concerning)\s+(\S.*)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.?!;])\s+|\n+")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_NAME = r"[A-Z][\w-]*(?: [A-Z][\w-]*)*(?![\w'\u2019])"
_DIRECT = re.compile(rf"^\w+ (?:to )?(?:the )?({_NAME})")
_TO = re.compile(rf"\bto (?:the )?({_NAME})")
_TO_PLAIN = re.compile(
    r"\bto (?:the |our |all )?((?!say\b|tell\b)[a-z][\w-]*(?: [a-z][\w-]*){0,2}?)"
    r"(?=\s*(?:$|[.,:;]|about\b|that\b|saying\b|because\b))"
)
_RESULTS = word_set("summary result results findings report it them this these")
_FULL_NAME = re.compile(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b")


def message(job: Job, asked: str) -> str:
    """What there is to say: what is quoted or stands behind the act, else what is stated before it."""
    for pattern in (_QUOTED, _SAYING, _BEHIND):
        if match := pattern.search(asked):
            return _tidy(match.group(1))
    whole = whole_request(job) or main_intent(job)
    statement, _, question = whole.partition(": ")
    # What is wrong stands before the colon, what to do about it behind.
    if question and len(words(statement)) > SHORT and asked[:20] not in statement:
        return _tidy(statement)
    before = whole.partition(asked.rstrip(" .?!"))[0]
    told = [one for one in _SENTENCE.split(before) if len(words(one)) > SHORT and not one.rstrip().endswith("?")]
    if told and asked in whole:
        return _tidy(" ".join(told))
    if match := _ABOUT.search(asked):
        return _tidy(match.group(1))
    return _tidy("\n".join(part.text for part in job.context)) if _RESULTS & set(words(asked)) else ""


def named_in(asked: str) -> str:
    """Whom the act itself names: by an address, or by a name behind the verb or behind `to`."""
    match = _ADDRESS.search(asked)
    if match:
        return match.group()
    found = _DIRECT.match(asked) or _TO.search(asked)
    return found.group(1) if found else ""


def group_in(asked: str) -> str:
    """Whom the act names in plain words, as in `send a note to the tenants`."""
    match = _TO_PLAIN.search(asked)
    return match.group(1) if match else ""


def found_before(job: Job) -> str:
    """The one whom tools or earlier tasks have found: the first name of the line that answers best.

    A name that the request itself has was not looked for. Where two lines answer alike, nobody is found.
    """
    said = [use.output for use in job.uses if not use.failed and not is_empty(use.output)]
    said += [part.text for part in job.context]
    wanted = stems(job.intent)
    known = {name for text in (job.intent, main_intent(job)) for name in [*names(text), *_FULL_NAME.findall(text)]}
    scored: dict[str, int] = {}
    for line in (line for text in said for line in text.splitlines()):
        fresh = [name for name in _FULL_NAME.findall(line) if name not in known]
        if fresh:
            scored[fresh[0]] = max(scored.get(fresh[0], 0), overlap(line, wanted))
    best = max(scored.values(), default=0)
    top = [name for name, score in scored.items() if score == best]
    return top[0] if len(top) == 1 else ""


def _tidy(text: str) -> str:
    return text.strip(" .,;\n").strip()[:MOST_CHARACTERS]
