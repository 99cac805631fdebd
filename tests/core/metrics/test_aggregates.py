from math import isnan

import pytest

from bench_assets.core.metrics.aggregates import (
    accuracy_at_half,
    f1,
    group_accuracy_by,
    macro_accuracy,
    precision,
    recall,
    word_error_rate,
    yes_ratio,
)
from bench_assets.core.schema.rows import Score
from bench_assets.evaluation.task import ScoredQuestion
from tests.fakes.rows import question, scored


def scored_answer(gold, answer, n, options=(), **fields):
    """Question n with its gold, and the score of the answer that was read."""
    row = question(question_id=f"t/{n}", answer=gold, options=options, **fields)
    points = float(gold == answer)
    score = Score(question_id=f"t/{n}", model="m", condition="main", points=points, answer=answer)
    return ScoredQuestion(row, score)


YES_NO = [
    *(scored_answer(("yes",), ("yes",), n) for n in range(3)),
    *(scored_answer(("no",), ("yes",), n) for n in range(3, 5)),
    *(scored_answer(("no",), ("no",), n) for n in range(5, 9)),
    scored_answer(("yes",), (), 9),  # unread
]


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        pytest.param(precision, 3 / 5, id="precision"),
        pytest.param(recall, 3 / 4, id="recall: an unread answer is a miss"),
        pytest.param(f1, 2 / 3, id="F1"),
        pytest.param(yes_ratio, 5 / 10, id="yes-ratio: an unread answer is no yes"),
    ],
)
def test_measures_of_yes_count_answers(measure, value):
    metric = measure(YES_NO)
    assert metric.value == pytest.approx(value)
    assert 0 <= metric.low < value < metric.high <= 1
    assert (metric.n_scored, metric.n_unscored) == (10, 0)


def test_yes_may_be_an_option():
    rows = [
        scored_answer(("A",), ("A",), 1, ("Yes", "No")),
        scored_answer(("A",), ("B",), 2, ("Yes", "No")),
        scored_answer(("B",), ("A",), 3, ("No", "Yes")),
    ]
    # Every gold is yes, and only the first answer is: in the third question A is the option "No".
    assert recall(rows).value == pytest.approx(1 / 3)
    assert precision(rows).value == 1.0


def test_precision_without_an_answer_of_yes_is_zero():
    assert precision([scored_answer(("yes",), ("no",), n) for n in range(3)]).value == 0.0


@pytest.mark.parametrize("rows", [[], [scored(points=None)]], ids=["no rows", "an unscored row"])
def test_f1_without_scores_is_nan(rows):
    assert isnan(f1(rows).value)


def test_a_box_counts_from_an_overlap_of_a_half_and_an_unscored_one_does_not():
    overlaps = [0.49, 0.5, 1.0, None]
    rows = [scored(points=overlap, question_id=f"t/{n}") for n, overlap in enumerate(overlaps)]
    accuracy = accuracy_at_half(rows)
    assert accuracy.value == pytest.approx(2 / 3)
    assert (accuracy.n_scored, accuracy.n_unscored) == (3, 1)


def test_each_category_counts_the_same_in_a_macro_accuracy():
    rows = [
        *(scored_answer(("x",), ("x",), n, category="a") for n in range(3)),
        scored_answer(("x",), ("y",), 3, category="b"),
    ]
    assert macro_accuracy(rows).value == 1 / 2


def labelled_answer(n, answer, figure, exam):
    return scored_answer(("yes",), (answer,), n, labels={"figure": figure, "exam": exam})


@pytest.mark.parametrize(
    ("columns", "accuracy"),
    [
        (["figure"], 1 / 2),  # f is right; g is not; without a figure, no group
        (["exam"], 1 / 2),  # 1 is right; 2 is not
        (["figure", "exam"], 2 / 3),  # f of 1 and g of 1 are right; g of 2 is not
    ],
    ids=["figures", "exams", "figures of exams"],
)
def test_a_group_is_right_if_all_its_answers_are(columns, accuracy):
    rows = [
        labelled_answer(0, "yes", figure="f", exam="1"),
        labelled_answer(1, "yes", figure="f", exam="1"),
        labelled_answer(2, "yes", figure="g", exam="1"),
        labelled_answer(3, "no", figure="g", exam="2"),
        labelled_answer(4, "no", figure="", exam="2"),
    ]
    assert group_accuracy_by(columns)(rows).value == pytest.approx(accuracy)


def test_word_errors_are_added_before_they_are_divided():
    """1 of 4 and 2 of 2 words: 3 of 6."""
    rows = [
        scored_answer(("the cat sat down",), ("The cat sat.",), 1),
        scored_answer(("a dog", "no cat at all"), ("birds fly",), 2),
    ]
    rate = word_error_rate(rows)
    assert rate.value == pytest.approx(0.5)
    assert rate.low < 0.5 < rate.high


def test_the_interval_of_an_error_rate_begins_at_zero():
    """One of ten captions of four words has five errors: 5 / 40, give or take more than that."""
    wrong = scored_answer(("a b c d",), ("v w x y z",), 0)
    right = [scored_answer(("a b c d",), ("a b c d",), n) for n in range(1, 10)]
    rate = word_error_rate([wrong, *right])
    assert (rate.value, rate.low) == (0.125, 0.0)
    assert rate.high > 0.25


def test_an_error_rate_that_is_the_same_for_all_has_no_interval():
    rate = word_error_rate([scored_answer(("a b",), (), n) for n in range(3)])
    assert rate.value == 1.0
    assert isnan(rate.low)
    assert isnan(rate.high)
