"""Student's t: its p-values, and the quantile of a 95 % interval."""

from functools import cache
from math import atan, cos, pi, sin, sqrt

from bench_assets.core.stats.means import student

_ALPHA = 0.05
_LARGE = 300  # from here on the series of ``stats.student`` is exact to nine digits


def student_p(t: float, freedom: int) -> float:
    """Two-sided p-value of Student's t, exactly (Abramowitz and Stegun, 26.7.3 and 26.7.4).

    >>> round(student_p(4.302653, 2), 4)
    0.05
    """
    angle = atan(abs(t) / sqrt(freedom))
    square = cos(angle) ** 2
    even = freedom % 2 == 0
    term = sin(angle) if even else sin(angle) * cos(angle) * (freedom != 1)
    total = term
    for k in range(1 if even else 2, freedom - 2, 2):
        term *= square * k / (k + 1)
        total += term
    inside = total if even else 2 / pi * (angle + total)
    return max(0.0, 1.0 - inside)


@cache
def student_quantile(freedom: int) -> float:
    """97.5 % quantile, exactly, by halving.

    >>> round(student_quantile(3), 4)
    3.1824
    """
    if freedom >= _LARGE:
        return student(freedom)
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, freedom) > _ALPHA else (low, middle)
    return high
