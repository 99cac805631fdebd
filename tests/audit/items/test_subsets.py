"""The smallest subset: what it takes, what it promises, and that it keeps that."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bench_assets.audit.items.subsets import (
    cross_validate,
    group_units,
    kendall_tau,
    select_units,
    smallest_subset,
)
from tests.audit.simulated import points_of, solved
from tests.fakes.rows import question


def chosen_of(evidence, questions, size):
    units = group_units(evidence.found, questions)
    chosen = select_units(units, size)
    return [evidence.found.questions[j] for one in chosen for j in units.members[one]]


def made(n_models=12, n=400, seed=1, spread=1.5):
    rng = np.random.default_rng(seed)
    ability = np.linspace(-1, 1, n_models) * spread
    slope, ease = np.exp(rng.normal(0, 0.3, n)), rng.normal(0.3, 1.2, n)
    return points_of(solved(ability, slope, ease, rng).astype(float))


@pytest.mark.parametrize("seed", range(3))
def test_kendalls_tau_is_that_of_scipy(seed):
    one, other = np.random.default_rng(seed).integers(5, size=(2, 12)).astype(float)
    found = kendall_tau(np.tile(one, (12, 1)), other)
    assert found == pytest.approx(stats.kendalltau(one, other).statistic)


def test_models_all_alike_have_no_order():
    assert kendall_tau(np.ones((4, 4)), np.arange(4.0)) == 0


def test_the_means_of_the_models_are_kept():
    evidence = made()
    chosen = chosen_of(evidence, evidence.questions, 40)
    at = [evidence.found.questions.index(one) for one in chosen]
    off = evidence.found.points[:, at].mean(1) - evidence.found.points.mean(1)
    assert len(set(chosen)) == 40
    assert np.abs(off).mean() < 0.03  # of forty drawn at random: 0.06


def test_groups_are_taken_whole():
    evidence = made(n=60)
    questions = [replace(one, group_id=f"{j // 3}") for j, one in enumerate(evidence.questions)]
    chosen = chosen_of(evidence, questions, 10)
    groups = {one.group_id for one in questions if one.question_id in chosen}
    assert (len(chosen), len(groups)) == (12, 4)


def test_every_category_has_its_share():
    evidence = made(n=400)
    questions = [replace(q, category="AB"[j % 4 == 0]) for j, q in enumerate(evidence.questions)]
    rare = {one.question_id for one in questions if one.category == "B"}
    chosen = chosen_of(evidence, questions, 40)
    assert len(rare & set(chosen)) == pytest.approx(10, abs=2)


def test_held_out_models_are_nearer_to_their_means_and_places_than_by_chance():
    """Over ten benchmarks, at twenty questions."""
    found = [
        cross_validate(group_units(one.found, one.questions), [20])[0]
        for one in map(made, [12] * 10, [400] * 10, range(10))
    ]
    assert np.mean([one.error for one in found]) < np.mean([one.random_error for one in found])
    assert np.mean([one.tau for one in found]) > np.mean([one.random_tau for one in found])


def test_a_model_that_was_held_out_had_no_say():
    """Each model solves its own half of the questions: what suits the others says nothing of it."""
    rng = np.random.default_rng(3)
    points = (rng.random((6, 300)) < 0.5).astype(float)
    evidence = points_of(points)
    held_out = cross_validate(group_units(evidence.found, evidence.questions), [20])[0].error
    assert held_out > 0.04  # of twenty coins: sqrt(0.25 / 20) * 0.8 = 0.09


def test_more_questions_are_nearer():
    evidence = made()
    few, more = cross_validate(group_units(evidence.found, evidence.questions), [10, 200])
    assert more.error < few.error
    assert more.tau > few.tau
    assert more.random_error < few.random_error


def test_the_finding_says_size_error_and_chance():
    found = smallest_subset(made())
    assert found.passed
    assert "rank 12 held-out models as all do: Kendall's tau" in found.sentence
    assert "random ones of this size" in found.sentence


def test_where_no_part_will_do_it_says_so():
    coins = (np.random.default_rng(5).random((12, 200)) < 0.5).astype(float)
    found = smallest_subset(points_of(coins))
    assert found.passed
    assert found.sentence.startswith("No part of up to 100 of 200 questions ranks")


def test_of_few_models_it_says_that_it_is_rough():
    assert "rough" in smallest_subset(made(n_models=6, spread=3.0)).sentence


@pytest.mark.parametrize(
    ("n_models", "n", "why"),
    [
        pytest.param(4, 100, "models with scores: 4; at least 5 are needed", id="four models"),
        pytest.param(8, 15, "15 questions", id="fifteen questions"),
    ],
)
def test_what_cannot_be_looked_at_says_why(n_models, n, why):
    assert smallest_subset(made(n_models, n)).skipped.startswith(why)


def test_a_missing_score_counts_as_the_mean_of_the_question():
    evidence = points_of([[1, 1.0], [0, float("nan")], [0, 0.5]])
    units = group_units(evidence.found, [*evidence.questions, question(question_id="another")])
    assert units.sums.tolist() == [[1, 1], [0, 0.75], [0, 0.5]]
