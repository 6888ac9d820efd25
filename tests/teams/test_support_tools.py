from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from actors.teams.support import tools
from actors.tools.given import CallKey
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("support")
KEY = CallKey("run.task.1.2.0")


def pages(outbox: Path) -> list[dict[str, str]]:
    return [msgspec.json.decode(path.read_bytes()) for path in outbox.iterdir()]


@pytest.mark.parametrize("asked", ["E-207", "what is e207?", "red symbol and a damaged index on the laptop"])
async def test_an_issue_is_found_by_its_code_and_by_its_symptoms(asked: str) -> None:
    found = await call(tools.errors, DATA, "look_up_issue", asked)
    assert "fixed in 6.4.2; workaround: Choose Repair index, then update to 6.4.2. [known_issues.json]" in found
    assert "3 tickets have E-207, from Kestrel Architects [tickets.csv]" in found


async def test_a_problem_nobody_knows_is_told_with_the_areas() -> None:
    found = await call(tools.errors, DATA, "look_up_issue", "xylophone")
    assert found == "No known issue speaks of 'xylophone'. The areas are: sync client, accounts, mobile app."


@pytest.mark.parametrize("asked", ["S-2048", "s2048", "urgency of the ticket S-2048 of Dunmore Clinic"])
async def test_the_service_level_follows_from_plan_and_priority(asked: str) -> None:
    found = await call(tools.levels, DATA, "service_level", asked)
    assert found.startswith("S-2048 of Dunmore Clinic (Business), P1, open: Nobody at the clinic can sign in")
    assert "first answer within 15 minutes, page the person on call [service_levels.csv]" in found
    assert len(found.splitlines()) == 1


async def test_what_is_open_and_urgent_is_shown_where_no_ticket_is_named() -> None:
    found = await call(tools.levels, DATA, "service_level", "what is urgent")
    assert [line.split()[0] for line in found.splitlines()] == ["S-2048", "S-2049", "S-2050"]


async def test_the_rota_is_read_in_its_latest_week() -> None:
    found = await call(tools.levels, DATA, "find_on_call", "who is on call for accounts")
    assert found.startswith("Piet Bakker is on call for accounts in the week of 2026-05-18, phone +49 30 5550 143")
    assert "Hana Sato is on call" not in found


def test_paging_has_an_effect_and_waits_for_a_person() -> None:
    (page,) = tools.paging(DATA)
    assert (page.effect, page.confirm) == (True, True)
    assert list(page.schema["properties"]) == ["person", "message"]


@pytest.mark.parametrize("whom", ["Piet Bakker", "bakker", "the accounts"])
async def test_a_page_goes_out_once_however_often_it_is_made(tmp_path: Path, whom: str) -> None:
    (page,) = tools.paging(DATA)
    settings = SimpleNamespace(outlet=(tmp_path, ""))
    for _ in range(2):
        await page.call({"person": whom, "message": "Sign-in is down."}, key=KEY, settings=settings)
    (sent,) = pages(tmp_path)
    assert (sent["to"], sent["text"]) == ("Piet Bakker +49 30 5550 143", "Sign-in is down.")


@pytest.mark.parametrize(
    ("whom", "text"),
    [
        ("somebody", "Down."),
        ("Dunmore Clinic has no accounts any more", "Down."),
        ("Piet Bakker or Mina Roth", "Down."),
        ("", "Down."),
        ("Piet Bakker", " "),
    ],
)
async def test_a_page_to_nobody_or_about_nothing_is_refused(tmp_path: Path, whom: str, text: str) -> None:
    (page,) = tools.paging(DATA)
    with pytest.raises(ToolError, match=r"one of: Piet Bakker \(accounts\), Mina Roth|the message must have"):
        await page.call({"person": whom, "message": text}, key=KEY, settings=SimpleNamespace(outlet=(tmp_path, "")))
    assert pages(tmp_path) == []
