"""Numbers that texts are, as keys and responses write them."""

import pytest

from bench_assets.core.reading.numbers import parse_number, parse_quantity
from tests.cases import read_rows

QUANTITIES = read_rows(__file__, "quantities.jsonl")
NONE = read_rows(__file__, "no_numbers.jsonl")


@pytest.mark.parametrize(("text", "value", "unit"), QUANTITIES)
def test_a_text_is_a_number(text, value, unit):
    quantity = parse_quantity(text)
    assert quantity is not None
    assert (quantity.value, quantity.unit) == (pytest.approx(value), unit)


@pytest.mark.parametrize("text", NONE)
def test_a_text_is_not_one_number(text):
    assert parse_quantity(text) is None


def test_a_unit_makes_no_number_but_percent_and_money_do():
    assert [parse_number(text) for text in ("5%", "$5", "5 cups", "5k")] == [5.0, 5.0, None, 5e3]
