"""The sample requests of every shipped team, end to end: they end complete, with facts from the data of the team."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from actors import teams
from actors.model_server.offline import NOTE
from actors.settings import Settings
from actors.teams.team import Team
from protocol.steps import ConfirmAsked, Confirmed
from tests.cli.running import handoff
from tests.teams.calling import data_of
from tests.teams.sample_runs import Ran, at_work, ran

OWN = [name for name in teams.names() if name != "default"]
CITED = re.compile(r"^[-\s]*(.+?) \[([^\[\]]+\.[a-z]{2,5})\]$", re.MULTILINE)
TELLING = re.compile(r"[^\W_]{4,}|\d[\d.]*\d")
FIGURE = re.compile(r"\d[\d.]*\d")
SHARED = 2


def settings(team: Team, tmp_path: Path, *, confirm_s: float = 30.0) -> Settings:
    return Settings(team=team.name, grace_s=0.2, outbox=str(tmp_path / "outbox"), confirm_s=confirm_s)


def telling(text: str) -> set[str]:
    """The words and figures that can be compared, figures with and without the comma of their thousands."""
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    return {word.lower() for word in TELLING.findall(f"{text} {plain}")}


def texts_of(folder: Path) -> dict[str, str]:
    """The text of every file of a folder, by every end of its name that an answer may cite it by."""
    found: dict[str, str] = {}
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            parts = path.relative_to(folder).parts
            found |= {"/".join(parts[at:]): path.read_text() for at in range(len(parts))}
    return found


def facts(answer: str) -> Iterator[tuple[str, str]]:
    """Each line of an answer that cites a source, with that source."""
    for fact, cited in CITED.findall(answer):
        for source in cited.split(", "):
            yield fact, source


def borne_out(answer: str, texts: dict[str, str]) -> tuple[set[str], set[str]]:
    """The sources that share names, words and figures with a line that cites them, and the figures they share.

    A source that is no file of the team fails here. Whether a calculation is right, the tests of the tools see to.
    """
    sources: set[str] = set()
    figures: set[str] = set()
    for fact, source in facts(answer):
        shared = telling(fact) & telling(texts[source])
        sources |= {source} if len(shared) >= SHARED else set()
        figures |= {word for word in shared if FIGURE.fullmatch(word)}
    return sources, figures


def assert_readable(ran: Ran) -> None:
    """The answer says each thing once, and nowhere speaks of tasks by their ids."""
    lines = [line for line in ran.answer.text.splitlines() if line.startswith("- ")]
    assert len(lines) == len(set(lines)), ran.answer.text
    headings = {line.lstrip("# ").lower() for line in ran.answer.text.splitlines() if line.startswith("#")}
    ids = {one.task for one in ran.handed_out if "-" in one.task}
    assert not headings & (ids | {one.replace("-", " ") for one in ids}), headings
    assert ran.answer.text.endswith(NOTE)


def assert_own_tools(ran: Ran, team: Team) -> None:
    owned = {(worker.name, tool.name) for worker in team.workers for tool in worker.tools}
    assert ran.tools <= owned
    assert {worker for worker, _ in ran.tools} == {one.to_agent for one in ran.handed_out}


@pytest.mark.parametrize("name", OWN)
async def test_the_sample_requests_end_complete_with_facts_from_the_data(name: str, tmp_path: Path) -> None:
    team, texts = teams.find(name), texts_of(data_of(name))
    async with at_work(team, settings(team, tmp_path)) as client:
        for sample in team.samples:
            done = await ran(client, sample, allowed_by="ada")
            assert done.answer.status == "complete", f"{sample}: {done.answer.gaps}"
            sources, figures = borne_out(done.answer.text, texts)
            assert len(sources) >= 2, f"{sample}: {done.answer.text}"
            assert figures, f"{sample}: {done.answer.text}"
            assert len({one.to_agent for one in done.handed_out}) >= 2, sample
            assert len(done.overlapping) >= 2, sample
            assert_own_tools(done, team)
            assert_readable(done)


async def test_the_samples_of_the_default_team_end_complete_too(tmp_path: Path) -> None:
    team = teams.find("default")
    texts = texts_of(data_of("default"))
    async with at_work(team, settings(team, tmp_path)) as client:
        for sample in team.samples:
            done = await ran(client, sample)
            assert done.answer.status == "complete", f"{sample}: {done.answer.gaps}"
            sources, figures = borne_out(done.answer.text, texts)
            assert sources, f"{sample}: {done.answer.text}"
            assert figures, f"{sample}: {done.answer.text}"
            assert len(done.handed_out) >= 2, sample
            assert_own_tools(done, team)
            assert_readable(done)


PAGING = next(sample for sample in teams.find("support").samples if "Page" in sample)


async def test_somebody_is_paged_once_a_person_has_agreed(tmp_path: Path) -> None:
    team = teams.find("support")
    async with at_work(team, settings(team, tmp_path)) as client:
        done = await ran(client, PAGING, allowed_by="ada")
    [asked] = [entry.message for entry in done.record if isinstance(entry.message, ConfirmAsked)]
    person = msgspec.json.decode(asked.arguments)["person"]
    assert person in (data_of("support") / "on_call.csv").read_text()
    [page] = (tmp_path / "outbox").glob("*.json")
    assert person in page.read_text()
    assert "Dunmore Clinic" in page.read_text()
    assert f"{person} was paged" in done.answer.text


async def test_nobody_is_paged_if_nobody_answers_and_the_answer_says_so(tmp_path: Path) -> None:
    team = teams.find("support")
    async with at_work(team, settings(team, tmp_path, confirm_s=0.3)) as client:
        done = await ran(client, PAGING)
    [settled] = [entry.message for entry in done.record if isinstance(entry.message, Confirmed)]
    assert not settled.granted
    assert not list((tmp_path / "outbox").glob("*.json"))
    assert done.answer.status == "complete"
    assert "denied" in done.answer.text
    assert "was paged" not in done.answer.text


@pytest.mark.process
@pytest.mark.parametrize("name", ["contract", "clinical"])
def test_a_sample_is_answered_by_real_processes(name: str, tmp_path: Path) -> None:
    team, texts = teams.find(name), texts_of(data_of(name))
    ended = handoff(tmp_path / "home", "ask", "--team", name, team.samples[0], "--json")
    assert ended.code == 0, ended.err
    assert ended.data["status"] == "complete"
    sources, figures = borne_out(ended.data["text"], texts)
    assert len(sources) >= 2
    assert figures
