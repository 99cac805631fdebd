"""Near-duplicates: MinHash of texts, perceptual hashes of images.

MinHash (Broder, 1997) finds candidates among many texts; their exact Jaccard similarity decides.
Both have the digits of the packages datasketch 2.0 and ImageHash 4.3.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha1
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_PERMUTATIONS = 128  # permutations of MinHash
_SEED = 1  # seed of the permutations
_RECALL_MARGIN = 0.35  # similarity below the threshold from which candidates are searched
_LEAST_SEARCHED = 0.05  # similarity from which candidates are searched, at least
_CELLS = 1_000  # cells of the numerical integration over similarities
_HASH_SIDE = 8  # rows and columns of low frequencies that make the bits of an image hash
_FREQUENCIES = 32  # px; side of the shrunk image


class NearDuplicate(NamedTuple):
    """Two near-duplicates."""

    later: str
    earlier: str
    similarity: float  # Jaccard similarity of their shingles, [0, 1]


def similar_texts(texts: Mapping[str, str], threshold: float) -> list[NearDuplicate]:
    """Find the earlier near-duplicates of each text, in order; MinHash may miss some.

    Whitespace is ignored. Shingles have three characters; a shorter text is a single shingle, and
    empty texts have no duplicates.

    Args:
        texts: Texts by name, in order.
        threshold: Least Jaccard similarity of two near-duplicates, in (0, 1].

    >>> similar_texts({"a": "函数的最大值是", "b": "函数的最小值是", "c": "函数的最大值 是"}, 0.9)
    [NearDuplicate(later='c', earlier='a', similarity=1.0)]
    """
    n_bands, n_rows = _band_sizes(max(_LEAST_SEARCHED, threshold - _RECALL_MARGIN))
    buckets: defaultdict[tuple[int, bytes], list[str]] = defaultdict(list)  # by band
    shingles = {name: _shingles(text) for name, text in texts.items()}
    order = {name: position for position, name in enumerate(texts)}
    duplicates = []
    for name, own_shingles in shingles.items():
        if not own_shingles:
            continue
        bands = min_hashes(own_shingles)[: n_bands * n_rows].reshape(n_bands, n_rows)
        own_buckets = [buckets[index, band.tobytes()] for index, band in enumerate(bands)]
        candidates = {earlier for bucket in own_buckets for earlier in bucket}
        for earlier in sorted(candidates, key=order.__getitem__):
            other_shingles = shingles[earlier]
            similarity = len(own_shingles & other_shingles) / len(own_shingles | other_shingles)
            if similarity >= threshold:
                duplicates.append(NearDuplicate(later=name, earlier=earlier, similarity=similarity))
        for bucket in own_buckets:
            bucket.append(name)
    return duplicates


def min_hashes(pieces: Iterable[str]) -> NDArray[np.uint32]:
    """Least hash of a set's pieces under each of 128 permutations of all 32-bit hashes.

    The share of equal numbers of two sets estimates their Jaccard similarity.
    """
    digests = (sha1(piece.encode()).digest() for piece in pieces)
    hashes = np.array([int.from_bytes(digest[:4], "little") for digest in digests], np.uint32)
    factors, offsets = _permutations()
    permuted = _finalize(hashes)[:, np.newaxis] * factors + offsets
    return np.asarray(permuted.min(axis=0))


@cache
def _permutations() -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Odd factors, and offsets: ``a * h + b`` modulo 2^32 is a permutation for an odd ``a``."""
    generator = np.random.RandomState(_SEED)
    halves = generator.randint(0, 1 << 31, _PERMUTATIONS, dtype=np.uint32)
    offsets = generator.randint(0, 1 << 32, _PERMUTATIONS, dtype=np.uint32)
    return halves * np.uint32(2) + np.uint32(1), offsets


def _finalize(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """MurmurHash3's finalizer, which spreads similar hashes."""
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return hashes ^ (hashes >> np.uint32(16))


@cache
def _band_sizes(threshold: float) -> tuple[int, int]:
    """Number of bands, and rows of each, with the least probability of an error at a threshold.

    Two sets of similarity s are candidates with probability 1 - (1 - s^rows)^bands
    (Leskovec et al., Mining of Massive Datasets, 3.4.2).
    """
    middles = (np.arange(_CELLS) + 0.5) / _CELLS
    below, above = threshold * middles, threshold + (1 - threshold) * middles

    def error(sizes: tuple[int, int]) -> float:
        n_bands, n_rows = sizes
        false_positives = threshold * np.mean(1 - (1 - below**n_rows) ** n_bands)
        false_negatives = (1 - threshold) * np.mean((1 - above**n_rows) ** n_bands)
        return float(false_positives + false_negatives)

    counts = range(1, _PERMUTATIONS + 1)
    sizes = [(bands, rows) for bands in counts for rows in counts if bands * rows <= _PERMUTATIONS]
    return min(sizes, key=error)


def image_hash(image: Image.Image) -> str:
    """Perceptual hash of an image: 64 bits of low frequencies, as 16 hexadecimal digits."""
    from scipy.fft import dctn  # slow: 0.1 s

    size = (_FREQUENCIES, _FREQUENCIES)
    pixels = np.asarray(image.convert("L").resize(size, Image.Resampling.LANCZOS), np.float64)
    low = dctn(pixels)[:_HASH_SIDE, :_HASH_SIDE]
    return np.packbits(low > np.median(low)).tobytes().hex()


def hash_distance(hash_a: str, hash_b: str) -> int:
    """Hamming distance of two image hashes, 0 to 64; small for images that look alike.

    >>> hash_distance("00000000000000ff", "00000000000000f0")
    4
    """
    return (int(hash_a, 16) ^ int(hash_b, 16)).bit_count()


def _shingles(text: str) -> frozenset[str]:
    """All runs of three characters, whitespace aside; a shorter text as a whole."""
    plain = "".join(text.split())
    pieces = {plain[start : start + 3] for start in range(max(1, len(plain) - 2))}
    return frozenset(pieces - {""})
