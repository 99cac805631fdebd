"""Recall at k, and rankings by similarity, block by block, so that memory stays bounded."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bench_assets.core.schema.chat import Vectors

Indices = npt.NDArray[np.int64]

_BLOCK = 1 << 23  # similarities that are in memory at once
_STEPS = 1_000_000  # steps of a cosine of 1: six decimals, because machines round sums differently


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
    >>> [indices.tolist() for indices in nearest(axes[:1], axes, [[1]], [[]], 2)]
    [[0, 2]]
    """
    private = np.array(sorted({index for indices in own for index in indices}), np.int64)
    n_rows = max(1, _BLOCK // max(1, len(candidates)))
    buffer = np.empty((min(n_rows, len(queries)), len(candidates)), np.float32)
    rankings: list[Indices] = []
    for start in range(0, len(queries), n_rows):
        block = slice(start, start + n_rows)
        similarities = np.matmul(queries[block], candidates.T, out=buffer[: len(queries[block])])
        np.rint(np.multiply(similarities, _STEPS, out=similarities), out=similarities)
        for row, query_right, query_own in zip(similarities, right[block], own[block], strict=True):
            own_similarities = row[list(query_own)]
            row[private] = -np.inf
            row[list(query_own)] = own_similarities
            row[list(query_right)] -= 0.5  # less than a step: below ties only
            rankings.append(_top_k(row, k))
    return rankings


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
