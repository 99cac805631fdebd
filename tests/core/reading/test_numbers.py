import pytest

from bench_assets.core.reading.numbers import parse_number, parse_quantity
from tests.cases import read_rows

QUANTITIES = read_rows(__file__, "quantities.jsonl")
TEXTS_WITHOUT_NUMBER = read_rows(__file__, "no_numbers.jsonl")


@pytest.mark.parametrize(("text", "value", "unit"), QUANTITIES)
def test_a_text_is_a_number_with_its_unit(text, value, unit):
    quantity = parse_quantity(text)
    assert quantity is not None
    assert (quantity.value, quantity.unit) == (pytest.approx(value), unit)


@pytest.mark.parametrize("text", TEXTS_WITHOUT_NUMBER)
def test_a_text_is_not_one_number(text):
    assert parse_quantity(text) is None


@pytest.mark.parametrize(
    ("text", "number"), [("5%", 5.0), ("$5", 5.0), ("5k", 5000.0), ("5 cups", None)]
)
def test_a_number_may_have_percent_money_and_thousands_but_no_other_unit(text, number):
    assert parse_number(text) == number
