"""Measures of several responses to one question: pass@k, and the numbers k that are reported."""

from math import comb


def pass_at_k(n: int, n_right: int, k: int) -> float:
    """Probability that at least one of k of n responses is right; the unbiased estimate.

    1 - C(n - c, k) / C(n, k), for c right ones of n (Chen et al., 2021, equation 1).

    >>> pass_at_k(4, 1, 2)  # 1 - 3 / 6
    0.5
    >>> pass_at_k(4, 3, 2)  # no two of them are wrong
    1.0
    """
    return (comb(n, k) - comb(n - n_right, k)) / comb(n, k)


def reported_k(n: int) -> list[int]:
    """Numbers k for n responses: 2, 4, 8, ... below n, then n; pass@1 is the mean.

    >>> reported_k(2), reported_k(5)
    ([2], [2, 4, 5])
    """
    powers = [2**exponent for exponent in range(1, n.bit_length())]
    return [*(power for power in powers if power < n), n]
