"""pass@k against values by pencil and paper, and against counting all choices of k responses."""

from itertools import combinations

import pytest

from bench_assets.core.stats.repeated_draws import pass_at_k, reported_k


def test_it_is_the_share_of_all_choices_with_a_right_response():
    for n in range(1, 8):
        for n_right in range(n + 1):
            responses = [True] * n_right + [False] * (n - n_right)
            for k in range(1, n + 1):
                choices = list(combinations(responses, k))
                assert pass_at_k(n, n_right, k) == pytest.approx(
                    sum(map(any, choices)) / len(choices)
                )


def test_reported_numbers_end_with_all_responses():
    assert [reported_k(n) for n in (2, 3, 4, 8, 10)] == [
        [2],
        [2, 3],
        [2, 4],
        [2, 4, 8],
        [2, 4, 8, 10],
    ]
