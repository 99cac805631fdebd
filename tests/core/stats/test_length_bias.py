"""A judge's verdicts over the length of responses: by pencil, and by a planted slope."""

import random

import pytest

from bench_assets.core.stats.length_bias import MeasuredVerdict, length_slope


def test_without_errors_of_people_the_slope_is_a_plain_one():
    """Verdicts 0, 0, 1, 1 at lengths 1, 2, 4, 8: 0.4 a doubling; people always say right."""
    rows = [MeasuredVerdict(f, 1, 2**n) for n, f in enumerate((0, 0, 1, 1))]
    slope = length_slope(rows)
    assert slope is not None
    assert slope.value == pytest.approx(0.4)
    assert slope.low < 0.4 < slope.high


def test_freedom_and_variance_are_those_of_a_mean_of_differences():
    """Two lengths, all right: the slope is a difference of means, CR2 is s^2/n of each."""
    rows = [MeasuredVerdict(f, 1, n) for n in (1, 2) for f in (0, 1, 1, 1)]
    slope = length_slope(rows)
    assert slope is not None
    error = (2 * 0.25 / 4) ** 0.5  # 0.75 * 0.25 * 4 / 3 each
    assert slope.value == pytest.approx(0)
    assert slope.high == pytest.approx(2.446912 * error, rel=1e-5)  # t of 6 degrees


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="none"),
        pytest.param([MeasuredVerdict(1, 1, n) for n in range(8, 16)], id="nearly one length"),
        pytest.param([MeasuredVerdict(1, 1, n) for n in (1, 2, 4)], id="as many as coefficients"),
    ],
)
def test_what_determines_no_slope_has_none(rows):
    assert length_slope(rows) is None


def verdicts(seed, n, preference):
    """Long responses are right more often; the judge errs in a tenth, and favours length."""
    rng = random.Random(seed)
    for number in range(n):
        doublings = rng.randrange(5)
        right = rng.random() < 0.3 + 0.1 * doublings
        called = 0.1 + 0.6 * right + preference * (doublings - 2)
        yield MeasuredVerdict(
            float(rng.random() < called), float(right), 32 * 2**doublings, 1.0, str(number // 2)
        )


def test_rarely_drawn_verdicts_count_more():
    rows = [*verdicts(1, 200, 0.1)]
    twice = [*rows, *(row for row in rows if row.judge)]
    rare = [row._replace(probability=0.5 if row.judge else 1.0) for row in rows]
    once, again = length_slope(rare), length_slope(twice)
    assert once is not None
    assert again is not None
    assert once.value == pytest.approx(again.value)
