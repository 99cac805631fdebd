"""Clustered means: sums per cluster, by name or by digest.

Both are the same to the last digit: sums over clusters are rounded once, so that their order does
not matter, and within a cluster points are added in the order in which they come. Of many, a point
takes 32 bytes, and 300 while they are added up; else 700.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from math import fsum, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    Numbers: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

_BYTES = 16  # of a cluster's digest
_TINY = 1e-9  # what rounding leaves of no weight


class Moves(NamedTuple):
    """What the clusters of all groups add to a mean over groups, see ``stats``."""

    shares: list[float]  # of each cluster
    moves: list[float]
    lone: float  # squared shares of groups that have but one cluster
    freedom: int  # clusters less one, of each group
    settled: bool  # one group, whose clusters are each all right or all wrong and weigh the same
    several: bool  # groups


def moves_of(
    groups: Sequence[Sequence[tuple[float, str, float]]],
    centres: Sequence[float],
    totals: Sequence[float],
) -> Moves:
    """Say how the clusters of all groups move the mean.

    Args:
        groups: Of each, its points that are scored: value, cluster ("": its own) and weight.
        centres: Their means.
        totals: Their weights, times the number of groups.
    """
    strata = [
        _stratum(part, centre, total, f"group {number} ")
        for number, (part, centre, total) in enumerate(zip(groups, centres, totals, strict=True))
    ]
    moves: dict[str, tuple[float, float]] = {}
    lone = 0.0
    for one in strata:
        n = len(one.moves)
        wider = sqrt(n / max(1, n - 1))  # one cluster has not moved from its own mean
        lone += fsum(share * share for share, _ in one.moves.values()) if n == 1 else 0.0
        for cluster, (share, move) in one.moves.items():
            before, moved = moves.get(cluster, (0.0, 0.0))
            moves[cluster] = before + share, moved + wider * move
    return Moves(
        [share for share, _ in moves.values()],
        [move for _, move in moves.values()],
        lone,
        sum(len(one.moves) - 1 for one in strata),
        settled=len(strata) == 1 and strata[0].settled,
        several=len(strata) > 1,
    )


class ManyPoints:
    """The points of one group, those that are scored."""

    def __init__(self, points: Iterable[Any], name: str) -> None:
        """Take them in; ``name`` begins the names of clusters of one point."""
        self.values, self.weights = array("d"), array("d")
        self.clusters = bytearray()
        self.n_unscored = 0
        for value, cluster, weight in points:
            if value is None:
                self.n_unscored += 1
                continue
            named = cluster or f"{name}{len(self.values)}"
            self.clusters += _digest(named)
            self.values.append(value)
            self.weights.append(weight)

    def __len__(self) -> int:
        """How many are scored."""
        return len(self.values)

    def weighted(self) -> Iterator[float]:
        """Values times weights."""
        return (v * weight for v, weight in zip(self.values, self.weights, strict=True))


def moves_of_many(
    groups: Sequence[ManyPoints], centres: Sequence[float], totals: Sequence[float]
) -> Moves:
    """Do as ``moves_of`` does."""
    import numpy as np

    numbers, n_clusters = _numbered(b"".join(group.clusters for group in groups))
    shares, moves = np.zeros(n_clusters), np.zeros(n_clusters)
    lone, freedom, settled, start = 0.0, 0, False, 0
    for group, centre, total in zip(groups, centres, totals, strict=True):
        of = numbers[start : start + len(group)]
        start += len(group)
        there = np.unique(of)
        most, right = np.zeros(n_clusters), np.zeros(n_clusters)
        weights = np.frombuffer(group.weights)
        np.add.at(most, of, weights)  # one after the other, in their order
        np.add.at(right, of, weights * np.frombuffer(group.values))
        most, right = most[there], right[there]
        share, move = most / total, (right - centre * most) / total
        n = len(there)
        wider = sqrt(n / max(1, n - 1))  # one cluster has not moved from its own mean
        lone += float(share[0] * share[0]) if n == 1 else 0.0
        freedom += n - 1
        even = bool(most.max() - most.min() < _TINY)
        settled = even and bool(np.all(np.minimum(right, most - right) < _TINY))
        shares[there] += share
        moves[there] += wider * move
    several = len(groups) > 1
    settled = settled and not several
    return Moves(shares.tolist(), moves.tolist(), lone, freedom, settled, several)


class _Stratum(NamedTuple):
    """What the clusters of one group add to a mean over groups."""

    moves: dict[str, tuple[float, float]]
    """Share of the mean, over all groups 1; and share times the way from the group's mean."""

    settled: bool  # every cluster is all right or all wrong, and weighs the same


def _stratum(
    points: Sequence[tuple[float, str, float]], centre: float, total: float, name: str
) -> _Stratum:
    sums: dict[str, tuple[float, float]] = {}
    for number, (v, cluster, weight) in enumerate(points):
        key = cluster or f"{name}{number}"
        before, right = sums.get(key, (0.0, 0.0))
        sums[key] = before + weight, right + weight * v
    weights = [weight for weight, _ in sums.values()]
    even = max(weights) - min(weights) < _TINY
    settled = even and all(min(right, most - right) < _TINY for most, right in sums.values())
    moves = {
        cluster: (weight / total, (right - centre * weight) / total)
        for cluster, (weight, right) in sums.items()
    }
    return _Stratum(moves, settled)


def _digest(cluster: str) -> bytes:
    return blake2b(cluster.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


def _numbered(digests: bytes) -> "tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]":
    """A number for each digest, the same for equal ones; how many there are."""
    import numpy as np

    halves = np.frombuffer(digests, np.uint64).reshape(-1, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    ordered = halves[order]
    another = np.any(ordered[1:] != ordered[:-1], axis=1)
    numbers = np.empty(len(halves), np.int64)
    numbers[order] = np.concatenate(([0], np.cumsum(another)))
    return numbers, int(another.sum()) + 1
