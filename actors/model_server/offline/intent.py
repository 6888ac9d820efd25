"""The intent: what a worker is asked, apart from what is only said along with it."""

import re

from actors.model_server.offline.job import Job
from actors.model_server.offline.words import subject_words

CONCLUSION = "Highest of these"
"""How a line begins that sums a result up."""

_NAME = re.compile(r"\b[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_ASIDE = re.compile(r'\s*The whole request: "(.*)"\s*$', re.DOTALL)
_BEFORE = re.compile(r",? from the results of the tasks before this one\.?\s*$")
_STATED = re.compile(r"^(\S+(?: \S+){2,}): (\S+(?: \S+){2,})$", re.DOTALL)
_REGARD = re.compile(r'^(.*), with regard to: "(.*)"\s*$', re.DOTALL)


def plain_intent(job: Job) -> str:
    """The intent without the request that it may quote for the reader."""
    return _BEFORE.sub("", _ASIDE.sub("", job.intent)) or job.intent


def main_intent(job: Job) -> str:
    """What is asked, without what it is asked with regard to."""
    match = _REGARD.match(plain_intent(job))
    return match.group(1) if match else plain_intent(job)


def asked(job: Job) -> str:
    """What is asked, without what is stated before it: as in `It broke: why?`."""
    match = _STATED.match(main_intent(job))
    return match.group(2) if match and subject_words(match.group(2)) else main_intent(job)


def about(job: Job) -> list[str]:
    """The words of what it is asked with regard to, and of what is stated before it."""
    regard, stated = _REGARD.match(plain_intent(job)), _STATED.match(main_intent(job))
    return [*subject_words(regard.group(2) if regard else ""), *subject_words(stated.group(1) if stated else "")]


def whole_request(job: Job) -> str:
    """The request that the intent quotes for the reader, if it does."""
    match = _ASIDE.search(job.intent)
    return match.group(1) if match else ""


def names_before(job: Job) -> list[str]:
    """The names in the line of each earlier result that sums it up: the one that says what came out on top."""
    found: list[str] = []
    for part in job.context:
        top = [line for line in part.text.splitlines() if line.lstrip("- ").startswith(CONCLUSION)]
        found += [name for line in top for name in _NAME.findall(line.partition(":")[2])]
    return list(dict.fromkeys(found))
