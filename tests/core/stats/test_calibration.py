from math import isnan

import pytest

from bench_assets.core.stats.calibration import (
    ConfidentAnswer,
    expected_calibration_error,
    selective_accuracy,
)

ANSWERS = [
    ConfidentAnswer(0.55, 1.0),
    ConfidentAnswer(0.95, 1.0),
    ConfidentAnswer(0.85, 0.0),
    ConfidentAnswer(0.95, 1.0),
]


def test_the_error_is_the_distance_in_each_bin_weighted_by_its_answers():
    # |0.55 - 1| / 4 + |0.85 - 0| / 4 + |0.95 - 1| * 2 / 4
    error = expected_calibration_error(ANSWERS)
    assert error.value == pytest.approx(0.45 / 4 + 0.85 / 4 + 0.05 / 2)
    assert error.n_scored == 4


def test_the_error_lies_in_its_interval_between_zero_and_one():
    error = expected_calibration_error(ANSWERS)
    assert 0 <= error.low < error.value < error.high <= 1


def test_without_answers_the_values_are_nan():
    error = expected_calibration_error([])
    assert isnan(error.value)
    assert (error.n_scored, error.n_unscored) == (0, 0)
    assert isnan(selective_accuracy([], 0.5).value)


@pytest.mark.parametrize(("share", "value", "n"), [(0.5, 1.0, 2), (0.75, 2 / 3, 3), (1, 0.75, 4)])
def test_selective_accuracy_counts_the_most_confident_share_of_the_answers(share, value, n):
    accuracy = selective_accuracy(ANSWERS, share)
    assert (accuracy.value, accuracy.n_scored) == (pytest.approx(value), n)
