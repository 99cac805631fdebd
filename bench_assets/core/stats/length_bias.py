"""Whether a judge prefers long responses: its verdicts on people's verdicts and the length.

The difference of judge and people over the length would call unbiased judges biased, because their
error depends on whether a response is right. Regressing the judge's verdict on both does not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bench_assets.core.stats.means import Floats, student_quantile

MIN_LABELS, TESTED_LABELS = 60, 100
"""Labels from which the slope is shown, and from which it counts as tested."""

_ROUNDING = 1e-9


class MeasuredVerdict(NamedTuple):
    """A judge's and people's verdict on a response, in [0, 1], and the length of the response."""

    judge: float
    people: float
    length: int  # characters
    probability: float = 1.0  # of being labelled
    cluster: str = ""  # "": one of its own


class LengthSlope(NamedTuple):
    """Change of the judge's verdict for a response twice as long and equally right."""

    value: float
    low: float  # of the 95 % interval
    high: float
    n: int


def length_slope(verdicts: Sequence[MeasuredVerdict]) -> LengthSlope | None:
    """Regress the judge's verdicts on people's and on log2 of the length.

    Weighted by 1 / probability, with a CR2 variance over clusters and Satterthwaite's degrees of
    freedom (Bell and McCaffrey, 2002; Pustejovsky and Tipton, 2018).

    Returns:
        None for at most three verdicts, or if no response is twice as long as another.
    """
    columns = np.array([row[:4] for row in verdicts], float).reshape(-1, 4)
    roots = 1 / np.sqrt(columns[:, 3])
    lengths = np.log2(np.maximum(1, columns[:, 2]))
    design = np.column_stack((np.ones(len(columns)), columns[:, 1], lengths)) * roots[:, None]
    if len(columns) <= design.shape[1] or np.ptp(lengths) < 1:
        return None
    fit = np.linalg.pinv(design)  # of the last coefficient also if people agree on all
    residuals = roots * columns[:, 0] - design @ (fit @ (roots * columns[:, 0]))
    names = [row.cluster or f"response {number}" for number, row in enumerate(verdicts)]
    clusters = np.unique(names, return_inverse=True)[1]
    rest = np.eye(len(columns)) - design @ fit  # residuals of all verdicts
    moves, influences = [], []
    for number in range(int(clusters.max()) + 1):
        in_cluster = clusters == number
        adjusted = _inverse_root(rest[np.ix_(in_cluster, in_cluster)]) @ fit[2, in_cluster]
        moves.append(float(adjusted @ residuals[in_cluster]))
        influences.append(rest[:, in_cluster] @ adjusted)
    products = np.array(influences) @ np.array(influences).T
    freedom = float(np.trace(products) ** 2 / np.sum(products**2))
    slope = float(fit[2] @ (roots * columns[:, 0]))
    half = student_quantile(round(max(1.0, freedom), 6)) * float(np.linalg.norm(moves))
    return LengthSlope(slope, slope - half, slope + half, len(columns))


def _inverse_root(matrix: Floats) -> Floats:
    """Inverse square root of a symmetric matrix, without its null space."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.where(values > _ROUNDING, 1 / np.sqrt(np.maximum(values, _ROUNDING)), 0.0)
    return np.asarray(vectors * roots @ vectors.T)
