from parcelrates.price import price_cents

TARIFF = [{"up_to_kg": 2, "price_cents": 690}, {"up_to_kg": 5, "price_cents": 1190}]


def test_a_light_parcel_costs_the_first_bracket():
    assert price_cents(TARIFF, 1.2) == 690


def test_a_heavier_parcel_costs_the_second_bracket():
    assert price_cents(TARIFF, 3.5) == 1190


def test_an_island_costs_more():
    assert price_cents(TARIFF, 1.2, island=True) == 1040
