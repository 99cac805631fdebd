from itertools import combinations, product

import pytest

from bench_assets.core.stats.repeated_draws import pass_at_k, reported_k


@pytest.mark.parametrize("n", range(1, 8))
def test_pass_at_k_is_the_share_of_choices_with_a_right_response(n):
    for n_right, k in product(range(n + 1), range(1, n + 1)):
        responses = [True] * n_right + [False] * (n - n_right)
        choices = list(combinations(responses, k))
        share = sum(map(any, choices)) / len(choices)
        assert pass_at_k(n, n_right, k) == pytest.approx(share)


@pytest.mark.parametrize(
    ("n", "ks"), [(2, [2]), (3, [2, 3]), (4, [2, 4]), (8, [2, 4, 8]), (10, [2, 4, 8, 10])]
)
def test_reported_k_are_powers_of_two_and_all_responses(n, ks):
    assert reported_k(n) == ks
