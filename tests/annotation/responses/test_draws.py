from collections import Counter

import pytest

from bench_assets.annotation.responses.draws import draw_order, merge_draws
from tests.fakes.rows import drawn_unit


def strata(**sizes):
    """Strata of units such as "yes 0", "yes 1", by name."""
    return {name: [f"{name} {n}" for n in range(size)] for name, size in sizes.items()}


def counts_by_stratum(units):
    return Counter(unit.split()[0] for unit in units)


@pytest.mark.parametrize(
    ("sizes", "n", "expected_counts"),
    [
        pytest.param({"yes": 80, "no": 20}, 50, {"yes": 40, "no": 10}, id="proportional"),
        pytest.param({"yes": 990, "no": 10}, 100, {"yes": 95, "no": 5}, id="five of the rare"),
        pytest.param({"yes": 97, "no": 3}, 50, {"yes": 47, "no": 3}, id="all of the rarest"),
        pytest.param({"yes": 3, "no": 2}, 9, {"yes": 3, "no": 2}, id="all there are"),
        # Webster's quotas 42.9, 38.1 and 19.0 of 100
        pytest.param({"a": 90, "b": 80, "c": 40}, 100, {"a": 43, "b": 38, "c": 19}, id="Webster"),
    ],
)
def test_a_draw_has_each_stratum_by_its_share_but_at_least_five(sizes, n, expected_counts):
    assert counts_by_stratum(draw_order(strata(**sizes))[:n]) == expected_counts


def test_the_order_keeps_the_shares_of_the_strata_after_five_of_each():
    """Within one unit: the first ten are five and five, where the shares are six and four."""
    order = draw_order(strata(yes=120, no=80))
    assert len(set(order)) == 200
    for n in range(10, 200):
        assert counts_by_stratum(order[:n])["yes"] == pytest.approx(0.6 * n, abs=1)


def test_a_unit_of_two_draws_has_the_larger_probability():
    first = [drawn_unit("a"), drawn_unit("b")]
    second = [
        drawn_unit("a", probability=0.2, at="2"),
        *(drawn_unit("c", probability=0.7, at="2", model=model) for model in "mn"),
    ]
    merged = merge_draws([*first, *second])
    assert {key: (row.probability, row.at) for key, row in merged.items()} == {
        ("m", "a"): (0.5, "1"),
        ("m", "b"): (0.5, "1"),
        ("m", "c"): (0.7, "2"),
        ("n", "c"): (0.7, "2"),
    }
