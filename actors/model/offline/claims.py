"""Claims: the sentences of earlier results that can be checked, and how the checks went."""

import re

from actors.model.offline.job import Job
from actors.model.offline.lookup import CONCLUSION, MISSING, plain_intent
from actors.model.offline.turn import ToolCall
from actors.model.offline.words import sentences, shortened

MOST = 8
_CITATION = re.compile(r"\s*\[[^\]]*\]")
_CALCULATION = re.compile(r"\s*\((?:[^()=]|\([^()]*\))*=[^()]*\)")
_SOURCE = re.compile(r"\[[^\]]+\]")
_THAT = re.compile(r"\b(?:that|whether|if)\s+(.+)", re.IGNORECASE)
_QUOTED = re.compile(r'["“]([^"”]{8,})["”]')


def claim_calls(job: Job) -> list[ToolCall]:
    """Every claim at once: the checks do not need each other."""
    if job.uses_of("claim"):
        return []
    return [
        ToolCall(one.tool.name, {one.parameter: claim}) for one in job.of_shape("claim")[:1] for claim in claims(job)
    ]


def claims(job: Job) -> list[str]:
    """The sentences with figures in the results before this task; without any, what the intent itself asks about."""
    said = [sentence for part in job.context for sentence in sentences(part.text)]
    found = [
        _CALCULATION.sub("", _CITATION.sub("", sentence)).strip() for sentence in said if not MISSING.match(sentence)
    ]
    found = [one for one in found if not one.startswith(CONCLUSION)]
    with_figures = [one for one in found if re.search(r"\d", one) and len(one.split()) > 3 and "|" not in one]
    if chosen := list(dict.fromkeys(with_figures))[:MOST] or found[:MOST]:
        return [shortened(one, 400) for one in chosen]
    intent = plain_intent(job)
    if quoted := _QUOTED.findall(intent):
        return quoted[:MOST]
    match = _THAT.search(intent)
    return [(match.group(1) if match else intent).strip(" ?.")]


def verdicts(job: Job) -> list[str]:
    """One line for each check."""
    lines: list[str] = []
    for use in job.done("claim"):
        claim = str(next(iter(use.input.values()), ""))
        verdict, _, evidence = use.output.strip().partition("\n")
        sources = " ".join(dict.fromkeys(_SOURCE.findall(evidence)))
        # Where the sources agree, naming them is enough.
        shown = sources if verdict.lower().startswith("supported") else shortened(evidence, 300)
        lines.append(f"- {verdict}: {claim} {shown}".rstrip())
    return lines
