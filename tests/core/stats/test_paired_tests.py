from collections.abc import Sequence
from math import comb, sqrt

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.paired_tests import (
    PairedScores,
    change_interval,
    change_variance,
    holm,
    paired_t_test,
)
from tests.core.stats.test_means import satterthwaite
from tests.fakes.rows import question


def pairs(*points: tuple[float, float], cluster: str = "") -> list[PairedScores]:
    """Pairs of points before and after, each a cluster of its own unless one is named."""
    return [
        PairedScores(before=before, after=after, cluster=cluster or str(n))
        for n, (before, after) in enumerate(points)
    ]


def p_value_by_hand(gains: Sequence[float], weights: Sequence[float]) -> float:
    """Two-sided p of Student's t of a ratio over clusters, by CR2 and Satterthwaite's freedom."""
    d, w = np.array(gains), np.array(weights, float)
    ratio, leverage = d.sum() / w.sum(), w / w.sum()
    error = sqrt(((d - ratio * w) ** 2 / (1 - leverage)).sum()) / w.sum()
    return float(2 * t.sf(abs(ratio) / error, satterthwaite(w)))


@pytest.mark.parametrize(
    "gains",
    [
        pytest.param([1, -1, 0, 1, 1, 0, 1], id="right or wrong"),
        pytest.param([0.9, -0.75, 0, 0.1, 0.7, 0.2], id="points in between"),
        pytest.param([3, 1, 2, -1, 0, 2, 4, -2], id="more than one point"),
    ],
)
def test_on_independent_questions_it_is_the_t_test_of_scipy(gains):
    p = paired_t_test(pairs(*[(0, gain) for gain in gains]))
    assert p == pytest.approx(ttest_1samp(gains, 0).pvalue, rel=1e-9)


def test_on_clusters_of_unequal_size_it_is_the_t_test_of_a_ratio():
    scores = [
        *pairs((0, 1), (0, 1), cluster="a"),
        *pairs((1, 0), cluster="b"),
        *pairs((0, 1), (0, 1), (0, 0), cluster="c"),
        *pairs((0, 1), cluster="d"),
        PairedScores(before=0, after=1, cluster="e", most=2.0),
    ]
    expected_p = p_value_by_hand(gains=[2, -1, 2, 1, 1], weights=[2, 1, 3, 1, 2])
    assert paired_t_test(scores) == pytest.approx(expected_p, rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "p"),
    [
        pytest.param([], 1.0, id="nothing shows nothing"),
        pytest.param(pairs((0, 1), (0, 0.5), cluster="a"), 1.0, id="one cluster shows nothing"),
        pytest.param(pairs(*[(0.5, 0.5)] * 9), 1.0, id="no change shows nothing"),
        pytest.param(pairs((0, 0.5), (0.5, 0)), 1.0, id="equal losses and gains show nothing"),
        pytest.param(pairs(*[(0, 1)] * 3), 1 / 2**4, id="three of three: a sign test's, one-sided"),
        # No spread: the error is taken for 1 / sqrt(6 * 8), and 0.5 sqrt(48) is 3.46.
        pytest.param(pairs(*[(0, 0.5)] * 6), 2 * t.sf(sqrt(12), 5), id="six equal gains"),
        # t = 3 / sqrt(203 / 202 * (3 - 9 / 203)) = 1.7406
        pytest.param(
            pairs(*[(0, 1)] * 3, *[(1, 1)] * 200), 2 * t.sf(1.7406, 202), id="three of many"
        ),
    ],
)
def test_few_changed_clusters_have_no_small_p(scores, p):
    assert paired_t_test(scores) == pytest.approx(p, abs=1e-4)


def false_alarm_rate(n: int, change_rate: float) -> float:
    """Probability that two equal models are called different, as a binomial sum.

    Each of n questions changes with a probability, and is then as likely lost as gained. Numbers of
    changes that are less likely than one in a million are left out.
    """
    alarm_rate = 0.0
    for n_changed in range(1, n + 1):
        unchanged = [(1, 1)] * (n - n_changed)
        probability = (
            comb(n, n_changed) * change_rate**n_changed * (1 - change_rate) ** len(unchanged)
        )
        if probability <= 1e-6:
            continue
        for n_lost in range(n_changed // 2 + 1):  # from all gained on; twice for both tails
            changed = [(1, 0)] * n_lost + [(0, 1)] * (n_changed - n_lost)
            if paired_t_test(pairs(*changed, *unchanged)) >= 0.05:
                break
            alarm_rate += 2 * probability * comb(n_changed, n_lost) / 2**n_changed
    return alarm_rate


@pytest.mark.parametrize(
    ("n", "change_rate"), [(30, 0.15), (30, 0.3), (30, 0.5), (30, 0.9), (60, 0.1), (60, 0.4)]
)
def test_one_equal_model_in_twenty_is_called_different(n, change_rate):
    assert false_alarm_rate(n, change_rate) == pytest.approx(0.05, abs=0.015)


def random_changes(n: int) -> list[list[PairedScores]]:
    """Sixty samples of n changes, two a cluster, some with a gain for all."""
    rng = np.random.default_rng(n)
    samples = []
    for _ in range(60):
        gains = rng.choice([-1, 0, 1, 0.5], n) + rng.choice([0, 2 / n**0.5, 0.3], 1)
        changes = enumerate(gains.tolist())
        samples.append([PairedScores(0, gain, cluster=str(i // 2)) for i, gain in changes])
    return samples


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 15, 40, 100])
def test_the_interval_excludes_zero_if_and_only_if_p_is_below_5_percent(n):
    for scores in random_changes(n):
        low, high = change_interval(scores)
        assert (low > 0 or high < 0) == (paired_t_test(scores) < 0.05)


@pytest.mark.parametrize("n", [8, 15, 40, 100])
def test_some_of_the_random_changes_are_significant_and_others_are_not(n):
    assert {paired_t_test(scores) < 0.05 for scores in random_changes(n)} == {True, False}


def test_holm_corrects_at_most_to_one():
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_questions_are_clustered_by_group_or_else_by_all_images():
    questions = [
        question(question_id="a", group_id="g", images=("1",)),
        question(question_id="b", group_id="h", images=("1",)),
        question(question_id="c", group_id="h"),
        question(question_id="d", images=("1", "2")),
        question(question_id="e"),
        question(question_id="f"),
    ]
    clusters = cluster_questions(questions)
    assert clusters["a"] == clusters["b"] == clusters["c"]
    assert len({clusters[name] for name in "adef"}) == 4


@pytest.mark.parametrize(
    ("scores", "variance"),
    [
        pytest.param(pairs(*[(0, 1), (1, 0)] * 50), 1, id="every question changes"),
        pytest.param(pairs((1, 1)), 1 / 3, id="none of one changes: one in three may"),
        pytest.param(pairs(*[(1, 1)] * 98), 1 / 100, id="none of 98: one in 100 may"),
        # 0.02 - 0.02², above 1/52
        pytest.param(pairs((0, 1), *[(1, 1)] * 49), 0.0196, id="one of fifty changes"),
    ],
)
def test_the_variance_of_few_changes_is_at_least_that_of_one_more(scores, variance):
    assert change_variance(scores) == pytest.approx(variance)


def test_the_variance_of_questions_of_two_points_is_that_of_their_shares():
    # Five of ten gain both points: each is a half away from the mean, 0.5 squared.
    changes = [(0.0, 2.0 * (n % 2)) for n in range(10)]
    scores = [pair._replace(most=2.0) for pair in pairs(*changes)]
    assert change_variance(scores) == 0.25


def test_twice_the_points_of_every_question_leave_p_as_it_is():
    gains = [3, 1, 2, -1, 0, 2, 4, -2]
    doubled = [pair._replace(most=2.0) for pair in pairs(*[(0, 2 * gain) for gain in gains])]
    single = pairs(*[(0, gain) for gain in gains])
    assert paired_t_test(doubled) == pytest.approx(paired_t_test(single))


def test_ten_questions_of_an_image_that_change_together_have_ten_times_the_variance():
    lost, gained = [(1, 0)] * 10, [(0, 1)] * 10
    scores = []
    for image in range(0, 100, 2):
        scores += pairs(*gained, cluster=str(image)) + pairs(*lost, cluster=str(image + 1))
    assert change_variance(scores) == pytest.approx(10)
