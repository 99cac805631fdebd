from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from bench_assets.core.stats.paired_tests import holm
from bench_assets.core.stats.ranks import add_rank_intervals, rank_intervals, rank_models
from tests.fakes.rows import metric, standing


def around(value, half):
    """A value with the bounds of its interval."""
    return value, value - half, value + half


@pytest.mark.parametrize(
    ("intervals", "ranks"),
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
def test_ranks_that_chance_may_exchange_have_a_common_interval(intervals, ranks):
    assert rank_intervals(intervals) == ranks


def random_intervals(seed, n=40):
    """Values, some of them equal, with their bounds by model; the first has no bounds."""
    rng = np.random.default_rng(seed)
    values = rng.choice([rng.random(n), np.round(rng.random(n), 1)], axis=0)
    below, above = rng.choice([0.0, 0.01, 0.05, 0.3], (2, n))
    intervals = {str(i): (values[i], values[i] - below[i], values[i] + above[i]) for i in range(n)}
    return intervals | {"0": (0.5, np.nan, np.nan)}


def p_of_pair(first, second):
    """Two-sided p of the z test of two models, with the bounds that face each other."""
    (lower, _, high), (higher, low, _) = sorted((first, second))
    error = np.hypot(higher - low, high - lower) / norm.ppf(0.975)
    if np.isnan(error) or higher == lower:
        return 1.0
    with np.errstate(divide="ignore"):
        return 2 * norm.sf(np.float64(higher - lower) / error)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_rank_counts_the_models_that_are_better_by_holms_tests(seed):
    intervals = random_intervals(seed)
    pairs = list(combinations(intervals, 2))
    ps = holm([p_of_pair(intervals[first], intervals[second]) for first, second in pairs])
    best_ranks = dict.fromkeys(intervals, 1)
    for pair, p in zip(pairs, ps, strict=True):
        if p < 0.05:
            worse = min(pair, key=intervals.__getitem__)
            best_ranks[worse] += 1
    assert {name: best for name, (best, _) in rank_intervals(intervals).items()} == best_ranks


def build_standing(model, value, **fields):
    return standing(metric(model, value, low=value - 0.01, high=value + 0.01), **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"edition": "built"},
        {"place": "elsewhere"},
        {"n_failed": 1},
        {"stale": "the judge is another"},
        {"low": None},
        {"high": None},
    ],
    ids=[
        *("another edition", "another source", "a failed response", "another judge"),
        *("no lower bound", "no upper bound"),
    ],
)
def test_only_complete_values_that_were_measured_alike_are_ranked(fields):
    first, second = build_standing("a", 0.9), build_standing("b", 0.5)
    rows = add_rank_intervals([first, second, build_standing("c", 0.7, **fields)])
    assert [row.ranks for row in rows] == ["1", "2", ""]


def test_a_value_with_unread_responses_may_have_any_rank_within_its_bounds():
    intervals = {
        "best": (0.9, 0.89, 0.91),
        "unread": (0.3, 0.29, 0.31),
        "middle": (0.5, 0.49, 0.51),
        "last": (0.1, 0.09, 0.11),
    }
    assert rank_intervals(intervals)["unread"] == (3, 3)
    bounded = rank_intervals(intervals, {"unread": (0.3, 0.6)})
    assert bounded == {"best": (1, 1), "unread": (2, 3), "middle": (2, 3), "last": (4, 4)}


def mean_ranks(values):
    ranks = rank_models(values, np.random.default_rng(1))
    return {rank.model: (rank.mean, rank.low, rank.high) for rank in ranks.ranks}


def test_a_mean_rank_is_the_mean_over_tasks():
    # x is first, first and third; y second, third and second; z third, second and first.
    values = {
        "a": {"x": 0.9, "y": 0.5, "z": 0.1},
        "b": {"x": 0.9, "y": 0.1, "z": 0.5},
        "c": {"x": 0.1, "y": 0.2, "z": 0.3},
    }
    ranking = rank_models(values, np.random.default_rng(1))
    means = {rank.model: rank.mean for rank in ranking.ranks}
    assert means == pytest.approx({"x": 5 / 3, "y": 7 / 3, "z": 2})


def test_models_of_equal_value_share_the_mean_of_their_ranks():
    assert mean_ranks({"a": {"x": 0.5, "y": 0.5, "z": 0.1}}) == {
        "x": (1.5, None, None),
        "y": (1.5, None, None),
        "z": (3.0, None, None),
    }


def test_the_interval_is_that_of_tasks_drawn_with_replacement():
    """Four tasks, once second: all four draws hit it with 1/256, three or more with 13/256."""
    values = {task: {"x": 1.0, "y": 0.0} for task in "abc"} | {"d": {"x": 0.0, "y": 1.0}}
    assert mean_ranks(values) == {"x": (1.25, 1.0, 1.75), "y": (1.75, 1.25, 2.0)}


def test_a_model_with_a_value_on_one_of_three_tasks_is_not_ranked():
    values = {task: {"x": 1.0, "y": 0.0} for task in "abc"}
    values["a"]["specialist"] = 2.0
    ranking = rank_models(values, np.random.default_rng(1))
    assert ranking.tasks == ("a", "b", "c")
    assert {rank.model for rank in ranking.ranks} == {"x", "y"}


def test_a_task_without_a_value_of_a_ranked_model_is_left_out():
    values = {"a": {"x": 1.0, "y": 0.0}, "b": {"x": 1.0, "y": 0.0}, "c": {"x": 1.0}}
    assert rank_models(values, np.random.default_rng(1)).tasks == ("a", "b")


def test_without_values_no_task_is_ranked():
    assert rank_models({}, np.random.default_rng(1)).tasks == ()
