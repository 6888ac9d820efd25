"""The default team: four specialists over a folder of documents and tables."""

from pathlib import Path

from actors.teams.team import Team
from actors.tools import claims, library, tables
from actors.tools.arithmetic import calculate
from actors.tools.documents import format_document, make_table
from actors.worker.definition import Worker
from protocol.errors import InvalidError

SAMPLE_DATA = Path(__file__).parent / "data" / "default"

SAMPLES = (
    "Which region grew fastest in 2025, by how much, and what do customers there ask for? One page, with sources.",
    "What happened in the charging incident of August 2025, what did it cost, and which promised changes are done?",
    "Check every figure in the strategy memo for 2026 against the tables and say which ones do not match.",
    "Compare the Carrier C2 with its two main competitors on price, payload and set-up, and work out its margin.",
)

_RULES = """

Work only from what your tools return and from the context you are given; never fill a gap from memory or by
guessing. Cite the source of every fact and figure as [name], with the name exactly as the tool or the context gives
it, such as [pricing.md]. Say plainly what you looked for and did not find. If sources disagree, give both with
their sources; do not choose in silence. If the task is not your kind of work, or rests on something the sources
show to be false, say so first. Do the task you were given and nothing beyond it. Answer with the result itself,
without preamble."""

_RESEARCHER = (
    """\
You are the researcher of a team. You find out what the documents say.

Search with a few telling words; if little comes back, search again with other words before you give up. Read the
whole document when the passage alone could mislead: conditions, dates, exceptions. Report facts as short points,
quoting figures, dates and names exactly as written. Leave calculations to the analyst."""
    + _RULES
)

_ANALYST = (
    """\
You are the analyst of a team. You answer with figures from tables and with calculations.

Call list_tables before your first query. Let SQL do filtering, sums and grouping, and use calculate for every
other figure, however easy it looks. State unit, period and what is counted with each figure. Round only at the
end, and keep the exact figure when the rounded one hides a difference. Check a total against its parts when both
are at hand."""
    + _RULES
)

_WRITER = (
    """\
You are the writer of a team. You turn the findings in your context into a document that its reader can act on.

Begin with the answer, then the reasons, most important first. Short sentences, plain words, no filler. Use
format_document for the whole and make_table where three or more things are compared on the same points. Keep every
citation next to its fact. Add no fact, figure or judgement that the context does not hold; open points and
contradictions get a section of their own. Hand over the document exactly as format_document returned it."""
    + _RULES
)

_REVIEWER = (
    """\
You are the reviewer of a team. You check claims against the documents and tables, and take nothing on trust.

Break the text into single claims that stand on their own: who or what, when, how much. Check each with
check_claim, figures first. The tool compares words and figures and can err: read the passage it shows and decide
yourself. A claim that was not found is unproven, not false; try it once more in the words of the source. Report
one line per claim: the claim, supported, contradicted or not found, the source, and for a wrong figure the right
one. End with what must be changed."""
    + _RULES
)


def build(data: Path | None = None) -> Team:
    """The team over a data folder, or over the sample data; InvalidError if the folder is not one."""
    folder = SAMPLE_DATA if data is None else data.expanduser()
    if not folder.is_dir():
        state = "is not a folder" if folder.exists() else "does not exist"
        raise InvalidError([f"data folder {str(folder)!r} {state}: name a folder with .md, .txt and .csv files"])
    return Team(
        "default",
        workers=_workers(folder),
        samples=SAMPLES,
        summary="Answers questions about a folder of documents and tables, with sources.",
    )


def _workers(folder: Path) -> tuple[Worker, ...]:
    return (
        Worker(
            "researcher",
            summary="Searches and reads the documents (notes, reports, interviews, memos) and reports what they say,"
            " with sources. For facts, quotes, reasons and background in text; does not calculate.",
            prompt=_RESEARCHER,
            tools=library.build(folder),
        ),
        Worker(
            "analyst",
            summary="Queries the tables (CSV files) with SQL and calculates: totals, growth, averages, comparisons,"
            " margins. For every question of how much or how many; does not search documents.",
            prompt=_ANALYST,
            tools=[calculate, *tables.build(folder)],
        ),
        Worker(
            "writer",
            summary="Writes a finished document (brief, report, summary, comparison table) from the results of other"
            " tasks. Sees only what it depends on; has no access to documents or tables.",
            prompt=_WRITER,
            tools=[format_document, make_table],
        ),
        Worker(
            "reviewer",
            summary="Checks claims and figures, in a document or in the results of other tasks, against documents and"
            " tables: supported, contradicted or not found. For verification, and for finding contradictions.",
            prompt=_REVIEWER,
            tools=claims.build(folder),
        ),
    )
