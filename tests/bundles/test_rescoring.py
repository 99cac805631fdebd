"""Digits are the same or they are not; what parts first is named first."""

from dataclasses import replace
from math import nan, nextafter

import pytest

from bench_assets.bundles.rescoring import (
    find_divergences,
    format_digits,
    metric_divergences,
)
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.evaluation.task import Evaluation
from tests.bundles.test_contents import METRIC
from tests.fakes.quiz import TASK
from tests.fakes.rows import prediction


@pytest.mark.parametrize(
    ("was", "now", "same"),
    [
        pytest.param(0.1, nextafter(0.1, 1), True, id="the last bit, which processors differ in"),
        pytest.param(1e9, 1e9 + 1e-3, True, id="the thirteenth digit"),
        pytest.param(0.1, 0.1000000001, False, id="the tenth digit"),
        pytest.param(0.0, 1e-15, True, id="almost nothing"),
        pytest.param(0.0, 1e-9, False, id="a billionth"),
        pytest.param(nan, nan, True, id="no number both times"),
        pytest.param(nan, 0.0, False, id="a number where none was"),
        pytest.param(0.0, nan, False, id="none where a number was"),
    ],
)
def test_a_value_is_the_same_or_not(was, now, same):
    found = metric_divergences([replace(METRIC, value=was)], [replace(METRIC, value=now)])
    assert [one.field for one in found] == ([] if same else ["value"])


@pytest.mark.parametrize("field", ["low", "high", "constant", "shuffled"])
def test_every_number_of_a_cell_counts(field):
    old = replace(METRIC, constant=0.1, shuffled=0.1)
    (found,) = metric_divergences([old], [replace(old, **{field: 0.2})])
    assert (found.entry, found.field, found.after) == ("acc all", field, "0.2")


@pytest.mark.parametrize("field", ["n_scored", "n_unscored", "n_failed"])
def test_every_count_of_a_cell_counts(field):
    (found,) = metric_divergences([METRIC], [replace(METRIC, **{field: 7})])
    assert (found.field, found.after) == (field, "7")


def test_what_an_older_table_does_not_say_is_no_difference():
    assert not metric_divergences(
        [METRIC], [replace(METRIC, constant=0.2, n_no_answer=0, data="0c")]
    )
    assert metric_divergences([replace(METRIC, constant=0.2)], [METRIC])


def test_a_bundle_does_not_know_what_other_models_judged_responses_gave():
    judged = replace(METRIC, constant=0.2, shuffled=0.1, baselines="constant: best of 3")
    assert not metric_divergences([judged], [METRIC])
    assert metric_divergences([judged], [replace(METRIC, constant=0.3)])


def test_rejected_source_rows_count_where_both_sides_count_them():
    assert metric_divergences([replace(METRIC, n_rejected=3)], [replace(METRIC, n_rejected=4)])
    assert not metric_divergences([replace(METRIC, n_rejected=3)], [METRIC])
    assert not metric_divergences([METRIC], [replace(METRIC, n_rejected=4)])


def test_names_and_setups_are_the_homes():
    assert not metric_divergences([METRIC], [replace(METRIC, model="another", setup="model=0")])


def test_a_cell_that_is_missing_or_new_is_named():
    other = replace(METRIC, category="easy")
    (gone,), (new,) = (
        metric_divergences([METRIC, other], [METRIC]),
        metric_divergences([], [METRIC]),
    )
    assert (gone.entry, gone.before, gone.after) == ("acc easy", "there", "none")
    assert (new.entry, new.before, new.after) == ("acc all", "none", "there")


def test_steps_are_named_in_the_order_in_which_they_happen():
    response = prediction(text="A")
    verdict = Judgement.of(response, judge="j", criterion="right", verdict=True, response="yes")
    one = Evaluation(
        task=TASK,
        model="m",
        condition="main",
        questions=[],
        predictions=[response],
        judgements=[verdict],
        scores=[Score.of(response, points=1.0)],
        metrics=[METRIC],
    )
    other = replace(
        one,
        predictions=[replace(response, text="B")],
        judgements=[replace(verdict, verdict=False)],
        scores=[Score.of(response, points=0.0)],
        metrics=[replace(METRIC, value=0.0)],
    )
    assert [p.step for p in find_divergences(one, other)] == [
        "responses",
        "verdicts",
        "points",
        "metrics",
    ]
    assert not find_divergences(one, one)


def test_digits_are_ten_and_no_number_has_none():
    assert [format_digits(x) for x in (2 / 3, 0.5, nan, None)] == ["0.6666666667", "0.5", "-", "-"]
