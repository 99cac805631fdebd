import json

import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.multi import scoring
from bench_assets.suites.multi.dataset.questions import NOT_PUBLISHED
from bench_assets.suites.multi.scoring import (
    accuracy,
    max_points,
    refusals,
    rouge_l,
    score_ratio,
    slices,
)
from bench_assets.suites.multi.task import TASK
from tests.fakes.multi_rows import answered, question

POINTS = {"SA": 13_963, "MA": 5_941, "FB": 2_211, "OP": 798}
IMAGES = {"NI": 14_118, "SI": 8_540, "MI": 255}


def scored(points, max_points=1.0, kind="SA", note="", error="", **fields):
    example = question(kind, **fields)
    score = Score(
        question_id=example.question_id,
        model="m",
        condition="main",
        points=points,
        max_points=max_points,
        note=note,
        error=error,
    )
    return ScoredQuestion(example, score)


@pytest.fixture(scope="module")
def published(shared_data):
    return json.loads((shared_data / "published" / "multi.json").read_text("utf-8"))


@pytest.mark.parametrize(("table", "totals"), [("table4_types", POINTS), ("table3_images", IMAGES)])
def test_overall_of_every_model_follows_from_its_parts(published, table, totals):
    """Parts and Overall are each rounded by at most 0.05 percent points: at most 0.1 apart."""
    assert len(published[table]) == 11
    for model, ratios in published[table].items():
        rows = [scored(ratios[part] / 100 * total, total) for part, total in totals.items()]
        overall = published["table3_images"][model]["Overall"]
        assert score_ratio(rows).value * 100 == pytest.approx(overall, abs=0.1), model


@pytest.mark.parametrize(
    ("example", "points"),
    [
        pytest.param(question("SA"), 1, id="single answer: one"),
        pytest.param(question("MA", "BCD"), 3, id="several answers: one each"),
        pytest.param(question("FB", "氢\n氧"), 2, id="blanks: one each"),
        pytest.param(question("OP", "因为" * 99), 1, id="open: one, however long the reference"),
        pytest.param(question("Other", "图"), 0, id="other: none"),
        pytest.param(
            question("OP", answer=(NOT_PUBLISHED,)), 0, id="open without a reference: none"
        ),
        pytest.param(question("SA", answer=(NOT_PUBLISHED,)), 0, id="the answer is withheld: none"),
    ],
)
def test_the_maximum_follows_from_the_type_and_the_gold(example, points):
    assert max_points(example) == points


def test_overall_is_points_over_points_and_accuracy_counts_questions():
    rows = [scored(1.0), scored(2.0, 3.0, "MA", gold="BCD"), scored(0.0, 2.0, "FB", gold="a\nb")]
    assert score_ratio(rows).value == 3 / 6
    assert accuracy(rows).value == pytest.approx(1 / 3)


def test_other_counts_neither_as_right_nor_as_wrong():
    rows = [scored(1.0), scored(0.0, 0.0, "Other")]
    assert (score_ratio(rows).value, score_ratio(rows).n_scored) == (1.0, 1)
    assert accuracy(rows).value == 1.0


def test_a_question_without_a_response_counts_as_zero_and_is_reported():
    rows = [scored(1.0), scored(None, error="no recorded response", kind="MA", gold="ABC")]
    ratio = score_ratio(rows)
    assert (ratio.value, ratio.n_scored, ratio.n_unscored) == (0.25, 1, 1)
    assert accuracy(rows).value == 0.5


def test_a_withheld_answer_is_left_out():
    score = TASK.scorer("careful")(answered("B", answer=(NOT_PUBLISHED,)), [])
    assert (score.points, score.note) == (None, "the answer is not published")
    withheld = ScoredQuestion(question(answer=(NOT_PUBLISHED,)), score)
    assert score_ratio([withheld, scored(1.0)]).value == 1.0


def test_refusals_are_a_share_of_the_points_of_questions_with_images():
    rows = [
        scored(0.0, note=scoring.REFUSED, labels={"images": "NI"}),
        scored(0.0, note=scoring.REFUSED, labels={"images": "SI"}),
        scored(3.0, 3.0, "MA", gold="ABC", labels={"images": "SI"}),
    ]
    assert refusals(rows).value == 1 / (1 + 3)


@pytest.mark.parametrize("scorer", TASK.scorers)
def test_an_open_answer_in_the_words_of_the_reference_is_almost_one_point(scorer):
    """The authors add 1e-8 to a denominator of 2: 2 / (2 + 1e-8) = 0.999999995."""
    score = TASK.scorer(scorer)(answered("牛顿第一定律", "OP", "牛顿第一定律"), [])
    assert score.points == pytest.approx(0.999999995, abs=1e-10)
    assert accuracy([ScoredQuestion(question("OP"), score)]).value == 1.0


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        pytest.param("苹果", "香蕉", 0.0, id="no word in common"),
        pytest.param("苹果", "苹果 香蕉", 2 / 3, id="half the words: P 1, R 1/2"),
        pytest.param("香蕉 苹果", "苹果 香蕉", 1 / 2, id="the order counts: P 1/2, R 1/2"),
        pytest.param("苹果", "", 0.0, id="a blank reference"),
        pytest.param(" ", "\n", 0.0, id="both blank, and no match"),
    ],
)
def test_rouge_l_over_words(text, reference, expected):
    assert rouge_l(text, reference) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("points", "maximum", "expected"),
    [
        pytest.param(1 - 5e-9, 1.0, 1.0, id="the same text, by the authors' ROUGE-L"),
        pytest.param(1 - 1e-6, 1.0, 1.0, id="a millionth short"),
        pytest.param(1 - 2e-6, 1.0, 0.0, id="two millionths short"),
        pytest.param(4 - 8e-6, 4.0, 0.0, id="two millionths of four points short"),
    ],
)
def test_accuracy_counts_a_millionth_less_than_the_maximum_as_right(points, maximum, expected):
    assert accuracy([scored(points, maximum)]).value == expected


def test_slices_are_the_columns_of_the_tables():
    assert list(slices(question("MA", labels={"images": "MI", "level": "Driv"}))) == [
        "MA",
        "MI",
        "Driv",
        "subject 数学",
        "difficulty 3",
        "quality 4",
    ]
