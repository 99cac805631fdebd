from math import sqrt

import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.suites.multi.construction.selection import (
    normalize_measure,
    probability,
    quota,
    select,
    uniform_draw,
)
from bench_assets.suites.multi.dataset.questions import link_knowledge, select_usable
from bench_assets.suites.multi.dataset.source import Knowledge
from bench_assets.suites.multi.studies import CONDITIONS, compare_conditions
from tests.cases import read_cases
from tests.fakes.multi_rows import item, question

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


PIECES = {name: Knowledge(name=name, content="……") for name in ("函数", "二次函数", "x")}


@pytest.mark.parametrize(
    ("fields", "search", "knowledge", "how"),
    read_cases(__file__, "knowledge_links.jsonl", tuples=True),
)
def test_an_item_is_linked_to_its_piece_of_knowledge(fields, search, knowledge, how):
    (link,) = link_knowledge([item(**fields)], PIECES, search=search)
    assert (link.knowledge, link.how) == (knowledge, how)


def test_pieces_without_text_or_with_lost_images_are_rejected():
    pieces = [
        Knowledge(name="a", content="[IMAGE_1]", images=("1.png",)),
        Knowledge(name="b", content="[IMAGE_1]", images=("2.png",)),
        Knowledge(name="c", content=" "),
        Knowledge(name="d", content="[IMAGE_1][IMAGE_2]", images=("1.png",)),
        Knowledge(name="e", content="[IMAGE_0]", images=("1.png",)),
    ]
    checked = select_usable(pieces, {"1.png"})
    assert [piece.name for piece in checked.rows] == ["a"]
    assert [(rejection.entry, rejection.reason) for rejection in checked.rejections] == [
        ("knowledge b", "images are missing: 2.png"),
        ("knowledge c", "the text is empty"),
        ("knowledge d", "it refers to image 2 of 1"),
        ("knowledge e", "it refers to image 0 of 1"),
    ]


def scored(example, points):
    return Score(question_id=example.question_id, model="m", condition="c", points=points)


ONE = question(question_id="multi/a_0", group_id="a", labels={"images": "SI"})
THREE = question("MA", "ABC", question_id="multi/b_0", group_id="b", labels={"images": "SI"})
PLAIN = question(question_id="multi/c_0", group_id="c")
NONE: dict[str, list[Score]] = {condition: [] for condition in CONDITIONS}


def gains(**scores):
    rows = compare_conditions([ONE, THREE, PLAIN], NONE | scores, "m")
    return {(row.condition, row.category): row for row in rows}


def test_the_gain_is_in_points_over_points_and_paired():
    gain = gains(
        main=[scored(ONE, 1.0), scored(THREE, 3.0)], no_image=[scored(ONE, 1.0), scored(THREE, 1.0)]
    )["main", "SI"]
    assert (gain.value, gain.baseline, gain.n_questions) == (1.0, 0.5, 2)
    assert gain.gain == pytest.approx(0.5)


def test_a_question_without_a_response_on_one_side_is_left_out_of_both():
    gain = gains(
        main=[scored(ONE, 1.0), scored(THREE, None)],
        no_image=[scored(ONE, 0.0), scored(THREE, 3.0)],
    )["main", "SI"]
    assert (gain.value, gain.baseline, gain.n_questions) == (1.0, 0.0, 1)


def test_several_responses_to_a_question_count_by_their_mean():
    gain = gains(main=[scored(ONE, 1.0), scored(ONE, 0.0)], no_image=[scored(ONE, 0.0)])
    assert (gain["main", "SI"].value, gain["main", "SI"].gain) == (0.5, pytest.approx(0.5))


def test_the_comparisons_are_those_of_tables_6_and_8():
    assert set(gains()) == {
        ("main", "SI"),
        ("main", "MI"),
        ("captions_for_images", "SI"),
        ("captions_for_images", "MI"),
        ("ocr_for_images", "SI"),
        ("ocr_for_images", "MI"),
        ("with_knowledge", "all"),
    }
