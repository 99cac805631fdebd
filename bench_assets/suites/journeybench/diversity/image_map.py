"""Two collections of images on one map: near ones look alike (section 4.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bench_assets.core.schema.chat import Vectors

OURS, THEIRS = "JourneyBench", "the other set"
_COLOURS = {OURS: "#d1495b", THEIRS: "#30638e"}
_SIZE, _MARGIN, _LEGEND = 480, 16, 28  # px
_FEWEST = 4  # images; fewer make no neighbourhood


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPoint:
    """An image's place on the map."""

    image_id: str
    image: str  # SHA-256
    collection: str  # OURS or THEIRS
    x: float
    y: float


def place(vectors: Vectors, seed: int) -> Vectors:
    """Lay vectors out in the plane, neighbours together (UMAP); ``(n, 2)``.

    The same vectors and seed give the same map. Fewer than four stand on a line.

    Args:
        vectors: One row an image.
        seed: Of the optimisation.
    """
    if len(vectors) < _FEWEST:
        along = np.arange(len(vectors), dtype=np.float32)
        return np.stack([along, np.zeros_like(along)], axis=1)
    from umap import UMAP

    neighbours = min(15, len(vectors) - 1)
    start = "spectral" if len(vectors) > neighbours + 2 else "random"
    placed = UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1, init=start).fit_transform(
        vectors
    )
    return np.asarray(placed, dtype=np.float32)


def as_svg(points: Sequence[MapPoint]) -> str:
    """Draw the map, a dot an image, with a legend."""
    x, y = _scaled([p.x for p in points]), _scaled([p.y for p in points])
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


def _scaled(values: Sequence[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    width = (high - low) or 1.0
    return [_MARGIN + (_SIZE - 2 * _MARGIN) * (value - low) / width for value in values]
