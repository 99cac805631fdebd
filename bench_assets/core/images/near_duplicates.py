"""Near-duplicates: MinHash of texts, perceptual hashes of images.

MinHash (Broder, 1997) finds candidates among many texts; their exact Jaccard similarity decides.
"""

from collections.abc import Mapping
from typing import NamedTuple

from PIL import Image

from bench_assets.core.extras import require_extra

_PERMUTATIONS = 128
_SEED = 1
_RECALL_MARGIN = 0.35  # candidates are searched this far below the threshold


class NearDuplicate(NamedTuple):
    """Two near-duplicates."""

    later: str
    earlier: str
    similarity: float  # Jaccard similarity of their shingles, [0, 1]


def similar_texts(texts: Mapping[str, str], threshold: float) -> list[NearDuplicate]:
    """Find the earlier near-duplicates of every text, in order.

    Whitespace is ignored. Shingles have three characters; a shorter text is a single shingle, and
    empty texts have no duplicates.

    Args:
        texts: Texts by name, in order.
        threshold: Least Jaccard similarity of two near-duplicates, in (0, 1].

    >>> similar_texts({"a": "函数的最大值是", "b": "函数的最小值是", "c": "函数的最大值 是"}, 0.9)
    [NearDuplicate(later='c', earlier='a', similarity=1.0)]
    """
    require_extra("the search for near-duplicates", "datasketch")
    from datasketch import MinHash, MinHashLSH

    search = max(0.05, threshold - _RECALL_MARGIN)
    index = MinHashLSH(threshold=search, num_perm=_PERMUTATIONS)
    shingles = {name: _shingles(text) for name, text in texts.items()}
    order = {name: number for number, name in enumerate(texts)}
    duplicates = []
    for name, own in shingles.items():
        if not own:
            continue
        sketch = MinHash(num_perm=_PERMUTATIONS, seed=_SEED)
        sketch.update_batch([piece.encode() for piece in sorted(own)])
        for earlier in sorted(index.query(sketch), key=lambda found: order[str(found)]):
            similarity = _jaccard(own, shingles[str(earlier)])
            if similarity >= threshold:
                duplicates.append(NearDuplicate(name, str(earlier), similarity))
        index.insert(name, sketch)
    return duplicates


def image_hash(image: Image.Image) -> str:
    """Perceptual hash of an image: 64 bits of low frequencies, as 16 hexadecimal digits."""
    require_extra("the search for near-duplicates", "imagehash")
    import imagehash

    return str(imagehash.phash(image))


def hash_distance(one: str, other: str) -> int:
    """Hamming distance of two image hashes; 0 for images that look the same.

    >>> hash_distance("00000000000000ff", "00000000000000f0")
    4
    """
    return (int(one, 16) ^ int(other, 16)).bit_count()


def _shingles(text: str) -> frozenset[str]:
    plain = "".join(text.split())
    pieces = {plain[start : start + 3] for start in range(max(1, len(plain) - 2))}
    return frozenset(pieces - {""})


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)
