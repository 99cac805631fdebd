"""Which numbers lie on one curve."""

import math
from dataclasses import replace

import pytest

from bench_assets.core.schema.training_runs import curve_of, parse_step
from tests.cases import read_cases
from tests.fakes.rows import SIGNATURE, metric

HERE = metric("run/step-900", 0.6)


def test_a_curve_has_the_steps_of_the_run_in_their_order():
    others = [metric("run/step-1000", 0.7), metric("run/step-20", 0.1), metric("run/step-900", 0.5)]
    steps = curve_of(HERE, others)
    assert [(step, row.value) for step, row in steps.items()] == [
        (20, 0.1),
        (900, 0.6),
        (1000, 0.7),
    ]


@pytest.mark.parametrize("changes", read_cases(__file__, "no_steps.jsonl"))
def test_what_is_no_step_of_the_curve_is_left_out(changes):
    other = replace(metric("run/step-1", 0.1), **changes)
    assert list(curve_of(HERE, [other])) == [900]


def test_of_a_step_that_was_overwritten_the_last_counts():
    old, new = metric("run/step-1@aaaaaaaa", 0.1), metric("run/step-1@bbbbbbbb", 0.2)
    assert curve_of(HERE, [old, new])[1] == new
    assert curve_of(replace(HERE, model="run/step-1@aaaaaaaa"), [new])[1].value == 0.6


def test_a_judge_that_was_not_needed_fits_every_other():
    judged = [
        metric(f"run/step-{n}", 0.1, signature=SIGNATURE.replace("judge:none", f"judge:{judge}"))
        for n, judge in enumerate(("none", "gpt-4", "rules"))
    ]
    assert list(curve_of(HERE, judged)) == [0, 1, 2, 900]
    with_judge = replace(HERE, signature=judged[1].signature)
    assert list(curve_of(with_judge, judged)) == [0, 1, 900]


def test_what_is_no_step_has_no_curve():
    assert curve_of(metric("gpt-5", 0.5), [HERE]) == {}
    assert curve_of(metric("run/step-1", math.nan), [HERE]) == {}


def test_a_checkpoint_without_a_number_is_no_step():
    assert parse_step("run/final@0123abcd") is None
