"""Calibration of answers with a confidence, by pencil and paper."""

from math import isnan

import pytest

from bench_assets.core.images.charts import reliability_diagram
from bench_assets.core.stats.calibration import (
    ConfidentAnswer,
    accuracy_by_coverage,
    calibration_bins,
    expected_calibration_error,
    selective_accuracy,
)

FOUR = [
    ConfidentAnswer(0.55, 1.0),
    ConfidentAnswer(0.95, 1.0),
    ConfidentAnswer(0.85, 0.0),
    ConfidentAnswer(0.95, 1.0),
]


def test_the_error_is_the_distance_in_each_bin_weighted_by_its_answers():
    # |0.55 - 1| / 4 + |0.85 - 0| / 4 + |0.95 - 1| * 2 / 4
    error = expected_calibration_error(FOUR)
    assert error.value == pytest.approx(0.45 / 4 + 0.85 / 4 + 0.05 / 2)
    assert 0 <= error.low <= error.value <= error.high <= 1
    assert error.n_scored == 4


def test_certainty_lies_in_the_last_bin_and_empty_bins_are_left_out():
    assert calibration_bins([ConfidentAnswer(1.0, 1.0), ConfidentAnswer(0.0, 0.0)]) == [
        (0.0, 0.0, 1),
        (1.0, 1.0, 1),
    ]


def test_without_answers_nothing_is_known():
    nothing = expected_calibration_error([])
    assert isnan(nothing.value)
    assert (nothing.n_scored, nothing.n_unscored) == (0, 0)
    assert isnan(selective_accuracy([], 0.5).value)
    assert calibration_bins([]) == accuracy_by_coverage([]) == []


def test_accuracy_by_coverage_takes_equally_confident_answers_together():
    assert accuracy_by_coverage(FOUR) == [
        (0.5, 1.0),
        (0.75, pytest.approx(2 / 3)),
        (1.0, 0.75),
    ]


@pytest.mark.parametrize(("share", "value", "n"), [(0.5, 1.0, 2), (0.75, 2 / 3, 3), (1, 0.75, 4)])
def test_the_most_confident_answers_are_given(share, value, n):
    accuracy = selective_accuracy(FOUR, share)
    assert (accuracy.value, accuracy.n_scored) == (pytest.approx(value), n)


def test_a_dot_lies_where_confidence_and_accuracy_are():
    drawn = reliability_diagram(calibration_bins(FOUR), accuracy_by_coverage(FOUR), "calibration")
    assert 'cx="170.0" cy="40.0"' in drawn  # 0.55 across of 200 px from 60, accuracy 1 at the top
    assert 'cx="230.0" cy="240.0"' in drawn  # 0.85, accuracy 0 at the bottom
    assert "480.0,40.0 530.0,106.7 580.0,90.0" in drawn  # half, three quarters, all of them
