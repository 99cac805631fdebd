from math import sqrt

import pytest

from bench_assets.suites.multi.construction.selection import (
    normalize_measure,
    probability,
    quota,
    select,
    uniform_draw,
)
from tests.fakes.multi_rows import item

SEEDS = 1_000


def problems_of_lengths_up_to(n):
    """Problems of 1, 2, ... n characters, all about one piece of knowledge."""
    return [
        item(item_id=f"q{k}_0", problem_id=f"q{k}", specific="字" * k, knowledge=("集合",))
        for k in range(1, n + 1)
    ]


@pytest.mark.parametrize(
    ("n", "expected_quota", "expected"),
    [
        pytest.param(10, 3, 1 + 1 + 8 * 1 / 10, id="10: two for sure, 8 share one tenth each"),
        pytest.param(100, 6, 1 + 1 + 98 * 4 / 100, id="100: 5.92"),
        pytest.param(1_000, 9, 1 + 1 + 998 * 7 / 1_000, id="1,000: 8.986", marks=pytest.mark.long),
    ],
)
def test_the_mean_number_of_picks_is_that_of_the_closed_form(n, expected_quota, expected):
    """Over 1,000 seeds the mean may be off by four standard errors of a sum of Bernoullis."""
    chances = [probability(rank, n) for rank in range(n)]
    assert quota(n) == expected_quota
    assert sum(chances) == pytest.approx(expected)
    decisions = select(problems_of_lengths_up_to(n), 0)
    assert [decision.probability for decision in decisions] == chances
    n_picked = sum(
        uniform_draw(seed, decision.problem_id) < decision.probability
        for seed in range(SEEDS)
        for decision in decisions
    )
    standard_error = sqrt(sum(chance * (1 - chance) for chance in chances) / SEEDS)
    assert abs(n_picked / SEEDS - expected) < 4 * standard_error


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [1, 2, 3, 7, 30])
def test_the_longest_is_always_picked_and_the_others_by_their_draws(seed, n):
    decisions = select(problems_of_lengths_up_to(n), seed)
    assert decisions[0].rank == 0
    assert decisions[0].picked
    for decision in decisions:
        assert decision.draw == uniform_draw(seed, decision.problem_id)
        assert decision.picked == (decision.draw < decision.probability)
    assert [decision.n_problems for decision in decisions] == [n] * n


@pytest.mark.parametrize(
    ("value", "ratio"),
    [
        pytest.param(10, 1.0, id="the average"),
        pytest.param(20, 0.8, id="twice: 2 / (2 + 1/2)"),
        pytest.param(5, 0.8, id="half: as far away as twice"),
        pytest.param(0, 0.0, id="nothing"),
    ],
)
def test_a_measure_counts_by_its_distance_from_the_average(value, ratio):
    assert normalize_measure(value, 10) == pytest.approx(ratio)


def test_length_adds_question_answer_and_analysis_with_their_weights():
    """All at their averages: 1.0 + 0.1 + 0.5 for characters, and as much for images."""
    fields = {"specific": "图[IMAGE_1]", "answer": "见[IMAGE_2]", "analysis": "看[IMAGE_3]"}
    (decision,) = select([item(**fields)], 0)
    assert decision.length == pytest.approx(3.2)
