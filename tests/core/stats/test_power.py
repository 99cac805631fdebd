import numpy as np
import pytest
from scipy.stats import nct, t

from bench_assets.core.stats.power import (
    design_effect,
    detectable_difference,
    detection_power,
    required_sample_size,
    unpaired_variance,
)


def exact_power(spread, n, difference):
    """Power of Student's two-sided test on n normal changes, by scipy's noncentral t."""
    noncentrality, critical = difference / np.sqrt(spread / n), t.ppf(0.975, n - 1)
    return nct.sf(critical, n - 1, noncentrality) + nct.cdf(-critical, n - 1, noncentrality)


@pytest.mark.parametrize("n", [30, 200, 2000])
@pytest.mark.parametrize("spread", [0.05, 0.5])
def test_the_detectable_difference_is_detected_with_80_percent_power(n, spread):
    difference = detectable_difference(spread, n)
    assert detection_power(spread, n, difference) == pytest.approx(0.8)
    assert exact_power(spread, n, difference) == pytest.approx(0.8, abs=0.03)
    assert required_sample_size(spread, difference) == pytest.approx(n, abs=3)


def test_fewer_than_two_questions_have_students_quantile_of_one_degree_of_freedom():
    # 12.706 with one degree of freedom, and 0.8416 for a power of 0.8.
    expected = (12.706 + 0.8416) * np.sqrt(0.5 / 1.5)
    assert detectable_difference(0.5, 1.5) == pytest.approx(expected, rel=1e-4)
    assert required_sample_size(0.25, 1.0) == 46  # 2.8^2 / 4 is below 2; 13.5476^2 / 4 = 45.9


@pytest.mark.parametrize(
    ("baseline", "spread"), [(0.5, 0.5), (0.9, 0.18), (0.1, 0.18)], ids=["half", "most", "few"]
)
def test_the_variance_between_unpaired_models_is_that_of_two_shares(baseline, spread):
    assert unpaired_variance(baseline) == pytest.approx(spread)


@pytest.mark.parametrize(
    ("sizes", "correlation", "effect"),
    [
        pytest.param([3] * 4, 0.0, 1.0, id="three without correlation"),
        pytest.param([2, 4], 0.5, 1 + 0.5 * (20 / 6 - 1), id="unequal ones: Kish, 1965"),
    ],
)
def test_the_design_effect_is_kishs(sizes, correlation, effect):
    assert design_effect(sizes, correlation) == pytest.approx(effect)
