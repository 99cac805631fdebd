"""Ranks candidates for queries by similarity, block by block, so that memory stays bounded."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bench_assets.core.schema.chat import Vectors

Indices = npt.NDArray[np.int64]

_BLOCK = 1 << 23  # similarities held at once
_STEPS = 1_000_000  # cosines are compared to six decimals: machines round sums differently


def nearest(
    queries: Vectors,
    candidates: Vectors,
    right: Sequence[Sequence[int]],
    own: Sequence[Sequence[int]],
    k: int,
) -> list[Indices]:
    """Find the k most similar candidates for each query, best first.

    Among ties the right candidates come last, so that a model with constant similarity finds
    nothing; then the order of candidates decides.

    Args:
        queries: Unit vectors, ``(n, dimensions)``.
        candidates: Unit vectors, ``(m, dimensions)``.
        right: Right candidates of each query.
        own: Candidates that only this query has.
        k: Number to find; fewer if a query has fewer candidates.

    >>> axes = np.eye(3, dtype=np.float32)
    >>> [found.tolist() for found in nearest(axes[:1], axes, [[1]], [[]], 2)]
    [[0, 2]]
    """
    private = np.array(sorted({index for indices in own for index in indices}), np.int64)
    rows = max(1, _BLOCK // max(1, len(candidates)))
    similarities = np.empty((min(rows, len(queries)), len(candidates)), np.float32)
    nearest_rows: list[Indices] = []
    for begin in range(0, len(queries), rows):
        block = slice(begin, begin + rows)
        part = np.matmul(queries[block], candidates.T, out=similarities[: len(queries[block])])
        np.rint(np.multiply(part, _STEPS, out=part), out=part)
        for row, its_right, its_own in zip(part, right[block], own[block], strict=True):
            own_similarities = row[list(its_own)]
            row[private] = -np.inf
            row[list(its_own)] = own_similarities
            row[list(its_right)] -= 0.5
            nearest_rows.append(_top_k(row, k))
    return nearest_rows


def recall_at(k: int, ranking: Sequence[str], right: Sequence[str]) -> float:
    """Recall: 1 if one of the first k of a ranking is right, else 0.

    >>> recall_at(1, ("a", "b"), ("b",)), recall_at(5, ("a", "b"), ("b",))
    (0.0, 1.0)
    """
    return float(not set(right).isdisjoint(ranking[:k]))


def _top_k(row: npt.NDArray[np.float32], k: int) -> Indices:
    """Indices of the k largest finite values, largest first, the first of equal ones first."""
    k = min(k, len(row))
    if k == 0:
        return np.zeros(0, np.int64)
    least = np.partition(row, len(row) - k)[len(row) - k]
    selected = np.flatnonzero((row >= least) & np.isfinite(row))
    return selected[np.argsort(-row[selected], kind="stable")][:k]
