from dataclasses import replace
from math import sqrt

import pytest

from bench_assets.suites.multi.construction.selection import (
    NO_KNOWLEDGE,
    SelectionParameters,
    normalize_measure,
    probability,
    quota,
    select,
    uniform_draw,
)
from tests.suites.multi.rows import item

SEEDS = 1_000


def piece(n, knowledge=("集合",)):
    """Problems of 1, 2, ... n characters."""
    return [
        item(item_id=f"q{k}_0", problem_id=f"q{k}", specific="字" * (k + 1), knowledge=knowledge)
        for k in range(n)
    ]


@pytest.mark.parametrize(
    ("n", "wanted", "expected"),
    [
        pytest.param(10, 3, 1 + 1 + 8 * 1 / 10, id="10: two for sure, 8 share one tenth each"),
        pytest.param(100, 6, 1 + 1 + 98 * 4 / 100, id="100: 5.92"),
        pytest.param(1_000, 9, 1 + 1 + 998 * 7 / 1_000, id="1,000: 8.986", marks=pytest.mark.long),
    ],
)
def test_as_many_are_picked_as_the_closed_form_says(n, wanted, expected):
    """Over 1,000 seeds the mean may be off by four standard errors of a sum of Bernoullis."""
    chances = [probability(rank, n, SelectionParameters()) for rank in range(n)]
    assert quota(n, 3.0) == wanted
    assert sum(chances) == pytest.approx(expected)
    decided = [
        (one.problem_id, one.probability) for one in select(piece(n), SelectionParameters(), 0)
    ]
    assert [chance for _, chance in decided] == chances
    picked = sum(
        uniform_draw(seed, name) < chance for seed in range(SEEDS) for name, chance in decided
    )
    error = sqrt(sum(c * (1 - c) for c in chances) / SEEDS)
    assert abs(picked / SEEDS - expected) < 4 * error


@pytest.mark.parametrize("seed", range(20))
def test_the_longest_is_always_kept_and_decisions_follow_their_draws(seed):
    for n in (1, 2, 3, 7, 30):
        decisions = select(piece(n), SelectionParameters(), seed)
        assert decisions[0].rank == 0
        assert decisions[0].picked
        for one in decisions:
            assert one.draw == uniform_draw(seed, one.problem_id)
            assert one.picked == (one.draw < one.probability)
        assert [one.n_problems for one in decisions] == [n] * n


def test_the_same_seed_decides_the_same_and_another_problem_changes_no_draw():
    few, many = (
        select(piece(5), SelectionParameters(), 3),
        select(piece(9), SelectionParameters(), 3),
    )
    assert select(piece(5), SelectionParameters(), 3) == few
    draws = {one.problem_id: one.draw for one in many}
    assert all(draws[one.problem_id] == one.draw for one in few)
    assert {one.draw for one in select(piece(5), SelectionParameters(), 4)} != {
        one.draw for one in few
    }


@pytest.mark.parametrize(
    ("value", "average", "ratio", "left"),
    [
        pytest.param(10, 10, 1.0, 5.0, id="the average: 1, or half of it in characters"),
        pytest.param(20, 10, 0.8, 20 / 3, id="twice: 2 / (2 + 1/2); 1 / (1/20 + 1/10)"),
        pytest.param(5, 10, 0.8, 10 / 3, id="half: as far away as twice; shorter is shorter"),
        pytest.param(0, 10, 0.0, 0.0, id="nothing"),
        pytest.param(0, 0, 0.0, 0.0, id="nothing anywhere"),
    ],
)
def test_the_two_readings_of_h(value, average, ratio, left):
    assert normalize_measure(value, average, "ratio") == pytest.approx(ratio)
    assert normalize_measure(value, average, "printed_left") == pytest.approx(left)


def test_the_printed_left_side_starts_with_the_longest_and_the_ratio_with_the_most_usual():
    items = piece(9)
    longest = select(items, SelectionParameters(reading="printed_left"), 0)[0]
    usual = select(items, SelectionParameters(), 0)[0]
    assert (longest.problem_id, usual.problem_id) == ("q8", "q4")


def test_length_adds_question_answer_and_analysis_with_their_weights():
    """All at their averages: 1.0 + 0.1 + 0.5 for characters, and as much for images."""
    fields = {"specific": "图[IMAGE_1]", "answer": "见[IMAGE_2]", "analysis": "看[IMAGE_3]"}
    (decision,) = select([item(**fields)], SelectionParameters(), 0)
    assert decision.length == pytest.approx(3.2)
    (chars,) = select([item(**fields)], SelectionParameters(b=0), 0)
    assert chars.length == pytest.approx(1.6)


def test_questions_without_knowledge_are_compared_with_one_another():
    decisions = select([*piece(2), *piece(3, knowledge=())[2:]], SelectionParameters(), 0)
    assert [(one.knowledge, one.n_problems) for one in decisions] == [
        ("集合", 2),
        ("集合", 2),
        (NO_KNOWLEDGE, 1),
    ]


def test_a_problem_of_several_sub_questions_is_decided_once():
    items = [item(item_id=f"q_{k}", problem_id="q", knowledge=("集合",)) for k in range(3)]
    assert [one.problem_id for one in select(items, SelectionParameters(), 0)] == ["q"]


@pytest.mark.parametrize(
    ("rank", "n", "m", "expected"),
    [
        pytest.param(0, 1, 1, 1.0, id="alone: always"),
        pytest.param(1, 2, 1, 0.5, id="the second of two: N = 1, no room for both ends"),
        pytest.param(1, 100, 2, 0.5, id="m = 2: the second has p"),
        pytest.param(98, 100, 2, 0.5, id="m = 2: the last but one has p"),
        pytest.param(50, 100, 2, 0.5 * 2 / 100, id="m = 2: two are left for the rest"),
        pytest.param(50, 100, 9, 0.0, id="m is at most half of N: nothing left"),
    ],
)
def test_probability_with_other_parameters(rank, n, m, expected):
    parameters = replace(SelectionParameters(), m=m, p=1.0 if n < 3 else 0.5)
    assert probability(rank, n, parameters) == pytest.approx(expected)
