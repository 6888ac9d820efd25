from pathlib import Path

import pytest

from actors.teams.engineering import tools
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("engineering")


async def test_the_function_with_the_planted_bug_is_found_with_its_line() -> None:
    found = await call(tools.code, DATA, "search_code", "which bracket of the tariff a parcel of 5 kg falls into")
    assert '9         if weight_kg < row["up_to_kg"]:' in found
    assert "[repo/parcelrates/price.py]" in found


@pytest.mark.parametrize("name", ["price.py", "parcelrates/price.py", "[repo/parcelrates/price.py]"])
async def test_a_file_is_read_whole_by_any_end_of_its_name(name: str) -> None:
    found = await call(tools.code, DATA, "read_code", name)
    assert found.startswith('[repo/parcelrates/price.py]\n   1 """The price of a parcel')
    assert "ISLAND_SURCHARGE_CENTS if island else 0" in found


@pytest.mark.parametrize("name", ["../tools.py", "/etc/passwd", "", "rice.py"])
async def test_a_file_outside_of_the_repository_is_refused(name: str) -> None:
    with pytest.raises(ToolError, match=r"The files are: repo/parcelrates/carrier\.py"):
        await call(tools.code, DATA, "read_code", name)


async def test_the_quotes_that_differ_are_those_on_the_border_of_a_bracket() -> None:
    found = await call(tools.code, DATA, "check_quotes", "all")
    assert found.splitlines()[0] == "5 of 12 quotes differ from the tariff [logs/quotes.csv]"
    assert "Quote Q-5002, 5 kg: 1490 cents were charged, the bracket up to 5 kg makes 1190, +300 cents" in found
    assert all(f"Quote {quote}," in found for quote in ("Q-5004", "Q-5006", "Q-5008", "Q-5009"))


async def test_only_the_quotes_of_a_named_weight_are_checked() -> None:
    assert (await call(tools.code, DATA, "check_quotes", "parcels of 5 kg")).startswith("2 of 2 quotes differ")


def test_the_logged_prices_are_what_the_sample_code_gives() -> None:
    scope: dict[str, object] = {}
    exec((DATA / "repo/parcelrates/price.py").read_text(), scope)
    price = scope["price_cents"]
    assert callable(price)
    tariff = [
        {"up_to_kg": float(weight), "price_cents": int(cents)}
        for weight, cents in (line.split(",") for line in (DATA / "repo/tariff.csv").read_text().splitlines()[1:])
    ]
    for line in (DATA / "logs/quotes.csv").read_text().splitlines()[1:]:
        _, _, weight, island, cents = line.split(",")
        assert price(tariff, float(weight), island == "yes") == int(cents)


async def test_the_log_shows_what_went_wrong_how_often_and_since_when() -> None:
    found = await call(tools.operations, DATA, "read_log", "quotes without delivery day")
    assert "WARN since 2026-02-05T09:04:15Z, 5 times until 2026-02-05T11:30:18Z: carrier timeout after 200 ms" in found
    assert "ERROR since 2026-02-05T09:04:16Z, 3 times" in found
    assert "212 of 655 quotes" in found


@pytest.mark.parametrize("asked", ["carrier_timeout_ms", "is the carrier timeout ms right", "everything"])
async def test_the_planted_fault_of_the_configuration_is_out_of_bounds(asked: str) -> None:
    found = await call(tools.operations, DATA, "check_config", asked)
    assert "carrier_timeout_ms = 200 in production is OUT OF BOUNDS, limits 1500 to 5000" in found
    assert found.count("OUT OF BOUNDS") == 1


async def test_the_change_behind_a_fault_is_found_with_its_author() -> None:
    found = await call(tools.operations, DATA, "find_changes", "carrier_timeout_ms")
    assert "config 2.8.0 by Tor Eklund: production.toml: carrier_timeout_ms from 2000 to 200" in found


async def test_those_to_be_told_are_found_by_what_happened() -> None:
    found = await call(tools.recipients, DATA, "find_recipients", "wrong prices")
    assert {line.split(":")[0] for line in found.splitlines()} == {"shop owners", "finance"}


async def test_a_folder_without_a_configuration_is_told_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"there is no repo/config/limits\.csv in the data folder"):
        await call(tools.operations, tmp_path, "check_config", "workers")
