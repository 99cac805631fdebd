"""The longest common subsequence of two texts, as ROUGE-L wants it."""

from collections.abc import Hashable, Sequence


def longest_common(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Count the words that two texts have in common, in the same order.

    By the bit-parallel method of Hyyrö (2004): a table of every pair of words is gigabytes for a
    reply that runs away.

    >>> longest_common("abcd", "acbd")
    3
    """
    one, other = sorted((one, other), key=len)  # the shorter is the number's length in bits
    places: dict[Hashable, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    everywhere = left = (1 << len(one)) - 1
    for word in other:
        here = left & places.get(word, 0)
        left = (left + here) | (left - here)
    return len(one) - (left & everywhere).bit_count()
