"""Whether two models that answered the same questions differ by more than chance.

Every test is two-sided and paired on questions. Questions that share a picture or a group are one
cluster: they are right or wrong together, and count as what they are, less than as many questions.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import ceil, inf, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench_assets.core.rows import Question

_DRAWS = 10_000  # resolves p-values down to 0.0001, enough to correct for 500 metrics
_AT_ONCE = 500  # draws; bounds memory: a draw has a count for each distinct cluster
_ONE_IN_TWENTY = 0.05  # what a 95 % interval misses
_EXTREME_ENOUGH = 200  # draws that settle a p-value: the more of them, the less it matters


class Pair(NamedTuple):
    """One question and its points from both models."""

    before: float
    after: float
    cluster: str
    most: float = 1.0  # points that the question has


class Outcome(NamedTuple):
    """The outcome of a test."""

    test: str
    p: float  # two-sided, not corrected for other tests


def clusters_of(questions: Sequence[Question]) -> dict[str, str]:
    """Name the cluster of each question: what shares a group or all of its pictures, however far.

    Returns:
        Question id -> cluster; a question that shares nothing is a cluster of its own.
    """
    leads: dict[tuple[str, ...], tuple[str, ...]] = {}

    def root(node: tuple[str, ...]) -> tuple[str, ...]:
        while (above := leads.setdefault(node, node)) != node:
            leads[node] = leads[above]
            node = above
        return node

    for question in questions:
        own = root(("question", question.question_id))
        if question.group_id:
            leads[root(("group", question.group_id))] = own
        if question.images:
            leads[root(("images", *question.images))] = own
    return {q.question_id: " ".join(root(("question", q.question_id))) for q in questions}


def change(pairs: Sequence[Pair]) -> float:
    """Points gained, as a share of the points there are; in [-1, 1].

    >>> change([Pair(1, 0, "a"), Pair(1, 1, "b", most=3)])
    -0.25
    """
    return sum(p.after - p.before for p in pairs) / sum(p.most for p in pairs)


def interval(pairs: Sequence[Pair]) -> tuple[float, float]:
    """The 95 % interval of the change, from the spread over clusters, by Student's t.

    The spread is taken for no less than ``questions_enough`` takes it for: a few questions that
    all changed alike do not make a change certain. Nor does it leave 0 out where a sign test of as
    many changed clusters could not.

    >>> low, high = interval([Pair(0, 1, "a"), Pair(0, 0, "b"), Pair(0, 0, "c"), Pair(0, 1, "d")])
    >>> round(low, 2), round(high, 2)  # 0.5 -+ 3.18 * 0.289
    (-0.41, 1.41)
    """
    clusters, n = _clusters(pairs), len(pairs)
    ratio, most = change(pairs), sum(pair.most for pair in pairs)
    freedom = len(clusters) - 1
    if not freedom:
        return -inf, inf
    spread = sum((gained - ratio * weight) ** 2 for gained, weight in clusters)
    variance = (freedom + 1) / freedom * spread / most**2
    half = _student(freedom) * sqrt(max(variance, 1 / (n * (n + 2))))
    if _least_p(sum(bool(gained) for gained, _ in clusters)) >= _ONE_IN_TWENTY:
        half = max(half, abs(ratio))
    return ratio - half, ratio + half


def compare(pairs: Sequence[Pair], rng: np.random.Generator) -> Outcome:
    """Test that two models are equally good, as their points allow.

    Right-or-wrong points on questions that are independent: McNemar's exact test. All else, points
    in between or several questions on a picture: a paired bootstrap over clusters.
    """
    independent = len({pair.cluster for pair in pairs}) == len(pairs)
    right_or_wrong = all(p.most == 1 and {p.before, p.after} <= {0, 1} for p in pairs)
    if independent and right_or_wrong:
        lost = sum(p.before > p.after for p in pairs)
        won = sum(p.before < p.after for p in pairs)
        return Outcome("McNemar", mcnemar(lost, won))
    return Outcome("paired bootstrap", paired_bootstrap(pairs, rng))


def mcnemar(lost: int, won: int) -> float:
    """p-value of McNemar's exact test: a binomial test on the questions that changed.

    >>> mcnemar(lost=6, won=0), mcnemar(lost=3, won=3)
    (0.03125, 1.0)
    """
    n = lost + won
    term, tail = 1, 1  # of the row of Pascal's triangle, exactly: no factor gets too large
    for k in range(min(lost, won)):
        term = term * (n - k) // (k + 1)
        tail += term
    return float(min(1.0, tail / 2 ** (n - 1))) if n else 1.0


def paired_bootstrap(pairs: Sequence[Pair], rng: np.random.Generator) -> float:
    """p-value from clusters drawn with replacement, each statistic in units of its own error.

    Studentized, since the plain percentiles of few clusters raise too many false alarms; and never
    below what a sign test could say of as many changed clusters.
    """
    clusters = Counter(_clusters(pairs))
    rows = np.array(list(clusters), dtype=float)
    times = np.array(list(clusters.values()), dtype=float)
    gained, most = rows.T
    parts = np.stack([gained, most, gained**2, gained * most, most**2], axis=1)
    ratio, error = _ratio_and_error(times[None, :] @ parts)
    least = _least_p(int(times[gained != 0].sum()))
    if not ratio[0] or not error[0]:  # as many gains as losses, or the same gain everywhere
        return least if ratio[0] else 1.0
    extreme = draws = 0
    while draws < _DRAWS and extreme < _EXTREME_ENOUGH:
        drawn = rng.multinomial(clusters.total(), times / times.sum(), size=_AT_ONCE)
        ratios, errors = _ratio_and_error(drawn @ parts)
        # Multiplied, not divided: a draw without spread has no error, and counts as extreme.
        extreme += int((abs(ratios - ratio) * error >= abs(ratio) * errors - 1e-12).sum())
        draws += _AT_ONCE
    return max(least, (1 + extreme) / (1 + draws))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, in order (Holm, 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def questions_enough(
    pairs: Sequence[Pair], smallest: float, alpha: float, power: float = 0.8
) -> int:
    """How many questions like these would show a change as small as ``smallest``.

    From the spread of the changes that were seen, clusters included, and from no less than one
    changed question in n + 2: a few questions without a change must not look like enough.

    >>> to_and_fro = [Pair(i % 2, 1 - i % 2, str(i)) for i in range(100)]
    >>> questions_enough(to_and_fro, smallest=0.1, alpha=0.05)  # (1.96 + 0.84)² / 0.1²
    785
    """
    n = len(pairs)
    if not n:
        return ceil(_n_of(1.0, smallest, alpha, power))
    share = sum(p.most for p in pairs) / n
    clusters = _clusters(pairs)
    ratio = change(pairs)
    spread = sum((gained - ratio * most) ** 2 for gained, most in clusters) / share**2
    return ceil(_n_of(max(spread / n, 1 / (n + 2)), smallest, alpha, power))


def _least_p(n_changed: int) -> float:
    """The least p-value that a sign test can have."""
    return min(1.0, 2.0 ** (1 - n_changed))


def _student(freedom: int) -> float:
    """97.5 % quantile of Student's t, within 1 % (Abramowitz and Stegun, 26.7.5)."""
    z = NormalDist().inv_cdf(0.975)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    exact = {1: 12.706, 2: 4.303}  # where the series is too short
    return float(exact.get(freedom, z + sum(t / freedom**k for k, t in enumerate(terms, 1))))


def _n_of(variance: float, smallest: float, alpha: float, power: float) -> float:
    quantile = NormalDist().inv_cdf
    return variance * ((quantile(1 - alpha / 2) + quantile(power)) / smallest) ** 2


def _clusters(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    """Points gained and points there are, of each cluster."""
    gained: dict[str, float] = defaultdict(float)
    most: dict[str, float] = defaultdict(float)
    for pair in pairs:
        gained[pair.cluster] += pair.after - pair.before
        most[pair.cluster] += pair.most
    return [(gained[name], most[name]) for name in gained]


def _ratio_and_error(
    sums: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The change and its standard error from sums over clusters, a row a draw."""
    gained, most, gained_squared, product, most_squared = sums.T
    ratio = gained / most
    squares = gained_squared - 2 * ratio * product + ratio**2 * most_squared
    return ratio, np.sqrt(np.maximum(squares, 0.0)) / most
