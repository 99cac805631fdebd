"""The longest common subsequence of many pairs of texts at once."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_BLOCK = 1 << 20  # tokens of padded left texts compared at once
_NOTHING, _NOTHING_ELSE = -1, -2  # stand behind the end of a text; equal to no token


def longest_common(tokens: Ints, starts: Ints, left: Ints, right: Ints) -> Ints:
    """Count the tokens that the texts of each pair have in common, in the same order.

    Args:
        tokens: All texts one after another, a number for each token.
        starts: Where each text begins, and where the last one ends; ``(texts + 1,)``.
        left: First text of each pair.
        right: Second text of each pair.

    >>> abcd, acbd = [1, 2, 3, 4], [1, 3, 2, 4]
    >>> starts = np.array([0, 4, 8])
    >>> longest_common(np.array(abcd + acbd), starts, np.array([0]), np.array([1])).tolist()
    [3]
    """
    lengths = np.diff(starts)
    found = np.zeros(len(left), np.int64)
    # Pairs of like lengths together, so that little is padded.
    order = np.lexsort((lengths[right], lengths[left]))
    widths = np.maximum(1, lengths[left][order])
    begin = 0
    while begin < len(order):
        end = int(np.searchsorted(np.cumsum(widths[begin:]), _BLOCK)) + begin + 1
        block = order[begin:end]
        a = _padded(tokens, starts, left[block], _NOTHING)
        b = _padded(tokens, starts, right[block], _NOTHING_ELSE)
        found[block] = _longest_common(a, b)
        begin = end
    return found


def _longest_common(a: Ints, b: Ints) -> Ints:
    """Fill the table of the textbook row by row, for all pairs of a block together."""
    row = np.zeros((len(a), a.shape[1] + 1), np.int32)
    for column in range(b.shape[1]):
        step = row[:, :-1] + (a == b[:, column, None])
        # The textbook also takes the left neighbour: the running maximum of a row.
        np.maximum.accumulate(np.maximum(row[:, 1:], step), axis=1, out=row[:, 1:])
    return row[:, -1].astype(np.int64)


def _padded(tokens: Ints, starts: Ints, texts: Ints, end: int) -> Ints:
    lengths = starts[texts + 1] - starts[texts]
    place = np.arange(max(1, int(lengths.max(initial=0))))
    inside = place < lengths[:, None]
    padded = np.full(inside.shape, end, np.int64)
    padded[inside] = tokens[(starts[texts][:, None] + place)[inside]]
    return padded
