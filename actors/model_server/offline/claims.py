"""Claims: the sentences of earlier results that can be checked, and how the checks went."""

import re
from collections import Counter

from actors.model_server.offline.intent import CONCLUSION, plain_intent
from actors.model_server.offline.job import Job
from actors.model_server.offline.quoting import MISSING
from actors.model_server.offline.turn import ToolCall
from actors.model_server.offline.words import sentences, shortened

MOST = 12
_CITATION = re.compile(r"\s*\[[^\]]*\]")
_CALCULATION = re.compile(r"\s*\((?:[^()=]|\([^()]*\))*=[^()]*\)")
_LABEL = re.compile(r"\w+:(?= )")
_DATED = re.compile(r"\w+: \d{1,2} \w+ \d{4}\.?")
_ASIDE = re.compile(
    r",\s+(?=(?:in spite of|despite|although|because|which|while|but|whereas|so that)\b)", re.IGNORECASE
)
_VERDICTS = ("contradicted", "not found", "supported")
_SOURCE = re.compile(r"\[[^\]]+\]")
_THAT = re.compile(r"\b(?:that|whether|if)\s+(.+)", re.IGNORECASE)
FIGURES_OF = re.compile(
    r"\b(?:figures?|numbers|claims|statements|facts|sums|amounts)\s+(?:in|of|from)\s+"
    r"([^.,;:?]+?)(?=\s+(?:is|are|was|were|do|does|against|match|hold)\b|[.,;:?]|$)",
    re.IGNORECASE,
)
"""What stands in a document is to be checked: the words that say so are no claim themselves."""
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
    said = [sentence for part in job.context for sentence in sentences(part.text) if not MISSING.match(sentence)]
    # What was calculated follows from figures that are checked, and stands in no source itself.
    found = [_CITATION.sub("", sentence).strip() for sentence in said if not _CALCULATION.search(sentence)]
    found = [_core(one) for one in found if not one.startswith(CONCLUSION) and not _DATED.fullmatch(one)]
    # A bare label with several values does not say of what each is: such a line does not stand on its own.
    labels = Counter(match.group() for one in dict.fromkeys(found) if (match := _LABEL.match(one)))
    found = [one for one in found if not (match := _LABEL.match(one)) or labels[match.group()] == 1]
    with_figures = [one for one in found if re.search(r"\d", one) and len(one.split()) > 3 and "|" not in one]
    if chosen := list(dict.fromkeys(with_figures))[:MOST] or found[:MOST]:
        return [shortened(one, 400) for one in chosen]
    intent = plain_intent(job)
    if quoted := _QUOTED.findall(intent):
        return quoted[:MOST]
    if FIGURES_OF.search(intent):
        return []
    match = _THAT.search(intent)
    return [(match.group(1) if match else intent).strip(" ?.")]


def _core(sentence: str) -> str:
    """The part of a sentence that has its figures, without what is said beside them."""
    parts = _ASIDE.split(sentence)
    kept = [part for part in parts if re.search(r"\d", part)] if len(parts) > 1 else []
    return f"{', '.join(kept).rstrip(' .,')}." if kept else sentence


def verdicts(job: Job) -> list[str]:
    """One line for each check, what does not hold first, then what was calculated and so cannot be looked up."""
    lines = sorted(_checked(job), key=lambda line: [line.startswith(f"- {one}") for one in _VERDICTS], reverse=True)
    said = [sentence for part in job.context for sentence in sentences(part.text) if _CALCULATION.search(sentence)]
    return _summary(lines) + lines + [f"- calculated, so in no source: {one}" for one in dict.fromkeys(said) if lines]


def _summary(lines: list[str]) -> list[str]:
    """How many claims were checked, and with what outcome, if there were several."""
    counts = [(sum(line.startswith(f"- {one}") for line in lines), one) for one in _VERDICTS]
    told = ", ".join(f"{count} {one}" for count, one in reversed(counts) if count)
    return [f"- Checked {len(lines)} claims: {told}."] if len(lines) > 1 else []


def _checked(job: Job) -> list[str]:
    lines: list[str] = []
    for use in job.done("claim"):
        claim = str(next(iter(use.input.values()), ""))
        verdict, _, evidence = use.output.strip().partition("\n")
        sources = " ".join(dict.fromkeys(_SOURCE.findall(evidence)))
        # Where the sources agree, naming them is enough.
        shown = sources if verdict.lower().startswith("supported") else shortened(evidence, 300)
        lines.append(f"- {verdict}: {claim} {shown}".rstrip())
    return lines
