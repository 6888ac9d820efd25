import pytest

from actors.tools.matching import mentioned, nearest

BIKES = ["Brisk Cargo 2", "Mulo Duo", "Packet Cargo S"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How heavy is the brisk cargo 2?", ["Brisk Cargo 2"]),
        ("mulo against Packet", ["Mulo Duo", "Packet Cargo S"]),
        ("which cargo bike", []),
        ("bike 2", []),
        ("", []),
    ],
)
def test_a_name_is_mentioned_by_all_its_words_or_by_one_of_its_own(text: str, found: list[str]) -> None:
    assert mentioned(text, BIKES) == found


def test_the_nearest_text_shares_the_rarest_words() -> None:
    among = ["the price of the bike", "the weight of the bike", "the bike"]
    assert nearest("weights of bikes", among, str, limit=2) == ["the weight of the bike", "the price of the bike"]


def test_nothing_is_near_to_a_text_without_a_shared_word() -> None:
    assert nearest("boat", ["bike", "car"], str) == []
