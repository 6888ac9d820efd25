"""Claims: comparing what is said with what the documents and tables of a folder say."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from actors.tools.attempt import run_in_thread
from actors.tools.evidence import Evidence, Stance, from_passage
from actors.tools.folder import Kept
from actors.tools.passages import DOCUMENTS, Index, Passage
from actors.tools.statement import read
from actors.tools.table_process import process_of
from actors.tools.tables import TIMEOUT_S
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_CHARACTERS = 500
MOST_PASSAGES = 12
MOST_SHOWN = 3


def build(folder: Path) -> list[Tool]:
    """`check_claim` for one folder."""
    documents = Kept(folder, DOCUMENTS, Index.of_documents)
    tables = process_of(folder)

    def passages_on(claim: str) -> list[Passage]:
        with documents.use() as index:
            return index.search(claim, MOST_PASSAGES)

    @tool(timeout_s=TIMEOUT_S)
    async def check_claim(claim: str) -> str:
        """Check one claim against the documents and tables: supported, contradicted or not found, with sources.

        Args:
            claim: one sentence with one claim that stands on its own: who or what, when, and the figure with
                its unit, such as: Europe revenue was 2.5 million euros in Q4 2024
        """
        said = read(claim)
        if not said.stems or len(claim) > MOST_CHARACTERS:
            raise ToolError(f"give one claim as one sentence of at most {MOST_CHARACTERS} characters")
        passages = cast("list[Passage]", await run_in_thread(passages_on, {"claim": claim}))
        found = await tables.evidence(claim)
        found += _witnesses([evidence for passage in passages for evidence in from_passage(said, passage)])
        closest = [Evidence("near", passage.source, passage.text, 0.0) for passage in passages]
        return _verdict(found, closest)

    return [check_claim]


def _witnesses(found: Sequence[Evidence]) -> list[Evidence]:
    """Only the closest sentences speak against, and none that is further off speaks for it then.

    A figure of something similar contradicts nothing, and supports nothing that a closer one contradicts.
    """
    most = max((evidence.weight for evidence in found), default=0.0)
    disputed = any(evidence.stance == "against" and evidence.weight == most for evidence in found)
    return [
        evidence._replace(stance="near")
        if evidence.weight < most and (disputed or evidence.stance == "against")
        else evidence
        for evidence in found
    ]


def _verdict(found: Sequence[Evidence], closest: Sequence[Evidence]) -> str:
    speaking_for, against = _lines(found, "for"), _lines(found, "against")
    if speaking_for and against:
        return "\n".join(["contradicted: the sources disagree", *speaking_for, *against])
    if against:
        return "\n".join(["contradicted", *against])
    if speaking_for:
        return "\n".join(["supported", *speaking_for])
    near = _lines(found, "near") or _lines(closest, "near")
    if near:
        return "\n".join(["not found: nothing settles it; the closest passages are", *near])
    return "not found: no document or table speaks of it"


def _lines(found: Sequence[Evidence], stance: Stance) -> list[str]:
    chosen = dict.fromkeys(evidence for evidence in found if evidence.stance == stance)
    return [f"{stance}: [{evidence.source}] {evidence.text}" for evidence in list(chosen)[:MOST_SHOWN]]
