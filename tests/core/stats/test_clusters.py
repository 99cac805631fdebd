"""What clusters add to a mean is the same to the last digit, whether they are few or many."""

import random

import pytest

from bench_assets.core.stats.clustered_means import ManyPoints, moves_of, moves_of_many
from bench_assets.core.stats.means import MANY, ScoredPoint, mean


@pytest.mark.parametrize("n_groups", [1, 2, 4])
@pytest.mark.parametrize("clusters", ["c{}", "", "c{0}{1}"], ids=["shared", "none", "of one each"])
@pytest.mark.parametrize("points", ["right or wrong", "any", "all right"])
def test_clusters_of_many_points_move_the_mean_as_those_of_few(points, clusters, n_groups):
    rng = random.Random(points + clusters)
    value = {"right or wrong": lambda: float(rng.random() < 0.6), "any": rng.random}
    groups = [
        [
            (
                value.get(points, lambda: 1.0)(),
                clusters.format(rng.randrange(40), n),
                rng.choice((0.3, 1.0)) if points == "any" else 1.0,
            )
            for n in range(120 if group else 1)
        ]
        for group in range(n_groups)
    ]
    centres, totals = [0.6] * n_groups, [n_groups * sum(w for _, _, w in part) for part in groups]
    few = moves_of(groups, centres, totals)
    parts = [ManyPoints(part, f"group {number} ") for number, part in enumerate(groups)]
    many = moves_of_many(parts, centres, totals)
    both = sorted(zip(few.shares, few.moves, strict=True))
    assert sorted(zip(many.shares, many.moves, strict=True)) == both
    assert many[2:] == few[2:]


def test_a_mean_of_many_is_the_closed_form():
    """Half are right: Wilson's interval, on n - 1 units as the variance was estimated."""
    points = [ScoredPoint(n % 2) for n in range(MANY // 2 * 2 + 8)]
    n, units, z2 = len(points), len(points) - 1, 1.959963984540054**2
    half = (z2 / (4 * units) * (1 + z2 / units)) ** 0.5 / (1 + z2 / units)
    found = mean(iter([*points, ScoredPoint(None)]))
    assert (found.value, found.n_scored, found.n_unscored) == (0.5, n, 1)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-12)


def test_points_are_weighed():
    points = ManyPoints([(0.5, "a", 2.0), (None, "a", 1.0), (1.0, "", 3.0)], "group 0 ")
    assert (list(points.weighted()), points.n_unscored) == ([1.0, 3.0], 1)
