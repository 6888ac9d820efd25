import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.statement import Quantity, read, stem


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("Revenue was 2.37 million euros", [Quantity(2_370_000, 10_000, "money")]),
        ("a price of €28,000", [Quantity(28_000, 1, "money")]),
        ("a price of 28000 EUR", [Quantity(28_000, 1, "money")]),
        ("$1.5k", [Quantity(1_500, 100, "money")]),
        ("It grew by 17%", [Quantity(17, 1, "%")]),
        ("It grew by 4.5 per cent", [Quantity(4.5, 0.1, "%")]),
        ("74 robots at 19 sites", [Quantity(74, 1, "robot"), Quantity(19, 1, "sit")]),
        ("nine tickets", [Quantity(9, 1, "ticket")]),
        ("41 of 56 deals", [Quantity(41, 1), Quantity(56, 1, "deal")]),
        ("120 kg", [Quantity(120, 1, "kg")]),
        ("The Carrier C2 in Q3 2025", []),
        ("between 12 and 20 August 2025", []),
        ("on 2025-08-12", []),
        ("nothing to count", []),
    ],
)
def test_quantities_are_read_with_unit_scale_and_precision(text: str, quantities: list[Quantity]) -> None:
    found = read(text).quantities
    assert [(q.value, q.unit) for q in found] == [(q.value, q.unit) for q in quantities]
    assert [q.step for q in found] == pytest.approx([q.step for q in quantities])


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("in Q3 2025", {"q3", "2025"}),
        ("2025-Q3", {"q3", "2025"}),
        ("in the third quarter of 2025", {"q3", "2025"}),
        ("on 12 August 2025", {"day12", "aug", "2025"}),
        ("on August 12", {"day12", "aug"}),
        ("2025-08-12", {"day12", "aug", "2025"}),
        ("between 12 and 20 August", {"day12", "day20", "aug"}),
        ("robots may march in May", {"may"}),
        ("Carrier C2 and T-1001", {"c2", "t-1001"}),
        ("2025 euros", set[str]()),
        ("1999 was long ago", {"1999"}),
    ],
)
def test_times_and_codes_are_marks_and_not_quantities(text: str, marks: set[str]) -> None:
    assert read(text).marks == marks


def test_forms_of_a_word_have_one_stem() -> None:
    assert {stem(word) for word in ("price", "prices", "priced", "pricing")} == {"pric"}
    assert stem("less") == "less"


def test_negation_and_change_are_noticed() -> None:
    assert read("It is not done").negated
    assert read("It isn't done").negated
    assert not read("It is done").negated
    assert read("Revenue grew").change
    assert not read("Revenue was high").change


def test_rounded_figures_agree_and_others_do_not() -> None:
    exact, rounded = Quantity(2_370_000, 1, "money"), Quantity(2_400_000, 100_000, "money")
    assert rounded.agrees(exact)
    assert exact.agrees(rounded)
    assert not Quantity(2_730_000, 10_000, "money").agrees(exact)
    assert not Quantity(17, 1, "%").agrees(Quantity(17, 1, "money"))


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    said = read(text)
    assert all(quantity.value >= 0 and quantity.step > 0 for quantity in said.quantities)


@given(st.integers(0, 10**9))
def test_a_number_reads_the_same_with_and_without_separators(number: int) -> None:
    plain, separated = read(f"{number} euros").quantities, read(f"{number:,} euros").quantities
    assert plain == separated == (Quantity(number, 1.0, "money"),)
