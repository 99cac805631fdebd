"""Aggregates of scored questions by pencil; intervals hold what they are around."""

from dataclasses import replace
from math import isnan

import pytest

from bench_assets.core.metrics.aggregates import (
    accuracy_at_half,
    f1,
    group_accuracy_by,
    precision,
    recall,
    word_error_rate,
    yes_ratio,
)
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Score
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.file_benchmarks.metrics import METRICS, default_metric, find_metric
from tests.fakes.rows import question, scored


def read_question(gold, read, n, options=(), **fields):
    """A scored question."""
    marked = question(question_id=f"t/{n}", answer=gold, options=options, **fields)
    points = float(gold == read)
    score = Score(question_id=f"t/{n}", model="m", condition="main", points=points, answer=read)
    return marked, score


WORDS = {"y": ("yes",), "n": ("no",), "-": ()}
YES_NO = [  # gold and response: 3 times yes yes, twice no yes, 4 times no no, a yes unread
    read_question(WORDS[gold], WORDS[read], n)
    for n, (gold, read) in enumerate(zip("yyynnnnnny", "yyyyynnnn-", strict=True))
]


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        pytest.param(precision, 3 / 5, id="precision"),
        pytest.param(recall, 3 / 4, id="recall: what is not read was missed"),
        pytest.param(f1, 2 / 3, id="F1"),
        pytest.param(yes_ratio, 5 / 10, id="yes-ratio: what is not read is no yes"),
    ],
)
def test_counts_of_yes(measure, value):
    metric = measure(YES_NO)
    assert metric.value == pytest.approx(value)
    assert 0 <= metric.low < value < metric.high <= 1
    assert (metric.n_scored, metric.n_unscored) == (10, 0)


def test_yes_may_be_an_option():
    rows = [
        read_question(("A",), ("A",), 1, ("Yes", "No")),
        read_question(("A",), ("B",), 2, ("Yes", "No")),
        read_question(
            ("B",), ("A",), 3, ("No", "Yes")
        ),  # missed nothing: its "No" is A, its "Yes" B
    ]
    assert recall(rows).value == pytest.approx(1 / 3)
    assert precision(rows).value == 1.0


def test_without_a_yes_there_is_no_precision_and_without_scores_no_value():
    assert precision([read_question(("yes",), ("no",), n) for n in range(3)]).value == 0.0
    assert isnan(f1([]).value)
    assert isnan(f1([scored(points=None)]).value)


def test_boxes_that_count_as_found():
    """A half counts; an unscored one does not."""
    rows = [scored(points=points) for points in (0.49, 0.5, 1.0, None)]
    rows = [
        ScoredQuestion(
            replace(box_question, question_id=f"t/{n}"), replace(score, question_id=f"t/{n}")
        )
        for n, (box_question, score) in enumerate(rows)
    ]
    accuracy = accuracy_at_half(rows)
    assert (accuracy.value, accuracy.n_scored, accuracy.n_unscored) == (pytest.approx(2 / 3), 3, 1)


def test_groups_of_other_columns():
    """Figures f: right, right; g: right, wrong; none: wrong. Sets 1: f and g's first; 2: others."""
    rows = [
        read_question(("yes",), (read,), n, labels={"figure": figure, "set": of})
        for n, (figure, of, read) in enumerate(
            [
                *(("f", "1", "yes"), ("f", "1", "yes"), ("g", "1", "yes"), ("g", "2", "no")),
                ("", "2", "no"),
            ]
        )
    ]
    assert group_accuracy_by(["figure"])(rows).value == 0.5
    assert group_accuracy_by(["set"])(rows).value == 0.5
    assert group_accuracy_by(["figure", "set"])(rows).value == pytest.approx(2 / 3)


def test_word_errors_are_added_up():
    """1 of 4 and 2 of 2 words: 3 of 6."""
    rows = [
        read_question(("the cat sat down",), ("The cat sat.",), 1),
        read_question(("a dog", "no cat at all"), ("birds fly",), 2),
    ]
    rate = word_error_rate(rows)
    assert rate.value == pytest.approx(0.5)
    assert rate.low < 0.5 < rate.high


def test_an_error_rate_is_not_below_nought():
    """One of ten captions of four words has five errors: 1 / 8, give or take more than that."""
    rows = [read_question(("a b c d",), ("a b c d" if n else "v w x y z",), n) for n in range(10)]
    rate = word_error_rate(rows)
    assert (rate.value, rate.low) == (0.125, 0.0)
    assert rate.high > 0.25


def test_an_error_rate_that_is_the_same_for_all_is_not_certain():
    rows = [read_question(("a b",), (), n) for n in range(3)]
    rate = word_error_rate(rows)
    assert (rate.value, isnan(rate.low), isnan(rate.high)) == (1.0, True, True)


def test_every_metric_has_its_primary_measure_first():
    first = {name: next(iter(one.measures)) for name, one in METRICS.items()}
    assert first == {**{name: name for name in METRICS}, "bleu": "bleu_4"}


def test_a_metric_has_to_fit_the_answer_type():
    assert find_metric("f1", "yes_no") is METRICS["f1"]
    assert [default_metric(name) for name in (None, "box", "graded", "number")] == [
        *("accuracy", "mean_iou", "mean_grade", "accuracy")
    ]
    with pytest.raises(SettingsError, match='expected answer_type "box", got "text"'):
        find_metric("mean_iou", None)
    with pytest.raises(SettingsError, match='expected "mean_iou" for answer_type "box"'):
        find_metric("accuracy", "box")
