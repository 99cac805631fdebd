"""Difficulty and discrimination by pencil, and what is said of them."""

import numpy as np
import pytest

from bench_assets.audit.items.item_statistics import (
    corrected_item_total,
    discrimination_finding,
    reliability,
    solved_finding,
)
from tests.audit.simulated import points_of, solved

NONE = float("nan")


def measured(n_models, n, seed=1, spread=1.0):
    rng = np.random.default_rng(seed)
    ability = np.linspace(-1, 1, n_models) * spread
    return solved(ability, np.ones(n), rng.normal(0.5, 1, n), rng).astype(float)


def test_the_correlation_leaves_the_question_itself_out():
    points = np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1.0]])
    # Question 0: its rest is (1, 1, 1) / 2, flat. Question 1: (1, 0, 0) with (1, 2, 1) / 2: -1/2.
    # Question 2: (0, 1, 1) with (2, 1, 0) / 2: -1 / sqrt(6/9 * 2) = -sqrt(3) / 2.
    found = corrected_item_total(points)
    assert np.isnan(found[0])
    assert found[1:] == pytest.approx([-0.5, -np.sqrt(3) / 2])


def test_a_missing_score_is_left_out_of_both():
    points = np.random.default_rng(3).random((6, 4))
    points[2, 1] = NONE
    others = [0, 1, 3, 4, 5]
    rest = points[others][:, [0, 2, 3]].mean(1)
    assert corrected_item_total(points)[1] == pytest.approx(
        np.corrcoef(points[others, 1], rest)[0, 1]
    )


def test_reliability_by_pencil():
    # Two questions, variances 1/3 each; totals 2, 1, 0: variance 1. 2 * (1 - (2/3) / 1) = 2/3.
    assert reliability(np.array([[1, 1], [1, 0], [0, 0.0]])) == pytest.approx(2 / 3)
    assert reliability(np.array([[1, 1], [0, 0], [1, 1.0]])) == pytest.approx(1)


def test_a_question_that_the_weaker_models_solve_is_the_suspect():
    points = measured(12, 300)
    points[:, 17] = [1] * 6 + [0] * 6
    found = discrimination_finding(points_of(points))
    assert max(found.suspects, key=lambda one: one.weight).about == "quiz/17"


@pytest.mark.parametrize(
    ("points", "why"),
    [
        pytest.param(np.empty((0, 2)), "models with scores: 0", id="no model"),
        pytest.param([[1, 0], [0, 1]], "models with scores: 2; 3 are needed", id="two models"),
        pytest.param([[1, 1], [1, 1], [1, 1]], "all models have the same points", id="all right"),
        pytest.param(
            [[1, NONE], [0, NONE], [1, NONE]], "questions with scores: 1", id="one with scores"
        ),
        pytest.param([[1, 0], [NONE, NONE], [0, 0]], "a model has no score", id="no score"),
        pytest.param([[1], [0], [1]], "questions with scores: 1", id="one question"),
    ],
)
@pytest.mark.parametrize("examine", [discrimination_finding, solved_finding])
def test_what_cannot_be_looked_at_passes_and_says_why(examine, points, why):
    found = examine(points_of(points))
    assert found.passed
    assert found.skipped.startswith(why)


def test_what_all_solve_and_what_none_does_is_listed():
    points = measured(9, 50)
    points[:, 3], points[:, 7] = 1, 0
    points[:, 11] = 0.5  # in part: neither
    found = solved_finding(points_of(points))
    listed = {one.about: one.evidence for one in found.suspects}
    assert found.passed
    assert listed["quiz/3"] == "All of 9 models solve it."
    assert listed["quiz/7"] == "None of 9 models solves it."
    assert "quiz/11" not in listed


def test_a_benchmark_that_nearly_all_solve_fails():
    points = np.ones((9, 50))
    points[:, 0] = [1, 0] * 4 + [1]
    assert not solved_finding(points_of(points)).passed
