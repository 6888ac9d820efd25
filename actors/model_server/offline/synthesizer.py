"""The synthesizer: one answer out of several results, each thing said once, with its source."""

import re
from xml.sax.saxutils import unescape

from actors.model_server.offline.intent import CONCLUSION
from actors.model_server.offline.quoting import MISSING, still_lost
from actors.model_server.offline.request import Asked
from actors.model_server.offline.sections import Part, parts, section
from actors.model_server.offline.titles import heading, place
from actors.model_server.offline.turn import Spoken, text_turn
from actors.model_server.offline.words import overlap, sentences, shortened, stems

SAME = 0.75
"""Two sentences that share this much of their words say the same."""

_CITATION = re.compile(r"\[[^\]]*\]")
_HEADING = re.compile(r"^#{1,3} ", re.MULTILINE)
_NUMBERED = re.compile(r"\d+\. ")
_CONTINUED = re.compile(r"^(?: {2,}|\t)")


def synthesize(asked: Asked) -> Spoken:
    """The answer to the request, from the results in the prompt."""
    text = asked.user_texts[0]
    request = unescape(section(text, "request") or "")
    results = parts(section(text, "results") or text)
    gaps = [line.strip("-• \t") for line in unescape(section(text, "gaps") or "").splitlines() if line.strip("-• \t")]
    return text_turn(answer(request, results, gaps))


def answer(request: str, results: list[Part], gaps: list[str]) -> str:
    """The readable answer: the written document if there is one and what it lacks, else the findings by question."""
    good = [part for part in results if part.status == "completed" and part.text]
    missing = gaps + [
        f"{part.task} ({part.worker}) {part.status}: {shortened(part.text, 200)}".rstrip(": ")
        for part in results
        if part.status != "completed" and not any(part.task in gap for gap in gaps)
    ]
    main = _document(good)
    said = [_words(line) for line in _statements(main.text)] if main else []
    unsaid = _unsaid(_in_order(request, [part for part in good if part is not main]), said)
    found = stems(
        " ".join([main.text if main else "", *(line for _, own in unsaid for line in own if not MISSING.match(line))])
    )
    lost = [still_lost(line, found) for _, lines in unsaid for line in lines if MISSING.match(line)]
    missing += [line for line in lost if line]
    rest = [(part, [line for line in lines if not MISSING.match(line)]) for part, lines in unsaid]
    blocks = [main.text] if main else []
    blocks += _laid_out(request, [(part, lines) for part, lines in rest if lines], beyond=main is not None)
    if not blocks:
        blocks.append(_nothing(missing))
    if missing:
        blocks.append("What is missing:\n" + "\n".join(f"- {one}" for one in missing))
    return "\n\n".join(blocks)


def _nothing(missing: list[str]) -> str:
    return (
        "Nothing was found."
        if missing and all(map(MISSING.match, missing))
        else ("None of the tasks gave a result, so the request could not be answered.")
    )


def _document(good: list[Part]) -> Part | None:
    """The last result that is laid out as a document, one that builds on others first."""
    laid_out = [part for part in good if _HEADING.search(part.text)]
    written = [part for part in laid_out if part.builds_on] or laid_out
    return written[-1] if written else None


def _in_order(request: str, results: list[Part]) -> list[Part]:
    """The results in the order of what was asked; of several to one question first what builds on others."""
    places = {part.task: place(part.task, request) or 0 for part in results}
    return sorted(results, key=lambda part: (places[part.task], not part.builds_on))


def _unsaid(results: list[Part], said: list[set[str]]) -> list[tuple[Part, list[str]]]:
    """What nobody has said yet, for each result, in order."""
    found: list[tuple[Part, list[str]]] = []
    for part in results:
        lines: list[str] = []
        for line in _statements(part.text):
            own = _words(line)
            if own and not _same(own, said):
                said.append(own)
                lines.append(line)
        found.append((part, lines))
    return found


def _statements(text: str) -> list[str]:
    """The sentences of a result; what stands indented under a line, such as code, stays with it."""
    found: list[str] = []
    for line in text.splitlines():
        if found and _CONTINUED.match(line) and line.strip():
            found[-1] += f"\n{line}"
        else:
            found += sentences(line)
    return found


def _laid_out(request: str, found: list[tuple[Part, list[str]]], *, beyond: bool) -> list[str]:
    """A list under each question, if several were asked and answered; else one list."""
    headed: dict[str, list[str]] = {}
    for part, lines in found:
        headed.setdefault(heading(part.task, request), []).extend(lines)
    if len(headed) > 1 and all(place(part.task, request) is not None for part, _ in found):
        return [f"## {title}\n\n{_bullets(lines)}" for title, lines in headed.items()]
    lines = [line for _, own in found for line in own]
    return [_listed(lines, request, "Beyond that:" if beyond else "")] if lines else []


def _bullets(lines: list[str]) -> str:
    # A list that is numbered already needs no other sign.
    return "\n".join(line if _NUMBERED.match(line) else f"- {line}" for line in lines)


def _listed(lines: list[str], request: str, title: str) -> str:
    wanted = stems(request)
    if len(lines) == 1:
        return f"{title} {lines[0]}".strip()
    # What is numbered has its order from the tool.
    if any(map(_NUMBERED.match, lines)):
        return "\n".join([*([title] if title else []), _bullets(lines)])
    # What answers most comes first; the rest keeps its order.
    first = max(lines, key=lambda line: (line.startswith(CONCLUSION), overlap(line, wanted))) if not title else None
    rest = [line for line in lines if line != first]
    return "\n".join([*([first, ""] if first else [title]), _bullets(rest)])


def _words(sentence: str) -> set[str]:
    return stems(_CITATION.sub("", sentence))


def _same(one: set[str], said: list[set[str]]) -> bool:
    """Whether a sentence says nothing new; one figure more or less is something new."""
    figures = {word for word in one if word[:1].isdigit()}
    return any(figures <= other and len(one & other) >= SAME * max(1, len(one)) for other in said)
