"""The synthesizer: one answer out of several results, each thing said once, with its source."""

import re
from xml.sax.saxutils import unescape

from actors.model.offline.lookup import CONCLUSION, MISSING
from actors.model.offline.request import Asked
from actors.model.offline.sections import Part, parts, section
from actors.model.offline.turn import Spoken, text_turn
from actors.model.offline.words import overlap, sentences, shortened, stems

SAME = 0.75
"""Two sentences that share this much of their words say the same."""

_CITATION = re.compile(r"\[[^\]]*\]")
_HEADING = re.compile(r"^#{1,3} ", re.MULTILINE)


def synthesize(asked: Asked) -> Spoken:
    """The answer to the request, from the results in the prompt."""
    text = asked.user_texts[0]
    request = unescape(section(text, "request") or "")
    results = parts(section(text, "results") or text)
    gaps = [line.strip("-• \t") for line in unescape(section(text, "gaps") or "").splitlines() if line.strip("-• \t")]
    return text_turn(answer(request, results, gaps))


def answer(request: str, results: list[Part], gaps: list[str]) -> str:
    """The readable answer: the written document if there is one and what it lacks, else the findings by relevance."""
    good = [part for part in results if part.status == "completed" and part.text]
    missing = gaps + [
        f"{part.task} ({part.worker}) {part.status}: {shortened(part.text, 200)}".rstrip(": ")
        for part in results
        if part.status != "completed" and not any(part.task in gap for gap in gaps)
    ]
    main = _document(good)
    blocks = [main.text] if main else []
    said = [_words(line) for line in sentences(main.text)] if main else []
    # What builds on others says the same and more, so it goes before them.
    others = sorted((part for part in good if part is not main), key=lambda part: not part.builds_on)
    unsaid = _unsaid(others, said)
    rest = [line for line in unsaid if not MISSING.match(line)]
    missing += [line for line in unsaid if MISSING.match(line)]
    blocks += [_listed(rest, request, "Beyond that:" if main else "")] if rest else []
    if not blocks:
        blocks.append("None of the tasks gave a result, so the request could not be answered.")
    if missing:
        blocks.append("What is missing:\n" + "\n".join(f"- {one}" for one in missing))
    return "\n\n".join(blocks)


def _document(good: list[Part]) -> Part | None:
    """The last result that is laid out as a document, one that builds on others first."""
    laid_out = [part for part in good if _HEADING.search(part.text)]
    written = [part for part in laid_out if part.builds_on] or laid_out
    return written[-1] if written else None


def _unsaid(results: list[Part], said: list[set[str]]) -> list[str]:
    """The sentences that nobody has said yet, in order."""
    found: list[str] = []
    for part in results:
        for line in sentences(part.text):
            own = _words(line)
            if own and not _same(own, said):
                said.append(own)
                found.append(line)
    return found


def _listed(lines: list[str], request: str, title: str) -> str:
    wanted = stems(request)
    if len(lines) == 1:
        return f"{title} {lines[0]}".strip()
    # What answers most comes first; the rest keeps its order.
    first = max(lines, key=lambda line: (line.startswith(CONCLUSION), overlap(line, wanted))) if not title else None
    rest = [line for line in lines if line != first]
    return "\n".join([*([first, ""] if first else [title]), *(f"- {line}" for line in rest)])


def _words(sentence: str) -> set[str]:
    return stems(_CITATION.sub("", sentence))


def _same(one: set[str], said: list[set[str]]) -> bool:
    """Whether a sentence says nothing new; one figure more or less is something new."""
    figures = {word for word in one if word[:1].isdigit()}
    return any(figures <= other and len(one & other) >= SAME * max(1, len(one)) for other in said)
