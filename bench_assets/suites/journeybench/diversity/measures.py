"""Diversity of the images: a map of them, and relations of objects against common sense."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

import numpy as np

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.errors import SourceError

OURS, THEIRS = "JourneyBench", "the other set"
_COLOURS = {OURS: "#d1495b", THEIRS: "#30638e"}
_SIZE, _MARGIN, _LEGEND = 480, 16, 28  # px
_MIN_IMAGES = 4  # images; UMAP needs a neighbourhood


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPoint:
    """An image's place on the map."""

    image_id: str
    image: str  # SHA-256
    collection: str  # OURS or THEIRS
    x: float
    y: float


def project_to_plane(vectors: Vectors, seed: int) -> Vectors:
    """Lay vectors out in the plane, neighbours together (UMAP); ``(n, 2)``.

    The same vectors and seed give the same map. Fewer than four vectors are placed on a line.
    """
    if len(vectors) < _MIN_IMAGES:
        along = np.arange(len(vectors), dtype=np.float32)
        return np.stack([along, np.zeros_like(along)], axis=1)
    require_extra("the map of images", "umap")
    from umap import UMAP

    neighbours = min(15, len(vectors) - 1)
    start = "spectral" if len(vectors) > neighbours + 2 else "random"
    placed = UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1, init=start).fit_transform(
        vectors
    )
    return np.asarray(placed, dtype=np.float32)


def as_svg(points: Sequence[MapPoint]) -> str:
    """Draw the map, a dot an image, with a legend."""
    x, y = _scale_to_canvas([p.x for p in points]), _scale_to_canvas([p.y for p in points])
    dots = [
        f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="3" fill="{_COLOURS[p.collection]}" '
        f'fill-opacity="0.6"><title>{escape(p.image_id)}</title></circle>'
        for p, cx, cy in zip(points, x, y, strict=True)
    ]
    names = [name for name in _COLOURS if any(p.collection == name for p in points)]
    legend = [
        f'<text x="{_MARGIN + 160 * i}" y="{_SIZE + 16}" fill="{_COLOURS[name]}" '
        f'font-family="sans-serif" font-size="13">{escape(name)}</text>'
        for i, name in enumerate(names)
    ]
    size = f'width="{_SIZE}" height="{_SIZE + _LEGEND}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect {size} fill="white"/>'
        f"{''.join(dots + legend)}</svg>"
    )


def _scale_to_canvas(values: Sequence[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    width = (high - low) or 1.0
    return [_MARGIN + (_SIZE - 2 * _MARGIN) * (value - low) / width for value in values]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRelation:
    """Two objects that a caption names one after the other."""

    question_id: str
    caption: str
    first: str
    second: str
    known: bool  # whether the list of common sense has the two together, in either order


def read_common_sense(file: Path) -> frozenset[frozenset[str]]:
    """Read pairs of things: the first and last tab-separated column, as in ConceptNet's lists.

    Raises:
        SourceError: If the file cannot be read, or a line has a single column.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file}: cannot be read: {error}") from error
    pairs = set()
    for number, line in enumerate(lines, 1):
        columns = [column.strip().lower() for column in line.split("\t")]
        if line.strip() and len(columns) < 2:
            raise SourceError(f"{file}, line {number}: expected tab-separated columns: {line!r}")
        pairs.add(frozenset((columns[0], columns[-1])))
    return frozenset(pair for pair in pairs if len(pair) == 2)


def pair_objects(
    question_id: str,
    captions: Sequence[str],
    nouns: Iterable[Sequence[str]],
    common_sense: frozenset[frozenset[str]],
) -> list[ObjectRelation]:
    """Pair consecutive, different nouns of each caption; a pair counts once per image."""
    relations: dict[frozenset[str], ObjectRelation] = {}
    for caption, caption_nouns in zip(captions, nouns, strict=True):
        for first, second in pairwise(caption_nouns):
            if first == second:  # a thing with itself is no relation
                continue
            pair = frozenset((first, second))
            relation = ObjectRelation(
                question_id=question_id,
                caption=caption,
                first=first,
                second=second,
                known=pair in common_sense,
            )
            relations.setdefault(pair, relation)
    return list(relations.values())
