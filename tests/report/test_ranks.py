"""Mean ranks, by pencil."""

import numpy as np
import pytest

from bench_assets.core.stats.ranks import rank_models


def ranked(
    values: dict[str, dict[str, float]],
) -> dict[str, tuple[float, float | None, float | None]]:
    found = rank_models(values, np.random.default_rng(1))
    return {one.model: (one.mean, one.low, one.high) for one in found.ranks}


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


def test_where_all_tasks_agree_the_interval_is_a_point():
    values = {task: {"x": 1.0, "y": 0.0} for task in "abc"}
    assert ranked(values) == {"x": (1.0, 1.0, 1.0), "y": (2.0, 2.0, 2.0)}


def test_a_specialist_is_not_ranked_and_takes_no_task_away():
    values = {task: {"x": 1.0, "y": 0.0} for task in "abc"}
    values["a"]["specialist"] = 2.0
    found = rank_models(values, np.random.default_rng(1))
    assert found.tasks == ("a", "b", "c")
    assert {one.model for one in found.ranks} == {"x", "y"}


def test_a_task_that_one_of_the_ranked_lacks_does_not_count():
    values = {task: {"x": 1.0, "y": 0.0} for task in "abc"}
    del values["c"]["y"]
    assert rank_models(values, np.random.default_rng(1)).tasks == ("a", "b")


def test_nothing_measured_is_no_ranking():
    assert rank_models({}, np.random.default_rng(1)).tasks == ()
