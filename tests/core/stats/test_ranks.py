"""Ranks that cannot be told apart are not told apart, by pencil and by simulation."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from bench_assets.core.stats.paired_tests import holm
from bench_assets.core.stats.ranks import add_rank_intervals, rank_intervals, rank_models
from tests.fakes.rows import metric, standing


def around(value, half):
    return value, value - half, value + half


@pytest.mark.parametrize(
    ("given", "ranks"),
    [
        pytest.param(
            {"a": around(0.5, 0.1), "b": around(0.5, 0.1)},
            {"a": (1, 2), "b": (1, 2)},
            id="equal ones may change places",
        ),
        # Apart by 0.15 with an error of sqrt(2) 0.1 / 1.96: 2.08 of them, above 1.96.
        pytest.param(
            {"a": around(0.5, 0.1), "b": around(0.65, 0.1)},
            {"a": (2, 2), "b": (1, 1)},
            id="two that differ by more than chance",
        ),
        # The same two among three: 2.08 is below 2.39, the normal quantile of 1 - 0.05 / 6.
        pytest.param(
            {"a": around(0.5, 0.1), "b": around(0.65, 0.1), "c": around(0.575, 0.1)},
            {"a": (1, 3), "b": (1, 3), "c": (1, 3)},
            id="among three, one of whose pairs is bound to lie apart",
        ),
        # Down from 0.9 it may be 0.3, up only 0.1: the ends that face each other count.
        pytest.param(
            {"a": (0.9, 0.6, 1.0), "b": around(0.7, 0.05)},
            {"a": (1, 2), "b": (1, 2)},
            id="of intervals that are wider on one side, that side",
        ),
        pytest.param(
            {"a": (0.9, np.nan, np.nan), "b": around(0.1, 0.05)},
            {"a": (1, 2), "b": (1, 2)},
            id="without an interval nothing is known",
        ),
    ],
)
def test_ranks_by_pencil(given, ranks):
    assert rank_intervals(given) == ranks


@pytest.mark.parametrize("seed", range(6))
def test_many_models_rank_as_each_pair_by_itself_says(seed):
    rng = np.random.default_rng(seed)
    n = 40
    values = rng.choice([rng.random(n), np.round(rng.random(n), 1)], axis=0)
    widths = rng.choice([0.0, 0.01, 0.05, 0.3], (2, n))
    given = {
        str(i): (v, v - below, v + above)
        for i, (v, below, above) in enumerate(zip(values, *widths, strict=True))
    }
    given["0"] = (0.5, np.nan, np.nan)
    pairs = {}
    for one, other in combinations(given, 2):
        (higher, low, _), (lower, _, high) = sorted((given[one], given[other]))[::-1]
        error = np.hypot(higher - low, high - lower) / norm.ppf(0.975)
        with np.errstate(divide="ignore"):
            z = np.float64(higher - lower) / error if higher > lower else 0.0
        pairs[one, other] = 1.0 if np.isnan(error) else 2 * norm.sf(z)
    corrected = dict(zip(pairs, holm(list(pairs.values())), strict=True))
    better = {
        name: sum(
            given[other][0] > given[name][0]
            for pair in pairs
            if name in pair and corrected[pair] < 0.05
            for other in set(pair) - {name}
        )
        for name in given
    }
    assert {name: low for name, (low, _) in rank_intervals(given).items()} == {
        name: 1 + n_better for name, n_better in better.items()
    }


def line(model, value, **more):
    return standing(metric(model, value, low=value - 0.01, high=value + 0.01), **more)


@pytest.mark.parametrize(
    "apart",
    [
        {"edition": "built"},
        {"place": "elsewhere"},
        {"n_failed": 1},
        {"stale": "the judge is another"},
        {"low": None},
        {"high": None},
    ],
    ids=[
        *("another edition", "another source", "not the whole", "measured otherwise"),
        *("no lower end", "no upper end"),
    ],
)
def test_only_what_was_measured_alike_is_ranked(apart):
    rows = add_rank_intervals([line("a", 0.9), line("b", 0.5), line("c", 0.7, **apart)])
    assert [row.ranks for row in rows] == ["1", "2", ""]


def test_a_value_with_bounds_differs_only_from_those_that_they_do_not_reach():
    intervals = {
        "best": (0.9, 0.89, 0.91),
        "unread": (0.3, 0.29, 0.31),
        "middle": (0.5, 0.49, 0.51),
        "last": (0.1, 0.09, 0.11),
    }
    assert rank_intervals(intervals)["unread"] == (3, 3)
    bounded = rank_intervals(intervals, {"unread": (0.3, 0.6)})
    assert bounded == {"best": (1, 1), "unread": (2, 3), "middle": (2, 3), "last": (4, 4)}


# Mean ranks, by pencil.


def ranked(
    values: dict[str, dict[str, float]],
) -> dict[str, tuple[float, float | None, float | None]]:
    ranks = rank_models(values, np.random.default_rng(1))
    return {rank.model: (rank.mean, rank.low, rank.high) for rank in ranks.ranks}


def test_a_model_that_is_first_twice_and_third_once_has_the_mean_of_that():
    values = {
        "a": {"x": 0.9, "y": 0.5, "z": 0.1},
        "b": {"x": 0.9, "y": 0.1, "z": 0.5},
        "c": {"x": 0.1, "y": 0.2, "z": 0.3},
    }
    means = {model: mean for model, (mean, *_) in ranked(values).items()}
    assert means == pytest.approx({"x": 5 / 3, "y": 7 / 3, "z": 2})


def test_models_of_equal_value_share_the_mean_of_their_ranks():
    assert ranked({"a": {"x": 0.5, "y": 0.5, "z": 0.1}}) == {
        "x": (1.5, None, None),
        "y": (1.5, None, None),
        "z": (3.0, None, None),
    }


def test_the_interval_is_that_of_tasks_drawn_with_replacement():
    """Four tasks, once second: all four draws hit it with 1/256, three or more with 13/256."""
    values = {task: {"x": 1.0, "y": 0.0} for task in "abc"} | {"d": {"x": 0.0, "y": 1.0}}
    assert ranked(values) == {"x": (1.25, 1.0, 1.75), "y": (1.75, 1.25, 2.0)}


def test_a_specialist_takes_no_task_away_and_a_model_that_is_ranked_does():
    values = {task: {"x": 1.0, "y": 0.0} for task in "abc"}
    values["a"]["specialist"] = 2.0
    ranks = rank_models(values, np.random.default_rng(1))
    assert ranks.tasks == ("a", "b", "c")
    assert {rank.model for rank in ranks.ranks} == {"x", "y"}
    del values["c"]["y"]
    assert rank_models(values, np.random.default_rng(1)).tasks == ("a", "b")


def test_nothing_measured_is_no_ranking():
    assert rank_models({}, np.random.default_rng(1)).tasks == ()
