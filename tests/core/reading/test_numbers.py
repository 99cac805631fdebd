"""Numbers that texts are, as keys and responses write them."""

import pytest

from bench_assets.core.reading.numbers import Measurement, parse_number, parse_quantity

QUANTITIES = [
    ("7", 7.0, ""),
    ("-3", -3.0, ""),
    ("−5", -5.0, ""),
    ("+5", 5.0, ""),
    ("0", 0.0, ""),
    (".5", 0.5, ""),
    ("1,200", 1200.0, ""),
    ("1 000", 1000.0, ""),
    ("1 000 000", 1e6, ""),
    ("1'000", 1000.0, ""),
    ("1.200,50", 1200.5, ""),
    ("3,5", 3.5, ""),
    ("1/3", 1 / 3, ""),
    ("3 1/2", 3.5, ""),
    ("3½", 3.5, ""),
    ("½", 0.5, ""),
    (r"\frac{10}{9}", 10 / 9, ""),
    (r"$\dfrac{1}{4}$", 0.25, ""),
    ("1.5 million", 1.5e6, ""),
    ("2 and a half hours", 2.5, "hours"),
    ("three and a quarter", 3.25, ""),
    ("$1.5M", 1.5e6, "$"),
    ("5k", 5000.0, ""),
    ("two dozen", 24.0, ""),
    ("twenty-five", 25.0, ""),
    ("1.5×10^3", 1500.0, ""),
    ("1.5 x 10³", 1500.0, ""),
    (r"3.0 \times 10^{8} m/s", 3e8, "m/s"),
    ("2e-3", 0.002, ""),
    ("25%", 25.0, "%"),
    (r"25\%", 25.0, "%"),
    ("5/8 inch", 0.625, "inch"),
    ("12 000 km", 12000.0, "km"),
    ("9.8 m/s²", 9.8, "m/s²"),
    ("37°C", 37.0, "°C"),
    ("€ 12.50", 12.5, "€"),
    ("(5)", 5.0, ""),
    ("**5**.", 5.0, ""),
    ("≈ 62.35", 62.35, ""),
]
NONE = [
    *(
        "",
        "cups",
        "7-8",
        "7–8",
        "7 to 8",
        "2:30",
        "1:2",
        "√2",
        "2√3",
        r"2\pi",
        "x+1",
        "5 + 3",
        "<5",
    ),
    *("<5", "(3,5)", "1.2.3", "10^3", "5 2", "1/0", "1e999", "1, 2", "15.The answer", "9" * 300),
]


@pytest.mark.parametrize(("text", "value", "unit"), QUANTITIES)
def test_a_text_is_a_number(text, value, unit):
    found = parse_quantity(text)
    assert found == Measurement(pytest.approx(value), unit)


@pytest.mark.parametrize("text", NONE)
def test_a_text_is_not_one_number(text):
    assert parse_quantity(text) is None


def test_a_unit_makes_no_number_but_percent_and_money_do():
    assert [parse_number(text) for text in ("5%", "$5", "5 cups", "5k")] == [5.0, 5.0, None, 5e3]
