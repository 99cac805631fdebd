"""The paper's numbers, held against what they are said to be shares of."""

from collections import Counter

import pytest

from bench_assets.core.schema.published_numbers import read_published
from hallusion_bench.suite import SUITE
from hallusion_bench.task import TASK

ROWS = read_published(SUITE.published)
OVER = {"q_acc": 455, "f_acc": 346, "easy_acc": 455, "hard_acc": 430, "a_acc": 1129}
OVER |= {"inconsistent": 346, "consistently_wrong": 346}
FAILURES = ("language_hallucination", "visual_illusion", "mixed")
VALUES = {
    (row.model, row.source.split("(")[1], row.metric): row.value
    for row in sorted(ROWS, key=lambda row: row.source, reverse=True)
}
JUDGED = sorted({key[:2] for key in VALUES})


def shares(n, digits):
    """Percent of n, rounded and cut: the paper does either."""
    per = 100 * 10**digits
    found = {(k * per + r) // n for k in range(n + 1) for r in (0, n // 2)}
    return {f"{one / 10**digits:.{digits}f}" for one in found}


def test_every_number_of_both_tables_is_there():
    assert Counter(row.source.split(" (")[0] for row in ROWS) == {
        "HallusionBench, Table 2": 18 * 5,
        "HallusionBench, Table 3": 18 * 8 - 3,  # random chance is not diagnosed
        "HallusionBench, README": 5,
    }
    assert {row.metric for row in ROWS} == set(TASK.measures)


def test_values_are_what_is_printed_as_shares():
    for row in ROWS:
        unit = 1 if row.metric in ("yes_difference", "fp_ratio") else 100
        assert row.value == pytest.approx(float(row.printed) / unit)


@pytest.mark.parametrize("metric", OVER)
def test_printed_shares_are_of_as_many_units_as_the_measure_has(metric):
    found = [row.printed for row in ROWS if row.metric == metric]
    possible = {digits: shares(OVER[metric], digits) for digits in (2, 4)}
    assert found
    assert [one for one in found if one not in possible[len(one.split(".")[1])]] == []


def test_failures_are_shares_of_the_questions_that_are_wrong():
    for model, judge in JUDGED:
        wrong = 1129 - round(VALUES[model, judge, "a_acc"] * 1129)
        printed = [
            row.printed
            for row in ROWS
            if row.model == model and judge in row.source and row.metric in FAILURES
        ]
        assert set(printed) <= shares(wrong, 2), model


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(("f_acc", "inconsistent", "consistently_wrong"), id="figures"),
        pytest.param(FAILURES, id="failures"),
    ],
)
def test_parts_add_up(parts):
    for model, judge in JUDGED:
        found = [VALUES.get((model, judge, part)) for part in parts]
        assert None in found or sum(found) == pytest.approx(1, abs=2e-4), model


def test_the_two_biases_say_the_same_but_for_two_models_whose_cells_are_exchanged():
    """More yes by as much as wrong responses should have been no: Equations 6 and 7 together."""
    differs = {}
    for model, judge in JUDGED:
        if (printed := VALUES.get((model, judge, "yes_difference"))) is not None:
            wrong = 1 - VALUES[model, judge, "a_acc"]
            expected = (2 * VALUES[model, judge, "fp_ratio"] - 1) * wrong
            if abs(expected - printed) > 0.01 * wrong + 0.005:  # what rounding allows
                differs[model] = (printed, round(expected, 2))
    assert differs == {"MiniGPT5": (0.28, 0.25), "mPLUG_Owl-v2": (0.25, 0.28)}
